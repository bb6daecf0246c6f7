// Parts that the views of transactions, simulations and contracts share.

import { typeName } from '../lib/abi.js';
import { copyButton, h, replace, table } from '../lib/dom.js';
import { count, shorten } from '../lib/format.js';
import { addressLink, argumentsOf, coins, exactAmount } from '../lib/links.js';
import { ZERO } from '../lib/movements.js';

/** Number of characters of hex data that are shown; copying gives all. */
const SHOWN_HEX = 20_000;
/** Number of events shown before a button shows the rest. */
const SHOWN_EVENTS = 50;
/** Most transfers that are shown. */
const SHOWN_TRANSFERS = 200;
/** Longest data of an event that is shown in full, and what is shown of longer ones. */
const LONGEST_DATA = 600;
const SHOWN_DATA = { start: 560, end: 20 };

/** Hex data in a box with a copy button. */
export function hexBlock(data) {
  const cut = data.length > SHOWN_HEX;
  return h(
    'div.code',
    h('pre.hex', { tabindex: '0' }, data.slice(0, SHOWN_HEX), cut && '…'),
    copyButton(data),
    cut &&
      h(
        'p.soft',
        `The first ${count(SHOWN_HEX / 2)} of ${count(data.length / 2 - 1)} bytes; copying gives all.`,
      ),
  );
}

/**
 * Buttons of which one is pressed, and the content that goes with it: `choices` are pairs of a name
 * and a function. `draw()` makes the content again.
 */
export function switcher(label, choices, chosen = 0) {
  const content = h('div.stack');
  let current = chosen;
  const buttons = choices.map(([name], at) =>
    h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => choose(at) }, name),
  );
  const draw = () => replace(content, choices[current][1]());

  function choose(at) {
    current = at;
    buttons.forEach((button, index) => button.setAttribute('aria-pressed', String(index === at)));
    draw();
  }

  choose(chosen);
  return { control: h('div.tabs', { role: 'group', 'aria-label': label }, buttons), content, draw };
}

/** Digits of half a word, 16 bytes. */
const HALF_WORD = 32;

/** A word of 32 bytes in hex, which takes two lines of 16 bytes where one has no room. */
export function wordText(word) {
  const half = word.length - HALF_WORD;
  return half > 2 ? [word.slice(0, half), h('wbr'), word.slice(half)] : word;
}

/** Call data split into the selector and words of 32 bytes. */
export function rawCall(data) {
  if (data.length <= 10 || (data.length - 10) % 64 !== 0 || data.length > SHOWN_HEX)
    return hexBlock(data);

  const words = data.slice(10).match(/.{64}/g);
  const rows = words.map((word, at) => h('tr', h('td', `[${at}]`), h('td.mono', wordText(word))));
  return h(
    'div.code',
    h(
      'div.scroll',
      { tabindex: '0', role: 'group', 'aria-label': 'Call data in words' },
      h(
        'table.arguments.words',
        h('tbody', h('tr', h('td', 'Selector'), h('td.mono', data.slice(0, 10))), rows),
      ),
    ),
    copyButton(data),
  );
}

/** The signature of a function or event with the names of its parameters. */
export function declaration({ name, inputs }) {
  const parameters = inputs.map((input) =>
    [typeName(input), input.indexed && 'indexed', input.name].filter(Boolean).join(' '),
  );
  return `${name}(${parameters.join(', ')})`;
}

function rawLog(log) {
  const rows = [...log.topics.map((topic, at) => [`Topic ${at}`, topic]), ['Data', log.data]];
  const shown = (text) =>
    text.length > LONGEST_DATA ? shorten(text, SHOWN_DATA.start, SHOWN_DATA.end) : text;
  return h(
    'table.arguments',
    h(
      'tbody',
      rows.map(([name, text]) => h('tr', h('td', name), h('td.mono', shown(text)))),
    ),
  );
}

function event(log, decoder, raw) {
  const known = decoder.log(log);
  const title = known
    ? h('span.tag.accent', known.fragment.name)
    : h('span.tag', log.topics.length ? 'Unknown event' : 'Anonymous event');
  const signature = raw && known ? h('p.soft.mono', declaration(known.fragment)) : null;
  return h(
    'div.log',
    h('div.row', title, addressLink(log.address), h('span.soft', `#${Number(log.logIndex)}`)),
    signature,
    known && !raw ? argumentsOf(known, log.address) : rawLog(log),
  );
}

/** The first events, and a button that shows the rest. */
function firstEvents(logs, decoder, raw) {
  const entries = (some) => some.map((log) => event(log, decoder, raw));
  const rest = logs.slice(SHOWN_EVENTS);
  const more = h(
    'button',
    { type: 'button', onclick: () => more.replaceWith(...entries(rest)) },
    `Show ${count(rest.length)} more`,
  );
  return h('div', entries(logs.slice(0, SHOWN_EVENTS)), rest.length > 0 && more);
}

/** Events, decoded or raw. */
export function eventList(logs, decoder) {
  if (!logs.length) return h('p.soft', 'No events');

  const { control, content } = switcher('Form of events', [
    ['Decoded', () => firstEvents(logs, decoder, false)],
    ['Raw', () => firstEvents(logs, decoder, true)],
  ]);
  return [control, content];
}

function tokenLink(address, symbol) {
  return h('a', { href: `#/address/${address}` }, symbol ?? shorten(address, 8, 6));
}

/** The amount and token of a transfer. */
export function movementAmount({ kind, token, value, id }, tokens) {
  if (!token) return coins(value, 18);

  const info = tokens.get(token.toLowerCase());
  if (kind === 'ERC-721' || kind === 'ERC-1155') {
    const number = kind === 'ERC-1155' && `${count(value)} × `;
    const item = ` #${shorten(id.toString(), 12, 6)}`;
    return h('span.moved', number, tokenLink(token, info?.symbol), item);
  }
  return h(
    'span.moved',
    exactAmount(value, info?.decimals ?? 0, 12),
    ' ',
    tokenLink(token, info?.symbol ?? 'tokens'),
  );
}

const KINDS = { native: 'Native', internal: 'Internal' };

/** The kind of a transfer, and whether it is a mint or a burn of a token. */
function kindText({ kind, token, from, to }) {
  const name = KINDS[kind] ?? kind;
  if (token && from === ZERO) return `${name} mint`;
  return token && to === ZERO ? `${name} burn` : name;
}

/** An end of a transfer. */
function endCell(address) {
  return address === ZERO ? h('span.soft', 'Zero address') : addressLink(address);
}

/** A table of transfers. */
export function transferTable(transfers, tokens) {
  const rows = transfers
    .slice(0, SHOWN_TRANSFERS)
    .map((one) => [
      h('span.tag', kindText(one)),
      endCell(one.from),
      endCell(one.to),
      movementAmount(one, tokens),
    ]);
  const options = {
    empty: 'No transfers',
    lines: ['line-1', 'line-2', 'line-2.parties-to', 'line-1.end'],
  };
  const isCut = transfers.length > SHOWN_TRANSFERS;
  return [
    table(['Kind', 'From', 'To', '-Amount'], rows, options),
    isCut && h('p.soft', `The first ${SHOWN_TRANSFERS} of ${count(transfers.length)} transfers.`),
  ];
}
