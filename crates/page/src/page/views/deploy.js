// Deploys a contract from creation code or from what a compiler wrote.

import { encode } from '../lib/abi.js';
import { coinsIn, quantity, submitOnce } from '../lib/actions.js';
import { checkCode, parseArtifact } from '../lib/artifact.js';
import { saveAbi } from '../lib/contracts.js';
import { failure, field, h, replace, toast } from '../lib/dom.js';
import { flow } from '../lib/flow.js';
import { count } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { network } from '../lib/network.js';
import { constructorOf } from '../lib/signature.js';
import { wallets } from '../lib/wallet.js';
import { argumentFields } from './fields.js';
import { fileField } from './filefield.js';
import { forcedSend } from './forced.js';

/** Remembers the ABI of a deployed contract, so that its page has its functions. */
function keepAbi(address, abi) {
  if (!abi.length) return;
  try {
    saveAbi(address, JSON.stringify(abi));
  } catch {
    // It is too long, or has nothing but a constructor: the contract's page asks for it.
  }
}

function deployed(address, name) {
  return h(
    'p',
    `${name} was deployed at `,
    addressLink(address),
    ' · ',
    h('a', { href: `#/contract/${address}` }, 'Open the contract'),
    ' · ',
    h(
      'a',
      { href: `#/transact?tab=verify&address=${address}&name=${encodeURIComponent(name)}` },
      'Verify its source',
    ),
  );
}

/**
 * What a contract needs to be deployed: the fields of its constructor, and the transaction with
 * what is in them.
 */
function constructorForm(contract) {
  const { abi, bytecode } = contract;
  const { inputs, stateMutability } = constructorOf(abi);
  const fields = argumentFields(inputs);
  const mayGetValue = stateMutability === 'payable' || !abi.length;
  const value = mayGetValue
    ? h('input', { inputmode: 'decimal', placeholder: '0', autocomplete: 'off' })
    : null;
  return {
    contract,
    size: `${count(bytecode.length / 2 - 1)} bytes of creation code${inputs.length ? '' : ', no constructor arguments'}.`,
    elements: [
      inputs.length > 0 && h('h3', 'Constructor arguments'),
      fields.elements,
      value && field(`Value (${network.coin})`, value),
    ],
    transaction: () => ({
      data: bytecode + encode(inputs, fields.values()).slice(2),
      value: quantity(coinsIn(value)),
    }),
  };
}

/**
 * The contracts of a text: creation code, or what a compiler wrote. The code of a single one has to
 * be complete.
 */
function contractsIn(text) {
  const contracts = parseArtifact(text);
  if (contracts.length === 1) checkCode(contracts[0].bytecode);
  return contracts;
}

export function deployForm(signal) {
  const { element: source, input } = fileField(
    'Bytecode or artifact',
    'Creation code in hex, or the JSON that hardhat, forge or solc wrote.',
  );
  const which = h('select');
  const whichRow = field('Contract', which);
  const size = h('p.soft');
  const box = h('div.stack');
  const problem = h('div', { 'aria-live': 'polite' });
  const submit = h('button.primary', { type: 'submit' }, 'Deploy');
  const done = h('div', { 'aria-live': 'polite' });
  const forced = forcedSend();
  const steps = flow();
  const form = h(
    'form.stack',
    source,
    whichRow,
    size,
    box,
    forced.element,
    h('div.row', submit),
    problem,
    steps.element,
    done,
  );
  let [contracts, chosen] = [[], null];

  const choose = (contract) => {
    chosen = constructorForm(contract);
    replace(size, chosen.size);
    replace(box, chosen.elements);
  };
  const read = () => {
    [contracts, chosen] = [[], null];
    for (const one of [problem, size, box, done]) replace(one);
    if (!isBusy()) steps.clear();
    whichRow.hidden = true;
    if (!input.value.trim()) return;
    try {
      contracts = contractsIn(input.value);
      replace(
        which,
        contracts.map(({ name }, at) => h('option', { value: String(at) }, name)),
      );
      whichRow.hidden = contracts.length === 1;
      choose(contracts[0]);
    } catch (error) {
      replace(problem, failure(error));
    }
  };
  const run = async () => {
    if (!chosen) throw new Error('enter creation code, or the JSON of an artifact');
    // Another contract or account may be chosen while the transaction waits.
    const { contract } = chosen;
    const account = wallets.current;
    checkCode(contract.bytecode);
    const transaction = { ...chosen.transaction(), ...forced.gas() };
    const receipt = await steps.run(
      [{ name: `Deploy ${contract.name}`, transaction, mayFail: forced.on() }],
      account,
    );
    if (receipt.status !== '0x1') return;
    keepAbi(receipt.contractAddress, contract.abi);
    replace(done, deployed(receipt.contractAddress, contract.name));
    toast(`${contract.name} was deployed`, 'good', {
      href: `#/contract/${receipt.contractAddress}`,
      text: 'Open the contract',
    });
  };

  which.addEventListener('change', () => choose(contracts[Number(which.value)]));
  input.addEventListener('input', read);
  const isBusy = submitOnce(
    form,
    submit,
    async () => {
      for (const one of [problem, done]) replace(one);
      await run().catch((error) => replace(problem, failure(error)));
    },
    signal,
  );
  read();
  return form;
}
