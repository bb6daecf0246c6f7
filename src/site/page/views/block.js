// One block.

import { card, copyButton, facts, h, heading, table } from '../lib/dom.js';
import { count, date, fee, percent } from '../lib/format.js';
import { addressLink, moment } from '../lib/links.js';
import { node } from '../lib/node.js';
import { TRANSACTION_COLUMNS, transactionRows } from './explorer.js';

/** Maximum number of transactions listed. */
const PAGE = 100;

function hash(text) {
  return h('span', h('span.mono', text), copyButton(text));
}

export default async function view({ rest: [id = ''] }) {
  const byHash = /^0x[0-9a-f]{64}$/i.test(id);
  if (!byHash && !/^\d+$/.test(id)) throw new Error(`expected a block number or a block hash, got ${id.slice(0, 80)}`);
  const block = byHash
    ? await node.call('eth_getBlockByHash', id, true)
    : await node.call('eth_getBlockByNumber', `0x${BigInt(id).toString(16)}`, true);
  if (!block) throw new Error(`block ${id} not found; the latest block is ${count(Number(node.head?.number ?? 0))}`);
  const number = Number(block.number);
  const newest = Number(node.head?.number ?? number);
  const rows = await transactionRows(block.transactions.slice(0, PAGE));
  const more = block.transactions.length - rows.length;
  return [
    heading(`Block ${count(number)}`,
      number > 0 && h('a.button', { href: `#/block/${number - 1}`, 'aria-label': 'Previous block' }, '← Previous'),
      number < newest && h('a.button', { href: `#/block/${number + 1}`, 'aria-label': 'Next block' }, 'Next →')),
    card(null, facts([
      ['Timestamp', date(Number(block.timestamp)), ' · ', moment(block.timestamp)],
      ['Transactions', count(block.transactions.length)],
      ['Gas used', `${count(Number(block.gasUsed))} of ${count(Number(block.gasLimit))} (${percent(Number(block.gasUsed) / Number(block.gasLimit))})`],
      block.baseFeePerGas && ['Base fee', fee(block.baseFeePerGas)],
      ['Fee recipient', addressLink(block.miner, { full: true })],
      ['Hash', hash(block.hash)],
      ['Parent hash', number > 0 ? h('a.mono', { href: `#/block/${block.parentHash}` }, block.parentHash) : h('span.soft', 'none (genesis block)')],
      ['State root', h('span.mono', block.stateRoot)],
      ['Size', `${count(Number(block.size))} bytes`],
      block.withdrawals?.length ? ['Withdrawals', count(block.withdrawals.length)] : null,
    ])),
    card('Transactions', table(TRANSACTION_COLUMNS, rows, 'No transactions in this block'), more > 0 && h('p.soft', `and ${count(more)} more`)),
  ];
}
