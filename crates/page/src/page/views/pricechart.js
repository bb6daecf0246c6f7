// The price of a token over time, with its figures of 24 hours.

import { card, failure, h, replace, setText } from '../lib/dom.js';
import { usd } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { logo } from '../lib/logos.js';
import { market } from '../lib/market.js';
import { compactDollars } from '../lib/money.js';
import { whenever } from '../lib/node.js';
import { placed, setPlace } from '../lib/place.js';
import { ask, joinCandles, prices, withPrice } from '../lib/prices.js';
import { timeChart } from '../lib/timechart.js';
import { haltTag, nameElement } from './tokenpicker.js';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
/**
 * Ranges: interval and number of the REST API's candles, their length, and the length of the
 * candles that are drawn.
 */
const RANGES = [
  {
    name: '1H',
    title: 'past hour',
    interval: '1m',
    limit: 61,
    unit: MINUTE,
    width: MINUTE,
    span: HOUR,
  },
  {
    name: '24H',
    title: 'past 24 hours',
    interval: '5m',
    limit: 289,
    unit: 5 * MINUTE,
    width: 15 * MINUTE,
    span: DAY,
  },
  {
    name: '7D',
    title: 'past week',
    interval: '1h',
    limit: 169,
    unit: HOUR,
    width: 2 * HOUR,
    span: 7 * DAY,
  },
  {
    name: '30D',
    title: 'past month',
    interval: '1h',
    limit: 721,
    unit: HOUR,
    width: 8 * HOUR,
    span: 30 * DAY,
  },
];
/**
 * How often candles are loaded again, in milliseconds. Prices in between come from the WebSocket.
 */
const PACE = 60_000;
const KIND = 'tetrad.chart';

/** A change in per cent, with its sign and colour. */
export function change(percent) {
  const rounded = Number(percent.toFixed(2));
  return h(
    rounded >= 0 ? 'span.up' : 'span.down',
    `${rounded >= 0 ? '+' : '−'}${Math.abs(rounded).toFixed(2)}%`,
  );
}

function tile(name) {
  const value = h('strong', '–');
  return { value, element: h('div', h('span', name), value) };
}

/** The card; `choose(token)` selects the token, `figures()` refreshes its volume and liquidity. */
export function priceChart(signal) {
  const state = {
    token: null,
    range: RANGES.find(({ name }) => name === placed('range')) ?? RANGES[1],
    series: [],
    kind: localStorage.getItem(KIND) === 'candles' ? 'candles' : 'line',
  };
  const title = h('h2.token-title');
  const price = h('strong.price', '–');
  const moved = h('span.moved');
  const ranges = h('div.tabs', { role: 'group', 'aria-label': 'Range' });
  const kinds = h('div.tabs', { role: 'group', 'aria-label': 'Chart type' });
  const problem = h('div');
  const [high, low, volume, liquidity] = ['24h high', '24h low', '24h volume', 'Liquidity'].map(
    tile,
  );
  const plot = timeChart({ title: 'Price', height: 300, format: usd, hover: readout });

  function readout(point) {
    const now = prices.of(state.token.address);
    if (!point) return drawPrice(now);
    setText(price, usd(point.close));
    const first = state.series[0]?.open;
    replace(
      moved,
      first
        ? [change((point.close / first - 1) * 100), h('span.soft', ' since the start of the range')]
        : [],
    );
  }

  /** The change that is shown: that of the price service over 24 hours, or over the range. */
  function moveOf(now) {
    if (state.range.name === '24H') return now?.change24h ?? null;
    const first = state.series[0]?.open;
    return first && now ? (now.price / first - 1) * 100 : null;
  }

  function drawPrice(now) {
    setText(price, now ? usd(now.price) : '–');
    const percent = moveOf(now);
    replace(
      moved,
      percent === null ? [] : [change(percent), h('span.soft', ` ${state.range.title}`)],
    );
  }

  function draw() {
    const now = prices.of(state.token.address);
    const { range, kind } = state;
    if (plot.querySelector('.cross > *') === null) drawPrice(now);
    const width = kind === 'candles' ? range.width : range.unit;
    const joined = joinCandles(state.series, width);
    const points = now && joined.length ? withPrice(joined, now, width) : joined;
    const to = Math.max(now?.timestamp ?? 0, points.at(-1)?.time ?? 0);
    const within = points.filter((point) => point.time >= to - range.span - width);
    // A candle's price at its end is that of a line.
    const lines = within.map((point) => ({ ...point, time: Math.min(point.time + width, to) }));
    plot.update({
      kind,
      width,
      points: kind === 'candles' ? within : lines,
      way: Number((moveOf(now) ?? 0).toFixed(2)) >= 0 ? 'up' : 'down',
    });
  }

  function drawDay(found) {
    const now = prices.of(state.token.address)?.price;
    const highs = [...found.map((one) => one.high), now].filter(Boolean);
    const lows = [...found.map((one) => one.low), now].filter(Boolean);
    setText(high.value, highs.length ? usd(Math.max(...highs)) : '–');
    setText(low.value, lows.length ? usd(Math.min(...lows)) : '–');
  }

  async function load() {
    const { token, range } = state;
    try {
      const found = ({ interval, limit }) =>
        ask(`api/prices/${token.address}/candles?interval=${interval}&limit=${limit}`);
      const asked = found(range);
      const [series, day] = await Promise.all([
        asked,
        range === RANGES[1] ? asked : found(RANGES[1]),
      ]);
      if (signal.aborted || token !== state.token || range !== state.range) return;
      state.series = series.toSorted((a, b) => a.timestamp - b.timestamp);
      drawDay(day);
      draw();
      replace(problem);
    } catch (error) {
      if (!signal.aborted) replace(problem, failure(error));
    }
  }

  async function figures() {
    const found = await market.figures().catch(() => null);
    const own = found?.get(state.token.address.toLowerCase());
    setText(volume.value, own ? compactDollars(own.volume24h) : '–');
    setText(liquidity.value, own ? compactDollars(own.liquidity) : '–');
  }

  function drawTitle() {
    const { token } = state;
    replace(
      title,
      logo(token.symbol, 'large'),
      h(
        'span.token-name',
        h('span.row', h('strong', token.symbol), haltTag(token)),
        nameElement(token.symbol),
      ),
    );
  }

  const choose = (set) => {
    Object.assign(state, set);
    const button = (name, on, next) =>
      h(
        'button',
        { type: 'button', 'aria-pressed': String(on), onclick: () => choose(next) },
        name,
      );
    replace(
      ranges,
      RANGES.map((range) => button(range.name, range === state.range, { range })),
    );
    replace(
      kinds,
      [
        ['Line', 'line'],
        ['Candles', 'candles'],
      ].map(([name, kind]) => button(name, kind === state.kind, { kind })),
    );
    if (set.range) setPlace({ range: set.range.name });
    if (set.kind) {
      localStorage.setItem(KIND, set.kind);
      return draw();
    }
    state.series = [];
    drawTitle();
    draw();
    load();
    if (set.token) figures();
  };

  const element = card(
    null,
    h('div.spread.top-line', title, h('span.soft.contract', 'Contract ', h('span'))),
    h('div.spread', h('div.readout', price, moved), h('div.row', kinds, ranges)),
    plot,
    problem,
    h(
      'div.figures',
      [volume, liquidity, high, low].map((one) => one.element),
    ),
  );
  const contract = element.querySelector('.contract span');
  let begun = false;
  const begin = () => {
    begun = true;
    whenever(prices, 'prices', signal, draw, 100);
    whenever(market, 'market', signal, drawTitle);
    const timers = [setInterval(load, PACE), setInterval(figures, PACE / 2)];
    signal.addEventListener('abort', () => timers.forEach(clearInterval));
  };
  return {
    element,
    figures,
    choose: (token) => {
      choose({ token });
      replace(contract, addressLink(token.address, { plain: true }));
      if (!begun) begin();
    },
  };
}
