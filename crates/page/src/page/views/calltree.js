// The calls of an execution as a tree, from the call tracer.

import { typeName } from '../lib/abi.js';
import { h, replace } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { addressLink, argumentsOf, coins, tokenFor, decodedValue } from '../lib/links.js';
import { hexBlock } from './parts.js';

/** Number of calls shown at first, and at most after "Expand all". */
const FIRST = 120;
const MAX_EXPANDED = 2_000;
/** Number of calls and events inside one call that are shown at once. */
const SHOWN_INNER = 100;
/** Number of further ones that "Show more" adds. */
const MORE_INNER = 500;

const isCreation = (call) => call.type.startsWith('CREATE');

/** The decoded call: `{ fragment, values }`, or null. */
export function knownCall(call, decoder) {
  return isCreation(call) ? null : decoder.call(call.to, call.input);
}

/** A call's name in one word: its function, selector, or what it does. */
export function callName(call, known) {
  if (isCreation(call)) return 'create';
  if (call.type === 'SELFDESTRUCT') return 'selfdestruct';
  if (known) return known.fragment.name;
  return call.input && call.input.length >= 10 ? call.input.slice(0, 10) : 'transfer';
}

/** The decoded outputs of a call as a table, or null. */
export function resultsOf(fragment, values, contract) {
  if (!values?.length) return null;
  const rows = fragment.outputs.map((output, at) =>
    h(
      'tr',
      h('td', output.name || typeName(output)),
      h('td', decodedValue(values[at], output, tokenFor(output.name || fragment.name, contract))),
    ),
  );
  return h('table.arguments', h('tbody', rows));
}

/** Whether two calls did the same, apart from the calls inside them. */
const sameCall = (a, b) =>
  a.type === b.type &&
  a.to === b.to &&
  a.input === b.input &&
  a.output === b.output &&
  a.error === b.error &&
  (a.value ?? '0x0') === (b.value ?? '0x0');

/**
 * The calls of `others` in the order of `calls`: each takes the next one to the same function of
 * the same contract.
 */
function paired(calls, others) {
  let next = 0;
  return calls.map((call) => {
    const at = others.findIndex(
      (other, index) =>
        index >= next &&
        other.type === call.type &&
        other.to === call.to &&
        other.input?.slice(0, 10) === call.input?.slice(0, 10),
    );
    if (at < 0) return null;
    next = at + 1;
    return others[at];
  });
}

async function detailOf(call, known, decoder) {
  const values = known && !call.error ? decoder.result(known.fragment, call.output) : null;
  const hasOutput = call.output && call.output !== '0x';
  const parts = [];
  const part = (title, ...content) => parts.push(h('div', h('h3', title), content));

  if (known?.fragment.inputs.length) part('Arguments', argumentsOf(known, call.to));
  if (values) part('Returns', resultsOf(known.fragment, values, call.to));
  if (call.error && hasOutput)
    part('Reverted with', h('p', await decoder.error(call.output, call)));
  if (call.input && call.input !== '0x')
    part(isCreation(call) ? 'Creation code' : 'Input', hexBlock(call.input));
  if (hasOutput) part(isCreation(call) ? 'Code' : 'Output', hexBlock(call.output));
  part('Gas', h('p', `${count(Number(call.gasUsed))} used of ${count(Number(call.gas))}`));

  return h('div.call-detail', parts);
}

function eventLine(log, decoder) {
  const known = decoder.log(log);
  const name = known ? known.fragment.name : (log.topics[0]?.slice(0, 10) ?? 'anonymous');
  return h(
    'li',
    h('div.call', h('span.spacer'), h('div', h('span.tag', 'event'), h('span.mono.soft', name))),
  );
}

/** Calls and events inside a call, in the order in which they happened. */
function contents(call) {
  const calls = call.calls ?? [];
  const events = (call.logs ?? []).map((log) => ({ log, position: Number(log.position ?? 0) }));
  const all = [];

  for (let at = 0; at <= calls.length; at++) {
    for (const { log, position } of events)
      if (position === at || (at === calls.length && position > at)) all.push({ log });
    if (at < calls.length) all.push({ call: calls[at], index: at });
  }
  return all;
}

/** The mark of a call that another execution does not have, or has otherwise. */
function difference(call, counterpart) {
  if (!counterpart) return h('span.tag.accent', 'new');
  return sameCall(call, counterpart) ? null : h('span.tag.accent', 'differs');
}

/** The error of a call, which its decoded reason replaces. */
function errorTag(call, decoder) {
  if (!call.error) return null;
  const tag = h('span.tag.bad', call.error);
  if (call.output && call.output !== '0x')
    decoder.error(call.output, call).then((text) => replace(tag, text));
  return tag;
}

/** A call with the calls and events inside it, whose lines are made when they are first shown. */
class CallEntry {
  #tree;
  #call;
  /** The same call of the execution that this one is compared with, or null. */
  #counterpart;
  #known;

  /** The calls and events inside, how many of them have a line, and the calls' counterparts. */
  #inner;
  #filled = 0;
  #pairs = null;

  #toggle;
  #more;
  #details = h('div', { hidden: true });
  #list = h('ul', { hidden: true });
  #rest = h('li', h('button', { type: 'button', onclick: () => this.#fill(MORE_INNER) }));

  constructor(tree, call, counterpart) {
    this.#tree = tree;
    this.#call = call;
    this.#counterpart = counterpart;
    this.#known = knownCall(call, tree.decoder);
    this.#inner = contents(call);
    this.#buildButtons(callName(call, this.#known));
    this.line = this.#buildLine();
    this.element = h('li', this.line, this.#details, this.#list);
  }

  #buildButtons(name) {
    this.#toggle = this.#inner.length
      ? h('button.twist', {
          type: 'button',
          'aria-expanded': 'false',
          'aria-label': `Calls of ${name}`,
        })
      : h('span.spacer');
    this.#toggle.addEventListener('click', () => this.open(this.#list.hidden));

    const inputs = this.#known?.fragment.inputs;
    this.#more = h(
      'button.link-button',
      { type: 'button', 'aria-expanded': 'false' },
      inputs ? `${name}(${inputs.length ? '…' : ''})` : name,
    );
    this.#more.addEventListener('click', () => this.#toggleDetails());
  }

  #buildLine() {
    const call = this.#call;
    return h(
      'div.call',
      { tabindex: '-1' },
      this.#toggle,
      h(
        'div',
        h('span.tag', call.type.toLowerCase()),
        call.to ? addressLink(call.to) : h('span.soft', '–'),
        this.#more,
        this.#tree.isCompared && difference(call, this.#counterpart),
        call.value && BigInt(call.value) > 0n && h('span.tag.good', coins(call.value)),
        errorTag(call, this.#tree.decoder),
      ),
      h('span.gas', `${count(Number(call.gasUsed))} gas`),
    );
  }

  async #toggleDetails() {
    const isOpen = this.#details.hidden;
    if (isOpen && !this.#details.firstChild)
      this.#details.append(await detailOf(this.#call, this.#known, this.#tree.decoder));
    this.#details.hidden = !isOpen;
    this.#more.setAttribute('aria-expanded', String(isOpen));
  }

  /** Shows or hides what is inside. */
  open(isOpen) {
    if (!this.#inner.length) return;
    if (isOpen && !this.#filled) this.#fill(SHOWN_INNER);
    this.#list.hidden = !isOpen;
    this.#toggle.setAttribute('aria-expanded', String(isOpen));
  }

  /** Opens the call up to one inside it. */
  openTo(wanted) {
    this.open(true);
    const at = this.#inner.findIndex((one) => one.call === wanted);
    if (at >= this.#filled) this.#fill(at + 1 - this.#filled);
  }

  /** Adds the next lines. */
  #fill(number) {
    const next = this.#inner.slice(this.#filled, this.#filled + number);
    this.#filled += next.length;
    this.#rest.remove();
    this.#list.append(...next.map((one) => this.#innerElement(one)));
    this.#tree.spend(next.length);

    const left = this.#inner.length - this.#filled;
    if (left === 0) return;
    replace(this.#rest.firstChild, `Show more of ${count(left)}`);
    this.#list.append(this.#rest);
  }

  #innerElement({ log, call, index }) {
    if (log) return eventLine(log, this.#tree.decoder);
    this.#pairs ??= this.#counterpart
      ? paired(this.#call.calls ?? [], this.#counterpart.calls ?? [])
      : [];
    return this.#tree.add(call, this.#pairs[index] ?? null).element;
  }
}

/** A tree in which the outer calls are open at first. */
class CallTree {
  #trace;
  #entries = new Map();
  /** How many lines may be added before calls are no longer opened by themselves. */
  #left = FIRST;
  #note = h('p.soft', { role: 'status' });

  constructor(trace, decoder, other) {
    this.#trace = trace;
    this.decoder = decoder;
    this.isCompared = other !== null;

    const root = this.add(trace, other);
    this.#expand();
    const all = h('button', { type: 'button', onclick: () => this.#expandAll() }, 'Expand all');
    const none = h('button', { type: 'button', onclick: () => this.#collapse() }, 'Collapse all');
    this.element = h(
      'div.trace',
      trace.calls?.length ? h('div.row', all, none) : null,
      h('ul', root.element),
      this.#note,
    );
  }

  /** Makes the entry of a call. */
  add(call, counterpart) {
    const entry = new CallEntry(this, call, counterpart);
    this.#entries.set(call, entry);
    return entry;
  }

  /** Counts lines that an entry has added. */
  spend(lines) {
    this.#left -= lines;
  }

  /** Opens calls breadth first while the budget lasts. Returns whether all are open. */
  #expand() {
    const queue = [this.#trace];
    while (queue.length) {
      const call = queue.shift();
      if (this.#left <= 0) return false;
      this.#entries.get(call).open(true);
      queue.push(...(call.calls ?? []).filter((one) => this.#entries.has(one)));
    }
    return true;
  }

  #expandAll() {
    this.#left = Math.max(this.#left, MAX_EXPANDED - this.#entries.size);
    const text = `The first ${count(MAX_EXPANDED)} lines are expanded; open others one by one.`;
    replace(this.#note, this.#expand() ? null : text);
  }

  #collapse() {
    for (const entry of this.#entries.values()) entry.open(false);
  }

  /** The calls around a call, the outermost first. */
  #around(wanted) {
    const path = [];
    const find = (call) =>
      call === wanted || (call.calls ?? []).some((inner) => find(inner) && path.unshift(call));
    find(this.#trace);
    return path;
  }

  /** Opens all calls around a call, and moves the focus to it. */
  reveal(wanted) {
    const path = this.#around(wanted);
    path.forEach((call, at) => this.#entries.get(call).openTo(path[at + 1] ?? wanted));

    const { line } = this.#entries.get(wanted);
    line.scrollIntoView({ block: 'center' });
    line.focus({ preventScroll: true });
  }
}

/**
 * A call tree: `{ element, reveal(call) }`. With `other`, the tree of another execution, calls that
 * differ from it are marked. Lines are made when they are first shown.
 */
export function callTree(trace, decoder, { other = null } = {}) {
  const tree = new CallTree(trace, decoder, other);
  return { element: tree.element, reveal: (call) => tree.reveal(call) };
}
