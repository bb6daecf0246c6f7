// The form that verifies the source of a contract.

import { parseAddress } from '../lib/address.js';
import { forgetContract } from '../lib/contracts.js';
import { failure, field, h, replace, toast } from '../lib/dom.js';
import { ask } from '../lib/index.js';
import { network } from '../lib/network.js';
import { placed, setPlace } from '../lib/place.js';
import { namesIn, SINGLE_FILE, STANDARD_JSON, verify } from '../lib/verification.js';
import { fileField } from './filefield.js';

const FORMATS = { [STANDARD_JSON]: 'Standard JSON input', [SINGLE_FILE]: 'A single source file' };
const SOURCE_HINT =
  'forge: the output of forge verify-contract --show-standard-json-input. hardhat: the member “input” of a file in artifacts/build-info.';
const NO_VERIFICATION =
  'This node does not verify sources: it runs without the explorer (--no-explorer).';
const NO_COMPILERS =
  'This node has no compilers, so it cannot verify sources. Start it with --solc-directory, or with --artifacts, which verifies the contracts of your own project without a compiler.';

function formatField() {
  return h(
    'select',
    Object.entries(FORMATS).map(([id, name]) =>
      h('option', { value: id, selected: id === placed('format') }, name),
    ),
  );
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

/** Throws an error that says what is missing, before anything is sent. */
function checkMembers({ contractname, compilerversion, sourceCode }) {
  if (!sourceCode.trim()) throw new Error('enter the source');
  if (!compilerversion.trim()) throw new Error('enter the version of the compiler');
  if (!contractname.trim())
    throw new Error('enter the name of the contract, such as src/Counter.sol:Counter');
}

class VerifyForm {
  #signal;
  #address = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x… or ${network.prefix}1…`,
    value: placed('address') ?? '',
  });
  #format = formatField();
  #compiler;
  #source = fileField('Source', SOURCE_HINT);
  #optimizer;
  #name = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    list: 'contract-names',
    placeholder: 'src/Counter.sol:Counter',
    value: placed('name') ?? '',
  });
  /** The contracts in the source. */
  #suggestions = h('datalist', { id: 'contract-names' });
  #submit = h('button.primary', { type: 'submit' }, 'Verify');
  #outcome = h('div', { 'aria-live': 'polite' });

  /** `config` is what the node tells of its compilers. */
  constructor(config, signal) {
    this.#signal = signal;
    const versions = config.solidity_compiler_versions ?? [];
    this.#compiler = compilerField(versions);
    this.#optimizer = optimizerFields(config.solidity_evm_versions ?? []);
    this.element = h(
      'form.stack',
      !versions.length && h('p.note', NO_COMPILERS),
      field('Contract address', this.#address),
      h('div.pair', field('Format', this.#format), field('Compiler', this.#compiler)),
      this.#source.element,
      this.#optimizer.element,
      field('Contract name', this.#name, 'The file and the name of the contract in it.'),
      this.#suggestions,
      h('div.row', this.#submit),
      this.#outcome,
    );
    this.#listen();
    this.#suggest();
  }

  #listen() {
    this.element.addEventListener('submit', async (event) => {
      event.preventDefault();
      this.#submit.disabled = true;
      await this.#run().catch((error) => replace(this.#outcome, failure(error)));
      this.#submit.disabled = false;
    });
    this.element.addEventListener('input', ({ target }) => {
      // A file may have been read after another form was opened, which has the URL then.
      const isOpen = !this.element.closest('[hidden]');
      if (isOpen) this.#keepPlace();
      if (target === this.#source.input || target === this.#format) this.#suggest();
    });
  }

  #keepPlace() {
    setPlace({
      address: this.#address.value.trim(),
      name: this.#name.value.trim(),
      format: this.#format.value === STANDARD_JSON ? null : this.#format.value,
    });
  }

  /** Suggests the contracts in the source, and fills in the name if only one is possible. */
  #suggest() {
    this.#optimizer.element.hidden = this.#format.value !== SINGLE_FILE;
    const names = namesIn(this.#source.input.value, this.#format.value);
    replace(
      this.#suggestions,
      names.map((one) => h('option', { value: one })),
    );

    const typed = this.#name.value.trim();
    const possible = names.filter((one) => one.split(':').at(-1) === typed || !typed);
    if (possible.length === 1) this.#name.value = possible[0];
  }

  async #run() {
    const address = parseAddress(this.#address.value, network.prefix);
    const members = {
      contractaddress: address,
      codeformat: this.#format.value,
      compilerversion: this.#compiler.value,
      contractname: this.#name.value.trim(),
      sourceCode: this.#source.input.value,
    };
    checkMembers(members);

    replace(this.#outcome, h('p.soft', 'The node compiles the source…'));
    const isSingle = this.#format.value === SINGLE_FILE;
    await verify({ ...members, ...(isSingle && this.#optimizer.members()) }, this.#signal);
    forgetContract(address);
    this.#showVerified(address);
  }

  #showVerified(address) {
    replace(
      this.#outcome,
      h(
        'p',
        h('span.tag.good', 'Verified'),
        ' ',
        h('a', { href: `#/contract/${address}?tab=source` }, 'View the source'),
      ),
    );
    toast('The source was verified', 'good', {
      href: `#/contract/${address}`,
      text: 'Open the contract',
    });
  }
}

export async function verifyForm(signal) {
  const config = await ask('smart-contracts/verification/config').catch(() => null);
  return config ? new VerifyForm(config, signal).element : h('p', NO_VERIFICATION);
}
