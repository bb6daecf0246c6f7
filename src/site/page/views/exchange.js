// The exchange: prices, candles and the swap form.

import { candles, prices } from '../lib/prices.js';
import { chart, sparkline } from '../lib/chart.js';
import { card, failure, h, heading, replace, setText } from '../lib/dom.js';
import { compact, usd } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { network, read } from '../lib/network.js';
import { whenever } from '../lib/node.js';
import { swapCard } from './swap.js';

/** Chart periods: name in the REST API, number of points to request, candle width in milliseconds. */
const PERIODS = [
  { name: '1h', points: 60, width: 60_000 },
  { name: '24h', points: 1_440, width: 1_200_000 },
  { name: '7d', points: 1_008, width: 7_200_000 },
  { name: '30d', points: 1_440, width: 43_200_000 },
];

function change(percent) {
  const text = `${percent >= 0 ? '+' : '−'}${Math.abs(percent).toFixed(2)}%`;
  return h(percent >= 0 ? 'span.up' : 'span.down', text);
}

function chartCard(signal, chosen) {
  const plot = chart({ title: 'Price', kind: 'candles', height: 280, format: usd, bare: true });
  const name = h('h2');
  const price = h('strong', { style: { fontSize: '1.6rem', letterSpacing: '-0.02em' } });
  const moved = h('span');
  const problem = h('div');
  let period = PERIODS[1];
  let series = [];
  const tabs = h('div.tabs', { role: 'group', 'aria-label': 'Period' });
  const drawTabs = () => replace(tabs, PERIODS.map((one) => h('button', { type: 'button', 'aria-pressed': String(one === period), onclick: () => choose(one) }, one.name)));
  const choose = (one) => {
    period = one;
    drawTabs();
    draw();
  };
  async function draw() {
    const { token } = chosen;
    const asked = period;
    series = [];
    replace(name, addressLink(token.address), h('span.soft', ' / USD'));
    drawPrice();
    try {
      const found = await prices.history(token.address, asked.name, asked.points);
      if (signal.aborted || token !== chosen.token || asked !== period) return;
      series = found;
      drawPrice();
      replace(problem);
    } catch (error) {
      replace(problem, failure(error));
    }
  }
  function drawPrice() {
    const now = prices.of(chosen.token.address);
    setText(price, now ? usd(now.price) : '–');
    replace(moved, now && change(now.change24h), h('span.soft', ' in 24h'));
    if (!series.length) return;
    const label = ({ start }) => new Date(start).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
    const whole = now && now.timestamp > series.at(-1).timestamp ? [...series, now] : series;
    plot.update(candles(whole, period.width).map((one) => ({ ...one, label: label(one) })));
  }
  drawTabs();
  draw();
  whenever(prices, 'prices', signal, drawPrice, 50);
  const timer = setInterval(draw, 30_000);
  signal.addEventListener('abort', () => clearInterval(timer));
  const element = card(null, h('div.spread', h('div', name, h('div.row', { style: { alignItems: 'baseline' } }, price, moved)), tabs), plot, problem);
  return { element, draw };
}

function tokenTable(signal, choose) {
  const body = h('tbody');
  const cells = network.tokens.map((token) => {
    const row = { token, halted: h('span'), price: h('td.number'), change: h('td.number'), line: h('td'), reserve: h('td.number.soft') };
    const button = h('button.link-button', { type: 'button', onclick: () => choose(token) }, token.symbol);
    row.element = h('tr', h('td', button, row.halted), row.price, row.change, row.line, row.reserve);
    return row;
  });
  replace(body, cells.map((row) => row.element));
  whenever(prices, 'prices', signal, () => {
    for (const row of cells) {
      const now = prices.of(row.token.address);
      if (!now) continue;
      const text = usd(now.price);
      if (row.price.textContent !== text) {
        const first = row.price.textContent === '';
        row.price.textContent = text;
        if (!first) {
          row.price.classList.remove('fresh');
          requestAnimationFrame(() => row.price.classList.add('fresh'));
        }
      }
      replace(row.change, change(now.change24h));
      replace(row.halted, now.halted && h('span.tag.bad', 'Halted'));
    }
  }, 50);
  async function lines() {
    for (const row of cells) {
      const series = await prices.history(row.token.address, '24h', 48).catch(() => null);
      if (signal.aborted) return;
      if (series?.length) replace(row.line, sparkline(series.map((point) => point.price), `${row.token.symbol} in the last 24 hours`));
      const reserve = await read('Vault', network.addresses.vault, 'reserves', row.token.address).catch(() => null);
      const price = prices.of(row.token.address)?.price;
      if (reserve !== null && price) setText(row.reserve, `$${compact((Number(reserve) / 10 ** row.token.decimals) * price)}`);
    }
  }
  lines();
  const head = ['Token', '-Price', '-24h change', 'Last 24h', '-Liquidity'].map((name) => h(name.startsWith('-') ? 'th.number' : 'th', { scope: 'col' }, name.replace('-', '')));
  const mark = (token) => cells.forEach((row) => row.element.classList.toggle('chosen', row.token === token));
  const element = card('Tokens', h('div.scroll', { tabindex: '0', role: 'group' }, h('table', h('thead', h('tr', head)), body)));
  element.classList.add('late');
  return { element, mark };
}

export default function view({ signal, query }) {
  prices.follow();
  const find = (symbol, otherwise) => network.tokens.find((token) => token.symbol === symbol) ?? otherwise;
  const chosen = { token: find(query.get('token'), find('WETH', network.tokens[0])) };
  const plot = chartCard(signal, chosen);
  const swap = swapCard(signal, find(query.get('from'), find('USDC', network.tokens.at(-1))), find(query.get('to'), chosen.token));
  const list = tokenTable(signal, (token) => {
    chosen.token = token;
    plot.draw();
    list.mark(token);
    swap.buy(token);
  });
  list.mark(chosen.token);
  return [
    heading('Exchange', h('span.tag.accent', 'On-chain oracle prices')),
    h('div.grid.main-side', h('div.stack', plot.element, list.element), swap.element),
  ];
}
