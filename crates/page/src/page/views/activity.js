// What an account did in the lending pool.

import { moment } from '../lib/clock.js';
import { card, h, replace } from '../lib/dom.js';
import { amount, fromUnits } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { logo } from '../lib/logos.js';
import { reasonOf } from '../lib/reasons.js';
import { wallets } from '../lib/wallet.js';

const PAGE = 12;
/** The least time between two requests, in milliseconds: REST has a rate limit. */
const PACE = 15_000;

const readable = (text) => amount(fromUnits(text, 18), 18, 8);
const of = (asset, value) =>
  h(
    'span.traded',
    logo(asset.symbol || '?', 'small'),
    `${readable(value)} ${asset.symbol || 'tokens'}`,
  );

/** Name and details by the type of an action. */
const KINDS = {
  deposit: (one) => ['Supplied', of(one.asset, one.amount)],
  withdraw: (one) => ['Withdrew', of(one.asset, one.amount)],
  borrow: (one) => ['Borrowed', of(one.asset, one.amount)],
  repay: (one) => ['Repaid', of(one.asset, one.amount)],
  writeOff: (one) => ['Debt written off', of(one.asset, one.amount)],
  transfer: (one, user) =>
    one.from.toLowerCase() === user
      ? ['Sent supply', [of(one.asset, one.amount), h('span.soft', ' to '), addressLink(one.to)]]
      : [
          'Received supply',
          [of(one.asset, one.amount), h('span.soft', ' from '), addressLink(one.from)],
        ],
  liquidation: (one, user) => [
    one.borrower.toLowerCase() === user ? 'Was liquidated' : 'Liquidated',
    [
      of(one.debtAsset, one.repaid),
      h('span.soft', ' repaid, '),
      of(one.collateralAsset, one.seized),
      h('span.soft', ' seized'),
    ],
  ],
};

function row(one, user) {
  const [name, details] = KINDS[one.type]?.(one, user) ?? [one.type, null];
  return h(
    'tr',
    h('td', h('a', { href: `#/tx/${one.transactionHash}` }, moment(one.timestamp / 1_000))),
    h('td', name),
    h('td', details),
  );
}

/** The card; `refresh({ soon })` loads the newest entries, at once if `soon`. */
export function activityCard(signal) {
  const body = h('tbody');
  const note = h('p.soft', { role: 'status' });
  const more = h('button', { type: 'button', hidden: true }, 'Show more');
  const head = ['Time', 'Action', 'Amount'].map((name) => h('th', { scope: 'col' }, name));
  const list = h(
    'div.scroll',
    { tabindex: '0', role: 'group', 'aria-label': 'Your history' },
    h('table', h('thead', h('tr', head)), body),
  );
  const state = { who: null, entries: [], next: null, last: 0 };

  function draw() {
    const { who, entries, next } = state;
    const empty = who
      ? state.next
        ? 'None among the newest actions'
        : 'No supplies or loans yet'
      : 'Choose an account at the top to see its history';
    replace(
      body,
      entries.length
        ? entries.map((one) => row(one, who))
        : h('tr', h('td.empty', { colspan: 3 }, empty)),
    );
    more.hidden = !next;
  }

  async function load(before) {
    const who = wallets.current?.address.toLowerCase() ?? null;
    if (!who) return;
    try {
      const response = await fetch(
        `api/user/${who}/history?limit=${PAGE}${before ? `&before=${before}` : ''}`,
      );
      const answer = await response.json();
      if (!response.ok) throw new Error(answer.message ?? `status ${response.status}`);
      if (signal.aborted || who !== state.who) return;
      // Swaps are in the exchange's list.
      const own = answer.data.filter((one) => one.type !== 'swap');
      state.entries = before ? [...state.entries, ...own] : own;
      state.next = answer.next;
      replace(note);
      draw();
    } catch (error) {
      replace(note, reasonOf(error));
    }
  }

  more.addEventListener('click', () => load(state.next));
  draw();
  return {
    element: card('Your history', list, note, more),
    refresh: ({ soon = false } = {}) => {
      const who = wallets.current?.address.toLowerCase() ?? null;
      if (who !== state.who) {
        Object.assign(state, { who, entries: [], next: null, last: 0 });
        draw();
      }
      // Entries that were added by hand stay.
      if (!who || (!soon && (Date.now() - state.last < PACE || state.entries.length > PAGE)))
        return;
      state.last = Date.now();
      load(null);
    },
  };
}
