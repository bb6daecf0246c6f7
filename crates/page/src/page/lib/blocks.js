// Lists of blocks.

import { blockCell, gasBar, party, shortCoins } from './cells.js';
import { timeCell } from './clock.js';
import { h } from './dom.js';
import { count, fee } from './format.js';
import { network } from './network.js';
import { node } from './node.js';
import { outlines, priceUpdates } from './scan.js';

/** Number of blocks of a page. */
export const BLOCKS = 25;

/** Number of transactions up to which their senders are read, to tell price updates. */
const MOST_READ = 500;

function blockRow(block, updates) {
  const baseFee = block.baseFeePerGas ? BigInt(block.baseFeePerGas) : null;
  return {
    key: block.hash,
    number: Number(block.number),
    time: Number(block.timestamp),
    transactions: block.transactions.length,
    updates,
    used: Number(block.gasUsed),
    limit: Number(block.gasLimit),
    baseFee,
    burnt: baseFee === null ? null : baseFee * BigInt(block.gasUsed),
    recipient: block.miner,
  };
}

/** Blocks from `first` downwards, with the number of price updates among their transactions. */
export async function blocksFrom(first, size = BLOCKS) {
  const last = Math.max(0, first - size + 1);
  const numbers = Array.from(
    { length: first - last + 1 },
    (_, at) => `0x${(first - at).toString(16)}`,
  );
  const [blocks, isUpdate] = await Promise.all([
    Promise.all(numbers.map((number) => node.call('eth_getBlockByNumber', number, false))),
    priceUpdates(),
  ]);

  const total = blocks.reduce((sum, block) => sum + (block?.transactions.length ?? 0), 0);
  const read =
    network.addresses && total <= MOST_READ ? await outlines(last, first).catch(() => null) : null;
  const known = new Map((read?.blocks ?? []).map((block) => [block.number, block]));

  const updatesIn = (number) =>
    known.get(number)?.transactions.filter((one) => isUpdate(one.from, one.to)).length ?? 0;
  const rows = blocks
    .filter(Boolean)
    .map((block) => blockRow(block, updatesIn(Number(block.number))));
  return { rows, next: last > 0 ? last - 1 : null };
}

function transactionCount({ transactions, updates }) {
  const own = transactions - updates;
  if (!updates)
    return h('span', count(own), h('span.unit', own === 1 ? ' transaction' : ' transactions'));
  const hint = `${count(updates)} price update${updates > 1 ? 's' : ''}`;
  return h('span', own > 0 && [count(own), ' + '], h('span.soft', hint));
}

/** Columns of blocks. */
export const BLOCK_COLUMNS = [
  {
    title: 'Block',
    phone: 'line-1',
    cell: (row) => blockCell(row.number),
    csv: (row) => row.number,
  },
  {
    title: 'Age',
    phone: 'line-1.end',
    time: true,
    cell: (row) => timeCell(row.time),
    csv: (row) => new Date(row.time * 1_000).toISOString(),
  },
  {
    title: 'Transactions',
    phone: 'line-2',
    cell: transactionCount,
    csv: (row) => row.transactions,
  },
  { title: 'Gas used', number: true, cell: (row) => count(row.used), csv: (row) => row.used },
  {
    title: 'Of the limit',
    phone: 'line-2.end',
    cell: (row) => gasBar(row.used, row.limit),
    csv: (row) => row.limit,
  },
  {
    title: 'Base fee',
    number: true,
    cell: (row) => (row.baseFee === null ? '–' : fee(row.baseFee)),
    csv: (row) => row.baseFee ?? '',
  },
  {
    title: 'Burnt fees',
    number: true,
    cell: (row) => (row.burnt === null ? '–' : shortCoins(row.burnt, 4)),
    csv: (row) => row.burnt ?? '',
  },
  { title: 'Fee recipient', cell: (row) => party(row.recipient), csv: (row) => row.recipient },
];
