// One block.

import { gasBar, shortCoins } from '../lib/cells.js';
import { moment } from '../lib/clock.js';
import { transactionColumns } from '../lib/columns.js';
import { card, copyButton, facts, h, heading } from '../lib/dom.js';
import { count, date, fee } from '../lib/format.js';
import { ask, forkBlock, indexed } from '../lib/index.js';
import { addressLink } from '../lib/links.js';
import { pagedList } from '../lib/lists.js';
import { node, whenever } from '../lib/node.js';
import { NotFound } from '../lib/notfound.js';
import { setPlace } from '../lib/place.js';
import { transactionsByHash } from '../lib/rows.js';

/** Transactions of a page. */
const PAGE = 50;
const TAGS = ['latest', 'pending', 'safe', 'finalized', 'earliest'];

function hash(text) {
  return h('span.copyline', h('span.mono', text), copyButton(text, 'Copy hash'));
}

/** The block that a number, a hash or a tag names, without its transactions. */
async function find(id) {
  if (TAGS.includes(id)) return node.call('eth_getBlockByNumber', id, false);
  if (/^0x[0-9a-f]{64}$/i.test(id)) return node.call('eth_getBlockByHash', id.toLowerCase(), false);
  if (/^0x[0-9a-f]{1,16}$/i.test(id) || /^\d{1,18}$/.test(id))
    return node.call('eth_getBlockByNumber', `0x${BigInt(id).toString(16)}`, false);
  throw new Error(
    `expected a block number, a block hash or ${TAGS.join(', ')}, got ${id.slice(0, 80)}`,
  );
}

/** What a block's transactions paid: from the index, since it takes all receipts. */
async function paid(block) {
  if (block.hash === null || !block.transactions.length || !(await indexed())) return null;
  // The index has no blocks of the chain at which a fork begins.
  if (Number(block.number) <= ((await forkBlock()) ?? -1)) return null;
  return ask(`blocks/${block.hash}`).catch(() => null);
}

function missing(id) {
  const newest = Number(node.head?.number ?? 0);
  if (/^\d+$/.test(id) && Number(id) > newest)
    return new NotFound(
      'Block',
      `block ${count(Number(id))} does not exist yet; the latest block is ${count(newest)}`,
    );
  return new NotFound(
    'Block',
    `block ${id.slice(0, 80)} not found; the latest block is ${count(newest)}`,
  );
}

function neighbours(number) {
  const isNewest = number >= Number(node.head?.number ?? number);
  return [
    number > 0 &&
      h(
        'a.button',
        { href: `#/block/${number - 1}`, 'aria-label': 'Previous block' },
        '← Previous',
      ),
    !isNewest &&
      h('a.button', { href: `#/block/${number + 1}`, 'aria-label': 'Next block' }, 'Next →'),
  ];
}

/** The buttons to the blocks before and after, of which the latter may come later. */
function navigation(number, isPending, signal) {
  const around = h('div.row', isPending ? null : neighbours(number));
  const draw = () => {
    if (!isPending && around.childElementCount < 2)
      around.replaceChildren(...neighbours(number).filter(Boolean));
  };
  whenever(node, 'head', signal, draw, 1_000);
  return around;
}

function gasCell(block) {
  const used = Number(block.gasUsed);
  const limit = Number(block.gasLimit);
  return h('span.row', `${count(used)} of ${count(limit)}`, gasBar(used, limit));
}

function parentCell({ parentHash }, number) {
  if (number === 0) return h('span.soft', 'None (genesis block)');
  return h(
    'span.copyline',
    h('a.mono', { href: `#/block/${parentHash}` }, parentHash),
    copyButton(parentHash, 'Copy hash'),
  );
}

function feesFact({ transaction_fees: fees, priority_fee: priority }) {
  return [
    'Transaction fees',
    shortCoins(BigInt(fees), 12),
    h('span.soft', ` · priority fees ${shortCoins(BigInt(priority), 12)}`),
  ];
}

/** The card of a block; `sums` are what its transactions paid, or null. */
function factsCard(block, number, isPending, sums) {
  const base = block.baseFeePerGas ? BigInt(block.baseFeePerGas) : null;
  const withdrawals = block.withdrawals?.length;
  return card(
    null,
    facts([
      ['Timestamp', date(Number(block.timestamp)), ' · ', moment(block.timestamp)],
      ['Transactions', count(block.transactions.length)],
      ['Gas used', gasCell(block)],
      base !== null && ['Base fee', fee(base)],
      base !== null && ['Burnt fees', shortCoins(base * BigInt(Number(block.gasUsed)), 12)],
      sums && feesFact(sums),
      ['Fee recipient', addressLink(block.miner, { full: true })],
      !isPending && ['Hash', hash(block.hash)],
      ['Parent hash', parentCell(block, number)],
      !isPending && ['State root', hash(block.stateRoot)],
      ['Size', `${count(Number(block.size))} bytes`],
      withdrawals && ['Withdrawals', count(withdrawals)],
    ]),
  );
}

/** The list of a block's transactions, which are read page by page. */
function transactionsCard(block, number, signal) {
  const hashes = block.transactions;
  const time = Number(block.timestamp);
  const load = async (cursor) => {
    const from = cursor ?? 0;
    const end = from + PAGE;
    const rows = await transactionsByHash(hashes.slice(from, end), () => time);
    return { rows, next: end < hashes.length ? end : null };
  };
  return card(
    'Transactions',
    pagedList({
      signal,
      label: 'Transactions of the block',
      size: Math.min(hashes.length, PAGE),
      columns: transactionColumns({ block: false, fee: true }),
      load,
      empty: 'No transactions in this block',
      csv: hashes.length ? `block-${number}` : null,
    }),
  );
}

export default async function view({ signal, rest: [id = 'latest'] }) {
  const block = await find(id);
  if (!block) throw missing(id);

  const number = Number(block.number);
  const isPending = block.hash === null || id === 'pending';
  // The address of a tag's block stays valid when the next block comes.
  if (TAGS.includes(id) && !isPending && !signal.aborted) setPlace({}, `block/${number}`);

  const sums = await paid(block);
  const title = isPending ? `Pending block ${count(number)}` : `Block ${count(number)}`;
  return [
    heading(title, navigation(number, isPending, signal)),
    factsCard(block, number, isPending, sums),
    transactionsCard(block, number, signal),
  ];
}
