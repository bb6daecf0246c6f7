// DOM construction. No code of the page parses text as markup.

import { sentence } from './format.js';

/**
 * Characters that change the direction of writing, with which the name of a token could look like
 * another's.
 */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const SVG = 'http://www.w3.org/2000/svg';

/** A text without the characters that change its direction. */
const shown = (text) => String(text).replace(DIRECTION, '\ufffd');

/** Children as nodes and texts to show, of lists of any depth. */
function contentOf(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : shown(child)));
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') Object.assign(element.style, value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...contentOf(children));
  return element;
}

function make(namespace, selector, rest) {
  const [tag, ...classes] = selector.split('.');
  const element = namespace
    ? document.createElementNS(namespace, tag)
    : document.createElement(tag || 'div');
  if (classes.length) element.classList.add(...classes);
  const [first, ...others] = rest;
  const isProperties =
    first && typeof first === 'object' && !(first instanceof Node) && !Array.isArray(first);
  return isProperties ? fill(element, first, others) : fill(element, {}, rest);
}

/**
 * Creates an element: `h('a.link', { href }, 'text')`. Properties that start with `on` are event
 * listeners.
 */
export function h(selector, ...rest) {
  return make(null, selector, rest);
}

/** Creates an SVG element, with the arguments of `h`. */
export function s(selector, ...rest) {
  return make(SVG, selector, rest);
}

/** Replaces the children of an element. */
export function replace(element, ...children) {
  element.replaceChildren(...contentOf(children));
  return element;
}

/** Sets a text if it differs, so that an unchanged one is neither announced nor repainted. */
export function setText(element, text) {
  const wanted = shown(text ?? '');
  if (element.textContent !== wanted) element.textContent = wanted;
}

/**
 * Sets the content of an element, another element or none, if its text differs: `setText` for a
 * text with a link.
 */
export function setContent(element, child) {
  if (element.textContent !== (child?.textContent ?? '')) replace(element, child);
}

const live = document.getElementById('live');
const toasts = document.getElementById('toasts');

/** Announces a text to screen readers. */
export function announce(text) {
  live.textContent = text;
}

/** The maximum number of messages shown at a time. */
const MOST_TOASTS = 4;

/**
 * Shows a message that disappears after some seconds, but not under the pointer or with the focus
 * in it.
 */
export function toast(text, kind = 'info', link = null) {
  const close = h('button.close', { type: 'button', 'aria-label': 'Dismiss' }, icon('close'));
  const box = h(
    `div.toast.${kind}`,
    h('p', text),
    link && h('a', { href: link.href }, link.text),
    close,
  );
  close.addEventListener('click', () => box.remove());

  toasts.append(box);
  while (toasts.children.length > MOST_TOASTS) toasts.firstElementChild.remove();
  announce(text);

  // On a phone, where messages are at the end of the window, the button in use must not be below
  // them.
  document.activeElement
    ?.closest?.('main button, main a, main input')
    ?.scrollIntoView({ block: 'nearest' });

  const expire = () =>
    box.matches(':hover, :focus-within') ? setTimeout(expire, 1_000) : box.remove();
  setTimeout(expire, kind === 'error' ? 9_000 : 5_000);
}

/** A button that copies a text. */
export function copyButton(text, label = 'Copy') {
  const button = h(
    'button.copy',
    { type: 'button', 'aria-label': label, title: label },
    icon('copy'),
  );
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'function' ? text() : text);
      replace(button, icon('check'));
      announce('Copied');
      setTimeout(() => replace(button, icon('copy')), 1_500);
    } catch {
      toast('The browser denied access to the clipboard', 'error');
    }
  });
  return button;
}

const ICONS = {
  copy: 'M9 9h10v11H9zM5 15V4h10',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M4 12l5 5L20 6',
  network: 'M3 12h4l3-8 4 16 3-8h4',
  explorer: 'M12 2l9 5v10l-9 5-9-5V7zM3 7l9 5 9-5M12 12v10',
  exchange: 'M4 8h15l-4-4M20 16H5l4 4',
  lending: 'M3 21h18M5 21V10M10 21V10M14 21V10M19 21V10M3 10l9-7 9 7z',
  accounts: 'M12 12a4 4 0 100-8 4 4 0 000 8zM4 21c0-4 3.6-7 8-7s8 3 8 7',
  developer: 'M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16',
  transact: 'M21 3L10 14M21 3l-7 18-4-7-7-4z',
  api: 'M3 5h18v14H3zM7 9l3 3-3 3M12 15h5',
  back: 'M15 5l-7 7 7 7',
  search: 'M11 18a7 7 0 100-14 7 7 0 000 14zM16 16l5 5',
  theme: 'M12 3a9 9 0 100 18zM12 3a9 9 0 010 18',
  swap: 'M7 4v16m0 0l-4-4m4 4l4-4M17 20V4m0 0l-4 4m4-4l4 4',
};

/** A decorative icon. */
export function icon(name) {
  return s(
    'svg.icon',
    { viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    s('path', { d: ICONS[name] }),
  );
}

/** Number of characters of a name that fit in a line on phones. */
const SHORT_NAME = 20;

/** A name in camel case, which may be broken between its words if it is long. */
function breakable(name) {
  if (typeof name !== 'string' || name.length <= SHORT_NAME) return name;
  return name.split(/(?<=[a-z])(?=[A-Z])/).flatMap((word, at) => (at ? [h('wbr'), word] : [word]));
}

/** A heading, with controls or tags on its right. */
export function heading(title, ...aside) {
  return h('header.heading', h('h1', { tabindex: '-1' }, breakable(title)), h('div.aside', aside));
}

/** A card with a title. */
export function card(title, ...children) {
  return h('section.card', title && h('h2', title), children);
}

/** A list of names and values; entries without a value are omitted. */
export function facts(entries) {
  const shown = entries.filter((entry) => entry && entry[1] !== null && entry[1] !== undefined);
  return h(
    'dl.facts',
    shown.map(([name, ...value]) => h('div', h('dt', name), h('dd', value))),
  );
}

/**
 * A table of column names (a leading dash marks a numeric column) and rows of cells. `empty` is
 * shown without rows. `lines` are the lines of a row on phones in which the columns are shown, as
 * in lists; one without a line is not.
 */
export function table(columns, rows, { empty = 'No data', lines = [] } = {}) {
  const classes = columns.map(
    (name, at) => `${name.startsWith('-') ? '.number' : ''}${lines[at] ? `.${lines[at]}` : ''}`,
  );
  const head = columns.map((name, at) =>
    h(`th${classes[at]}`, { scope: 'col' }, name.replace(/^-/, '')),
  );
  const body = rows.map((cells) =>
    h(
      'tr',
      cells.map((cell, at) => h(`td${classes[at]}`, cell)),
    ),
  );
  const none = h('tr', h('td.empty', { colspan: columns.length }, empty));

  const titles = columns.map((name) => name.replace(/^-/, '')).filter(Boolean);
  return h(
    'div.scroll',
    { tabindex: '0', role: 'group', 'aria-label': `Table: ${titles.join(', ')}` },
    h(
      lines.length ? 'table.rows' : 'table',
      h('thead', h('tr', head)),
      h('tbody', rows.length ? body : none),
    ),
  );
}

/** The message of an error, or a text, as a sentence. */
export function failure(error) {
  return h('p.failure', { role: 'alert' }, sentence(error?.message ?? error));
}

/** A labelled field. */
export function field(label, input, hint) {
  return h('label.field', h('span', label), input, hint && h('small', hint));
}
