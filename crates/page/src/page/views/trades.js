// The newest swaps, as they happen.

import { topic } from '../lib/abi.js';
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

/**
 * The card; `choose(token)` selects the token of the filter, `changed()` is called when there are
 * new swaps.
 */
export function tradesCard(signal, changed) {
  const body = h('tbody', h('tr', h('td.empty', { colspan: 5 }, 'Loading…')));
  const filter = h('div.tabs', { role: 'group', 'aria-label': 'Swaps shown' });
  const problem = h('div');
  const state = {
    token: null,
    only: placed('swaps') === 'token',
    seen: new Set(),
    block: -1,
    loaded: null,
  };

  const drawFilter = () => {
    const button = (only, text) =>
      h(
        'button',
        { type: 'button', 'aria-pressed': String(state.only === only), onclick: () => show(only) },
        text,
      );
    replace(filter, button(false, 'All tokens'), button(true, state.token?.symbol ?? ''));
  };
  const show = (only) => {
    state.only = only;
    setPlace({ swaps: only && 'token' });
    drawFilter();
    load();
  };

  async function load() {
    const query = state.only ? `&token=${state.token.address}` : '';
    try {
      const trades = await ask(`api/swaps?limit=${SHOWN}${query}`);
      if (signal.aborted || query !== (state.only ? `&token=${state.token.address}` : '')) return;
      const first = state.loaded !== query;
      replace(
        body,
        trades.length
          ? trades.map((trade) => row(trade, !first && !state.seen.has(trade.id)))
          : h(
              'tr',
              h(
                'td.empty',
                { colspan: 5 },
                state.only
                  ? `No ${state.token.symbol} swaps yet`
                  : 'No swaps yet. Yours can be the first.',
              ),
            ),
      );
      state.seen = new Set(trades.map((trade) => trade.id));
      state.loaded = query;
      replace(problem);
    } catch (error) {
      replace(problem, failure(error));
    }
  }

  /**
   * Asks the node's logs for new swaps, so that REST, which has a rate limit, is asked only if
   * there are any.
   */
  async function check() {
    const newest = Number(node.head?.number ?? -1);
    if (newest < 0 || newest === state.block) return;
    const from = state.block + 1;
    // The first time, and after a revert, everything is loaded again.
    const reload = state.block < 0 || newest < state.block;
    state.block = newest;
    if (reload) return load();
    const hex = (number) => `0x${number.toString(16)}`;
    const logs = await node
      .call('eth_getLogs', {
        fromBlock: hex(from),
        toBlock: hex(newest),
        address: network.addresses.vault,
        topics: [topic(member('Vault', 'event', 'Swap'))],
      })
      .catch(() => []);
    if (!logs.length || signal.aborted) return;
    changed?.();
    load();
  }

  whenever(node, 'head', signal, check, 500);
  const head = ['Time', 'Sold', 'Bought', '-Value', 'Account'].map((name) =>
    h(name.startsWith('-') ? 'th.number' : 'th', { scope: 'col' }, name.replace('-', '')),
  );
  const element = card(
    h('span.spread', 'Recent swaps', filter),
    h(
      'div.scroll',
      { tabindex: '0', role: 'group', 'aria-label': 'Recent swaps' },
      h('table.rows', h('thead', h('tr', head)), body),
    ),
    problem,
  );
  element.classList.add('late', 'trades');
  return {
    element,
    choose: (token) => {
      state.token = token;
      drawFilter();
      if (state.only) load();
    },
  };
}
