// The functions of a contract, each with a form.

import { signature, typeName } from '../lib/abi.js';
import { h } from '../lib/dom.js';
import { readForm, writeForm } from './functionforms.js';
import { showGetters } from './getters.js';

/** Fewer functions need no search. */
const SEARCHED_FROM = 9;

/**
 * The functions of an ABI by name, those of the implementation first; each with whether it is the
 * proxy's own.
 */
export function functionsOf(abi) {
  const found = new Map();
  for (const one of abi.implementation)
    if (one.type === 'function') found.set(signature(one), { called: one, own: false });
  for (const one of abi.own)
    if (one.type === 'function' && !found.has(signature(one)))
      found.set(signature(one), { called: one, own: abi.implementation.length > 0 });
  return [...found.values()].sort((a, b) => a.called.name.localeCompare(b.called.name));
}

/** The argument texts in a link's `args`, a JSON list. */
function argumentsIn(query) {
  try {
    const list = JSON.parse(query.get('args') ?? '[]');
    return Array.isArray(list)
      ? list.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one)))
      : [];
  } catch {
    return [];
  }
}

/** The function that a link names by its signature or its name, if it is of this tab. */
function namedIn(query, functions, tab) {
  const isTab = query.get('tab') === tab || (!query.has('tab') && tab === 'read');
  const wanted = isTab ? query.get('function') : null;
  return (
    functions.find(({ called }) => signature(called) === wanted) ??
    functions.find(({ called }) => called.name === wanted)
  );
}

/** The arguments and return types of a function as a declaration has them. */
function declarationOf({ inputs, outputs }) {
  const given = inputs.map((one) => `${typeName(one)}${one.name ? ` ${one.name}` : ''}`).join(', ');
  const returned = outputs.length ? ` → ${outputs.map(typeName).join(', ')}` : '';
  return `(${given})${returned}`;
}

/**
 * A function of the list: its element, the function, the element for its value, and `open(texts)`,
 * which opens its form filled in. `makeForm(called, texts, run)` is called when it is first opened.
 */
function functionEntry({ called, own }, makeForm) {
  const body = h('div.stack');
  const value = h('span.value');
  const element = h(
    'details',
    h(
      'summary',
      h('strong', called.name),
      h('span.mono.soft', declarationOf(called)),
      called.stateMutability === 'payable' && h('span.tag.accent', 'payable'),
      own && h('span.tag', 'proxy'),
      value,
    ),
    body,
  );
  const fill = (texts, run) => {
    if (!body.firstChild) body.append(makeForm(called, texts, run));
  };
  const open = (texts) => {
    fill(texts, true);
    element.open = true;
  };
  element.addEventListener('toggle', () => element.open && fill([], false));
  return { element, called, value, open };
}

/** A search by name that hides the other entries: `{ input, none }`. */
function functionSearch(entries) {
  const input = h('input', {
    type: 'search',
    placeholder: 'Filter functions',
    'aria-label': 'Filter functions',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const none = h('p.soft', { hidden: true }, 'No function has this name');
  input.addEventListener('input', () => {
    const text = input.value.trim().toLowerCase();
    for (const { element, called } of entries)
      element.hidden = !called.name.toLowerCase().includes(text);
    none.hidden = entries.some(({ element }) => !element.hidden);
  });
  return { input, none };
}

/** A list of functions, each with a form that is made when it is opened. */
export function functionList(contract, functions, tab, query, signal) {
  const makeForm = (called, texts, run) =>
    tab === 'read'
      ? readForm(contract, called, texts, run)
      : writeForm(contract, called, texts, signal);
  const named = namedIn(query, functions, tab);
  const entries = functions.map((one) => {
    const entry = functionEntry(one, makeForm);
    if (one === named) entry.open(argumentsIn(query));
    return entry;
  });
  if (tab === 'read') showGetters(contract, entries, signal);

  const { input, none } = functionSearch(entries);
  return h(
    'div.stack',
    entries.length >= SEARCHED_FROM && h('div', input),
    h(
      'div.functions',
      entries.map(({ element }) => element),
    ),
    none,
  );
}
