// The borrowers of the lending pool, found through its events, and their positions.

import { topic } from './abi.js';
import { checksum } from './address.js';
import { account } from './lens.js';
import { member } from './knownabis.js';
import { network } from './network.js';
import { node } from './node.js';

/** The most recent borrowers whose positions are read. */
const MAX_RECENT = 200;
/** Blocks that are searched again, since a reorganisation may have replaced them. */
const OVERLAP = 64;

/**
 * Borrowers since the first block that the node has logs of. Loans of the genesis state have no
 * event.
 */
class Borrowers {
  #found = new Map();
  #scanned = -1;
  #genesis = null;

  /**
   * The accounts with debt and the `wanted` ones, the least healthy first, and how many borrowers
   * were not read.
   */
  async positions(wanted) {
    await this.#scan();
    const recent = [...this.#found].toSorted((a, b) => b[1] - a[1]).map(([user]) => user);
    const chosen = new Set([...wanted, ...recent.slice(0, MAX_RECENT)]);
    const read = await Promise.all(
      [...chosen].map(async (user) => ({ user, account: await account(user) })),
    );
    const indebted = read.filter((one) => one.account.debtUsd > 0n || wanted.has(one.user));
    const order = (a, b) => (a.account.healthFactorBps < b.account.healthFactorBps ? -1 : 1);
    return { found: indebted.toSorted(order), more: Math.max(0, recent.length - MAX_RECENT) };
  }

  async #scan() {
    const newest = Number(node.head?.number ?? 0);
    if (this.#genesis !== node.genesis || newest < this.#scanned) {
      this.#found.clear();
      [this.#scanned, this.#genesis] = [-1, node.genesis];
    }
    if (newest <= this.#scanned) return;
    const hex = (number) => `0x${number.toString(16)}`;
    const filter = {
      fromBlock: hex(Math.max(0, this.#scanned - OVERLAP)),
      toBlock: hex(newest),
      address: network.addresses.lendingPool,
      topics: [topic(member('LendingPool', 'event', 'Borrow'))],
    };
    for (const { topics, blockNumber } of await node.call('eth_getLogs', filter)) {
      this.#found.set(checksum(`0x${topics[2].slice(26)}`), Number(blockNumber));
    }
    this.#scanned = newest;
  }
}

export const borrowers = new Borrowers();
