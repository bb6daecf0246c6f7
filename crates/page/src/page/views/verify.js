// Verifies the source of a contract: the node compiles it and compares the code.

import { parseAddress } from '../lib/address.js';
import { forgetContract } from '../lib/contracts.js';
import { failure, field, h, replace, toast } from '../lib/dom.js';
import { ask } from '../lib/index.js';
import { network } from '../lib/network.js';
import { placed, setPlace } from '../lib/place.js';
import { fileField } from './filefield.js';

const STANDARD_JSON = 'solidity-standard-json-input';
const SINGLE_FILE = 'solidity-single-file';
const FORMATS = { [STANDARD_JSON]: 'Standard JSON input', [SINGLE_FILE]: 'A single source file' };
/**
 * Pause between two requests for the state of a verification, each of which waits at the node as
 * well, in milliseconds.
 */
const POLL_INTERVAL = 500;
/**
 * Most names of contracts that are suggested, and characters of a source that are searched for
 * them.
 */
const MOST_NAMES = 200;
const LONGEST_SEARCHED = 2_000_000;

/** Requests Etherscan's interface. Resolves to `{ status, result, message }`. */
async function etherscan(members, method) {
  const form = new URLSearchParams({ module: 'contract', ...members });
  const response = await (method === 'POST'
    ? fetch('api', { method, body: form })
    : fetch(`api?${form}`)
  ).catch(() => null);
  if (!response) throw new Error('the node is not responding');
  const body = await response.json().catch(() => null);
  if (!body || body.result === undefined)
    throw new Error(body?.message ?? `the node responded with status ${response.status}`);
  return body;
}

/**
 * Why a verification failed: the message says it, where it is not only Etherscan's word for a
 * refusal.
 */
const reasonIn = ({ message, result }) =>
  message && message !== 'NOTOK' ? message : String(result);

/** Begins a verification and waits for its end. */
async function verify(members, signal) {
  const begun = await etherscan({ action: 'verifysourcecode', ...members }, 'POST');
  if (begun.status !== '1') throw new Error(reasonIn(begun));
  for (;;) {
    const state = await etherscan({ action: 'checkverifystatus', guid: begun.result }, 'GET');
    if (state.status === '1') return;
    if (!/pending/i.test(String(state.result))) throw new Error(reasonIn(state));
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
    if (signal.aborted) throw new Error('the page was left');
  }
}

/** The contracts in the sources of a text, as `file:name`, so that they need not be typed. */
function namesIn(text, format) {
  if (text.length > LONGEST_SEARCHED) return [];
  let sources = { 'Contract.sol': { content: text } };
  if (format === STANDARD_JSON) {
    try {
      sources = JSON.parse(text).sources ?? {};
    } catch {
      return [];
    }
  }
  const names = Object.entries(sources).flatMap(([file, source]) => {
    const found = String(source?.content ?? '').matchAll(
      /^\s*(?:abstract\s+)?contract\s+([A-Za-z_$][\w$]*)/gm,
    );
    return [...found].map(([, name]) => `${file}:${name}`);
  });
  return names.slice(0, MOST_NAMES);
}

/** The list of compilers, or a field for a version if the node names none. */
function compilerField(versions) {
  if (!versions.length)
    return h('input', {
      autocomplete: 'off',
      spellcheck: 'false',
      placeholder: 'v0.8.24+commit.e11b9ed9',
    });
  return h(
    'select',
    versions.map((version) => h('option', version)),
  );
}

/** Settings that a single file has no place for. */
function optimizerFields(evmVersions) {
  const on = h('input', { type: 'checkbox' });
  const runs = h('input', { inputmode: 'numeric', autocomplete: 'off', value: '200' });
  const evm = h(
    'select',
    ['default', ...evmVersions.filter((one) => one !== 'default')].map((one) => h('option', one)),
  );
  return {
    element: h(
      'div.stack',
      h('label.toggle', on, 'Optimizer'),
      h('div.pair', field('Optimizer runs', runs), field('EVM version', evm)),
    ),
    members: () => ({
      optimizationUsed: on.checked ? '1' : '0',
      runs: runs.value.trim(),
      evmversion: evm.value,
    }),
  };
}

/** What is wrong before anything is sent, as an error. */
function checked({ contractname, compilerversion, sourceCode }) {
  if (!sourceCode.trim()) throw new Error('enter the source');
  if (!compilerversion.trim()) throw new Error('enter the version of the compiler');
  if (!contractname.trim())
    throw new Error('enter the name of the contract, such as src/Counter.sol:Counter');
}

export async function verifyForm(signal) {
  const config = await ask('smart-contracts/verification/config').catch(() => null);
  if (!config)
    return h(
      'p',
      'This node does not verify sources: it runs without the explorer (--no-explorer).',
    );
  const versions = config.solidity_compiler_versions ?? [];
  const address = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x… or ${network.prefix}1…`,
    value: placed('address') ?? '',
  });
  const format = h(
    'select',
    Object.entries(FORMATS).map(([id, name]) =>
      h('option', { value: id, selected: id === placed('format') }, name),
    ),
  );
  const compiler = compilerField(versions);
  const suggestions = h('datalist', { id: 'contract-names' });
  const name = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    list: 'contract-names',
    placeholder: 'src/Counter.sol:Counter',
    value: placed('name') ?? '',
  });
  const { element: source, input } = fileField(
    'Source',
    'forge: the output of forge verify-contract --show-standard-json-input. hardhat: the member “input” of a file in artifacts/build-info.',
  );
  const optimizer = optimizerFields(config.solidity_evm_versions ?? []);
  const submit = h('button.primary', { type: 'submit' }, 'Verify');
  const outcome = h('div', { 'aria-live': 'polite' });
  const form = h(
    'form.stack',
    !versions.length &&
      h(
        'p.note',
        'This node has no compilers, so it cannot verify sources. Start it with --solc-directory, or with --artifacts, which verifies the contracts of your own project without a compiler.',
      ),
    field('Contract address', address),
    h('div.pair', field('Format', format), field('Compiler', compiler)),
    source,
    optimizer.element,
    field('Contract name', name, 'The file and the name of the contract in it.'),
    suggestions,
    h('div.row', submit),
    outcome,
  );

  const describe = () => {
    optimizer.element.hidden = format.value !== SINGLE_FILE;
    const names = namesIn(input.value, format.value);
    replace(
      suggestions,
      names.map((one) => h('option', { value: one })),
    );
    const bare = name.value.trim();
    const whole = names.filter((one) => one.split(':').at(-1) === bare || !bare);
    if (whole.length === 1) name.value = whole[0];
  };
  const run = async () => {
    const contractaddress = parseAddress(address.value, network.prefix);
    const members = {
      contractaddress,
      codeformat: format.value,
      compilerversion: compiler.value,
      contractname: name.value.trim(),
      sourceCode: input.value,
    };
    checked(members);
    replace(outcome, h('p.soft', 'The node compiles the source…'));
    await verify({ ...members, ...(format.value === SINGLE_FILE && optimizer.members()) }, signal);
    forgetContract(contractaddress);
    replace(
      outcome,
      h(
        'p',
        h('span.tag.good', 'Verified'),
        ' ',
        h('a', { href: `#/contract/${contractaddress}?tab=source` }, 'View the source'),
      ),
    );
    toast('The source was verified', 'good', {
      href: `#/contract/${contractaddress}`,
      text: 'Open the contract',
    });
  };

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    submit.disabled = true;
    await run().catch((error) => replace(outcome, failure(error)));
    submit.disabled = false;
  });
  form.addEventListener('input', (event) => {
    // A file may have been read after another form was opened, which has the URL then.
    const isOpen = !form.closest('[hidden]');
    if (isOpen)
      setPlace({
        address: address.value.trim(),
        name: name.value.trim(),
        format: format.value === STANDARD_JSON ? null : format.value,
      });
    if (event.target === input || event.target === format) describe();
  });
  describe();
  return form;
}
