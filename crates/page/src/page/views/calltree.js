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
  const parts = [];
  const part = (title, ...content) => parts.push(h('div', h('h3', title), content));
  if (known?.fragment.inputs.length) part('Arguments', argumentsOf(known, call.to));
  if (values) part('Returns', resultsOf(known.fragment, values, call.to));
  if (call.error && call.output && call.output !== '0x')
    part('Reverted with', h('p', await decoder.error(call.output, call)));
  if (call.input && call.input !== '0x')
    part(isCreation(call) ? 'Creation code' : 'Input', hexBlock(call.input));
  if (call.output && call.output !== '0x')
    part(isCreation(call) ? 'Code' : 'Output', hexBlock(call.output));
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

/**
 * A call tree: `{ element, reveal(call) }`. With `other`, the tree of another execution, calls that
 * differ from it are marked. Lines are made when they are first shown.
 */
export function callTree(trace, decoder, { other = null } = {}) {
  const entries = new Map();
  const budget = { left: FIRST };
  const note = h('p.soft', { role: 'status' });

  function entry(call, counterpart) {
    const known = knownCall(call, decoder);
    const inner = contents(call);
    const list = h('ul', { hidden: true });
    const details = h('div', { hidden: true });
    const name = callName(call, known);
    const target = call.to ? addressLink(call.to) : h('span.soft', '–');
    const mark =
      other &&
      (!counterpart
        ? h('span.tag.accent', 'new')
        : sameCall(call, counterpart)
          ? null
          : h('span.tag.accent', 'differs'));
    const toggle = inner.length
      ? h('button.twist', {
          type: 'button',
          'aria-expanded': 'false',
          'aria-label': `Calls of ${name}`,
        })
      : h('span.spacer');
    const more = h(
      'button.link-button',
      { type: 'button', 'aria-expanded': 'false' },
      known ? `${name}(${known.fragment.inputs.length ? '…' : ''})` : name,
    );
    const error = call.error ? h('span.tag.bad', call.error) : null;
    if (error && call.output && call.output !== '0x')
      decoder.error(call.output, call).then((text) => replace(error, text));
    const line = h(
      'div.call',
      { tabindex: '-1' },
      toggle,
      h(
        'div',
        h('span.tag', call.type.toLowerCase()),
        target,
        more,
        mark,
        call.value && BigInt(call.value) > 0n && h('span.tag.good', coins(call.value)),
        error,
      ),
      h('span.gas', `${count(Number(call.gasUsed))} gas`),
    );
    const element = h('li', line, details, list);
    let [filled, pairs] = [0, null];
    const rest = h('li', h('button', { type: 'button', onclick: () => fill(5 * SHOWN_INNER) }));
    /** Adds the next lines. */
    const fill = (number) => {
      pairs ??= counterpart ? paired(call.calls ?? [], counterpart.calls ?? []) : [];
      const next = inner.slice(filled, filled + number);
      filled += next.length;
      rest.remove();
      list.append(
        ...next.map((one) =>
          one.log ? eventLine(one.log, decoder) : entry(one.call, pairs[one.index] ?? null),
        ),
      );
      budget.left -= next.length;
      if (filled === inner.length) return;
      replace(rest.firstChild, `Show more of ${count(inner.length - filled)}`);
      list.append(rest);
    };
    const open = (on) => {
      if (!inner.length) return;
      if (on && !filled) fill(SHOWN_INNER);
      list.hidden = !on;
      toggle.setAttribute('aria-expanded', String(on));
    };
    /** Opens the call up to one inside it. */
    const openTo = (wanted) => {
      open(true);
      const at = inner.findIndex((one) => one.call === wanted);
      if (at >= filled) fill(at + 1 - filled);
    };
    toggle.addEventListener('click', () => open(list.hidden));
    more.addEventListener('click', async () => {
      const on = details.hidden;
      if (on && !details.firstChild) details.append(await detailOf(call, known, decoder));
      details.hidden = !on;
      more.setAttribute('aria-expanded', String(on));
    });
    entries.set(call, { line, open, openTo });
    return element;
  }

  /** Opens calls breadth first while the budget lasts. Returns whether all are open. */
  function expand() {
    const queue = [trace];
    while (queue.length) {
      const call = queue.shift();
      if (budget.left <= 0) return false;
      entries.get(call).open(true);
      queue.push(...(call.calls ?? []).filter((one) => entries.has(one)));
    }
    return true;
  }

  const root = entry(trace, other);
  expand();
  const all = h('button', { type: 'button' }, 'Expand all');
  all.addEventListener('click', () => {
    budget.left = Math.max(budget.left, MAX_EXPANDED - entries.size);
    replace(
      note,
      expand()
        ? null
        : `The first ${count(MAX_EXPANDED)} lines are expanded; open others one by one.`,
    );
  });
  const none = h('button', { type: 'button' }, 'Collapse all');
  none.addEventListener('click', () => entries.forEach(({ open }) => open(false)));
  const element = h(
    'div.trace',
    trace.calls?.length ? h('div.row', all, none) : null,
    h('ul', root),
    note,
  );

  function reveal(call) {
    const path = [];
    const find = (one) =>
      one === call || (one.calls ?? []).some((inner) => find(inner) && path.unshift(one));
    find(trace);
    path.forEach((one, at) => entries.get(one).openTo(path[at + 1] ?? call));
    const { line } = entries.get(call);
    line.scrollIntoView({ block: 'center' });
    line.focus({ preventScroll: true });
  }
  return { element, reveal };
}
