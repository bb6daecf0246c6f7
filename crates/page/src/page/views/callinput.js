// The input of a call: the arguments of a function if the ABI of the recipient is known, or hex.

import { decode, encodeCall, selector, signature } from '../lib/abi.js';
import { formatArgument } from '../lib/arguments.js';
import { choiceButtons } from '../lib/choices.js';
import { abiOf, contractAt } from '../lib/contracts.js';
import { field, h, replace } from '../lib/dom.js';
import { argumentFields } from './fields.js';

/** Digits of a selector with its prefix. */
const SELECTOR_LENGTH = 10;

/** The functions of a contract, by name; none without a known ABI. */
async function functionsOf(address) {
  const abi = await contractAt(address)
    .then(abiOf)
    .catch(() => null);
  if (!abi) return [];

  // A proxy's own functions shadow those of its implementation.
  const functions = [...abi.implementation, ...abi.own].filter((one) => one.type === 'function');
  const bySignature = new Map(functions.map((one) => [signature(one), one]));
  return [...bySignature.values()].sort((a, b) => a.name.localeCompare(b.name));
}

export class CallInput {
  /** The functions of the recipient, the chosen one, and its fields; null in hex. */
  #functions = [];
  #chosen = null;
  #fields = null;
  #raw = h('textarea', { rows: '4', spellcheck: 'false', placeholder: '0x' });
  element = h('div.stack');

  constructor(data) {
    this.#raw.value = data;
    this.#showRaw();
  }

  /** The input in hex. Throws an error that names the argument that is wrong. */
  read() {
    if (this.#fields) return encodeCall(this.#chosen, this.#fields.values());
    return this.#raw.value.trim() || '0x';
  }

  /** Adapts to the recipient's functions. */
  async follow(recipient) {
    const functions = await functionsOf(recipient);
    if (this.#fields) this.#toRaw();
    this.#functions = functions;
    if (this.#called()) this.#toDecoded();
    else this.#showRaw();
  }

  /** The function that the input in hex calls, if it is known. */
  #called() {
    const data = this.#raw.value.trim();
    return this.#functions.find((one) => data.startsWith(selector(one)));
  }

  #toDecoded() {
    const called = this.#called();
    if (!called) return this.#showFunction(this.#functions[0], []);
    try {
      const values = decode(called.inputs, `0x${this.#raw.value.trim().slice(SELECTOR_LENGTH)}`);
      const texts = called.inputs.map((input, at) => formatArgument(values[at], input));
      this.#showFunction(called, texts);
    } catch {
      this.#showRaw();
    }
  }

  #toRaw() {
    try {
      this.#raw.value = this.read();
    } catch {
      // Incomplete arguments have no encoding; the last one stays.
    }
    this.#showRaw();
  }

  #showFunction(called, texts) {
    this.#chosen = called;
    this.#fields = argumentFields(called.inputs, texts);

    const select = h(
      'select',
      this.#functions.map((one, at) => h('option', { value: at }, signature(one))),
    );
    select.value = String(this.#functions.indexOf(called));
    select.addEventListener('change', () =>
      this.#showFunction(this.#functions[Number(select.value)], []),
    );
    replace(this.element, this.#forms(), field('Function', select), this.#fields.elements);
  }

  #showRaw() {
    this.#fields = null;
    replace(
      this.element,
      this.#functions.length > 0 && this.#forms(),
      field('Input data', this.#raw),
    );
  }

  /** The buttons that choose between arguments and hex. */
  #forms() {
    const isRaw = this.#fields === null;
    const choices = [
      ['Decoded', false],
      ['Raw', true],
    ];
    const choose = (wanted) => {
      if (wanted === isRaw) return;
      if (wanted) this.#toRaw();
      else this.#toDecoded();
    };
    return h(
      'div.tabs',
      { role: 'group', 'aria-label': 'Form of the input' },
      choiceButtons(choices, isRaw, choose),
    );
  }
}
