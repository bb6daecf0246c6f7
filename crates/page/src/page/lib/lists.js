// Lists in pages.

import { timeHeading } from './clock.js';
import { exportButton } from './csv.js';
import { announce, failure, h, replace, setText } from './dom.js';
import { node, whenever } from './node.js';
import { keep, kept, placed, setPlace } from './place.js';

/**
 * How often lists of non-fungible tokens are loaded again, in milliseconds: the node calls a
 * contract for each row's metadata.
 */
export const ITEMS_PACE = 30_000;

function tableOf(columns, rows, empty, label) {
  const shown = columns.filter(
    (column) => column.cell && !(column.hidden && rows.every(column.hidden)),
  );
  const kind = (tag, column) =>
    `${tag}${column.number ? '.number' : ''}${column.time ? '.times' : ''}${column.phone ? `.${column.phone}` : ''}`;
  const hasLines = shown.some((column) => column.phone);
  const head = shown.map((column) =>
    h(kind('th', column), { scope: 'col' }, column.time ? timeHeading() : column.title),
  );
  const body = rows.map((row) =>
    h(
      'tr',
      shown.map((column) => h(kind('td', column), column.cell(row))),
    ),
  );
  const none = h('tr', h('td.empty', { colspan: shown.length }, empty));
  return h(
    'div.scroll',
    { tabindex: '0', role: 'group', 'aria-label': label },
    h(
      hasLines ? 'table.rows' : 'table',
      h('thead', h('tr', head)),
      h('tbody', rows.length ? body : none),
    ),
  );
}

/** Placeholder rows while a list is loading. */
function skeleton(size) {
  return h(
    'div.skeleton',
    { 'aria-hidden': 'true' },
    Array.from({ length: size + 1 }, () => h('i')),
  );
}

/** The cursor of a page in a URL, or null. */
function cursorIn(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * A list in pages. A column's `phone` is the line of a row in which it is shown on phones, such as
 * `line-1` or `line-2.end`; without lines the table is scrolled there. `load(cursor)` resolves to {
 * rows, next, note, paused }. `live` reloads the first page when there are new blocks, unless the
 * user is reading: then the rows stay, and a button shows the newer ones. `size` is the number of
 * placeholder rows; a `brief` list has one page.
 */
export function pagedList({
  signal,
  label,
  columns,
  load,
  empty = 'No data',
  live = false,
  csv = null,
  controls = null,
  pace = 2_000,
  size = 5,
  brief = false,
}) {
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
  // The URL has the page, and the history's entry the pages before it.
  const place = label.toLowerCase().replaceAll(' ', '-');
  let [cursor, next, turn, shown, failed] = [
    brief ? null : cursorIn(placed(place)),
    null,
    0,
    '',
    false,
  ];
  let trail = cursor === null ? [] : (kept(place) ?? [null]);
  let pending = null;

  const keyOf = (rows) =>
    rows
      .map((row) => `${row.hash ?? row.key ?? ''}${row.ok ?? ''}${row.log ?? ''}${row.index ?? ''}`)
      .join();
  const isReading = () => {
    const box = area.getBoundingClientRect();
    const focused =
      area.contains(document.activeElement) && document.activeElement !== document.body;
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
      // What the note counts, such as hidden rows, may have changed alone.
      if (quiet && keyOf(page.rows) === shown) return void setText(note, page.note ?? '');
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
      // A position that the node refuses must not be the end.
      newest.disabled = cursor === null;
      area.setAttribute('aria-busy', 'false');
      replace(
        area,
        failure(error),
        h('button', { type: 'button', onclick: () => show() }, 'Retry'),
      );
    }
  }

  const turnTo = (to, back) => {
    [cursor, trail] = [to, back];
    if (signal.aborted || brief) return;
    setPlace({ [place]: cursor === null ? null : JSON.stringify(cursor) });
    keep(place, trail.length ? trail : undefined);
  };
  const go = async (to, back) => {
    turnTo(to, back);
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
    whenever(
      node,
      'head',
      signal,
      () => {
        if (!first && cursor === null && !area.matches('[aria-busy="true"]') && !document.hidden)
          show({ quiet: true });
        first = false;
      },
      pace,
    );
  }
  node.addEventListener('status', () => node.connected && failed && show(), { signal });
  show();
  const element = h('div.stack', hasBar && bar, area, foot);
  element.reload = () => {
    turnTo(null, []);
    shown = '';
    return show();
  };
  return element;
}
