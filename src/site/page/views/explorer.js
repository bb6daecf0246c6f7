// The newest blocks and their transactions, live; older blocks in pages.

import { card, h, heading, replace, setText, table } from '../lib/dom.js';
import { ago, count, fee, percent } from '../lib/format.js';
import { addressLink, blockLink, coins, transactionLink } from '../lib/links.js';
import { explainCall } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';

const NEWEST = 15;
const PAGE = 30;
const TRANSACTIONS = 15;

/** The method that a transaction calls, or its selector. */
async function actionOf(transaction) {
  if (!transaction.to) return 'Contract creation';
  if (transaction.input === '0x') return 'Transfer';
  const known = await explainCall(transaction.input).catch(() => null);
  return known ? known.fragment.name : transaction.input.slice(0, 10);
}

/** Table rows of transactions. */
export async function transactionRows(transactions) {
  const actions = await Promise.all(transactions.map(actionOf));
  return transactions.map((one, at) => [
    transactionLink(one.hash),
    h('span.tag', actions[at]),
    one.blockNumber === null ? h('span.soft', 'Pending') : blockLink(one.blockNumber),
    addressLink(one.from),
    one.to ? addressLink(one.to) : h('span.soft', 'New contract'),
    coins(one.value, 5),
  ]);
}

export const TRANSACTION_COLUMNS = ['Transaction hash', 'Method', 'Block', 'From', 'To', '-Value'];

function blockTable(blocks) {
  const rows = blocks.map((block) => [
    blockLink(block.number),
    ago(Number(block.timestamp)),
    count(block.transactions.length),
    `${count(Number(block.gasUsed))} · ${percent(Number(block.gasUsed) / Number(block.gasLimit), 1)}`,
    fee(block.baseFeePerGas ?? 0),
  ]);
  return table(['Block', 'Age', '-Transactions', '-Gas used', '-Base fee'], rows);
}

async function transactionTable(blocks) {
  const newest = blocks.flatMap((block) => block.transactions.toReversed()).slice(0, TRANSACTIONS);
  return table(TRANSACTION_COLUMNS, await transactionRows(newest), 'No transactions in these blocks');
}

/** Links to the pages before and after the blocks from `first` down to `last`. */
function pager(first, last) {
  const newest = Number(node.head?.number ?? first);
  const older = last > 0 && h('a.button', { href: `#/explorer?from=${last - 1}` }, 'Older →');
  const newer = first + PAGE >= newest ? '#/explorer' : `#/explorer?from=${first + PAGE}`;
  return h('div.row', first < newest && h('a.button', { href: newer }, '← Newer'), older);
}

/** A fixed page of blocks, from `from` downwards. */
async function older(from) {
  const first = Math.min(from, Number(node.head?.number ?? from));
  const last = Math.max(0, first - PAGE + 1);
  const numbers = Array.from({ length: first - last + 1 }, (_, at) => `0x${(first - at).toString(16)}`);
  const blocks = (await Promise.all(numbers.map((number) => node.call('eth_getBlockByNumber', number, true)))).filter(Boolean);
  return [
    heading(`Blocks ${count(last)} to ${count(first)}`, pager(first, last)),
    card('Blocks', blockTable(blocks)),
    card('Latest transactions in these blocks', await transactionTable(blocks)),
  ];
}

export default function view({ signal, query }) {
  if (query.has('from')) {
    if (!/^\d{1,15}$/.test(query.get('from'))) throw new Error('from: expected a block number');
    return older(Number(query.get('from')));
  }
  const blocks = h('div');
  const transactions = h('div');
  const more = h('div');
  const kept = new Map();
  const paused = h('button', { type: 'button', 'aria-pressed': 'false' }, 'Pause');
  paused.addEventListener('click', () => {
    const on = paused.getAttribute('aria-pressed') !== 'true';
    paused.setAttribute('aria-pressed', String(on));
    setText(paused, on ? 'Resume' : 'Pause');
  });

  async function draw() {
    if (paused.getAttribute('aria-pressed') === 'true') return;
    const headers = node.headers.slice(-40).reverse();
    const missing = headers.filter((header) => !kept.has(header.hash));
    const found = await Promise.all(missing.map((header) => node.call('eth_getBlockByHash', header.hash, true).catch(() => null)));
    if (signal.aborted) return;
    missing.forEach((header, at) => found[at] && kept.set(header.hash, found[at]));
    for (const hash of [...kept.keys()].slice(0, Math.max(0, kept.size - 200))) kept.delete(hash);
    const whole = headers.map((header) => kept.get(header.hash)).filter(Boolean);
    const shown = whole.slice(0, NEWEST);
    replace(blocks, blockTable(shown));
    const list = await transactionTable(whole);
    if (signal.aborted) return;
    replace(transactions, list);
    const last = Number(shown.at(-1)?.number ?? 0);
    replace(more, last > 0 && h('a', { href: `#/explorer?from=${last - 1}` }, 'Older blocks'));
  }

  whenever(node, 'head', signal, draw, 500);
  return [
    heading('Explorer', h('a.button', { href: '#/interfaces' }, 'Contract ABIs'), paused),
    card('Latest blocks', blocks, more),
    card('Latest transactions', transactions),
  ];
}
