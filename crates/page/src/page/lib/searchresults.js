// The results of a search: `{ kind, title, detail, href }`.

import { count, shorten } from './format.js';
import { nameOf } from './network.js';

/** Number of shown results. */
export const SHOWN = 10;
/** Number of functions and events among the results. */
export const SHOWN_MEMBERS = 4;

export function blockResult(number) {
  return {
    kind: 'Block',
    title: `Block ${count(Number(number))}`,
    detail: '',
    href: `#/block/${number}`,
  };
}

export function transactionResult(hash, detail) {
  return { kind: 'Transaction', title: shorten(hash, 18, 10), detail, href: `#/tx/${hash}` };
}

/** An address of a kind, by default with its beginning and end as the title. */
export function addressResult(kind, address, title) {
  return {
    kind,
    title: title ?? shorten(address, 12, 10),
    detail: address,
    href: `#/address/${address}`,
  };
}

export function tokenResult(token) {
  return {
    kind: 'Token',
    title: `${token.symbol}`,
    detail: nameOf(token.address) ?? token.address,
    href: `#/token/${token.address}`,
  };
}
