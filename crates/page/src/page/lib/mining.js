// How the node mines: as soon as there are transactions, at an interval, or on request. Only in the
// development profile.

import { network } from './network.js';
import { node } from './node.js';
import { span } from './format.js';

/** How often the mode is read, in milliseconds: other clients may change it. */
const PACE = 3_000;

/** Events: `change`, when the mode or the number of waiting transactions has changed. */
class Mining extends EventTarget {
  /** `auto`, `interval` or `off`; null until it is known, and in the production profile. */
  mode = null;
  /** Seconds between blocks, if they are mined at an interval. */
  seconds = null;
  /** Number of transactions that wait for a block while mining is off. */
  waiting = 0;
  #timer = null;

  /** Reads the mode, now and from time to time. */
  begin() {
    if (this.#timer) return;
    this.#timer = setInterval(() => document.visibilityState === 'visible' && this.refresh(), PACE);
    node.addEventListener('head', () => this.waiting && this.refresh());
    this.refresh();
  }

  /** Reads the mode. */
  async refresh() {
    if (!network.development || !(await node.has('anvil_getAutomine')))
      return this.#set(null, null, 0);
    try {
      const [auto, seconds] = await Promise.all([
        node.call('anvil_getAutomine'),
        node.call('anvil_getIntervalMining'),
      ]);
      const mode = auto ? 'auto' : seconds === null ? 'off' : 'interval';
      const { pending, queued } =
        mode === 'off' ? await node.call('txpool_status') : { pending: 0, queued: 0 };
      this.#set(mode, seconds, Number(pending) + Number(queued));
    } catch {
      // The node is not responding, which the page shows elsewhere.
    }
  }

  #set(mode, seconds, waiting) {
    if (this.mode === mode && this.seconds === seconds && this.waiting === waiting) return;
    Object.assign(this, { mode, seconds, waiting });
    this.dispatchEvent(new Event('change'));
  }

  /** Mines a block as soon as there is a transaction. */
  async auto() {
    await node.call('evm_setAutomine', true);
    // Transactions that were waiting are mined with the next block.
    if (this.waiting) await node.call('evm_mine');
    await this.refresh();
  }

  /** Mines a block every so many seconds. */
  async every(seconds) {
    await node.call('anvil_setIntervalMining', seconds);
    await this.refresh();
  }

  /** Mines on request only. */
  async stop() {
    await node.call('evm_setAutomine', false);
    await this.refresh();
  }

  /** Mines a block now. */
  async mine() {
    await node.call('evm_mine');
    await this.refresh();
  }

  /** The mode in words. */
  describe() {
    if (this.mode === 'auto') return 'A block is mined as soon as there is a transaction.';
    if (this.mode === 'interval')
      return this.seconds
        ? `A block is mined every ${span(this.seconds)}.`
        : 'A block is mined several times a second.';
    return 'Blocks are mined on request only. Transactions wait until then.';
  }
}

export const mining = new Mining();
