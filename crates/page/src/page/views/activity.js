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

function amountOf(asset, value) {
  return h(
    'span.traded',
    logo(asset.symbol || '?', 'small'),
    `${readable(value)} ${asset.symbol || 'tokens'}`,
  );
}

/** Name and details by the type of an action. */
const KINDS = {
  deposit: (one) => ['Supplied', amountOf(one.asset, one.amount)],
  withdraw: (one) => ['Withdrew', amountOf(one.asset, one.amount)],
  borrow: (one) => ['Borrowed', amountOf(one.asset, one.amount)],
  repay: (one) => ['Repaid', amountOf(one.asset, one.amount)],
  writeOff: (one) => ['Debt written off', amountOf(one.asset, one.amount)],
  transfer: ({ asset, amount: value, from, to }, user) => {
    const moved = amountOf(asset, value);
    return from.toLowerCase() === user
      ? ['Sent supply', [moved, h('span.soft', ' to '), addressLink(to)]]
      : ['Received supply', [moved, h('span.soft', ' from '), addressLink(from)]];
  },
  liquidation: (one, user) => [
    one.borrower.toLowerCase() === user ? 'Was liquidated' : 'Liquidated',
    [
      amountOf(one.debtAsset, one.repaid),
      h('span.soft', ' repaid, '),
      amountOf(one.collateralAsset, one.seized),
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

/** The active account as the history has it, or null. */
function activeUser() {
  return wallets.current?.address.toLowerCase() ?? null;
}

/** The newest actions of a user, or those before a cursor. Swaps are in the exchange's list. */
async function actionsOf(user, before) {
  const response = await fetch(
    `api/user/${user}/history?limit=${PAGE}${before ? `&before=${before}` : ''}`,
  );
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message ?? `status ${response.status}`);
  return { entries: answer.data.filter((one) => one.type !== 'swap'), next: answer.next };
}

class ActivityCard {
  #signal;
  #user = null;
  #entries = [];
  /** The cursor of the entries before, or null. */
  #next = null;
  /** When the newest entries were last asked for. */
  #asked = 0;

  #body = h('tbody');
  #note = h('p.soft', { role: 'status' });
  #more = h('button', { type: 'button', hidden: true }, 'Show more');

  constructor(signal) {
    this.#signal = signal;
    const head = ['Time', 'Action', 'Amount'].map((name) => h('th', { scope: 'col' }, name));
    const list = h(
      'div.scroll',
      { tabindex: '0', role: 'group', 'aria-label': 'Your history' },
      h('table', h('thead', h('tr', head)), this.#body),
    );
    this.element = card('Your history', list, this.#note, this.#more);
    this.#more.addEventListener('click', () => this.#load(this.#next));
    this.#draw();
  }

  refresh({ soon = false } = {}) {
    const user = activeUser();
    if (user !== this.#user) this.#begin(user);
    if (!user || (!soon && !this.#isDue())) return;
    this.#asked = Date.now();
    this.#load(null);
  }

  /** Whether it is time for the newest entries; those that were added by hand stay. */
  #isDue() {
    return Date.now() - this.#asked >= PACE && this.#entries.length <= PAGE;
  }

  /** Begins the history of another user. */
  #begin(user) {
    this.#user = user;
    this.#entries = [];
    this.#next = null;
    this.#asked = 0;
    this.#draw();
  }

  async #load(before) {
    const user = activeUser();
    if (!user) return;
    try {
      const { entries, next } = await actionsOf(user, before);
      if (this.#signal.aborted || user !== this.#user) return;
      this.#entries = before ? [...this.#entries, ...entries] : entries;
      this.#next = next;
      replace(this.#note);
      this.#draw();
    } catch (error) {
      replace(this.#note, reasonOf(error));
    }
  }

  #draw() {
    const rows = this.#entries.map((one) => row(one, this.#user));
    const empty = () => h('tr', h('td.empty', { colspan: 3 }, this.#whyEmpty()));
    replace(this.#body, rows.length ? rows : empty());
    this.#more.hidden = !this.#next;
  }

  #whyEmpty() {
    if (!this.#user) return 'Choose an account at the top to see its history';
    return this.#next ? 'None among the newest actions' : 'No supplies or loans yet';
  }
}

/** The card; `refresh({ soon })` loads the newest entries, at once if `soon`. */
export function activityCard(signal) {
  const history = new ActivityCard(signal);
  return { element: history.element, refresh: (options) => history.refresh(options) };
}
