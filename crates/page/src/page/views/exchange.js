// The exchange: prices, their charts, swaps as they happen, and the swap form.

import { sparkline } from '../lib/chart.js';
import { card, h, heading, replace, setText } from '../lib/dom.js';
import { usd } from '../lib/format.js';
import { logo } from '../lib/logos.js';
import { market } from '../lib/market.js';
import { compactDollars } from '../lib/money.js';
import { network } from '../lib/network.js';
import { whenever } from '../lib/node.js';
import { setPlace } from '../lib/place.js';
import { prices } from '../lib/prices.js';
import { change, priceChart } from './pricechart.js';
import { swapCard } from './swap.js';
import { haltTag, nameElement } from './tokenpicker.js';
import { tradesCard } from './trades.js';

/** How often figures of 24 hours are refreshed, in milliseconds. */
const PACE = 30_000;
/** Values of a small chart. */
const LINE = 48;

function tokenTable(signal, choose) {
  const cells = network.tokens.map((token) => {
    const row = {
      token,
      series: null,
      tag: h('span'),
      price: h('td.number.line-1.end', '–'),
      change: h('td.number.line-2', '–'),
      volume: h('span', '–'),
      liquidity: h('td.number.soft', '–'),
      line: h('td.line.line-2.end'),
    };
    const button = h(
      'button.link-button.token-link',
      { type: 'button', onclick: () => choose(token) },
      logo(token.symbol, 'large'),
      h(
        'span.token-name',
        h('span.row.nowrap', h('strong', token.symbol), row.tag),
        nameElement(token.symbol),
      ),
    );
    row.element = h(
      'tr',
      h('td.line-1', button),
      row.price,
      row.change,
      row.line,
      h('td.number.soft.line-2', h('span.unit', 'Volume '), row.volume),
      row.liquidity,
    );
    return row;
  });
  const drawLine = (row) => {
    const now = prices.of(row.token.address);
    if (row.series?.length > 1 && now)
      replace(
        row.line,
        sparkline(
          [...row.series, now.price],
          `${row.token.symbol} in the last 24 hours`,
          Number(now.change24h.toFixed(2)) >= 0 ? 'up' : 'down',
        ),
      );
  };
  whenever(
    prices,
    'prices',
    signal,
    () => {
      for (const row of cells) {
        const now = prices.of(row.token.address);
        if (!now) continue;
        const text = usd(now.price);
        if (row.price.textContent !== text) {
          const first = row.price.textContent === '–';
          row.price.textContent = text;
          if (!first) {
            row.price.classList.remove('fresh');
            requestAnimationFrame(() => row.price.classList.add('fresh'));
          }
        }
        const before = row.change.textContent;
        replace(row.change, change(now.change24h));
        if (row.change.textContent[0] !== before[0]) drawLine(row);
      }
    },
    50,
  );
  whenever(market, 'market', signal, () =>
    cells.forEach((row) => replace(row.tag, haltTag(row.token))),
  );
  async function lines() {
    for (const row of cells) {
      const series = await prices.history(row.token.address, '24h', LINE).catch(() => null);
      if (signal.aborted) return;
      row.series = series?.map((point) => point.price) ?? null;
      drawLine(row);
    }
  }
  async function figures(options) {
    const found = await market.figures(options).catch(() => null);
    if (signal.aborted || !found) return;
    for (const row of cells) {
      const own = found.get(row.token.address.toLowerCase());
      setText(row.volume, own ? compactDollars(own.volume24h) : '–');
      setText(row.liquidity, own ? compactDollars(own.liquidity) : '–');
    }
  }
  lines();
  figures();
  const timer = setInterval(figures, PACE);
  signal.addEventListener('abort', () => clearInterval(timer));
  const head = ['Token', '-Price', '-24h change', 'Last 24h', '-24h volume', '-Liquidity'].map(
    (name) =>
      h(name.startsWith('-') ? 'th.number' : 'th', { scope: 'col' }, name.replace(/^-/, '')),
  );
  const mark = (token) =>
    cells.forEach((row) => row.element.classList.toggle('chosen', row.token === token));
  const element = card(
    'Tokens',
    h(
      'div.scroll',
      { tabindex: '0', role: 'group', 'aria-label': 'Tokens' },
      h(
        'table.tokens.rows',
        h('thead', h('tr', head)),
        h(
          'tbody',
          cells.map((row) => row.element),
        ),
      ),
    ),
  );
  element.classList.add('late');
  return { element, mark, figures };
}

export default function view({ signal, query }) {
  market.follow(signal);
  const named = (symbol) =>
    network.tokens.find((token) => token.symbol.toLowerCase() === symbol?.toLowerCase());
  const find = (symbol, otherwise) => named(symbol) ?? otherwise;
  const unknown = [
    ...new Set(
      ['token', 'from', 'to']
        .map((name) => query.get(name))
        .filter((symbol) => symbol && !named(symbol)),
    ),
  ];
  const chosen = find(query.get('token') ?? query.get('to'), find('WETH', network.tokens[0]));
  const chart = priceChart(signal);
  const swap = swapCard(
    signal,
    find(query.get('from'), find('USDC', network.tokens.at(-1))),
    find(query.get('to'), chosen),
  );
  const trades = tradesCard(signal, () => {
    list.figures({ fresh: true });
    chart.figures();
  });
  const choose = (token) => {
    chart.choose(token);
    list.mark(token);
    trades.choose(token);
  };
  const list = tokenTable(signal, (token) => {
    setPlace({ token: token.symbol });
    choose(token);
    swap.buy(token);
  });
  choose(chosen);
  return [
    heading('Exchange', h('span.tag.accent', 'On-chain oracle prices')),
    unknown.map((symbol) =>
      h('p.failure', { role: 'alert' }, `Unknown token ${symbol.slice(0, 40)}`),
    ),
    h(
      'div.grid.main-side',
      swap.element,
      h('div.stack', chart.element, list.element, trades.element),
    ),
  ];
}
