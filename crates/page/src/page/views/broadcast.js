// Broadcasts a signed transaction, after showing what it is.

import { signature } from '../lib/abi.js';
import { decoderFor } from '../lib/decoder.js';
import { copyButton, facts, failure, field, h, replace, toast } from '../lib/dom.js';
import { count, fee } from '../lib/format.js';
import { KINDS, accessListText } from '../lib/kinds.js';
import { addressLink, argumentsOf, coins, transactionLink, viewTransaction } from '../lib/links.js';
import { network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { decodeTransaction, senderOf } from '../lib/rawtransaction.js';
import { reasonOf } from '../lib/reasons.js';
import { rawCall } from './parts.js';

/** Gas that the data of a blob take (EIP-4844). */
const GAS_PER_BLOB = 131_072n;
/** Most authorizations that are shown; the account of each is recovered by a request. */
const MOST_AUTHORIZATIONS = 100;

/**
 * The most that a transaction may cost: its value, and all of its gas at the highest prices that it
 * allows.
 */
function mostOf({ value, gas, gasPrice, maxFeePerGas, blobs, maxFeePerBlobGas }) {
  return (
    value +
    gas * (maxFeePerGas ?? gasPrice) +
    BigInt(blobs) * GAS_PER_BLOB * (maxFeePerBlobGas ?? 0n)
  );
}

/** Why the chain would not take a transaction, as sentences; those that it would take have none. */
async function objections(found, sender) {
  if (!sender) return ['The signature is not valid.'];
  const [nonce, balance] = await Promise.all([
    node.call('eth_getTransactionCount', sender, 'latest'),
    node.call('eth_getBalance', sender, 'latest'),
  ]);
  const most = mostOf(found);
  const expected = BigInt(nonce);

  return [
    found.chainId !== null &&
      found.chainId !== BigInt(network.chainId) &&
      `It is for chain ${found.chainId}, and this is chain ${network.chainId}.`,
    found.nonce < expected &&
      `Its nonce ${found.nonce} has been used: the account’s next one is ${expected}.`,
    found.nonce > expected &&
      `Its nonce is ${found.nonce}: it waits until the account has sent the transactions from ${expected} on.`,
    BigInt(balance) < most &&
      `The account has ${coins(balance)}, and the transaction may cost ${coins(most)}.`,
  ].filter(Boolean);
}

function fees({ gasPrice, maxFeePerGas, maxPriorityFeePerGas }) {
  return gasPrice === null
    ? `at most ${fee(maxFeePerGas)}, priority fee ${fee(maxPriorityFeePerGas)}`
    : fee(gasPrice);
}

function inputOf(found, known) {
  if (found.input === '0x') return null;
  if (!found.to) return h('p', `Creation code of ${count(found.input.length / 2 - 1)} bytes`);
  if (!known) return [h('h3', 'Input data'), rawCall(found.input)];
  return [
    h('h3', 'Input data ', h('span.tag.accent', known.fragment.name)),
    h('p.soft.mono', signature(known.fragment)),
    argumentsOf(known, found.to),
  ];
}

/**
 * Whose code becomes that of which contract: an account that delegates lets the contract do
 * anything with what it holds.
 */
async function authorizationsOf({ authorizations }) {
  if (!authorizations.length) return null;
  const shown = authorizations.slice(0, MOST_AUTHORIZATIONS);
  const signers = await Promise.all(shown.map(senderOf));

  const rows = shown.map(({ chainId, address, nonce }, at) =>
    h(
      'li',
      signers[at]
        ? addressLink(signers[at], { full: true })
        : h('span.soft', 'An invalid signature'),
      ' delegates to ',
      addressLink(address, { full: true }),
      h(
        'span.soft',
        ` · ${chainId === 0n ? 'on every chain' : `chain ${chainId}`} · nonce ${count(nonce)}`,
      ),
    ),
  );

  const left = authorizations.length - shown.length;
  return h('ul.plain', rows, left > 0 && h('li', `and ${count(left)} more, which are not shown`));
}

function factsOf(found, sender, authorizations) {
  const { chainId, accessList, blobs } = found;
  return facts([
    ['Transaction hash', h('span.mono', found.hash), copyButton(found.hash, 'Copy hash')],
    ['Type', KINDS[found.type]],
    ['From', sender ? addressLink(sender, { full: true }) : h('span.soft', 'unknown')],
    ['To', found.to ? addressLink(found.to, { full: true }) : 'a new contract'],
    ['Value', coins(found.value, 24)],
    ['Nonce', count(found.nonce)],
    ['Gas limit', count(found.gas)],
    ['Gas price', fees(found)],
    ['Chain ID', chainId === null ? 'none: it is valid on every chain' : String(chainId)],
    accessList.length > 0 && ['Access list', accessListText(accessList)],
    blobs > 0 && [
      'Blobs',
      `${count(blobs)}, at most ${fee(found.maxFeePerBlobGas)} for a unit of their gas`,
    ],
    ['May cost', coins(mostOf(found), 9)],
    ['Authorizations', authorizations],
  ]);
}

/** What a transaction is and would do, with the reasons for which the chain would not take it. */
async function describe(found) {
  const [sender, decoder, authorizations] = await Promise.all([
    senderOf(found),
    decoderFor([found.to]),
    authorizationsOf(found),
  ]);
  const problems = await objections(found, sender);
  const known = found.to ? decoder.call(found.to, found.input) : null;
  return [
    problems.map((text) => h('p.failure', text)),
    factsOf(found, sender, authorizations),
    inputOf(found, known),
  ];
}

class BroadcastForm {
  #raw = h('textarea', { rows: '5', spellcheck: 'false', placeholder: '0x02f8…' });
  #about = h('div.stack', { 'aria-live': 'polite' });
  #submit = h('button.primary', { type: 'submit', disabled: true }, 'Broadcast');
  #outcome = h('div', { 'aria-live': 'polite' });

  /** The text that is described, or about to be. */
  #shown = '';
  /**
   * The transaction that the form describes, the only one that it sends; null while there is none.
   */
  #described = null;
  #isBusy = false;

  constructor() {
    this.element = h(
      'form.stack',
      field(
        'Signed transaction',
        this.#raw,
        'As eth_sendRawTransaction takes it. It is decoded here before it is sent.',
      ),
      this.#about,
      h('div.row', this.#submit),
      this.#outcome,
    );
    this.#raw.addEventListener('input', () => this.#read());
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
    });
  }

  /** Describes the transaction that was entered. */
  async #read() {
    const text = this.#raw.value.trim();
    if (text === this.#shown) return;
    this.#shown = text;
    this.#described = null;
    this.#submit.disabled = true;
    replace(this.#about);
    replace(this.#outcome);
    if (!text) return;

    try {
      const content = await describe(decodeTransaction(text));
      if (this.#shown !== text) return;
      replace(this.#about, content);
      this.#described = text;
      this.#submit.disabled = this.#isBusy;
    } catch (error) {
      if (this.#shown === text) replace(this.#about, failure(error));
    }
  }

  async #send() {
    const sent = this.#described;
    if (this.#isBusy || sent === null) return;
    this.#isBusy = true;
    this.#submit.disabled = true;
    try {
      const hash = await node.call('eth_sendRawTransaction', sent);
      if (this.#shown === sent) replace(this.#outcome, h('p', 'Sent: ', transactionLink(hash)));
      toast('The transaction was sent', 'good', viewTransaction(hash));
    } catch (error) {
      if (this.#shown === sent) replace(this.#outcome, failure(reasonOf(error)));
      else toast(reasonOf(error), 'error');
    } finally {
      this.#isBusy = false;
    }
    this.#submit.disabled = this.#described === null;
  }
}

export function broadcastForm() {
  return new BroadcastForm().element;
}
