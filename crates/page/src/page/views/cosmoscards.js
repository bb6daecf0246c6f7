// What the Cosmos SDK has of a transaction.

import { card, copyButton, facts, h } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { blockLink, coins } from '../lib/links.js';
import { network } from '../lib/network.js';
import { hexBlock } from './parts.js';

/** Most messages that are shown. */
const MOST_MESSAGES = 50;

/** Amounts of denominations as a text. */
function amountsText(amounts) {
  const texts = (amounts ?? []).map(({ amount, denom }) =>
    denom === network.addresses?.nativeCoin?.denomination
      ? coins(amount, 18)
      : `${amount} ${denom}`,
  );
  return texts.join(', ') || '–';
}

/** The value of a message's field as a text. */
function valueText(name, value) {
  if (typeof value === 'string') return value;
  return name === 'amount' ? amountsText(value) : JSON.stringify(value);
}

function messageEntry({ '@type': type, ...fields }) {
  const rows = Object.entries(fields).map(([name, value]) =>
    h('tr', h('td', name), h('td.mono', valueText(name, value))),
  );
  return h(
    'div.log',
    h('div.row', h('span.tag.accent', String(type).split('.').at(-1)), h('span.soft.mono', type)),
    h('table.arguments', h('tbody', rows)),
  );
}

/** The card of a transaction as the SDK's interface has it; null without it. */
export function cosmosCard(found) {
  if (!found) return null;
  const { tx, tx_response: response } = found;
  return card(
    'Cosmos transaction',
    facts([
      ['Cosmos hash', h('span.mono', response?.txhash), copyButton(response?.txhash ?? '')],
      ['Height', response && blockLink(response.height)],
      response?.code ? ['Code', `${response.code} (${response.codespace})`] : null,
      ['Memo', tx?.body?.memo || h('span.soft', 'None')],
      ['Fee', amountsText(tx?.auth_info?.fee?.amount)],
    ]),
    h('h3', 'Messages'),
    (tx?.body?.messages ?? []).slice(0, MOST_MESSAGES).map(messageEntry),
  );
}

/** The card of the bytes that were signed. */
export function signedCard(input) {
  return card(
    'Signed transaction (TxRaw)',
    h('details', h('summary', `${count(input.length / 2 - 1)} bytes`), hexBlock(input)),
  );
}
