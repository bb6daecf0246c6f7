// The result of a function below its form: what a call would do, what it did, or why it failed.

import { quantity } from '../lib/actions.js';
import { decoderFor } from '../lib/decoder.js';
import { h, replace, toast } from '../lib/dom.js';
import { addressesIn, callDebugLink, simulate, simulationLink } from '../lib/execution.js';
import { reasonOfOutcome } from '../lib/failures.js';
import { count } from '../lib/format.js';
import { transactionLink, viewTransaction } from '../lib/links.js';
import { coinTransfers, tokensOf, tokenTransfers } from '../lib/movements.js';
import { wallets } from '../lib/wallet.js';
import { resultsOf } from './calltree.js';
import { eventList, transferTable } from './parts.js';

/**
 * The reason for which a call fails, with the ABIs of all contracts that it reaches, or null if it
 * does not fail.
 */
async function reasonOf(contract, call) {
  const found = await simulate(call);
  if (found.status) return null;
  const decoder = await decoderFor([contract.address, ...addressesIn(found.trace)]);
  return reasonOfOutcome(found, decoder, call);
}

/** Whether a simulated call would succeed, its gas, and links to more about it. */
function verdict(found, call) {
  const { from, to, data, value } = call;
  const link = simulationLink({ from, to, data, value: value > 0n ? value : null });
  return h(
    'div.row',
    found.status ? h('span.tag.good', 'Would succeed') : h('span.tag.bad', 'Would fail'),
    h('span.soft', `${count(Number(found.gasUsed))} gas`),
    h('a', { href: link }, 'Open in the simulator'),
    found.trace &&
      h(
        'a',
        { href: callDebugLink(link, !found.status) },
        found.status ? 'Debug' : 'Go to the failing line',
      ),
  );
}

/** The element with the result of a contract's function, `called`. */
export class CallOutput {
  #contract;
  #called;
  element = h('div.result', { 'aria-live': 'polite' });

  constructor(contract, called) {
    this.#contract = contract;
    this.#called = called;
  }

  show(...content) {
    replace(this.element, content);
  }

  showProblem(error, ...more) {
    this.show(h('div.failure', { role: 'alert' }, error.message), more);
  }

  /** The values that the function returns. */
  results(values) {
    return resultsOf(this.#called, values, this.#contract.address);
  }

  /** Simulates a call and shows what it would do. */
  async simulate(call) {
    const found = await simulate(call);
    const decoder = await decoderFor([
      this.#contract.address,
      ...addressesIn(found.trace),
      ...found.logs.map((log) => log.address),
    ]);
    const transfers = [
      ...(found.trace ? coinTransfers(found.trace) : []),
      ...tokenTransfers(found.logs),
    ];
    const tokens = await tokensOf(transfers);
    const values = found.status ? decoder.result(this.#called, found.output) : null;

    this.show(
      verdict(found, call),
      !found.status && h('p', await reasonOfOutcome(found, decoder, call)),
      values && this.results(values),
      transfers.length > 0 && [h('h3', 'Transfers'), transferTable(transfers, tokens)],
      found.logs.length > 0 && [
        h('h3', `Events (${count(found.logs.length)})`),
        eventList(found.logs, decoder),
      ],
    );
  }

  /** Sends a call from the active account and shows what it did, or why it failed. */
  async send(call, forced) {
    let sent = null;
    try {
      const { to, data, value } = call;
      const receipt = await wallets.send(
        { to, data, value: quantity(value), ...forced.gas() },
        (hash) => {
          sent = hash;
          this.show(h('p', 'Sent: ', transactionLink(hash), ', waiting for its receipt…'));
        },
        { mayFail: forced.on() },
      );
      await this.#showReceipt(receipt);
    } catch (error) {
      // The wallet knows the errors of the network's contracts; those of this one need its ABI.
      const reason = /unknown error/.test(error.message)
        ? await reasonOf(this.#contract, call).catch(() => null)
        : null;
      this.showProblem(
        reason ? new Error(reason) : error,
        sent && h('p', 'Sent: ', transactionLink(sent)),
      );
    }
  }

  /** Shows what a sent call did. One that was forced may have failed. */
  async #showReceipt(receipt) {
    const decoder = await decoderFor([
      this.#contract.address,
      ...receipt.logs.map((log) => log.address),
    ]);
    const succeeded = receipt.status === '0x1';
    this.show(
      h(
        'div.row',
        succeeded ? h('span.tag.good', 'Success') : h('span.tag.bad', 'Failed'),
        transactionLink(receipt.transactionHash),
        h('span.soft', `${count(Number(receipt.gasUsed))} gas`),
      ),
      receipt.logs.length > 0 && eventList(receipt.logs, decoder),
    );
    toast(
      `${this.#called.name} ${succeeded ? 'succeeded' : 'was mined, and failed'}`,
      succeeded ? 'good' : 'info',
      viewTransaction(receipt.transactionHash),
    );
  }
}
