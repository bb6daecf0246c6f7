// The list of all operations, with its search.

import { h, replace, setText } from '../lib/dom.js';
import { search } from '../lib/reference.js';
import { badge, breakable, hrefOf } from './apiparts.js';
import { sizeOf, socketOf, streamsAt, streamsOf } from './apistreams.js';

/** Most results of a search. */
const MAX_RESULTS = 60;

/** What stays between operations: the search, open groups, the position of the list. */
const kept = { query: '', open: new Set(), scroll: 0 };

const HEADINGS = { rpc: 'JSON-RPC', rest: 'REST' };

function operationItem(operation, current, hasBadge) {
  const isRpc = operation.kind === 'rpc';
  return h(
    'li',
    h(
      'a',
      {
        href: hrefOf(operation.id),
        'aria-current': operation.id === current ? 'page' : null,
        title: operation.summary,
      },
      (hasBadge || !isRpc) && badge(operation),
      h('span', h('strong', breakable(operation.id)), !isRpc && h('small', operation.path)),
      operation.changes &&
        h('span.changes', { title: 'Changes state' }, h('span.hidden', 'changes state')),
    ),
  );
}

function streamItem({ key, name, about }, socket, isCurrent) {
  return h(
    'li',
    h(
      'a',
      {
        href: hrefOf(socket.id, `?stream=${key}`),
        'aria-current': isCurrent ? 'page' : null,
        title: about,
      },
      badge(socket),
      h('span', h('strong', breakable(name)), h('small', about)),
    ),
  );
}

/** Streams, with the texts in which the search looks for them. */
function searchable(streams) {
  return streams.map((stream) => ({
    ...stream,
    id: stream.name,
    text: `${stream.name} ${stream.about} ${stream.path} ${stream.message}`.toLowerCase(),
  }));
}

/** The searchable list. Groups are filled when they are opened. */
class OperationList {
  #operations;
  #groups;
  #streams;
  /** The operation that is shown, and the parameters of its link. */
  #current;
  #query;

  #input = h('input', {
    type: 'search',
    value: kept.query,
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Search methods and routes',
    'aria-label': 'Search methods and routes',
  });
  #count = h('p.soft.count', { role: 'status' });
  #list = h('div.groups');

  constructor({ operations, groups }, current, query) {
    this.#operations = operations;
    this.#groups = groups;
    this.#streams = streamsOf(operations);
    this.#current = current;
    this.#query = query;

    this.element = h(
      'nav.operations',
      { 'aria-label': 'Operations' },
      this.#input,
      this.#count,
      this.#list,
    );
    this.#input.addEventListener('input', () => this.#search());
    this.element.addEventListener('keydown', (event) => this.#press(event));
    this.#list.addEventListener('scroll', () => (kept.scroll = this.#list.scrollTop), {
      passive: true,
    });
    this.#draw();
    // The list has its size once it is in the document.
    queueMicrotask(() => requestAnimationFrame(() => this.#restoreScroll()));
  }

  #search() {
    kept.query = this.#input.value;
    kept.scroll = 0;
    this.#draw();
  }

  #draw() {
    if (kept.query.trim()) this.#drawFound();
    else this.#drawGroups();
  }

  #operationItems(operations, hasBadge = false) {
    return operations.map((one) => operationItem(one, this.#current, hasBadge));
  }

  #streamItems(streams) {
    return streams.map((stream) => {
      const socket = socketOf(stream, this.#operations);
      const isCurrent =
        socket.id === this.#current && this.#currentStreamKey(socket) === stream.key;
      return streamItem(stream, socket, isCurrent);
    });
  }

  /** The stream that the link names, known or not, or the first of its socket. */
  #currentStreamKey(socket) {
    return this.#query.get('stream') ?? streamsAt(socket.path)[0].key;
  }

  #drawGroups() {
    setText(this.#count, `${sizeOf(this.#operations)} operations`);

    let heading = null;
    const drawn = this.#groups.flatMap((group) => {
      const title = HEADINGS[group.kind] ?? heading;
      const isNew = title !== heading;
      heading = title;
      return [isNew && h('h2', title), this.#group(group)];
    });
    replace(this.#list, drawn);
  }

  #group(group) {
    const isLive = group.kind === 'live';
    const items = h('ul.plain');
    const fill = () => {
      if (items.childElementCount) return;
      replace(
        items,
        isLive ? this.#streamItems(this.#streams) : this.#operationItems(group.operations),
      );
    };

    const hasCurrent = group.operations.some((one) => one.id === this.#current);
    const open = hasCurrent || kept.open.has(group.key);
    if (open) fill();

    const size = isLive ? this.#streams.length : group.operations.length;
    const box = h(
      'details',
      { open },
      h('summary', h('span', group.name), h('span.soft', String(size))),
      items,
    );
    box.addEventListener('toggle', () => {
      if (box.open) fill();
      if (box.open) kept.open.add(group.key);
      else kept.open.delete(group.key);
    });
    return box;
  }

  #drawFound() {
    const operations = search(
      this.#operations.filter((one) => one.kind !== 'live'),
      kept.query,
    );
    const streams = search(searchable(this.#streams), kept.query);
    const number = operations.length + streams.length;

    setText(
      this.#count,
      operations.length > MAX_RESULTS
        ? `${MAX_RESULTS} of ${number} operations`
        : `${number} ${number === 1 ? 'operation' : 'operations'}`,
    );
    const items = [
      this.#operationItems(operations.slice(0, MAX_RESULTS), true),
      this.#streamItems(streams),
    ];
    replace(
      this.#list,
      number
        ? h('ul.plain', items)
        : h('p.empty', 'Nothing found. Search by method, path or words of the description.'),
    );
  }

  /** Moves the focus through the list with the arrow keys; Enter opens the first result. */
  #press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter' && event.target === this.#input)
      this.#list.querySelector('a')?.click();
    if (!step) return;
    event.preventDefault();

    const links = [...this.#list.querySelectorAll('summary, a')].filter((one) =>
      one.checkVisibility(),
    );
    const at = links.indexOf(document.activeElement);
    if (at < 0 && step < 0) return;
    if (at === 0 && step < 0) this.#input.focus();
    else links[Math.min(at + step, links.length - 1)]?.focus();
  }

  /** Scrolls to where the list was, and to the current operation if it is not visible there. */
  #restoreScroll() {
    const list = this.#list;
    list.scrollTop = kept.scroll;

    const current = list.querySelector('[aria-current]');
    if (!current) return;
    const box = list.getBoundingClientRect();
    const own = current.getBoundingClientRect();
    if (own.top < box.top || own.bottom > box.bottom)
      list.scrollTop += own.top - box.top - box.height / 3;
  }
}

/** The list for the node's documents; `current` is the operation that is shown. */
export function operationList(documents, current, query) {
  return new OperationList(documents, current, query).element;
}
