// Links between views, and rendering of decoded values.

import { checksum } from './address.js';
import { isHex } from './bytes.js';
import { copyButton, h } from './dom.js';
import { amount, count, date, shorten } from './format.js';
import { nameOf, network, tokenAt } from './network.js';

/** A link to an address, labelled with its name if it has one. `full` shows the whole address with a copy button; `plain` omits the name. */
export function addressLink(given, { full = false, plain = false } = {}) {
  if (!given) return h('span.soft', '–');
  const address = checksum(given);
  const name = plain ? null : nameOf(address);
  const link = h('a', { href: `#/address/${address}`, title: address }, name ?? h('span.mono', full ? address : shorten(address, 8, 6)));
  return full ? h('span', link, name && h('span.mono.soft', ` ${address}`), copyButton(address, 'Copy address')) : link;
}

/** A link to a transaction. */
export function transactionLink(hash, { full = false } = {}) {
  const link = h('a.mono', { href: `#/tx/${hash}`, title: hash }, full ? hash : shorten(hash, 10, 6));
  return full ? h('span', link, copyButton(hash, 'Copy hash')) : link;
}

/** A link to a block by its number. */
export function blockLink(number) {
  return h('a', { href: `#/block/${Number(number)}` }, count(Number(number)));
}

/** An amount of the native coin. */
export function coins(wei, digits = 6) {
  return `${amount(BigInt(wei), 18, digits)} ${network.coin}`;
}

/** A decoded value as an element. Amounts are scaled by the decimals of `token`, if it is given. */
export function valueOf(value, input, token) {
  if (Array.isArray(value)) {
    const components = input.components ?? [];
    const inner = value.map((part, at) => {
      const isList = input.type.endsWith(']');
      const own = isList ? { ...input, type: input.type.replace(/\[\d*\]$/, '') } : components[at];
      return h('li', !isList && own.name ? h('span.soft', `${own.name}: `) : null, valueOf(part, own, token));
    });
    return inner.length ? h('ul.plain', inner) : h('span.soft', 'empty');
  }
  if (input.type === 'address') return addressLink(value);
  if (typeof value === 'bigint') {
    const known = token && /amount|value/i.test(input.name) ? token : null;
    if (value === (1n << 256n) - 1n) return h('span', { title: value.toString() }, 'unlimited');
    if (/timestamp|(At|deadline)$/i.test(input.name) && value > 1_000_000_000n && value < 10_000_000_000n) {
      return h('span', { title: value.toString() }, date(Number(value)));
    }
    if (known) return h('span', { title: value.toString() }, `${amount(value, known.decimals, 8)} ${known.symbol}`);
    if (/usd$|^price/i.test(input.name) && value < 10n ** 24n) return h('span', { title: value.toString() }, `$${amount(value, 8, 10)}`);
    return h('span.mono', value.toString());
  }
  if (isHex(value, 32)) return h('span.mono', { title: value }, shorten(value, 18, 10));
  return h('span.mono', String(value));
}

/** The token that an amount is of, if that follows from the contract, from its name, or from another argument. */
function tokenFor({ values }, input, contract) {
  const wanted = /out/i.test(input.name) ? (values.tokenOut ?? values._tokenOut) : (values.tokenIn ?? values._tokenIn ?? values.asset ?? values.token);
  return tokenAt(contract) ?? tokenAt(typeof wanted === 'string' ? wanted : null);
}

/** A decoded argument as an element. */
export function argumentOf(known, at, contract) {
  const input = known.fragment.inputs[at];
  return valueOf(known.values[at], input, tokenFor(known, input, contract));
}

/** A table of decoded arguments. `contract` is the called address, or the one that emitted the event. */
export function argumentsOf(known, contract) {
  const { inputs } = known.fragment;
  if (!inputs.length) return null;
  const rows = inputs.map((input, at) => h('tr', h('td', input.name || `#${at}`), h('td', argumentOf(known, at, contract))));
  return h('table.arguments', h('tbody', rows));
}
