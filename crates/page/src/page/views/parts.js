// Parts that the views of transactions, simulations and contracts share.

import { typeName } from '../lib/abi.js';
import { copyButton, h, replace, table } from '../lib/dom.js';
import { count, shorten } from '../lib/format.js';
import { keccak256 } from '../vendor/ethers.js';
import { addressLink, argumentsOf, coins, exactAmount } from '../lib/links.js';
import { network } from '../lib/network.js';
import { SLOTS } from '../lib/contracts.js';
import { ZERO } from '../lib/movements.js';

/** Number of characters of hex data that are shown; copying gives all. */
const SHOWN_HEX = 20_000;
/** Number of events, accounts and slots shown before a button shows the rest. */
const SHOWN_EVENTS = 50;
const SHOWN_SLOTS = 25;

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
  const draw = () => replace(content, choices[current][1]());
  const buttons = choices.map(([name], at) =>
    h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => choose(at) }, name),
  );
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
  return `${name}(${inputs.map((input) => `${typeName(input)}${input.indexed ? ' indexed' : ''}${input.name ? ` ${input.name}` : ''}`).join(', ')})`;
}

function rawLog(log) {
  const rows = [...log.topics.map((topic, at) => [`Topic ${at}`, topic]), ['Data', log.data]];
  return h(
    'table.arguments',
    h(
      'tbody',
      rows.map(([name, text]) =>
        h('tr', h('td', name), h('td.mono', text.length > 600 ? shorten(text, 560, 20) : text)),
      ),
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

/** Events, decoded or raw. */
export function eventList(logs, decoder) {
  if (!logs.length) return h('p.soft', 'No events');
  const list = (raw) => () => {
    const rest = logs.slice(SHOWN_EVENTS);
    const more = rest.length
      ? h(
          'button',
          {
            type: 'button',
            onclick: () => more.replaceWith(...rest.map((log) => event(log, decoder, raw))),
          },
          `Show ${count(rest.length)} more`,
        )
      : null;
    return h(
      'div',
      logs.slice(0, SHOWN_EVENTS).map((log) => event(log, decoder, raw)),
      more,
    );
  };
  const { control, content } = switcher('Form of events', [
    ['Decoded', list(false)],
    ['Raw', list(true)],
  ]);
  return [control, content];
}

/** The amount and token of a transfer. */
export function movementAmount({ kind, token, value, id }, tokens) {
  if (!token) return coins(value, 18);
  const info = tokens.get(token.toLowerCase());
  const symbol = info?.symbol ?? 'tokens';
  if (kind === 'ERC-721')
    return h('span.moved', addressLinkFor(token, info), ` #${shorten(id.toString(), 12, 6)}`);
  if (kind === 'ERC-1155')
    return h(
      'span.moved',
      `${count(value)} × `,
      addressLinkFor(token, info),
      ` #${shorten(id.toString(), 12, 6)}`,
    );
  return h(
    'span.moved',
    exactAmount(value, info?.decimals ?? 0, 12),
    ' ',
    info?.symbol ? addressLinkFor(token, info) : addressLinkFor(token, { symbol }),
  );
}

function addressLinkFor(address, info) {
  return h('a', { href: `#/address/${address}` }, info?.symbol ?? shorten(address, 8, 6));
}

/** A table of transfers. */
export function transferTable(transfers, tokens) {
  const end = (address) =>
    address === ZERO ? h('span.soft', 'Zero address') : addressLink(address);
  const kinds = { native: 'Native', internal: 'Internal' };
  const rows = transfers.slice(0, 200).map((one) => {
    const what =
      one.token && one.from === ZERO ? ' mint' : one.token && one.to === ZERO ? ' burn' : '';
    return [
      h('span.tag', (kinds[one.kind] ?? one.kind) + what),
      end(one.from),
      end(one.to),
      movementAmount(one, tokens),
    ];
  });
  const options = {
    empty: 'No transfers',
    lines: ['line-1', 'line-2', 'line-2.parties-to', 'line-1.end'],
  };
  return [
    table(['Kind', 'From', 'To', '-Amount'], rows, options),
    transfers.length > 200 && h('p.soft', `The first 200 of ${count(transfers.length)} transfers.`),
  ];
}

const pad = (hex) => hex.slice(2).toLowerCase().padStart(64, '0');
const slotOf = (key, base) => keccak256(`0x${pad(key)}${pad(base)}`);

/**
 * Names of storage slots: those of proxies, and those where Solidity keeps the value of an address
 * in a mapping at one of the first slots, such as a token's balances, or of two addresses in a
 * mapping of mappings, such as its allowances.
 */
function slotNames(addresses) {
  const names = new Map([
    [SLOTS.implementation, 'Proxy implementation'],
    [SLOTS.beacon, 'Proxy beacon'],
    [SLOTS.admin, 'Proxy admin'],
  ]);
  const short = (address) => network.names.get(address) ?? shorten(address, 8, 4);
  const known = addresses.slice(0, 16);
  for (let index = 0; index < 20; index++) {
    const base = `0x${index.toString(16)}`;
    for (const outer of known) {
      const slot = slotOf(outer, base);
      names.set(slot, `slot ${index} [${short(outer)}]`);
      if (index < 12 && known.indexOf(outer) < 8)
        for (const inner of known.slice(0, 8))
          names.set(slotOf(inner, slot), `slot ${index} [${short(outer)}] [${short(inner)}]`);
    }
  }
  return names;
}

/** A storage word as a number or address if it looks like one, with the word as its title. */
function word(text) {
  const number = BigInt(text);
  if (number === 0n) return h('span.mono', { title: text }, '0');
  const bits = number.toString(2).length;
  if (bits > 128 && bits <= 160)
    return h('span', { title: text }, addressLink(`0x${text.slice(-40)}`));
  return h(
    'span.mono',
    { title: text },
    bits <= 128 ? number.toString() : `0x${number.toString(16)}`,
  );
}

function slotRows(before, after, names) {
  const slots = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const nothing = `0x${'0'.repeat(64)}`;
  return slots.map((slot) => {
    const small = BigInt(slot) < 1_000n;
    const name = names.get(slot) ?? (small ? `slot ${BigInt(slot)}` : shorten(slot, 12, 8));
    return h(
      'tr',
      h('td', { title: slot }, small || names.has(slot) ? name : h('span.mono', name)),
      h('td', word(before[slot] ?? nothing)),
      h('td', word(after[slot] ?? nothing)),
    );
  });
}

function accountChanges(address, before, after, destroyed, names, role) {
  const rows = [];
  const change = (name, was, is, extra) =>
    rows.push(h('tr', h('td', name), h('td', was), h('td', is, extra)));
  if (after.balance !== undefined) {
    const [was, is] = [BigInt(before.balance ?? 0), BigInt(after.balance)];
    const difference = is - was;
    change(
      'Balance',
      coins(was, 24),
      coins(is, 24),
      h(
        'small',
        { class: difference < 0n ? 'down' : 'up' },
        ` ${difference < 0n ? '−' : '+'}${coins(difference < 0n ? -difference : difference, 12)}`,
      ),
    );
  }
  if (after.nonce !== undefined)
    change('Nonce', count(Number(before.nonce ?? 0)), count(Number(after.nonce)));
  if (after.code !== undefined)
    change(
      'Code',
      before.code ? `${count(before.code.length / 2 - 1)} bytes` : 'none',
      after.code && after.code !== '0x' ? `${count(after.code.length / 2 - 1)} bytes` : 'none',
    );
  if (destroyed) change('Account', 'exists', 'deleted');
  const slots = slotRows(before.storage ?? {}, after.storage ?? {}, names);
  const rest = slots.slice(SHOWN_SLOTS);
  const body = h('tbody', rows, slots.slice(0, SHOWN_SLOTS));
  const more = rest.length
    ? h('button', { type: 'button' }, `Show ${count(rest.length)} more slots`)
    : null;
  more?.addEventListener('click', () => {
    body.append(...rest);
    more.remove();
  });
  const head = h(
    'thead',
    h(
      'tr',
      ['', 'Before', 'After'].map((name) => (name ? h('th', { scope: 'col' }, name) : h('td'))),
    ),
  );
  return h(
    'div.log',
    h(
      'div.row',
      addressLink(address),
      role && h('span.tag', role),
      slots.length > 0 &&
        h('span.soft', `${count(slots.length)} storage ${slots.length === 1 ? 'slot' : 'slots'}`),
    ),
    h(
      'div.scroll',
      { tabindex: '0', role: 'group', 'aria-label': `Changes of ${address}` },
      h('table.changes', head, body),
    ),
    more,
  );
}

/**
 * The accounts and slots that an execution changed, from the prestate tracer. `addresses` are those
 * that may be keys of mappings; `roles` are what accounts have to do with it, by lower-case
 * address.
 */
export function stateChanges({ pre, post }, addresses = [], roles = new Map()) {
  const accounts = [...new Set([...Object.keys(post), ...Object.keys(pre)])];
  if (!accounts.length) return h('p.soft', 'No state changes');
  const names = slotNames([
    ...new Set([...addresses, ...accounts].map((one) => one.toLowerCase())),
  ]);
  const rows = accounts.map((address) =>
    accountChanges(
      address,
      pre[address] ?? {},
      post[address] ?? {},
      !(address in post),
      names,
      roles.get(address.toLowerCase()),
    ),
  );
  const rest = rows.splice(SHOWN_EVENTS);
  const more = rest.length
    ? h(
        'button',
        { type: 'button', onclick: () => more.replaceWith(...rest) },
        `Show ${count(rest.length)} more accounts`,
      )
    : null;
  return h('div', rows, more);
}

/** The addresses among the arguments and topics of logs, as keys of mappings. */
export function addressesInLogs(logs) {
  const words = logs
    .flatMap((log) => log.topics.slice(1))
    .filter((topic) => /^0x0{24}[0-9a-f]{40}$/.test(topic) && !/^0x0{56}/.test(topic));
  return [...new Set(words.map((topic) => `0x${topic.slice(26)}`))];
}
