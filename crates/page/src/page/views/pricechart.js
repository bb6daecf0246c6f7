// The price of a token over time, with its figures of 24 hours.

import { choiceButtons } from '../lib/choices.js';
import { card, failure, h, replace, setText } from '../lib/dom.js';
import { usd } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { logo } from '../lib/logos.js';
import { market } from '../lib/market.js';
import { compactDollars } from '../lib/money.js';
import { whenever } from '../lib/node.js';
import { placed, setPlace } from '../lib/place.js';
import { prices } from '../lib/prices.js';
import { timeChart } from '../lib/timechart.js';
import { loadCandles, PAST_DAY, pointsOf, RANGES } from './candles.js';
import { haltTag, nameElement } from './tokenpicker.js';

const KINDS = [
  ['Line', 'line'],
  ['Candles', 'candles'],
];
/**
 * How often candles are loaded again, in milliseconds. Prices in between come from the WebSocket.
 */
const PACE = 60_000;
/** The setting of the kind of chart in the browser's storage. */
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

class PriceChart {
  #signal;
  #token = null;
  #range = RANGES.find(({ name }) => name === placed('range')) ?? PAST_DAY;
  #kind = localStorage.getItem(KIND) === 'candles' ? 'candles' : 'line';
  /** The candles of the token in the range. */
  #series = [];
  #isFollowing = false;

  #title = h('h2.token-title');
  #contract = h('span');
  #price = h('strong.price', '–');
  #moved = h('span.moved');
  #kinds = h('div.tabs', { role: 'group', 'aria-label': 'Chart type' });
  #ranges = h('div.tabs', { role: 'group', 'aria-label': 'Range' });
  #plot = timeChart({
    title: 'Price',
    height: 300,
    format: usd,
    hover: (point) => this.#readOut(point),
  });
  #problem = h('div');
  #volume = tile('24h volume');
  #liquidity = tile('Liquidity');
  #high = tile('24h high');
  #low = tile('24h low');

  constructor(signal) {
    this.#signal = signal;
    const tiles = [this.#volume, this.#liquidity, this.#high, this.#low];
    this.element = card(
      null,
      h('div.spread.top-line', this.#title, h('span.soft.contract', 'Contract ', this.#contract)),
      h(
        'div.spread',
        h('div.readout', this.#price, this.#moved),
        h('div.row', this.#kinds, this.#ranges),
      ),
      this.#plot,
      this.#problem,
      h(
        'div.figures',
        tiles.map((one) => one.element),
      ),
    );
  }

  chooseToken(token) {
    this.#token = token;
    this.#drawControls();
    this.#reload();
    this.figures();
    replace(this.#contract, addressLink(token.address, { plain: true }));
    if (!this.#isFollowing) this.#follow();
  }

  #chooseRange(range) {
    this.#range = range;
    this.#drawControls();
    setPlace({ range: range.name });
    this.#reload();
  }

  #chooseKind(kind) {
    this.#kind = kind;
    this.#drawControls();
    localStorage.setItem(KIND, kind);
    this.#draw();
  }

  #drawControls() {
    const ranges = RANGES.map((range) => [range.name, range]);
    replace(
      this.#ranges,
      choiceButtons(ranges, this.#range, (range) => this.#chooseRange(range)),
    );
    replace(
      this.#kinds,
      choiceButtons(KINDS, this.#kind, (kind) => this.#chooseKind(kind)),
    );
  }

  /** Follows prices and halts, and loads candles and figures at intervals. */
  #follow() {
    this.#isFollowing = true;
    whenever(prices, 'prices', this.#signal, () => this.#draw(), 100);
    whenever(market, 'market', this.#signal, () => this.#drawTitle());

    const timers = [
      setInterval(() => this.#load(), PACE),
      setInterval(() => this.figures(), PACE / 2),
    ];
    this.#signal.addEventListener('abort', () => timers.forEach(clearInterval));
  }

  #reload() {
    this.#series = [];
    this.#drawTitle();
    this.#draw();
    this.#load();
  }

  async #load() {
    const token = this.#token;
    const range = this.#range;
    try {
      const [series, day] = await loadCandles(token, range);
      // Another token or range may have been chosen since.
      if (this.#signal.aborted || token !== this.#token || range !== this.#range) return;

      this.#series = series.toSorted((a, b) => a.timestamp - b.timestamp);
      this.#drawBounds(day);
      this.#draw();
      replace(this.#problem);
    } catch (error) {
      if (!this.#signal.aborted) replace(this.#problem, failure(error));
    }
  }

  /** Refreshes the volume and the liquidity of the token. */
  async figures() {
    const found = await market.figures().catch(() => null);
    const own = found?.get(this.#token.address.toLowerCase());
    setText(this.#volume.value, own ? compactDollars(own.volume24h) : '–');
    setText(this.#liquidity.value, own ? compactDollars(own.liquidity) : '–');
  }

  #drawTitle() {
    const { symbol } = this.#token;
    replace(
      this.#title,
      logo(symbol, 'large'),
      h(
        'span.token-name',
        h('span.row', h('strong', symbol), haltTag(this.#token)),
        nameElement(symbol),
      ),
    );
  }

  #draw() {
    const now = prices.of(this.#token.address);
    const isPointedAt = this.#plot.querySelector('.cross > *') !== null;
    if (!isPointedAt) this.#drawPrice(now);

    const kind = this.#kind;
    this.#plot.update({
      kind,
      ...pointsOf(this.#series, now, this.#range, kind),
      way: Number((this.#moveOf(now) ?? 0).toFixed(2)) >= 0 ? 'up' : 'down',
    });
  }

  #drawPrice(now) {
    setText(this.#price, now ? usd(now.price) : '–');
    const percent = this.#moveOf(now);
    const { title } = this.#range;
    replace(this.#moved, percent === null ? [] : [change(percent), h('span.soft', ` ${title}`)]);
  }

  /** The change that is shown: that of the price service over 24 hours, or over the range. */
  #moveOf(now) {
    if (this.#range === PAST_DAY) return now?.change24h ?? null;
    const first = this.#series[0]?.open;
    return first && now ? (now.price / first - 1) * 100 : null;
  }

  /** Shows the price at a point of the chart, or the current one. */
  #readOut(point) {
    if (!point) return this.#drawPrice(prices.of(this.#token.address));

    setText(this.#price, usd(point.close));
    const first = this.#series[0]?.open;
    const since = h('span.soft', ' since the start of the range');
    replace(this.#moved, first ? [change((point.close / first - 1) * 100), since] : []);
  }

  /** Shows the bounds of the price in the candles of the past day. */
  #drawBounds(day) {
    const now = prices.of(this.#token.address)?.price;
    const highs = [...day.map((one) => one.high), now].filter(Boolean);
    const lows = [...day.map((one) => one.low), now].filter(Boolean);
    setText(this.#high.value, highs.length ? usd(Math.max(...highs)) : '–');
    setText(this.#low.value, lows.length ? usd(Math.min(...lows)) : '–');
  }
}

/** The card; `choose(token)` selects the token, `figures()` refreshes its volume and liquidity. */
export function priceChart(signal) {
  const chart = new PriceChart(signal);
  return {
    element: chart.element,
    figures: () => chart.figures(),
    choose: (token) => chart.chooseToken(token),
  };
}
