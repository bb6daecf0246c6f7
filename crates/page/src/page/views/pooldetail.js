// One pool: its rates now and in the past, and its parameters.

import { curve } from '../lib/chart.js';
import { choiceButtons } from '../lib/choices.js';
import { age } from '../lib/clock.js';
import { card, facts, h, replace, setText } from '../lib/dom.js';
import { amount, percent } from '../lib/format.js';
import { borrowRate, yearly } from '../lib/lens.js';
import { addressLink } from '../lib/links.js';
import { logo } from '../lib/logos.js';
import { compactMoney, valueUsd } from '../lib/money.js';
import { node } from '../lib/node.js';
import { placed, setPlace } from '../lib/place.js';
import { reasonOf } from '../lib/reasons.js';
import { timeChart } from '../lib/timechart.js';

const HOUR = 3_600_000;
/** Lengths of the ranges in milliseconds, by the names that the API has for them. */
const RANGES = { '1h': HOUR, '24h': 24 * HOUR, '7d': 168 * HOUR, '30d': 720 * HOUR };
/** Most samples of a history. */
const SAMPLES = 200;
/**
 * The values of this visit that are kept: the API has one sample per interval, a young chain
 * therefore few.
 */
const LIVE = 900;
/** How often the history is loaded, in milliseconds. */
const PACE = 60_000;

const share = (bps) => percent(Number(bps) / 10_000, 0);
const both = (value, { price, decimals, symbol }) => [
  `${amount(value, Number(decimals), 8)} ${symbol} `,
  h('span.soft', compactMoney(valueUsd(value, price, decimals))),
];

/** The rates of a pool in a range of the past, oldest first: `{ time, values }`. */
async function loadHistory(asset, range) {
  const response = await fetch(`api/pools/${asset}/history?period=${range}&limit=${SAMPLES}`);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message ?? `status ${response.status}`);
  return answer.history
    .map((one) => ({
      time: one.timestamp,
      values: [Number(one.supplyApy), Number(one.borrowApy)],
    }))
    .toSorted((a, b) => a.time - b.time);
}

/** When the chain began, in milliseconds, or null. */
function beginning() {
  return node.call('eth_getBlockByNumber', 'earliest', false).then(
    (block) => Number(block.timestamp) * 1_000,
    () => null,
  );
}

/** The points of the newest `length` milliseconds, and whether there is a value at their start. */
function newestPoints(all, length) {
  const to = all.at(-1).time;
  const from = to - length;
  const later = all.filter((one) => one.time > from);
  // The rates at the start of the range are those of the last value before it.
  const before = all.findLast((one) => one.time <= from);
  const points = before ? [{ ...before, time: from }, ...later] : later;
  return { points, from, to, isWhole: Boolean(before) };
}

function parameterFacts(pool) {
  const { parameters } = pool;
  const least = share(parameters.minLtvBps);
  const most = share(parameters.maxLtvBps);
  return facts([
    ['Available liquidity', both(pool.cash, pool)],
    ['Supply cap', pool.supplyCap > 0n ? both(pool.supplyCap, pool) : 'None'],
    ['Borrow cap', pool.borrowCap > 0n ? both(pool.borrowCap, pool) : 'None'],
    ['Loan-to-value (LTV)', `${least} at a score of 300, ${most} at 850`],
    ['Liquidation threshold', share(parameters.liquidationThresholdBps)],
    ['Liquidation bonus', share(parameters.liquidationBonusBps)],
    ['Reserve factor', share(parameters.reserveFactorBps)],
    [
      'Borrow APY by credit band',
      pool.borrowRates.map((rate) => percent(yearly(rate))).join(' · '),
    ],
    ['Receipt token', addressLink(pool.pToken)],
  ]);
}

/** The curve of the interest rate model, with the utilisation now. */
function rateCurve({ parameters, utilisation }) {
  return curve(
    (at) => borrowRate(parameters, at),
    Number(utilisation) / 1e27,
    (rate) => percent(rate, rate < 0.1 ? 1 : 0),
  );
}

class PoolCard {
  #signal;
  #pool = null;
  #range = Object.hasOwn(RANGES, placed('range') ?? '') ? placed('range') : '24h';
  /** The rates of the past in the range, and those since the page was opened. */
  #history = [];
  #live = [];
  #begun = null;

  #title = h('span.row');
  #ranges = h('div.tabs', { role: 'group', 'aria-label': 'Range' });
  #plot = timeChart({
    title: 'Supply and borrow APY',
    height: 190,
    names: ['Supply APY', 'Borrow APY'],
    format: (value) => `${value.toFixed(2)}%`,
  });
  #note = h('p.soft');
  #model = h('div.grid.two');

  constructor(signal) {
    this.#signal = signal;
    const legend = h(
      'div.legend',
      h('span.line-0', h('i'), 'Supply APY'),
      h('span.line-1', h('i'), 'Borrow APY'),
    );
    this.element = card(
      h('span.spread', this.#title, this.#ranges),
      legend,
      this.#plot,
      this.#note,
      this.#model,
    );
    this.element.classList.add('late');
    this.#drawRanges();

    const timer = setInterval(() => this.#load(), PACE);
    signal.addEventListener('abort', () => clearInterval(timer));
  }

  /** Selects a pool, or passes new data of the selected one. */
  choose(pool) {
    const isOther = this.#pool?.asset !== pool.asset;
    this.#pool = pool;
    this.#draw();
    if (isOther) {
      this.#history = [];
      this.#live = [];
    }
    this.#addLive();
    if (isOther) this.#load();
  }

  /** Adds the rates of the newest block to those of this visit. */
  #addLive() {
    const time = Number(node.head?.timestamp ?? 0) * 1_000;
    if (time <= (this.#live.at(-1)?.time ?? 0)) return;

    const { supplyRate, borrowRates } = this.#pool;
    const values = [supplyRate, borrowRates[0]].map((rate) => yearly(rate) * 100);
    this.#live = [...this.#live, { time, values }].slice(-LIVE);
    this.#drawRates();
  }

  async #load() {
    const pool = this.#pool;
    const range = this.#range;
    if (!pool) return;
    try {
      const history = await loadHistory(pool.asset, range);
      this.#begun ??= await beginning();
      // Another pool or range may have been chosen since.
      const isOther = pool.asset !== this.#pool.asset || range !== this.#range;
      if (this.#signal.aborted || isOther) return;
      this.#history = history;
      this.#drawRates();
    } catch (error) {
      setText(this.#note, `The history could not be loaded. ${reasonOf(error)}`);
    }
  }

  #drawRates() {
    if (!this.#history.length) return this.#plot.update({ kind: 'line', points: [] });

    const newest = this.#history.at(-1).time;
    const all = [...this.#history, ...this.#live.filter((one) => one.time > newest)];
    const { points, from, to, isWhole } = newestPoints(all, RANGES[this.#range]);
    this.#plot.update({ kind: 'line', points, from: points[0].time, to });

    const isYounger = !isWhole && this.#begun !== null && this.#begun > from;
    setText(
      this.#note,
      isYounger
        ? `The chain is younger than this range: it began ${age(this.#begun / 1_000)}.`
        : '',
    );
  }

  #draw() {
    const pool = this.#pool;
    replace(this.#title, logo(pool.symbol), h('span', `${pool.symbol} pool`));
    replace(
      this.#model,
      h('div.stack', h('h3', 'Interest rate model'), rateCurve(pool)),
      parameterFacts(pool),
    );
  }

  #drawRanges() {
    const ranges = Object.keys(RANGES).map((range) => [range.toUpperCase(), range]);
    const choose = (range) => {
      this.#range = range;
      setPlace({ range });
      this.#drawRanges();
      this.#load();
    };
    replace(this.#ranges, choiceButtons(ranges, this.#range, choose));
  }
}

/** The card; `choose(pool)` selects the pool or passes its new data. */
export function poolCard(signal) {
  const detail = new PoolCard(signal);
  return { element: detail.element, choose: (pool) => detail.choose(pool) };
}
