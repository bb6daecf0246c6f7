// The forms of a contract's functions: to read one, or to simulate and write it.

import { decode, encodeCall, signature } from '../lib/abi.js';
import { coinsIn } from '../lib/actions.js';
import { decoderFor } from '../lib/decoder.js';
import { copyButton, field, h, replace } from '../lib/dom.js';
import { callDebugLink, simulationLink } from '../lib/execution.js';
import { addressLink } from '../lib/links.js';
import { network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';
import { CallOutput } from './calloutput.js';
import { argumentFields } from './fields.js';
import { forcedSend } from './forced.js';

const NOBODY = `0x${'0'.repeat(40)}`;

/** The URL of a function's form in a tab, with the texts of its arguments. */
function formUrl(contract, tab, called, texts) {
  const query = new URLSearchParams({ tab, function: signature(called) });
  if (texts.length) query.set('args', JSON.stringify(texts));
  return new URL(`#/contract/${contract.address}?${query}`, location.href).href;
}

function shareButton(contract, tab, called, texts) {
  return copyButton(() => formUrl(contract, tab, called, texts), 'Copy link with these arguments');
}

/**
 * The link to where a call without an account fails, or null where the node does not trace calls.
 */
async function failingLine(to, data) {
  if (!(await node.has('debug_traceCall'))) return null;
  const href = callDebugLink(simulationLink({ from: NOBODY, to, data }), true);
  return h('p', h('a', { href }, 'Go to the failing line'));
}

/** Calls a contract. An error of the contract is decoded, and has a `link` to the failing line. */
async function call(contract, data) {
  const to = contract.address;
  try {
    return await node.call('eth_call', { to, data }, 'latest');
  } catch (error) {
    if (!error.data) throw error;
    const decoder = await decoderFor([to]);
    const reason = new Error(await decoder.error(error.data));
    throw Object.assign(reason, { link: await failingLine(to, data) });
  }
}

/** Calls a view function with what is in the fields, and shows what it returns. */
async function query(contract, called, fields, output) {
  try {
    const answer = await call(contract, encodeCall(called, fields.values()));
    if (answer === '0x' && called.outputs.length)
      throw new Error('the contract returned nothing: it may not have this function');
    const results = output.results(decode(called.outputs, answer));
    output.show(results ?? h('p.soft', 'No return values'));
  } catch (error) {
    output.showProblem(error, error.link);
  }
}

/**
 * The form of a view function. It reads immediately if there is nothing to fill in, or if `run`.
 * `texts` fill the fields.
 */
export function readForm(contract, called, texts, run) {
  const fields = argumentFields(called.inputs, texts, contract.address);
  const output = new CallOutput(contract, called);
  const link = h('span');
  const share = () => replace(link, shareButton(contract, 'read', called, fields.texts()));
  const read = () => query(contract, called, fields, output);
  const form = h(
    'form.stack',
    fields.elements,
    h('div.row', h('button', { type: 'submit' }, called.inputs.length ? 'Query' : 'Refresh'), link),
    output.element,
  );

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    read();
  });
  form.addEventListener('input', share);
  share();
  if (!called.inputs.length || run) read();
  return form;
}

/**
 * The form of a function that changes the state: simulate it, or send it from the active account.
 */
class WriteForm {
  #contract;
  #called;
  #fields;
  #output;
  #forced = forcedSend();
  #isBusy = false;

  /** The field of the coins to send, or null for a function that takes none. */
  #value;
  #send = h('button.primary', { type: 'submit' }, 'Write');
  #trial = h('button', { type: 'button' }, 'Simulate');
  #link = h('span');
  #sender = h('p.soft');

  constructor(contract, called, texts, signal) {
    this.#contract = contract;
    this.#called = called;
    this.#fields = argumentFields(called.inputs, texts, contract.address);
    this.#output = new CallOutput(contract, called);
    this.#value =
      called.stateMutability === 'payable'
        ? h('input', { inputmode: 'decimal', placeholder: '0', autocomplete: 'off' })
        : null;
    this.#build();

    this.#trial.addEventListener('click', () =>
      this.#runOnce((call) => this.#output.simulate(call)),
    );
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#runOnce((call) => this.#write(call));
    });
    this.element.addEventListener('input', () => this.#share());
    wallets.addEventListener('change', () => this.#drawSender(), { signal });
    this.#share();
    this.#drawSender();
  }

  #build() {
    this.element = h(
      'form.stack',
      this.#fields.elements,
      this.#value && field(`Value (${network.coin})`, this.#value),
      this.#forced.element,
      h('div.row', this.#trial, this.#send, this.#link),
      this.#sender,
      this.#output.element,
    );
  }

  #share() {
    const texts = this.#fields.texts();
    replace(this.#link, shareButton(this.#contract, 'write', this.#called, texts));
  }

  #drawSender() {
    const { current } = wallets;
    this.#send.disabled = this.#isBusy || !current;
    replace(
      this.#sender,
      current
        ? ['From ', addressLink(current.address)]
        : 'To write, choose an account at the top. Simulating needs none.',
    );
  }

  /** The call with what is in the fields, from the active account or from the zero address. */
  #call() {
    return {
      from: wallets.current?.address ?? NOBODY,
      to: this.#contract.address,
      value: coinsIn(this.#value),
      data: encodeCall(this.#called, this.#fields.values()),
    };
  }

  /** Runs what a button stands for with the call, unless another run has not ended. */
  async #runOnce(run) {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#send.disabled = true;
    this.#trial.disabled = true;
    try {
      await run(this.#call());
    } catch (error) {
      this.#output.showProblem(error);
    }
    this.#isBusy = false;
    this.#trial.disabled = false;
    this.#drawSender();
  }

  async #write(call) {
    this.#send.textContent = 'Waiting…';
    await this.#output.send(call, this.#forced);
    this.#send.textContent = 'Write';
  }
}

/** The form of a function that changes the state. `texts` fill the fields. */
export function writeForm(contract, called, texts, signal) {
  return new WriteForm(contract, called, texts, signal).element;
}
