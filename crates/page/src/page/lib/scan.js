// Transactions searched in blocks, by GraphQL and JSON-RPC.

import { forkBlock } from './index.js';
import { network, read } from './network.js';
import { node } from './node.js';
import { transactionsByHash } from './rows.js';

/** Number of rows of a page of transactions that is filtered here. */
export const ROWS = 25;
/** Maximum numbers of blocks read at once, by GraphQL and by JSON-RPC. */
const WINDOW = 500;
const SMALL_WINDOW = 30;
/**
 * Number of reads by JSON-RPC after which a search pauses: on a fork each block is a request to
 * another node.
 */
const SMALL_WINDOWS = 4;
/** Number of blocks after which a search pauses. */
const PAUSE_AFTER_BLOCKS = 5_000;

let updater = null;
node.addEventListener('restart', () => (updater = null));

/** The account that updates prices, in lower case; null on a chain without the oracle. */
function updaterAddress() {
  if (!network.addresses) return Promise.resolve(null);
  updater ??= read('PriceOracle', network.addresses.oracle, 'updater').then(
    (address) => address.toLowerCase(),
    () => (updater = null),
  );
  return updater;
}

/** A function that tells from sender and recipient whether a transaction is a price update. */
export async function priceUpdates() {
  const sender = await updaterAddress();
  const oracle = network.addresses?.oracle.toLowerCase();
  return (from, to) =>
    sender !== null && from?.toLowerCase() === sender && to?.toLowerCase() === oracle;
}

async function graphBlocks(from, to, outcome) {
  const query = `{blocks(from:${from},to:${to}){number timestamp transactions{hash index ${outcome ? 'status ' : ''}from{address} to{address}}}}`;
  const response = await fetch('graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data } = await response.json();
  if (!response.ok || !data?.blocks) throw new Error('no blocks by GraphQL');
  return data.blocks.map((block) => ({
    number: Number(block.number),
    time: Number(block.timestamp),
    transactions: block.transactions.map((one) => ({
      hash: one.hash,
      index: Number(one.index),
      ok: outcome ? Number(one.status) !== 0 : null,
      from: one.from.address,
      to: one.to?.address ?? null,
    })),
  }));
}

async function nodeBlocks(from, to) {
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => `0x${(from + at).toString(16)}`);
  const blocks = await Promise.all(
    numbers.map((number) => node.call('eth_getBlockByNumber', number, true)),
  );
  return blocks.filter(Boolean).map((block) => ({
    number: Number(block.number),
    time: Number(block.timestamp),
    transactions: block.transactions.map((one, index) => ({
      hash: one.hash,
      index,
      ok: null,
      from: one.from,
      to: one.to,
    })),
  }));
}

/**
 * Blocks with the outlines of their transactions, oldest first. Their `ok` is null unless the
 * outcome is wanted. Earlier blocks than a fork's own have no GraphQL.
 */
export async function outlines(from, to, outcome = false) {
  const own = ((await forkBlock()) ?? -1) + 1;
  if (to >= own) {
    const first = Math.max(from, own);
    const blocks = await graphBlocks(first, to, outcome).catch(() => null);
    if (blocks?.length) return { blocks, from: first };
  }
  const start = Math.max(from, to - SMALL_WINDOW + 1);
  return { blocks: await nodeBlocks(start, to), from: start, slow: true };
}

/**
 * Searches blocks downwards for transactions whose outlines `accepts` takes. `before` is a position
 * { block, index }, `floor` the last position that was seen. Returns rows, the position after which
 * the search continues (null at the first block), whether it was paused, the number of transactions
 * that were left out, and the blocks that were searched.
 */
async function searchBlocks({
  accepts,
  before = null,
  floor = null,
  limit = ROWS,
  most = PAUSE_AFTER_BLOCKS,
  outcome = false,
  signal,
}) {
  const head = Number(node.head?.number ?? (await node.call('eth_blockNumber')));
  let to = Math.min(before ? before.block : head, head);
  const lowest = floor ? floor.block : 0;
  const start = to;
  const times = new Map();
  const found = [];
  let [left, skipped, size, reads] = [null, 0, 10, 0];
  while (to >= lowest && !left && found.length <= limit) {
    if (signal?.aborted || start - to >= most || reads >= SMALL_WINDOWS) {
      left = { block: to, index: Infinity };
      break;
    }
    const { blocks, from, slow } = await outlines(Math.max(lowest, to - size + 1), to, outcome);
    if (slow) reads++;
    const expected = to - from + 1;
    for (const block of blocks.toReversed()) {
      times.set(block.number, block.time);
      for (const one of block.transactions.toReversed()) {
        if (before && block.number === before.block && one.index >= before.index) continue;
        if (floor && block.number === floor.block && one.index <= floor.index) continue;
        if (!accepts(one)) skipped++;
        else if (found.length < limit) found.push({ ...one, block: block.number });
        else left ??= found.at(-1);
      }
      if (left) break;
    }
    // Blocks that the node no longer holds.
    if (blocks.length < expected && (blocks[0]?.number ?? Infinity) > from) break;
    to = from - 1;
    const perBlock = blocks.reduce((sum, block) => sum + block.transactions.length, 0) / expected;
    size = Math.max(1, Math.min(WINDOW, 4 * size, Math.floor(WINDOW / Math.max(perBlock, 1))));
  }
  const next = left && {
    block: left.block,
    index: Number.isFinite(left.index) ? left.index : 0xffffffff,
  };
  const rows = await transactionsByHash(
    found.map((one) => one.hash),
    (block) => times.get(block),
  );
  return {
    rows,
    next,
    paused: next !== null && found.length < limit,
    skipped,
    from: Math.max(lowest, Math.min(to + 1, start)),
    to: start,
  };
}

/**
 * The same for rows that `keeps` takes, which are only known with all their members. Without it
 * every row is.
 */
export async function searchRows({ keeps, ...options }) {
  if (!keeps) return searchBlocks(options);
  const limit = options.limit ?? ROWS;
  const rows = [];
  let [before, skipped, to] = [options.before ?? null, 0, null];
  for (let round = 0; ; round++) {
    const page = await searchBlocks({ ...options, before, limit: 100 });
    to ??= page.to;
    skipped += page.skipped;
    for (const row of page.rows) {
      if (!keeps(row)) continue;
      if (rows.length === limit)
        return {
          rows,
          next: { block: rows.at(-1).block, index: rows.at(-1).index },
          paused: false,
          skipped,
          from: rows.at(-1).block,
          to,
        };
      rows.push(row);
    }
    before = page.next;
    if (!before || page.paused || round === 4)
      return { ...page, rows, skipped, to, paused: before !== null };
  }
}
