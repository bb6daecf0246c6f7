// Cells of the explorer's lists.

import { accountName } from './accountnames.js';
import { checksum } from './address.js';
import { h } from './dom.js';
import { count, fee, shorten } from './format.js';
import { learnedName } from './index.js';
import { displayName } from './labels.js';
import { coins, exactAmount } from './links.js';

/** A link to a transaction, short enough for a list. */
export function hashLink(hash) {
  return h('a.mono', { href: `#/tx/${hash}`, title: hash }, shorten(hash, 8, 4));
}

/** An amount of the native coin for a list: in wei or gwei if it is tiny. */
export function shortCoins(wei, digits = 6) {
  return wei > 0n && wei < 10n ** 12n ? fee(wei) : coins(wei, digits);
}

/**
 * A link to an address: its name if it has one. Names that anyone can choose are followed by the
 * address.
 */
export function party(given, here = null) {
  if (!given) return h('span.soft', '–');
  const address = checksum(given);
  const name = displayName(address) ?? accountName(address);
  const other = name ? null : learnedName(address);
  const content =
    name ??
    (other
      ? [h('span.clip', other), ' ', h('span.mono.soft', shorten(address, 6, 4))]
      : h('span.mono', shorten(address, 6, 4)));
  if (here && address.toLowerCase() === here.toLowerCase())
    return h('span', { title: address }, content);
  return h('a', { href: `#/address/${address}`, title: address }, content);
}

/** The recipient of a transaction, or the contract that it created. */
export function recipient(row, here = null) {
  if (row.to) return party(row.to, here);
  if (row.created) return h('span', h('span.soft', 'New: '), party(row.created, here));
  return h('span.soft', 'New contract');
}

/** The outcome of a transaction, with the reason of a failure. */
export function outcome(row) {
  if (row.ok === null) return h('span.tag', 'Pending');
  if (row.ok) return h('span.tag.good.success', 'Success');
  return h(
    'span.result-cell',
    h('span.tag.bad', 'Failed'),
    row.reason && h('span.reason', { title: row.reason }, row.reason),
  );
}

/** The method of a transaction; transactions of Cosmos wallets are marked. */
export function method(row) {
  return h(
    'span.row.tight',
    h('span.tag.clip', { title: row.cosmos ?? row.method }, row.method),
    row.cosmos && h('span.tag.accent', 'Cosmos'),
  );
}

/** Whether an address is sender or recipient. */
export function direction(row, here) {
  const wanted = here.toLowerCase();
  const out = row.from?.toLowerCase() === wanted;
  const into = (row.to ?? row.created)?.toLowerCase() === wanted;
  if (out && into) return h('span.tag', 'Self');
  return h(out ? 'span.tag' : 'span.tag.good', out ? 'Out' : 'In');
}

/** A block's number as a link. */
export function blockCell(number) {
  return number === null
    ? h('span.soft', 'Pending')
    : h('a', { href: `#/block/${number}` }, count(number));
}

/** The symbol of a token in the index. */
export function symbolOf(token) {
  return token.symbol || token.name || shorten(token.address_hash, 6, 4);
}

/** A link to a token's page. */
export function tokenLink(token, text = symbolOf(token)) {
  return h(
    'a.clip',
    {
      href: `#/token/${token.address_hash}`,
      title: `${token.name ?? 'Token'} ${token.address_hash}`,
    },
    text,
  );
}

/** A link to one id of a non-fungible token. */
export function idLink(token, id) {
  return h(
    'a',
    { href: `#/token/${token.address_hash}/${id}`, title: `ID ${id}` },
    `#${shorten(String(id), 8, 4)}`,
  );
}

/** An amount of a token in the index. */
export function tokenAmount(value, token) {
  if (value === null) return '–';
  const decimals = Number(token.decimals ?? 0);
  return exactAmount(value, decimals, 9);
}

/** The share of the gas limit that was used, as a bar. */
export function gasBar(used, limit) {
  const share = limit ? used / limit : 0;
  const text = `${(share * 100).toFixed(share > 0 && share < 0.1 ? 2 : 0)}%`;
  return h(
    'span.gas-bar',
    h(
      'span.meter',
      { 'aria-hidden': 'true' },
      h('i', { style: { width: `${Math.min(100, share * 100)}%` } }),
    ),
    h('span.soft', text),
  );
}
