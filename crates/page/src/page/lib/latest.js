// The latest transactions of the chain other than price updates.

import { forkBlock } from './index.js';
import { node } from './node.js';
import { priceUpdates, searchRows } from './scan.js';

/**
 * A function that returns the latest `limit` transactions as `{ rows, from }`, where `from` is the
 * first block that was searched, or null if that is all of them. Once some are known, it searches
 * the blocks after them only.
 */
export function latestTransactions(limit, signal) {
  let rows = [];
  let from = null;
  let searched = null;
  let running = null;

  async function read() {
    const isUpdate = await priceUpdates();
    // After a block was removed or another chain began, nothing is known any longer.
    const isKnown = searched !== null && node.headers.some(({ hash }) => hash === searched.hash);
    // Each earlier block of a fork would be a request to the other node.
    const first = ((await forkBlock()) ?? -1) + 1;
    const floor = isKnown
      ? { block: Number(searched.number), index: Infinity }
      : { block: first, index: -1 };
    const page = await searchRows({
      accepts: (one) => !isUpdate(one.from, one.to),
      floor,
      limit,
      signal,
    });

    rows = [...page.rows, ...(isKnown ? rows : [])].slice(0, limit);
    if (!isKnown) from = page.next ? page.from : null;
    searched = node.headers.find(({ number }) => Number(number) === page.to) ?? null;
    return { rows, from };
  }

  // Two searches at once would find the same transactions.
  return () => (running ??= read().finally(() => (running = null)));
}
