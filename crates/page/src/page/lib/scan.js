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
/** Number of blocks that a search reads first. */
const FIRST_WINDOW = 10;
/** An index after those of all transactions of a block. */
const LAST_INDEX = 0xffffffff;
/** Number of transactions of which `searchRows` reads all members at once, and how often. */
const ROUND = 100;
const MOST_ROUNDS = 5;
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

/** A search through blocks downwards, and what it has found so far. */
class BlockSearch {
  found = [];
  /** Number of transactions that were left out. */
  skipped = 0;
  /** The position after which there may be more; null while the search goes on, and at its end. */
  left = null;
  /** The times of the blocks that were searched, by their numbers. */
  times = new Map();
  /** Number of blocks that are read next. */
  #window = FIRST_WINDOW;
  /** Number of reads by JSON-RPC. */
  #slowReads = 0;

  constructor(options, head) {
    const { before, floor } = options;
    Object.assign(this, options);
    this.start = Math.min(before ? before.block : head, head);
    /** The next block. */
    this.to = this.start;
    this.lowest = floor ? floor.block : 0;
  }

  async run() {
    while (this.to >= this.lowest && !this.left && this.found.length <= this.limit) {
      if (this.#isPaused()) {
        this.left = { block: this.to, index: Infinity };
        return;
      }
      if (!(await this.#readWindow())) return;
    }
  }

  #isPaused() {
    return (
      this.signal?.aborted || this.start - this.to >= this.most || this.#slowReads >= SMALL_WINDOWS
    );
  }

  /** Searches the next blocks; false if there are no earlier ones. */
  async #readWindow() {
    const wanted = Math.max(this.lowest, this.to - this.#window + 1);
    const { blocks, from, slow } = await outlines(wanted, this.to, this.outcome);
    if (slow) this.#slowReads++;
    for (const block of blocks.toReversed()) {
      this.#searchBlock(block);
      if (this.left) break;
    }

    // Blocks that the node no longer holds.
    const expected = this.to - from + 1;
    if (blocks.length < expected && (blocks[0]?.number ?? Infinity) > from) return false;
    this.to = from - 1;
    const transactions = blocks.reduce((sum, block) => sum + block.transactions.length, 0);
    this.#adaptWindow(transactions / expected);
    return true;
  }

  #searchBlock({ number, time, transactions }) {
    const { before, floor } = this;
    this.times.set(number, time);
    for (const one of transactions.toReversed()) {
      if (before && number === before.block && one.index >= before.index) continue;
      if (floor && number === floor.block && one.index <= floor.index) continue;
      if (!this.accepts(one)) this.skipped++;
      else if (this.found.length < this.limit) this.found.push({ ...one, block: number });
      else this.left ??= this.found.at(-1);
    }
  }

  /** Reads more blocks at once the emptier they are. */
  #adaptWindow(perBlock) {
    const fitting = Math.floor(WINDOW / Math.max(perBlock, 1));
    this.#window = Math.max(1, Math.min(WINDOW, 4 * this.#window, fitting));
  }

  /** The position after which the search continues; null at the first block. */
  get next() {
    if (!this.left) return null;
    const { block, index } = this.left;
    return { block, index: Number.isFinite(index) ? index : LAST_INDEX };
  }
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
  const options = { accepts, before, floor, limit, most, outcome, signal };
  const search = new BlockSearch(options, head);
  await search.run();

  const { found, next, lowest, to, start } = search;
  const rows = await transactionsByHash(
    found.map((one) => one.hash),
    (block) => search.times.get(block),
  );
  return {
    rows,
    next,
    paused: next !== null && found.length < limit,
    skipped: search.skipped,
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
  let before = options.before ?? null;
  let skipped = 0;
  let to = null;
  for (let round = 1; ; round++) {
    const page = await searchBlocks({ ...options, before, limit: ROUND });
    to ??= page.to;
    skipped += page.skipped;
    for (const row of page.rows) {
      if (!keeps(row)) continue;
      if (rows.length === limit) {
        const { block, index } = rows.at(-1);
        return { rows, next: { block, index }, paused: false, skipped, from: block, to };
      }
      rows.push(row);
    }

    before = page.next;
    if (!before || page.paused || round === MOST_ROUNDS)
      return { ...page, rows, skipped, to, paused: before !== null };
  }
}
