// Lists of the explorer: cells, tables in pages, tabs, and their export as CSV.

import { checksum } from './address.js';
import { announce, failure, h, replace, setText } from './dom.js';
import { ago, amount, count, date, fee, shorten, toUnits } from './format.js';
import { coins } from './links.js';
import { learnedName } from './explorer.js';
import { nameOf } from './network.js';
import { node, whenever } from './node.js';

const TIMES = 'tetrad.times';
/** Maximum number of exported rows. */
const EXPORTED = 10_000;

/** Whether times are shown as dates instead of ages. */
export function exactTimes() {
  try {
    return localStorage.getItem(TIMES) === 'exact';
  } catch {
    return false;
  }
}

function timeText(seconds) {
  return exactTimes() ? date(seconds) : ago(seconds);
}

/** The age or the date of a time, in seconds. */
export function timeCell(seconds) {
  if (seconds === null || seconds === undefined) return h('span.soft', '–');
  return h('time', { datetime: new Date(seconds * 1_000).toISOString(), title: exactTimes() ? ago(seconds) : date(seconds) }, timeText(seconds));
}

/** The heading of a column of times, which switches between ages and dates. */
function timeHeading() {
  const button = h('button.link-button', { type: 'button', title: 'Switch between age and date' }, exactTimes() ? 'Date' : 'Age');
  button.addEventListener('click', () => {
    try {
      localStorage.setItem(TIMES, exactTimes() ? 'age' : 'exact');
    } catch {
      // Storage may be disabled.
    }
    for (const other of document.querySelectorAll('.times button')) setText(other, exactTimes() ? 'Date' : 'Age');
    refreshTimes(document);
  });
  return button;
}

function refreshTimes(root) {
  for (const one of root.querySelectorAll('td time')) {
    const seconds = Date.parse(one.dateTime) / 1_000;
    setText(one, timeText(seconds));
    one.title = exactTimes() ? ago(seconds) : date(seconds);
  }
}

/** A link to a transaction, short enough for a list. */
export function hashLink(hash) {
  return h('a.mono', { href: `#/tx/${hash}`, title: hash }, shorten(hash, 8, 4));
}

/** An amount of the native coin for a list: in wei or gwei if it is tiny. */
export function shortCoins(wei, digits = 6) {
  return wei > 0n && wei < 10n ** 12n ? fee(wei) : coins(wei, digits);
}

/** A link to an address: its name if it has one. Names that anyone can choose are followed by the address. */
export function party(given, here = null) {
  if (!given) return h('span.soft', '–');
  const address = checksum(given);
  const name = nameOf(address);
  const other = name ? null : learnedName(address);
  const content = name ?? (other ? [h('span.clip', other), ' ', h('span.mono.soft', shorten(address, 6, 4))] : h('span.mono', shorten(address, 6, 4)));
  if (here && address.toLowerCase() === here.toLowerCase()) return h('span', { title: address }, content);
  return h('a', { href: `#/address/${address}`, title: address }, content);
}

/** The recipient of a transaction, or the contract that it created. */
export function recipient(row, here = null) {
  if (row.to) return party(row.to, here);
  if (row.created) return h('span', h('span.soft', 'New: '), party(row.created, here));
  return h('span.soft', 'New contract');
}

/** The outcome of a transaction, with the reason of a failure. */
export function outcome(row) {
  if (row.ok === null) return h('span.tag', 'Pending');
  if (row.ok) return h('span.tag.good', 'Success');
  return h('span.outcome', h('span.tag.bad', 'Failed'), row.reason && h('span.reason', { title: row.reason }, row.reason));
}

/** The method of a transaction; transactions of Cosmos wallets are marked. */
export function method(row) {
  return h('span.row.tight', h('span.tag.clip', { title: row.cosmos ?? row.method }, row.method), row.cosmos && h('span.tag.accent', 'Cosmos'));
}

/** Whether an address is sender or recipient. */
export function direction(row, here) {
  const wanted = here.toLowerCase();
  const [out, into] = [row.from?.toLowerCase() === wanted, (row.to ?? row.created)?.toLowerCase() === wanted];
  if (out && into) return h('span.tag', 'Self');
  return h(out ? 'span.tag' : 'span.tag.good', out ? 'Out' : 'In');
}

/** A block's number as a link. */
export function blockCell(number) {
  return number === null ? h('span.soft', 'Pending') : h('a', { href: `#/block/${number}` }, count(number));
}

/** The symbol of a token in the index. */
export function symbolOf(token) {
  return token.symbol || token.name || shorten(token.address_hash, 6, 4);
}

/** A link to a token's page. */
export function tokenLink(token, text = symbolOf(token)) {
  return h('a.clip', { href: `#/token/${token.address_hash}`, title: `${token.name ?? 'Token'} ${token.address_hash}` }, text);
}

/** An amount of a token in the index. */
export function tokenAmount(value, token) {
  if (value === null) return '–';
  const decimals = Number(token.decimals ?? 0);
  return h('span', { title: toUnits(value, decimals) }, amount(value, decimals, 9));
}

const TIME = { title: 'Age', time: true };

/** Columns of transactions: the cells of a row, and its texts for CSV. `here` is the address whose transactions they are. */
export function transactionColumns({ here = null, block = true, fee = false } = {}) {
  return [
    { title: 'Transaction hash', cell: (row) => hashLink(row.hash), csv: (row) => row.hash },
    { title: 'Status', cell: outcome, csv: (row) => (row.ok ? 'success' : row.ok === null ? 'pending' : 'failed') },
    { title: 'Reason', csv: (row) => row.reason ?? '' },
    { title: 'Method', cell: method, csv: (row) => row.method },
    { title: 'Block', cell: block ? (row) => blockCell(row.block) : null, csv: (row) => row.block },
    { ...TIME, cell: block ? (row) => timeCell(row.time) : null, csv: (row) => new Date(row.time * 1_000).toISOString() },
    { title: 'From', cell: (row) => party(row.from, here), csv: (row) => row.from },
    here && { title: 'Direction', cell: (row) => direction(row, here) },
    { title: 'To', cell: (row) => recipient(row, here), csv: (row) => row.to ?? '' },
    { title: 'Contract created', csv: (row) => row.created ?? '' },
    { title: 'Value', number: true, cell: (row) => shortCoins(row.value, 6), csv: (row) => toUnits(row.value, 18) },
    { title: 'Fee', number: true, cell: fee ? (row) => (row.fee === null ? '–' : shortCoins(row.fee, 4)) : null, csv: (row) => (row.fee === null ? '' : toUnits(row.fee, 18)) },
  ].filter(Boolean);
}

/** Columns of token transfers. */
export function transferColumns({ here = null, token = true } = {}) {
  return [
    { title: 'Transaction hash', cell: (row) => hashLink(row.hash), csv: (row) => row.hash },
    { title: 'Type', cell: (row) => h('span.tag', row.kind), csv: (row) => row.kind },
    { title: 'Block', cell: (row) => blockCell(row.block), csv: (row) => row.block },
    { ...TIME, cell: (row) => timeCell(row.time), csv: (row) => (row.time ? new Date(row.time * 1_000).toISOString() : '') },
    { title: 'From', cell: (row) => (row.kind === 'Mint' ? h('span.soft', 'New') : party(row.from, here)), csv: (row) => row.from },
    here && { title: 'Direction', cell: (row) => direction(row, here) },
    { title: 'To', cell: (row) => (row.kind === 'Burn' ? h('span.soft', 'Burnt') : party(row.to, here)), csv: (row) => row.to },
    { title: 'Amount', number: true, cell: (row) => (row.value === null ? h('span.soft', '1') : tokenAmount(row.value, row.token)), csv: (row) => (row.value === null ? 1 : toUnits(row.value, Number(row.token.decimals ?? 0))) },
    { title: 'Token', cell: token ? (row) => [tokenLink(row.token), row.id !== null && [' ', idLink(row.token, row.id)]] : (row) => row.id !== null && idLink(row.token, row.id), csv: (row) => symbolOf(row.token), hidden: !token && ((row) => row.id === null) },
    { title: 'Token contract', csv: (row) => row.token.address_hash },
    { title: 'Token ID', csv: (row) => row.id ?? '' },
  ].filter(Boolean);
}

/** A link to one id of a non-fungible token. */
export function idLink(token, id) {
  return h('a', { href: `#/token/${token.address_hash}/${id}`, title: `ID ${id}` }, `#${shorten(String(id), 8, 4)}`);
}

/** Columns of internal transactions. */
export function internalColumns(here = null) {
  return [
    { title: 'Transaction hash', cell: (row) => hashLink(row.hash), csv: (row) => row.hash },
    { title: 'Type', cell: (row) => [h('span.tag', row.kind), !row.ok && h('span.tag.bad', { title: row.reason ?? '' }, 'Failed')], csv: (row) => row.kind },
    { title: 'Block', cell: (row) => blockCell(row.block), csv: (row) => row.block },
    { ...TIME, cell: (row) => timeCell(row.time), csv: (row) => new Date(row.time * 1_000).toISOString() },
    { title: 'From', cell: (row) => party(row.from, here), csv: (row) => row.from },
    { title: 'To', cell: (row) => recipient(row, here), csv: (row) => row.to ?? row.created ?? '' },
    { title: 'Value', number: true, cell: (row) => shortCoins(row.value, 8), csv: (row) => toUnits(row.value, 18) },
    { title: 'Error', csv: (row) => row.reason ?? '' },
  ];
}

function tableOf(columns, rows, empty, label) {
  const shown = columns.filter((column) => column.cell && !(column.hidden && rows.every(column.hidden)));
  const kind = (tag, column) => `${tag}${column.number ? '.number' : ''}${column.time ? '.times' : ''}`;
  const head = shown.map((column) => h(kind('th', column), { scope: 'col' }, column.time ? timeHeading() : column.title));
  const body = rows.map((row) => h('tr', shown.map((column) => h(kind('td', column), column.cell(row)))));
  const none = h('tr', h('td.empty', { colspan: shown.length }, empty));
  return h('div.scroll', { tabindex: '0', role: 'group', 'aria-label': label }, h('table', h('thead', h('tr', head)), h('tbody', rows.length ? body : none)));
}

/** Placeholder rows while a list is loading. */
function skeleton(size) {
  return h('div.skeleton', { 'aria-hidden': 'true' }, Array.from({ length: size + 1 }, () => h('i')));
}

/** A text as a field of CSV. A leading character that spreadsheets take for a formula is quoted. */
function csvField(value) {
  const text = String(value ?? '');
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+$/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A button that downloads all rows of a list as CSV, up to a maximum. */
export function exportButton(name, columns, load) {
  const button = h('button', { type: 'button', title: `Download up to ${count(EXPORTED)} rows` }, 'Export CSV');
  button.addEventListener('click', async () => {
    const written = columns.filter((column) => column.csv);
    const lines = [written.map((column) => column.title === 'Age' ? 'Time' : column.title)];
    button.disabled = true;
    try {
      let cursor = null;
      do {
        const page = await load(cursor);
        for (const row of page.rows.slice(0, EXPORTED + 1 - lines.length)) lines.push(written.map((column) => column.csv(row)));
        cursor = page.next;
        setText(button, `Exporting ${count(lines.length - 1)}…`);
      } while (cursor && lines.length <= EXPORTED);
      const blob = new Blob([lines.map((line) => line.map(csvField).join(',')).join('\r\n')], { type: 'text/csv' });
      const link = h('a', { href: URL.createObjectURL(blob), download: `${name}.csv` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
      announce(`Exported ${count(lines.length - 1)} rows`);
      setText(button, cursor ? `Exported the newest ${count(EXPORTED)}` : 'Export CSV');
    } catch (error) {
      setText(button, 'Export CSV');
      replace(button.parentElement.querySelector('.problem') ?? button.parentElement.appendChild(h('div.problem')), failure(error));
    }
    button.disabled = false;
  });
  return button;
}

/**
 * A list in pages. `load(cursor)` resolves to { rows, next, note, paused }. `live` reloads the first page when there are
 * new blocks, unless the user is reading: then the rows stay, and a button shows the newer ones. `size` is the number of
 * placeholder rows; a `brief` list has one page.
 */
export function pagedList({ signal, label, columns, load, empty = 'No data', live = false, csv = null, controls = null, pace = 2_000, size = 5, brief = false }) {
  const area = h('div.list', { 'aria-busy': 'true' }, skeleton(size));
  const note = h('p.soft.note-line', { role: 'status' });
  const fresh = h('button.quiet.fresh-rows', { type: 'button', hidden: true }, 'Show newer rows');
  const newest = h('button', { type: 'button', disabled: true }, 'Newest');
  const newer = h('button', { type: 'button', disabled: true }, '← Newer');
  const older = h('button', { type: 'button', disabled: true }, 'Older →');
  const pager = h('nav.pager', { 'aria-label': `Pages of ${label}` }, newest, newer, older);
  const hasBar = controls || csv;
  const bar = h('div.list-bar', controls, hasBar && fresh, csv && exportButton(csv, columns, load));
  const foot = !brief && h('div.list-foot', note, !hasBar && fresh, pager);
  let [cursor, next, trail, turn, shown, failed] = [null, null, [], 0, '', false];
  let pending = null;

  const keyOf = (rows) => rows.map((row) => `${row.hash ?? row.key ?? ''}${row.ok ?? ''}${row.log ?? ''}${row.index ?? ''}`).join();
  const isReading = () => {
    const box = area.getBoundingClientRect();
    const focused = area.contains(document.activeElement) && document.activeElement !== document.body;
    const selected = !getSelection().isCollapsed && area.contains(getSelection().anchorNode);
    return box.top < 0 || focused || selected || area.matches(':hover');
  };

  function draw(page) {
    [next, shown, failed, pending] = [page.next, keyOf(page.rows), false, null];
    fresh.hidden = true;
    replace(area, tableOf(columns, page.rows, page.paused ? 'None found yet' : empty, label));
    area.setAttribute('aria-busy', 'false');
    setText(note, page.note ?? '');
    newest.disabled = cursor === null;
    newer.disabled = trail.length === 0;
    older.disabled = !next;
    setText(older, page.paused ? 'Search older →' : 'Older →');
    pager.hidden = cursor === null && !next;
  }

  async function show({ quiet = false } = {}) {
    const mine = ++turn;
    if (!quiet) area.setAttribute('aria-busy', 'true');
    try {
      const page = await load(cursor);
      if (mine !== turn || signal.aborted) return;
      if (quiet && keyOf(page.rows) === shown) return;
      if (quiet && isReading()) {
        if (brief) return;
        pending = page;
        fresh.hidden = false;
        return;
      }
      draw(page);
    } catch (error) {
      if (mine !== turn || signal.aborted || (quiet && shown)) return;
      failed = true;
      area.setAttribute('aria-busy', 'false');
      replace(area, failure(error), h('button', { type: 'button', onclick: () => show() }, 'Retry'));
    }
  }

  const go = async (to, back) => {
    trail = back;
    cursor = to;
    await show();
    if (area.getBoundingClientRect().top < 0) element.scrollIntoView({ block: 'start' });
    announce(`${label}: page ${trail.length + 1}`);
  };
  older.addEventListener('click', () => go(next, [...trail, cursor]));
  newer.addEventListener('click', () => go(trail.at(-1), trail.slice(0, -1)));
  newest.addEventListener('click', () => go(null, []));
  fresh.addEventListener('click', () => {
    document.activeElement?.blur();
    if (pending) draw(pending);
  });
  if (live) {
    let first = true;
    whenever(node, 'head', signal, () => {
      if (!first && cursor === null && !area.matches('[aria-busy="true"]') && !document.hidden) show({ quiet: true });
      first = false;
    }, pace);
  }
  node.addEventListener('status', () => node.connected && failed && show(), { signal });
  const clock = setInterval(() => refreshTimes(area), 5_000);
  signal.addEventListener('abort', () => clearInterval(clock));
  show();
  const element = h('div.stack', hasBar && bar, area, foot);
  element.reload = () => {
    [cursor, trail, shown] = [null, [], ''];
    return show();
  };
  return element;
}

/** Tabs: `tabs` are { id, title, make(signal) }. The content of a tab is made when it is opened first. `chosen(id)` is called at each change. */
export function tabList({ label, tabs, selected, signal, chosen }) {
  const panels = new Map();
  const list = h('div.tabs', { role: 'tablist', 'aria-label': label });
  const box = h('div');
  const prefix = `tab-${Math.random().toString(36).slice(2, 8)}`;
  const buttons = tabs.map((tab) => h('button', { type: 'button', role: 'tab', id: `${prefix}-${tab.id}`, 'aria-controls': `${prefix}-panel-${tab.id}` }, tab.title));
  const open = (at, focus) => {
    const tab = tabs[at];
    buttons.forEach((button, other) => {
      button.setAttribute('aria-selected', String(other === at));
      button.tabIndex = other === at ? 0 : -1;
    });
    if (!panels.has(tab.id)) {
      const panel = h('div.stack', { role: 'tabpanel', id: `${prefix}-panel-${tab.id}`, 'aria-labelledby': `${prefix}-${tab.id}` });
      panels.set(tab.id, panel);
      box.append(panel);
      Promise.resolve().then(() => tab.make(signal)).then((content) => replace(panel, content), (error) => replace(panel, failure(error)));
    }
    for (const [id, panel] of panels) panel.hidden = id !== tab.id;
    if (focus) buttons[at].focus();
    const [left, width] = [buttons[at].offsetLeft - list.offsetLeft, buttons[at].offsetWidth];
    if (left < list.scrollLeft || left + width > list.scrollLeft + list.clientWidth) list.scrollLeft = left - 24;
  };
  buttons.forEach((button, at) => button.addEventListener('click', () => {
    open(at, false);
    chosen?.(tabs[at].id);
  }));
  list.append(...buttons);
  list.addEventListener('keydown', (event) => {
    const at = buttons.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const wrapped = (to + buttons.length) % buttons.length;
    open(wrapped, true);
    chosen?.(tabs[wrapped].id);
  });
  open(Math.max(0, tabs.findIndex((tab) => tab.id === selected)), false);
  requestAnimationFrame(() => (list.scrollLeft = Math.max(0, (list.querySelector('[aria-selected="true"]')?.offsetLeft ?? 0) - list.offsetLeft - 24)));
  return h('section.card', list, box);
}

/** Writes a query into the address bar without loading the view again. */
export function setQuery(path, query) {
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false);
  const text = new URLSearchParams(kept).toString();
  history.replaceState(null, '', `#/${path}${text && `?${text}`}`);
}

/** The share of the gas limit that was used, as a bar. */
export function gasBar(used, limit) {
  const share = limit ? used / limit : 0;
  const text = `${(share * 100).toFixed(share > 0 && share < 0.1 ? 2 : 0)}%`;
  return h('span.gas', h('span.meter', { 'aria-hidden': 'true' }, h('i', { style: { width: `${Math.min(100, share * 100)}%` } })), h('span.soft', text));
}
