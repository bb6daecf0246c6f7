// The newest swaps, as they happen.

import { topic } from '../lib/abi.js';
import { choiceButtons } from '../lib/choices.js';
import { moment } from '../lib/clock.js';
import { card, failure, h, replace } from '../lib/dom.js';
import { amount, fromUnits } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { logo } from '../lib/logos.js';
import { dollars } from '../lib/money.js';
import { member, network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { placed, setPlace } from '../lib/place.js';
import { ask } from '../lib/prices.js';

const SHOWN = 12;
const COLUMNS = ['Time', 'Sold', 'Bought', '-Value', 'Account'];

const hex = (number) => `0x${number.toString(16)}`;

const readable = (text) => amount(fromUnits(text, 18), 18, 7);

function side(asset, value) {
  return h(
    'span.traded',
    logo(asset.symbol || '?', 'small'),
    `${readable(value)} ${asset.symbol || 'tokens'}`,
  );
}

function row(trade, fresh) {
  const value = Number(trade.amountIn) * Number(trade.priceIn);
  return h(
    fresh ? 'tr.fresh' : 'tr',
    h(
      'td.line-2.end',
      h('a', { href: `#/tx/${trade.transactionHash}` }, moment(trade.timestamp / 1_000)),
    ),
    h('td.line-1', side(trade.tokenIn, trade.amountIn)),
    h('td.line-1.parties-to', side(trade.tokenOut, trade.amountOut)),
    h('td.number.line-2', dollars(value)),
    h('td.line-2', addressLink(trade.user)),
  );
}

/** A row with a text instead of a swap. */
function textRow(text) {
  return h('tr', h('td.empty', { colspan: COLUMNS.length }, text));
}

/** The events of swaps in the blocks between two numbers; none if the node does not respond. */
function swapLogs(from, to) {
  return node
    .call('eth_getLogs', {
      fromBlock: hex(from),
      toBlock: hex(to),
      address: network.addresses.vault,
      topics: [topic(member('Vault', 'event', 'Swap'))],
    })
    .catch(() => []);
}

class Trades {
  #signal;
  #changed;
  #token = null;
  /** Whether only swaps of the token are shown. */
  #only = placed('swaps') === 'token';
  /** The filter of the swaps that are shown, and their ids. */
  #loaded = null;
  #seen = new Set();
  /** The block up to which the logs were searched. */
  #block = -1;

  #filter = h('div.tabs', { role: 'group', 'aria-label': 'Swaps shown' });
  #body = h('tbody', textRow('Loading…'));
  #problem = h('div');

  constructor(signal, changed) {
    this.#signal = signal;
    this.#changed = changed;
    whenever(node, 'head', signal, () => this.#check(), 500);
    const head = COLUMNS.map((name) =>
      h(name.startsWith('-') ? 'th.number' : 'th', { scope: 'col' }, name.replace('-', '')),
    );
    this.element = card(
      h('span.spread', 'Recent swaps', this.#filter),
      h(
        'div.scroll',
        { tabindex: '0', role: 'group', 'aria-label': 'Recent swaps' },
        h('table.rows', h('thead', h('tr', head)), this.#body),
      ),
      this.#problem,
    );
    this.element.classList.add('late', 'trades');
  }

  /** Selects the token of the filter. */
  choose(token) {
    this.#token = token;
    this.#drawFilter();
    if (this.#only) this.#load();
  }

  #drawFilter() {
    const choices = [
      ['All tokens', false],
      [this.#token?.symbol ?? '', true],
    ];
    const choose = (only) => {
      this.#only = only;
      setPlace({ swaps: only && 'token' });
      this.#drawFilter();
      this.#load();
    };
    replace(this.#filter, choiceButtons(choices, this.#only, choose));
  }

  /** The filter as a parameter of the request. */
  get #query() {
    return this.#only ? `&token=${this.#token.address}` : '';
  }

  async #load() {
    const query = this.#query;
    try {
      const trades = await ask(`api/swaps?limit=${SHOWN}${query}`);
      // Another filter may have been chosen since.
      if (this.#signal.aborted || query !== this.#query) return;
      this.#show(trades, query);
      replace(this.#problem);
    } catch (error) {
      replace(this.#problem, failure(error));
    }
  }

  /** Shows swaps, of which those that the filter did not find before are marked as new. */
  #show(trades, query) {
    const isSameFilter = this.#loaded === query;
    const none = this.#only
      ? `No ${this.#token.symbol} swaps yet`
      : 'No swaps yet. Yours can be the first.';
    replace(
      this.#body,
      trades.length
        ? trades.map((trade) => row(trade, isSameFilter && !this.#seen.has(trade.id)))
        : textRow(none),
    );
    this.#seen = new Set(trades.map((trade) => trade.id));
    this.#loaded = query;
  }

  /**
   * Asks the node's logs for new swaps, so that REST, which has a rate limit, is asked only if
   * there are any.
   */
  async #check() {
    const newest = Number(node.head?.number ?? -1);
    if (newest < 0 || newest === this.#block) return;
    const before = this.#block;
    this.#block = newest;
    // The first time, and after a revert, everything is loaded again.
    if (before < 0 || newest < before) return this.#load();

    const logs = await swapLogs(before + 1, newest);
    if (!logs.length || this.#signal.aborted) return;
    this.#changed?.();
    this.#load();
  }
}

/**
 * The card; `choose(token)` selects the token of the filter, `changed()` is called when there are
 * new swaps.
 */
export function tradesCard(signal, changed) {
  const trades = new Trades(signal, changed);
  return { element: trades.element, choose: (token) => trades.choose(token) };
}
