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

  const without = inputs.length ? '' : ', no constructor arguments';
  return {
    contract,
    size: `${count(bytecode.length / 2 - 1)} bytes of creation code${without}.`,
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

class DeployForm {
  /** The contracts of the text, and the form of the one that is chosen. */
  #contracts = [];
  #chosen = null;

  #file = fileField(
    'Bytecode or artifact',
    'Creation code in hex, or the JSON that hardhat, forge or solc wrote.',
  );
  #which = h('select');
  #whichRow = field('Contract', this.#which);
  #size = h('p.soft');
  #fields = h('div.stack');
  #forced = forcedSend();
  #submit = h('button.primary', { type: 'submit' }, 'Deploy');
  #problem = h('div', { 'aria-live': 'polite' });
  #steps = flow();
  #outcome = h('div', { 'aria-live': 'polite' });
  #isBusy;

  constructor(signal) {
    this.element = h(
      'form.stack',
      this.#file.element,
      this.#whichRow,
      this.#size,
      this.#fields,
      this.#forced.element,
      h('div.row', this.#submit),
      this.#problem,
      this.#steps.element,
      this.#outcome,
    );

    this.#which.addEventListener('change', () =>
      this.#choose(this.#contracts[Number(this.#which.value)]),
    );
    this.#file.input.addEventListener('input', () => this.#read());
    this.#isBusy = submitOnce(this.element, this.#submit, () => this.#run(), signal);
    this.#read();
  }

  /** Reads the contracts of the text, and chooses the first. */
  #read() {
    this.#contracts = [];
    this.#chosen = null;
    for (const one of [this.#problem, this.#size, this.#fields, this.#outcome]) replace(one);
    // The steps of a transaction that waits stay.
    if (!this.#isBusy()) this.#steps.clear();
    this.#whichRow.hidden = true;

    const text = this.#file.input.value;
    if (!text.trim()) return;
    try {
      this.#contracts = contractsIn(text);
      replace(
        this.#which,
        this.#contracts.map(({ name }, at) => h('option', { value: String(at) }, name)),
      );
      this.#whichRow.hidden = this.#contracts.length === 1;
      this.#choose(this.#contracts[0]);
    } catch (error) {
      replace(this.#problem, failure(error));
    }
  }

  #choose(contract) {
    this.#chosen = constructorForm(contract);
    replace(this.#size, this.#chosen.size);
    replace(this.#fields, this.#chosen.elements);
  }

  async #run() {
    for (const one of [this.#problem, this.#outcome]) replace(one);
    await this.#deploy().catch((error) => replace(this.#problem, failure(error)));
  }

  async #deploy() {
    if (!this.#chosen) throw new Error('enter creation code, or the JSON of an artifact');
    // Another contract or account may be chosen while the transaction waits.
    const { contract } = this.#chosen;
    const account = wallets.current;
    checkCode(contract.bytecode);

    const transaction = { ...this.#chosen.transaction(), ...this.#forced.gas() };
    const step = { name: `Deploy ${contract.name}`, transaction, mayFail: this.#forced.on() };
    const receipt = await this.#steps.run([step], account);
    if (receipt.status === '0x1') this.#showDeployed(contract, receipt.contractAddress);
  }

  #showDeployed({ name, abi }, address) {
    keepAbi(address, abi);
    replace(this.#outcome, deployed(address, name));
    toast(`${name} was deployed`, 'good', {
      href: `#/contract/${address}`,
      text: 'Open the contract',
    });
  }
}

export function deployForm(signal) {
  return new DeployForm(signal).element;
}
