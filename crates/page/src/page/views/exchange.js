// The exchange: prices, their charts, swaps as they happen, and the swap form.

import { h, heading } from '../lib/dom.js';
import { market } from '../lib/market.js';
import { network } from '../lib/network.js';
import { setPlace } from '../lib/place.js';
import { priceChart } from './pricechart.js';
import { swapCard } from './swap.js';
import { tokenTable } from './tokentable.js';
import { tradesCard } from './trades.js';

/** The token with a symbol in any case, or undefined. */
function tokenNamed(symbol) {
  return network.tokens.find((token) => token.symbol.toLowerCase() === symbol?.toLowerCase());
}

/** The tokens that a link names; usual ones where it names none, or an unknown one. */
function tokensIn(query) {
  const find = (symbol, otherwise) => tokenNamed(symbol) ?? otherwise;
  const chosen = find(query.get('token') ?? query.get('to'), find('WETH', network.tokens[0]));
  const from = find(query.get('from'), find('USDC', network.tokens.at(-1)));
  return { chosen, from, to: find(query.get('to'), chosen) };
}

/** The symbols in a link that are of no token. */
function unknownIn(query) {
  const symbols = ['token', 'from', 'to'].map((name) => query.get(name));
  return [...new Set(symbols.filter((symbol) => symbol && !tokenNamed(symbol)))];
}

export default function view({ signal, query }) {
  market.follow(signal);
  const { chosen, from, to } = tokensIn(query);
  const chart = priceChart(signal);
  const swap = swapCard(signal, from, to);
  const trades = tradesCard(signal, () => {
    list.figures({ fresh: true });
    chart.figures();
  });
  const list = tokenTable(signal, (token) => {
    setPlace({ token: token.symbol });
    choose(token);
    swap.buy(token);
  });

  function choose(token) {
    chart.choose(token);
    list.mark(token);
    trades.choose(token);
  }

  choose(chosen);
  return [
    heading('Exchange', h('span.tag.accent', 'On-chain oracle prices')),
    unknownIn(query).map((symbol) =>
      h('p.failure', { role: 'alert' }, `Unknown token ${symbol.slice(0, 40)}`),
    ),
    h(
      'div.grid.main-side',
      swap.element,
      h('div.stack', chart.element, list.element, trades.element),
    ),
  ];
}
