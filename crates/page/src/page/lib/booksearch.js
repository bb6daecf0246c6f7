// The search box of the book.

import { find, marked, prepare } from './bookindex.js';
import { h, replace } from './dom.js';

const query = document.getElementById('book-query');
const results = document.getElementById('book-results');

/** The URL of the book. */
let book;
/** The promise of the index, loaded once; a failure is not kept. */
let loading = null;
/** The index of the marked result, or -1. */
let chosen = -1;

async function load() {
  const response = await fetch(new URL('search.json', book));
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return prepare(await response.json());
}

function index() {
  loading ??= load().catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

function options() {
  return [...results.querySelectorAll('[role=option]')];
}

/** Marks a result; after the last one comes the first. */
function choose(at) {
  const all = options();
  chosen = all.length ? (at + all.length) % all.length : -1;
  all.forEach((option, own) => option.setAttribute('aria-selected', String(own === chosen)));
  if (chosen < 0) query.removeAttribute('aria-activedescendant');
  else {
    query.setAttribute('aria-activedescendant', all[chosen].id);
    all[chosen].scrollIntoView({ block: 'nearest' });
  }
}

function close() {
  results.hidden = true;
  query.setAttribute('aria-expanded', 'false');
  choose(-1);
  chosen = -1;
}

function highlighted(text, words) {
  return marked(text, words).map(([part, matches]) => (matches ? h('mark', part) : part));
}

function optionFor({ title, heading, href, excerpt }, at, words) {
  const place = heading === title ? null : h('small.soft', title);
  return h(
    'a',
    {
      role: 'option',
      id: `book-result-${at}`,
      href: new URL(href, book).href,
      tabindex: '-1',
      'aria-selected': 'false',
    },
    h('strong', highlighted(heading, words)),
    place,
    excerpt && h('span', highlighted(excerpt, words)),
  );
}

function message(text) {
  return h('p.empty', { role: 'presentation' }, text);
}

/** Shows the results of the term, unless it has changed in the meantime. */
async function search() {
  const words = query.value.trim();
  if (!words) return close();

  let shown;
  try {
    const found = find(await index(), words);
    if (words !== query.value.trim()) return undefined;
    shown = found.length
      ? found.map((one, at) => optionFor(one, at, words))
      : message(`Nothing found for “${words.slice(0, 60)}”`);
  } catch {
    shown = message('The search could not be loaded. Check the connection to the node.');
  }

  replace(results, shown);
  results.hidden = false;
  query.setAttribute('aria-expanded', 'true');
  if (options().length) choose(0);
  return undefined;
}

function press(event) {
  if (event.key === 'Escape') {
    if (results.hidden) query.value = '';
    close();
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !results.hidden) {
    event.preventDefault();
    choose(chosen + (event.key === 'ArrowDown' ? 1 : -1));
  }
}

/** Closes the results when the user turns to something else. */
function leave(event) {
  if (!event.target.closest('#book-search')) close();
}

/** Moves the focus to the search box when the user types a slash elsewhere. */
function pressAnywhere(event) {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    query.focus();
  }
}

/** Makes the search box of a book, given by its URL, work. */
export function listenToSearch(url) {
  book = url;
  query.addEventListener('focus', () => index().catch(() => {}), { once: true });
  query.addEventListener('input', search);
  query.addEventListener('keydown', press);
  document.getElementById('book-search').addEventListener('submit', (event) => {
    event.preventDefault();
    options()[chosen]?.click();
  });
  results.addEventListener('click', (event) => {
    if (event.target.closest('a')) close();
  });
  document.addEventListener('pointerdown', leave);
  document.addEventListener('focusin', leave);
  document.addEventListener('keydown', pressAnywhere);
}
