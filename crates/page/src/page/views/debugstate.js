// The state of a debugged execution at a step: frames, stack, memory, call data and storage.

import { typeName } from '../lib/abi.js';
import { copyButton, h } from '../lib/dom.js';
import { count, shorten } from '../lib/format.js';
import { addressLink, argumentsOf, coins } from '../lib/links.js';
import { callName, knownCall } from './calltree.js';
import { rawCall, wordText } from './parts.js';

/** Words of memory and of the stack, frames and slots that are shown. */
const SHOWN_WORDS = 128;
const SHOWN_STACK = 64;
const SHOWN_FRAMES = 64;
const SHOWN_SLOTS = 64;

const ASCII = /^[\x20-\x7e]$/;

function tableHead(names) {
  const cells = names.map((name) => h(name === '#' ? 'th.number' : 'th', { scope: 'col' }, name));
  return h('thead', h('tr', cells));
}

/** A table of words. `kind` is the class that decides how a row is laid out on phones. */
function wordTable(label, kind, heads, rows) {
  return h(
    'div.scroll',
    { tabindex: '0', role: 'group', 'aria-label': label },
    h(`table.words.${kind}`, tableHead(heads), h('tbody', rows)),
  );
}

/** The words of the stack, the top one first. */
export function stackPanel(stack) {
  if (!stack.length) return h('p.soft', 'The stack is empty.');
  const rows = stack
    .toReversed()
    .slice(0, SHOWN_STACK)
    .map((word, at) => h('tr', h('td.number', at), h('td.mono', wordText(word))));
  return [
    wordTable('Stack', 'stack-words', ['#', 'Word'], rows),
    stack.length > SHOWN_STACK &&
      h('p.soft', `The top ${SHOWN_STACK} of ${count(stack.length)} words.`),
  ];
}

/** A word of memory as text, with a dot for each byte that is not printable; nothing if none is. */
function printable(word) {
  const bytes = word.slice(2).match(/../g) ?? [];
  const letters = bytes.map((byte) => String.fromCharCode(parseInt(byte, 16)));
  if (!letters.some((letter) => ASCII.test(letter))) return '';
  return letters.map((letter) => (ASCII.test(letter) ? letter : '.')).join('');
}

function memoryRow(word, at) {
  return h(
    'tr',
    h('td.mono', `0x${(32 * at).toString(16)}`),
    h('td.mono', wordText(word.slice(2))),
    h('td.mono.soft', printable(word)),
  );
}

/** The words of memory with their positions. */
export function memoryPanel(memory) {
  if (!memory.length) return h('p.soft', 'The memory is empty.');
  const rows = memory.slice(0, SHOWN_WORDS).map(memoryRow);
  const whole = () => `0x${memory.map((word) => word.slice(2)).join('')}`;
  const isCut = memory.length > SHOWN_WORDS;

  return [
    wordTable('Memory', 'memory-words', ['Position', 'Bytes', 'Text'], rows),
    h(
      'div.row',
      isCut &&
        h(
          'p.soft',
          `The first ${count(32 * SHOWN_WORDS)} of ${count(32 * memory.length)} bytes; copying gives all.`,
        ),
      copyButton(whole, 'Copy memory'),
    ),
  ];
}

/** What a frame was called with: the function with its arguments, and the raw data. */
export function callDataPanel({ call, isCreation }, decoder) {
  const value =
    call.value && BigInt(call.value) > 0n && h('p', 'With ', h('strong', coins(call.value)));
  if (isCreation) {
    const bytes = (call.input?.length ?? 2) / 2 - 1;
    return [value, h('p.soft', `Creation code of ${count(bytes)} bytes`)];
  }

  const known = knownCall(call, decoder);
  const signature =
    known &&
    h('p.mono', `${known.fragment.name}(${known.fragment.inputs.map(typeName).join(', ')})`);
  return [
    signature,
    known && argumentsOf(known, call.to),
    value,
    !call.input || call.input === '0x'
      ? h('p.soft', 'No call data')
      : h('details', { open: !known }, h('summary', 'Raw call data'), rawCall(call.input)),
  ];
}

function frameName({ call }, contract, decoder) {
  return `${contract}.${call.type ? callName(call, knownCall(call, decoder)) : 'call'}`;
}

/** Whose code a frame runs, and with whose storage if that is another's. */
function frameAccounts({ account, code, hasFailed }) {
  const borrows = account !== code && account;
  return h(
    'div.frame-of',
    code ? addressLink(code) : h('span.soft', 'new contract'),
    borrows && h('span.soft', ' with the storage of ', addressLink(account)),
    hasFailed && h('span.tag.bad', 'fails'),
  );
}

/**
 * The frames of the call stack, the innermost first. `placeOf` gives their lines, and `chosen` is
 * the one that is looked at.
 */
export function framesPanel({ frames, chosen, decoder, nameOf, placeOf, choose }) {
  const shown = frames.slice(0, SHOWN_FRAMES).map((frame) => {
    const place = placeOf(frame);
    const button = h(
      'button.frame',
      { type: 'button', 'aria-pressed': String(frame === chosen), onclick: () => choose(frame) },
      h('strong', frameName(frame, nameOf(frame), decoder)),
      h('span.soft', place ? `${place.file.path}:${place.line}` : 'no line of a source'),
    );
    return h('li', button, frameAccounts(frame));
  });
  const rest = frames.length - SHOWN_FRAMES;
  return [h('ol.frames', shown), rest > 0 && h('p.soft', `and ${count(rest)} calls around these`)];
}

/** The name of a variable, in which long keys of mappings are shortened. */
function shortName(name) {
  return name.replace(/0x[0-9a-f]{16,}/g, (key) => shorten(key, 8, 4));
}

function stateValue({ kind, text }) {
  if (kind === 'unknown') return h('span.soft', 'not read');
  return kind === 'address' ? addressLink(text) : h('span.mono', text);
}

function variableRow(row) {
  const before = row.before !== null && h('div.soft', 'before: ', h('span.mono', row.before));
  return h(
    before ? 'tr.changed' : 'tr',
    h(
      'th.mono',
      { scope: 'row', title: `${row.name} (slot ${BigInt(row.slot)})` },
      shortName(row.name),
    ),
    h('td.soft', row.type),
    h('td', stateValue(row), before),
  );
}

/** Variables by name, with those that have changed marked. */
export function variablesPanel({ rows, isComplete }) {
  if (!rows.length) return h('p.soft', 'The contract has no variables in its storage.');
  return [
    h(
      'div.scroll',
      { tabindex: '0', role: 'group', 'aria-label': 'Variables' },
      h(
        'table.variables',
        tableHead(['Variable', 'Type', 'Value']),
        h('tbody', rows.map(variableRow)),
      ),
    ),
    !isComplete && h('p.soft', 'Long arrays, mappings and structs are shown in part.'),
  ];
}

/** A slot or a word without leading zeros. */
function shortWord(word) {
  return `0x${BigInt(word).toString(16)}`;
}

/** A cell of a word; on phones its `name` is beside it. */
function wordCell(word, name) {
  return h('td.mono', { title: word, 'data-name': name }, wordText(shortWord(word)));
}

function slotRow({ slot, before, value }) {
  return h(
    before === value ? 'tr' : 'tr.changed',
    h('td.mono', { title: slot }, shorten(shortWord(slot), 12, 8)),
    wordCell(before, 'Before'),
    wordCell(value, 'Now'),
  );
}

/** Slots that the execution uses, with their values before it and at a step. */
export function slotsPanel(slots) {
  if (!slots.length) return h('p.soft', 'The execution does not use the storage of this account.');
  const rows = slots.slice(0, SHOWN_SLOTS).map(slotRow);
  return [
    wordTable('Storage slots', 'slot-words', ['Slot', 'Before', 'Now'], rows),
    slots.length > SHOWN_SLOTS &&
      h('p.soft', `The first ${SHOWN_SLOTS} of ${count(slots.length)} slots.`),
  ];
}
