// What an execution changed in the state: balances, nonces, code and storage.

import { SLOTS } from '../lib/contracts.js';
import { h } from '../lib/dom.js';
import { count, counted, shorten } from '../lib/format.js';
import { addressLink, coins } from '../lib/links.js';
import { network } from '../lib/network.js';
import { keccak256 } from '../vendor/ethers.js';

/** Number of accounts, and of slots of each, shown before a button shows the rest. */
const SHOWN_ACCOUNTS = 50;
const SHOWN_SLOTS = 25;
/**
 * Where slots of mappings are looked for: the first slots of a contract, fewer of them for mappings
 * of mappings, and the number of addresses that may be keys.
 */
const MAPPINGS = 20;
const NESTED_MAPPINGS = 12;
const KEYS = 16;
const NESTED_KEYS = 8;
/** What a slot without a value holds. */
const EMPTY_WORD = `0x${'0'.repeat(64)}`;

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
  const known = addresses.slice(0, KEYS);

  for (let index = 0; index < MAPPINGS; index++) {
    const base = `0x${index.toString(16)}`;
    for (const outer of known) {
      const slot = slotOf(outer, base);
      names.set(slot, `slot ${index} [${short(outer)}]`);
      if (index < NESTED_MAPPINGS && known.indexOf(outer) < NESTED_KEYS)
        for (const inner of known.slice(0, NESTED_KEYS))
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
  return slots.map((slot) => {
    const small = BigInt(slot) < 1_000n;
    const name = names.get(slot) ?? (small ? `slot ${BigInt(slot)}` : shorten(slot, 12, 8));
    return h(
      'tr',
      h('td', { title: slot }, small || names.has(slot) ? name : h('span.mono', name)),
      h('td', word(before[slot] ?? EMPTY_WORD)),
      h('td', word(after[slot] ?? EMPTY_WORD)),
    );
  });
}

function changeRow(name, before, after) {
  return h('tr', h('td', name), h('td', before), h('td', after));
}

function balanceRow(before, after) {
  const difference = after - before;
  const isLess = difference < 0n;
  const size = coins(isLess ? -difference : difference, 12);
  return changeRow('Balance', coins(before, 24), [
    coins(after, 24),
    h('small', { class: isLess ? 'down' : 'up' }, ` ${isLess ? '−' : '+'}${size}`),
  ]);
}

function codeSize(code) {
  return `${count(code.length / 2 - 1)} bytes`;
}

/** The changes of an account other than those of its storage. */
function accountRows(before, after, isDestroyed) {
  const { balance, nonce, code } = after;
  return [
    balance !== undefined && balanceRow(BigInt(before.balance ?? 0), BigInt(balance)),
    nonce !== undefined &&
      changeRow('Nonce', count(Number(before.nonce ?? 0)), count(Number(nonce))),
    code !== undefined &&
      changeRow(
        'Code',
        before.code ? codeSize(before.code) : 'none',
        code && code !== '0x' ? codeSize(code) : 'none',
      ),
    isDestroyed && changeRow('Account', 'exists', 'deleted'),
  ];
}

/** A button that shows the rest; none if there is no rest. */
function moreButton(rest, what, show) {
  if (!rest.length) return null;
  const more = h(
    'button',
    { type: 'button', onclick: () => show(more) },
    `Show ${count(rest.length)} more ${what}`,
  );
  return more;
}

/** The table of an account's changes, and the button that shows more slots. */
function changesTable(address, rows, slots) {
  const body = h('tbody', rows, slots.slice(0, SHOWN_SLOTS));
  const rest = slots.slice(SHOWN_SLOTS);
  const more = moreButton(rest, 'slots', (button) => {
    body.append(...rest);
    button.remove();
  });

  const head = ['', 'Before', 'After'].map((name) =>
    name ? h('th', { scope: 'col' }, name) : h('td'),
  );
  return [
    h(
      'div.scroll',
      { tabindex: '0', role: 'group', 'aria-label': `Changes of ${address}` },
      h('table.changes', h('thead', h('tr', head)), body),
    ),
    more,
  ];
}

/**
 * The changes of an account; `after` is null if it was destroyed. `role` is what the account has to
 * do with the execution.
 */
function accountChanges(address, before, after, names, role) {
  const rows = accountRows(before, after ?? {}, after === null);
  const slots = slotRows(before.storage ?? {}, after?.storage ?? {}, names);
  return h(
    'div.log',
    h(
      'div.row',
      addressLink(address),
      role && h('span.tag', role),
      slots.length > 0 && h('span.soft', counted(slots.length, 'storage slot')),
    ),
    changesTable(address, rows, slots),
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

  const keys = [...addresses, ...accounts].map((one) => one.toLowerCase());
  const names = slotNames([...new Set(keys)]);
  const entries = accounts.map((address) =>
    accountChanges(
      address,
      pre[address] ?? {},
      post[address] ?? null,
      names,
      roles.get(address.toLowerCase()),
    ),
  );
  const rest = entries.splice(SHOWN_ACCOUNTS);
  const more = moreButton(rest, 'accounts', (button) => button.replaceWith(...rest));
  return h('div', entries, more);
}

/** The addresses among the arguments and topics of logs, as keys of mappings. */
export function addressesInLogs(logs) {
  const words = logs
    .flatMap((log) => log.topics.slice(1))
    .filter((topic) => /^0x0{24}[0-9a-f]{40}$/.test(topic) && !/^0x0{56}/.test(topic));
  return [...new Set(words.map((topic) => `0x${topic.slice(26)}`))];
}
