// Blocks as they come, and the transactions in them.

import { card, h, heading, replace, setText, table } from '../lib/dom.js';
import { ago, count, fee, percent } from '../lib/format.js';
import { addressLink, blockLink, coins, transactionLink } from '../lib/links.js';
import { explainCall } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';

const BLOCKS = 15;
const TRANSACTIONS = 15;

/** What a transaction does, in a word. */
export async function actionOf(transaction) {
  if (!transaction.to) return 'creates a contract';
  if (transaction.input === '0x') return 'transfer';
  const known = await explainCall(transaction.input).catch(() => null);
  return known ? known.fragment.name : transaction.input.slice(0, 10);
}

/** Rows of transactions. */
export async function transactionRows(transactions) {
  const actions = await Promise.all(transactions.map(actionOf));
  return transactions.map((one, at) => [
    transactionLink(one.hash),
    h('span.tag', actions[at]),
    one.blockNumber === null ? h('span.soft', 'waiting') : blockLink(one.blockNumber),
    addressLink(one.from),
    one.to ? addressLink(one.to) : h('span.soft', 'new contract'),
    coins(one.value, 5),
  ]);
}

export const TRANSACTION_COLUMNS = ['Hash', 'Action', 'Block', 'From', 'To', '-Value'];

export default function view({ signal }) {
  const blocks = h('div');
  const transactions = h('div');
  const kept = new Map();
  const paused = h('button', { type: 'button', 'aria-pressed': 'false' }, 'Pause');
  paused.addEventListener('click', () => {
    const on = paused.getAttribute('aria-pressed') !== 'true';
    paused.setAttribute('aria-pressed', String(on));
    setText(paused, on ? 'Go on' : 'Pause');
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
    const rows = whole.slice(0, BLOCKS).map((block) => [
      blockLink(block.number),
      ago(Number(block.timestamp)),
      count(block.transactions.length),
      `${count(Number(block.gasUsed))} · ${percent(Number(block.gasUsed) / Number(block.gasLimit), 1)}`,
      fee(block.baseFeePerGas ?? 0),
    ]);
    replace(blocks, table(['Block', 'Age', '-Transactions', '-Gas used', '-Base fee'], rows));
    const newest = whole.flatMap((block) => block.transactions.toReversed()).slice(0, TRANSACTIONS);
    const shown = await transactionRows(newest);
    if (!signal.aborted) replace(transactions, table(TRANSACTION_COLUMNS, shown, 'No transaction in the newest blocks'));
  }

  whenever(node, 'head', signal, draw, 500);
  return [
    heading('Explorer', h('a.button', { href: '#/interfaces' }, 'Interfaces'), paused),
    card('Blocks', blocks),
    card('Transactions in them', transactions),
  ];
}
