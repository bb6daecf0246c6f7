// Transactions, blocks and token transfers of the chain, live at the head.

import { BLOCK_COLUMNS, blocksFrom } from '../lib/blocks.js';
import { internalColumns, transactionColumns, transferColumns } from '../lib/columns.js';
import { card, h, heading } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { gap, indexed, WITHOUT_INDEX } from '../lib/index.js';
import { pagedList } from '../lib/lists.js';
import { node } from '../lib/node.js';
import { internalTransactions, tokenTransfers } from '../lib/pages.js';
import { SECTIONS, sections } from './sections.js';
import { TransactionFilter } from './transactionfilter.js';
import { transactionPages } from './transactionpages.js';

const ACTIONS = [
  ['#/transact?tab=deploy', 'Deploy'],
  ['#/transact?tab=verify', 'Verify source'],
  ['#/transact?tab=broadcast', 'Broadcast'],
  ['#/interfaces', 'Contract ABIs'],
];

function transactionList(signal, query) {
  const filter = new TransactionFilter(query, () => list.reload());
  const list = pagedList({
    signal,
    label: 'Transactions',
    columns: transactionColumns(),
    load: transactionPages(() => filter.current, signal),
    empty: 'No transactions',
    live: true,
    pace: 1_000,
    csv: 'transactions',
    controls: filter.toggles,
  });
  return [filter.element, list];
}

function blockList(signal, options) {
  const load = (cursor) => blocksFrom(cursor ?? Number(node.head?.number ?? 0), options.size);
  return pagedList({
    signal,
    label: 'Blocks',
    columns: BLOCK_COLUMNS,
    load,
    live: true,
    pace: 1_000,
    ...options,
  });
}

function transferOptions() {
  return {
    label: 'Token transfers',
    columns: transferColumns(),
    load: (cursor) => tokenTransfers('token-transfers', cursor),
  };
}

function internalOptions() {
  return {
    label: 'Internal transactions',
    columns: internalColumns(),
    load: (cursor) => internalTransactions('internal-transactions', cursor),
  };
}

/** A list that only the index has. */
async function indexList(section, signal) {
  if (!(await indexed())) return h('p.note', `${WITHOUT_INDEX}this list needs it.`);
  const options = section === 'transfers' ? transferOptions() : internalOptions();
  const missing = await gap();
  return [
    missing && h('p.note', missing),
    pagedList({
      signal,
      live: true,
      empty: `No ${options.label.toLowerCase()} yet`,
      csv: section,
      ...options,
    }),
  ];
}

/**
 * The first block of a list, from links of earlier versions of the page: `#/explorer?from=<block>`.
 */
function startOf(query) {
  const text = query.get('from');
  if (text === null || /^(0x|[a-z]+1)/i.test(text)) return null;
  if (!/^\d{1,15}$/.test(text)) throw new Error('from: expected a block number or an address');
  return Number(text);
}

/** The blocks from a number downwards. */
function blocksBefore(start, signal) {
  const first = Math.min(start, Number(node.head?.number ?? start));
  const load = (cursor) => blocksFrom(cursor ?? first);
  const list = pagedList({ signal, label: 'Blocks', columns: BLOCK_COLUMNS, load });
  return { title: `Blocks from ${count(first)}`, list };
}

/** The newest blocks, and the transactions. */
function overview(signal, query) {
  const blocks = blockList(signal, { size: 5, brief: true });
  const all = h('a', { href: '#/explorer/blocks' }, 'All blocks');
  return [
    h('section.card', h('div.spread', h('h2', 'Latest blocks'), all), blocks),
    card('Transactions', transactionList(signal, query)),
  ];
}

export default async function view({ signal, rest: [section = ''], query }) {
  if (!(section in SECTIONS))
    throw new Error(`there is no page “explorer/${section.slice(0, 60)}”`);
  const actions = ACTIONS.map(([href, text]) => h('a.button', { href }, text));

  if (!section) {
    const start = startOf(query);
    if (start === null)
      return [heading('Explorer', actions), sections(section), overview(signal, query)];
    const { title, list } = blocksBefore(start, signal);
    return [heading(title, actions), sections('blocks'), card(null, list)];
  }

  // Before the bar of lists is made, which scrolls once it is shown.
  const list =
    section === 'blocks' ? blockList(signal, { csv: 'blocks' }) : await indexList(section, signal);
  return [heading(SECTIONS[section], actions), sections(section), card(null, list)];
}
