// The table of a list, and its placeholder.

import { timeHeading } from './clock.js';
import { h } from './dom.js';

/** A cell's element and classes: of a number, of a time, and of its line on phones. */
function cellSelector(tag, { number, time, phone }) {
  return [tag, number && 'number', time && 'times', phone].filter(Boolean).join('.');
}

/** A table of rows. A column without a cell, or hidden for every row, is not shown. */
export function listTable(columns, rows, empty, label) {
  const shown = columns.filter(
    (column) => column.cell && !(column.hidden && rows.every(column.hidden)),
  );

  const head = shown.map((column) =>
    h(cellSelector('th', column), { scope: 'col' }, column.time ? timeHeading() : column.title),
  );
  const body = rows.map((row) =>
    h(
      'tr',
      shown.map((column) => h(cellSelector('td', column), column.cell(row))),
    ),
  );
  const none = h('tr', h('td.empty', { colspan: shown.length }, empty));

  const hasLines = shown.some((column) => column.phone);
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
export function skeleton(size) {
  return h(
    'div.skeleton',
    { 'aria-hidden': 'true' },
    Array.from({ length: size + 1 }, () => h('i')),
  );
}
