// Tables whose rows a view keeps up to date itself, where `table` of dom.js makes a new one.

import { h } from './dom.js';

/** A column's head. A leading dash marks a numeric column; the one without a name has buttons. */
function columnHead(name) {
  return h(
    name.startsWith('-') ? 'th.number' : 'th',
    { scope: 'col' },
    name.replace(/^-/, '') || h('span.hidden', 'Action'),
  );
}

/** The body of a table, with a line until its rows have been read. */
export function loadingBody(columns) {
  return h('tbody', h('tr', h('td.empty', { colspan: columns.length }, 'Loading…')));
}

/**
 * A table with a body of the view, which scrolls where it is too wide. `selector` is that of the
 * table, `label` its name for screen readers.
 */
export function liveTable(selector, label, columns, body) {
  return h(
    'div.scroll',
    { tabindex: '0', role: 'group', 'aria-label': label },
    h(selector, h('thead', h('tr', columns.map(columnHead))), body),
  );
}
