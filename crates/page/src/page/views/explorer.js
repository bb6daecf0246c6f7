// Transactions, blocks and token transfers of the chain, live at the head.

import { parseAddress } from '../lib/address.js';
import { BLOCK_COLUMNS, blocksFrom } from '../lib/blocks.js';
import { internalColumns, transactionColumns, transferColumns } from '../lib/columns.js';
import { card, field, h, heading, replace } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { gap, indexed, WITHOUT_INDEX } from '../lib/index.js';
import { pagedList } from '../lib/lists.js';
import { network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { addressTransactions, internalTransactions, tokenTransfers } from '../lib/pages.js';
import { setPlace } from '../lib/place.js';
import { priceUpdates, ROWS, searchRows } from '../lib/scan.js';
import { SECTIONS, sections } from './sections.js';

const SHOW_UPDATES = 'tetrad.priceUpdates';
const KINDS = {
  '': 'All kinds',
  transfer: 'Coin transfers',
  call: 'Contract calls',
  creation: 'Contract creations',
  cosmos: 'Cosmos transactions',
};

function remembered() {
  try {
    return localStorage.getItem(SHOW_UPDATES) === 'shown';
  } catch {
    return false;
  }
}

function remember(on) {
  try {
    localStorage.setItem(SHOW_UPDATES, on ? 'shown' : 'hidden');
  } catch {
    // Storage may be disabled.
  }
}

function kindOf(row) {
  if (row.cosmos) return 'cosmos';
  if (!row.to) return 'creation';
  return row.input === '0x' ? 'transfer' : 'call';
}

/** What the filters say about a transaction's outline, and about the whole transaction. */
async function conditions({ from, to, method, kind, failed, updates }) {
  const isUpdate = await priceUpdates();
  const same = (wanted, address) => !wanted || address?.toLowerCase() === wanted.toLowerCase();
  const accepts = (one) =>
    (updates || !isUpdate(one.from, one.to)) &&
    same(from, one.from) &&
    same(to, one.to) &&
    (!failed || one.ok !== true) &&
    (kind !== 'creation' || !one.to);
  const named = method.trim().toLowerCase();
  const keeps = (row) =>
    (!failed || row.ok === false) &&
    (!kind || kindOf(row) === kind) &&
    (!named ||
      row.method.toLowerCase().includes(named) ||
      row.input.toLowerCase().startsWith(named));
  return { accepts, keeps: failed || kind || named ? keeps : null, outcome: failed };
}

/** A page of an address's transactions in the index that fulfil the conditions. */
async function ofAddress(filters, { accepts, keeps }, cursor) {
  const rows = [];
  let next = cursor;
  for (let pages = 0; pages < 10 && rows.length < ROWS; pages++) {
    const page = await addressTransactions(
      filters.from || filters.to,
      next,
      filters.from ? 'from' : 'to',
    );
    rows.push(...page.rows.filter((row) => accepts(row) && (!keeps || keeps(row))));
    next = page.next;
    if (!next) break;
  }
  return { rows, next, paused: next !== null && !rows.length };
}

/**
 * A function that loads pages of transactions. It keeps the first one, and adds only new blocks to
 * it.
 */
function transactionPages(filters, signal) {
  let first = null;
  const isCurrent = () => {
    const known = node.headers.find((header) => Number(header.number) === first.head.number);
    return (
      Number(node.head?.number ?? 0) >= first.head.number &&
      (!known || known.hash === first.head.hash)
    );
  };
  const noteOf = ({ from, to, skipped, paused }, own) => {
    const hidden =
      skipped && !own.updates && !own.from && !own.to && !own.failed && own.kind !== 'creation'
        ? `${count(skipped)} price update${skipped > 1 ? 's' : ''} hidden`
        : null;
    const searched = paused || hidden ? `Blocks ${count(from)} to ${count(to)}` : null;
    return [searched, hidden].filter(Boolean).join(' · ');
  };
  return async (cursor) => {
    const own = filters();
    const condition = await conditions(own);
    if ((own.from || own.to) && (await indexed())) return ofAddress(own, condition, cursor);
    const key = JSON.stringify(own);
    if (cursor !== null) {
      const page = await searchRows({ ...condition, before: cursor, signal });
      return { ...page, note: noteOf(page, own) };
    }
    if (first && (first.key !== key || !isCurrent())) first = null;
    const head = node.head ? { number: Number(node.head.number), hash: node.head.hash } : null;
    const floor = first && { block: first.head.number, index: 0xffffffff };
    const page = await searchRows({ ...condition, floor, signal });
    if (first && !page.next) {
      const rows = [...page.rows, ...first.page.rows];
      const cut = rows.length > ROWS ? rows[ROWS - 1] : null;
      const next = cut ? { block: cut.block, index: cut.index } : first.page.next;
      Object.assign(page, {
        rows: rows.slice(0, ROWS),
        next,
        paused: next !== null && !cut && first.page.paused,
        skipped: page.skipped + first.page.skipped,
        from: first.page.from,
      });
    }
    first = head && { key, head, page };
    return { ...page, note: noteOf(page, own) };
  };
}

/** The controls above the transactions, and the current filters. */
function filterBar(query, changed) {
  const given = (name) => query.get(name) ?? '';
  const from = h('input', {
    value: given('from'),
    placeholder: `0x… or ${network.prefix}1…`,
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const to = h('input', {
    value: given('to'),
    placeholder: `0x… or ${network.prefix}1…`,
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const method = h('input', {
    value: given('method'),
    placeholder: 'transfer or 0xa9059cbb',
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const kind = h(
    'select',
    Object.entries(KINDS).map(([value, name]) =>
      h('option', { value, selected: value === given('kind') }, name),
    ),
  );
  const failed = h('input', { type: 'checkbox', checked: given('failed') === '1' });
  const updates = h('input', { type: 'checkbox', checked: remembered() });
  const problem = h('div');
  let current = null;
  const read = () => {
    const address = (input) =>
      input.value.trim() ? parseAddress(input.value, network.prefix) : '';
    return {
      from: address(from),
      to: address(to),
      method: method.value.trim(),
      kind: kind.value,
      failed: failed.checked,
      updates: updates.checked,
    };
  };
  const apply = (silent) => {
    try {
      current = read();
      replace(problem);
    } catch (error) {
      current ??= {
        from: '',
        to: '',
        method: '',
        kind: '',
        failed: false,
        updates: updates.checked,
      };
      return replace(problem, h('div.failure', { role: 'alert' }, error.message));
    }
    if (silent) return null;
    setPlace({
      from: current.from,
      to: current.to,
      method: current.method,
      kind: current.kind,
      failed: current.failed,
    });
    return changed();
  };
  apply(true);
  const clear = h('button', { type: 'button' }, 'Clear');
  clear.addEventListener('click', () => {
    for (const input of [from, to, method, kind]) input.value = '';
    failed.checked = false;
    apply(false);
  });
  const form = h(
    'form.filters',
    {
      onsubmit: (event) => {
        event.preventDefault();
        apply(false);
      },
    },
    h('div.field.wide', field('From', from)),
    h('div.field.wide', field('To', to)),
    field('Method', method),
    field('Kind', kind),
    h('button.primary', { type: 'submit' }, 'Apply'),
    clear,
  );
  kind.addEventListener('change', () => apply(false));
  failed.addEventListener('change', () => apply(false));
  updates.addEventListener('change', () => {
    remember(updates.checked);
    apply(false);
  });
  const isFiltered = ['from', 'to', 'method', 'kind'].some(given);
  const bar = [
    network.addresses && h('label.toggle', updates, 'Price updates'),
    h('label.toggle', failed, 'Failed only'),
  ];
  const details = h(
    'details',
    { open: isFiltered },
    h('summary', 'Filter by sender, recipient, method or kind'),
    form,
    problem,
  );
  return { bar, details, filters: () => current };
}

function transactionList(signal, query) {
  let list = null;
  const { bar, details, filters } = filterBar(query, () => list.reload());
  list = pagedList({
    signal,
    label: 'Transactions',
    columns: transactionColumns(),
    load: transactionPages(filters, signal),
    empty: 'No transactions',
    live: true,
    pace: 1_000,
    csv: 'transactions',
    controls: bar,
  });
  return [details, list];
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

async function indexList(kind, signal) {
  if (!(await indexed())) return h('p.note', `${WITHOUT_INDEX}this list needs it.`);
  const options =
    kind === 'transfers'
      ? {
          label: 'Token transfers',
          columns: transferColumns(),
          load: (cursor) => tokenTransfers('token-transfers', cursor),
        }
      : {
          label: 'Internal transactions',
          columns: internalColumns(),
          load: (cursor) => internalTransactions('internal-transactions', cursor),
        };
  const missing = await gap();
  return [
    missing && h('p.note', missing),
    pagedList({
      signal,
      live: true,
      empty: `No ${options.label.toLowerCase()} yet`,
      csv: kind,
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

export default async function view({ signal, rest: [section = ''], query }) {
  if (!(section in SECTIONS))
    throw new Error(`there is no page “explorer/${section.slice(0, 60)}”`);
  const button = (href, text) => h('a.button', { href }, text);
  const actions = [
    button('#/transact?tab=deploy', 'Deploy'),
    button('#/transact?tab=verify', 'Verify source'),
    button('#/transact?tab=broadcast', 'Broadcast'),
    button('#/interfaces', 'Contract ABIs'),
  ];
  const title = section ? SECTIONS[section] : 'Explorer';
  const start = section ? null : startOf(query);
  if (start !== null) {
    const first = Math.min(start, Number(node.head?.number ?? start));
    const load = (cursor) => blocksFrom(cursor ?? first);
    return [
      heading(`Blocks from ${count(first)}`, actions),
      sections('blocks'),
      card(null, pagedList({ signal, label: 'Blocks', columns: BLOCK_COLUMNS, load })),
    ];
  }
  if (section === 'blocks')
    return [
      heading(title, actions),
      sections(section),
      card(null, blockList(signal, { csv: 'blocks' })),
    ];
  if (section) {
    // Before the bar of lists is made, which scrolls once it is shown.
    const list = await indexList(section, signal);
    return [heading(title, actions), sections(section), card(null, list)];
  }
  const latest = h(
    'section.card',
    h('div.spread', h('h2', 'Latest blocks'), h('a', { href: '#/explorer/blocks' }, 'All blocks')),
    blockList(signal, { size: 5, brief: true }),
  );
  return [
    heading(title, actions),
    sections(section),
    latest,
    card('Transactions', transactionList(signal, query)),
  ];
}
