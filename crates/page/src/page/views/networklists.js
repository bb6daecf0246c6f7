// The newest blocks, the latest transactions and the pending ones.

import { age, moment } from '../lib/clock.js';
import { card, h, replace, table } from '../lib/dom.js';
import { count, fee } from '../lib/format.js';
import { addressLink, blockLink, transactionLink } from '../lib/links.js';
import { node, repeat, whenever } from '../lib/node.js';

/** Number of blocks and of transactions in the lists. */
const LISTED = 8;

/** The newest blocks that the node has headers of. */
export function blockTable() {
  const rows = node.headers
    .slice(-LISTED)
    .reverse()
    .map((header) => [
      blockLink(header.number),
      moment(header.timestamp),
      count(Number(header.gasUsed)),
      fee(header.baseFeePerGas ?? 0),
    ]);
  return table(['Block', 'Age', '-Gas used', '-Base fee'], rows);
}

function pendingTable(transactions) {
  const rows = transactions.map((one) => [
    transactionLink(one.hash),
    addressLink(one.from),
    addressLink(one.to),
    count(Number(one.nonce)),
  ]);
  return table(['Transaction hash', 'From', 'To', '-Nonce'], rows, {
    lines: ['line-1', 'line-2', 'line-2.parties-to', ''],
  });
}

/** The card with pending transactions, hidden without any. `counted` is called with their number. */
export function pendingCard(signal, counted) {
  const waiting = h('div');
  const element = card('Pending transactions', waiting);
  element.hidden = true;

  async function draw() {
    const block = await node.call('eth_getBlockByNumber', 'pending', true).catch(() => null);
    if (signal.aborted || !block) return;
    // Transactions of the pending block, unless that block has been mined in the meantime.
    const found = Number(block.number) > Number(node.head?.number ?? -1) ? block.transactions : [];
    counted(found.length);
    element.hidden = !found.length;
    replace(waiting, pendingTable(found.slice(0, LISTED)));
  }

  whenever(node, 'head', signal, draw, 1_000);
  // A new pending transaction raises no event here, so the pool is polled.
  repeat(3_000, signal, draw);
  return element;
}

/** A table of the latest transactions; `from` is the first block searched for them, or null. */
function latestTable({ rows, from }, { hashLink, method, party, recipient, shortCoins }) {
  const cells = rows.map((row) => [
    h('span.row.tight', hashLink(row.hash), row.ok === false && h('span.tag.bad', 'Failed')),
    method(row),
    row.time ? age(row.time) : '–',
    h('span.wraps', party(row.from), h('span.soft', ' → '), recipient(row)),
    shortCoins(row.value, 3),
  ]);
  return table(['Transaction hash', 'Method', 'Age', 'From → To', '-Value'], cells, {
    empty: from === null ? 'No transactions yet' : `No transactions since block ${count(from)}`,
    lines: ['line-1', 'line-1', null, 'line-2', 'line-1.end'],
  });
}

/** The latest transactions. What finds them is not needed for the first paint. */
export function latestList(signal) {
  const element = h('div', h('p.soft', 'Loading…'));
  let readLatest = null;

  async function draw() {
    // The node may be away.
    const modules = await Promise.all([
      import('../lib/latest.js'),
      import('../lib/cells.js'),
    ]).catch(() => null);
    if (!modules) return;
    const [{ latestTransactions }, cells] = modules;

    readLatest ??= latestTransactions(LISTED, signal);
    const page = await readLatest().catch(() => null);
    if (signal.aborted || !page || element.contains(document.activeElement)) return;
    replace(element, latestTable(page, cells));
  }

  whenever(node, 'head', signal, draw, 1_500);
  return element;
}
