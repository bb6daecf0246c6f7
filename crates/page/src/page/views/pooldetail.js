// One pool: its rates now and in the past, and its parameters.

import { curve } from '../lib/chart.js';
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

/** The card; `choose(pool)` selects the pool or passes its new data. */
export function poolCard(signal) {
  const title = h('span.row');
  const ranges = h('div.tabs', { role: 'group', 'aria-label': 'Range' });
  const note = h('p.soft');
  const plot = timeChart({
    title: 'Supply and borrow APY',
    height: 190,
    names: ['Supply APY', 'Borrow APY'],
    format: (value) => `${value.toFixed(2)}%`,
  });
  const legend = h(
    'div.legend',
    h('span.line-0', h('i'), 'Supply APY'),
    h('span.line-1', h('i'), 'Borrow APY'),
  );
  const model = h('div.grid.two');
  const state = {
    pool: null,
    range: Object.hasOwn(RANGES, placed('range') ?? '') ? placed('range') : '24h',
    history: [],
    live: [],
    begun: null,
  };

  function drawRates() {
    if (!state.history.length) return plot.update({ kind: 'line', points: [] });
    const newest = state.history.at(-1).time;
    const all = [...state.history, ...state.live.filter((one) => one.time > newest)];
    const to = all.at(-1).time;
    const from = to - RANGES[state.range];
    const later = all.filter((one) => one.time > from);
    // The rates at the start of the range are those of the last value before it.
    const before = all.findLast((one) => one.time <= from);
    const points = before ? [{ ...before, time: from }, ...later] : later;
    plot.update({ kind: 'line', points, from: points[0].time, to });
    const isYounger = !before && state.begun !== null && state.begun > from;
    setText(
      note,
      isYounger
        ? `The chain is younger than this range: it began ${age(state.begun / 1_000)}.`
        : '',
    );
  }

  async function load() {
    const { pool, range } = state;
    if (!pool) return;
    try {
      const response = await fetch(
        `api/pools/${pool.asset}/history?period=${range}&limit=${SAMPLES}`,
      );
      const answer = await response.json();
      if (!response.ok) throw new Error(answer.message ?? `status ${response.status}`);
      state.begun ??= await node.call('eth_getBlockByNumber', 'earliest', false).then(
        (block) => Number(block.timestamp) * 1_000,
        () => null,
      );
      if (signal.aborted || pool.asset !== state.pool.asset || range !== state.range) return;
      state.history = answer.history
        .map((one) => ({
          time: one.timestamp,
          values: [Number(one.supplyApy), Number(one.borrowApy)],
        }))
        .toSorted((a, b) => a.time - b.time);
      drawRates();
    } catch (error) {
      setText(note, `The history could not be loaded. ${reasonOf(error)}`);
    }
  }

  function draw() {
    const { pool } = state;
    const { parameters } = pool;
    const used = Number(pool.utilisation) / 1e27;
    replace(title, logo(pool.symbol), h('span', `${pool.symbol} pool`));
    replace(
      model,
      h(
        'div.stack',
        h('h3', 'Interest rate model'),
        curve(
          (at) => borrowRate(parameters, at),
          used,
          (rate) => percent(rate, rate < 0.1 ? 1 : 0),
        ),
      ),
      facts([
        ['Available liquidity', both(pool.cash, pool)],
        ['Supply cap', pool.supplyCap > 0n ? both(pool.supplyCap, pool) : 'None'],
        ['Borrow cap', pool.borrowCap > 0n ? both(pool.borrowCap, pool) : 'None'],
        [
          'Loan-to-value (LTV)',
          `${share(parameters.minLtvBps)} at a score of 300, ${share(parameters.maxLtvBps)} at 850`,
        ],
        ['Liquidation threshold', share(parameters.liquidationThresholdBps)],
        ['Liquidation bonus', share(parameters.liquidationBonusBps)],
        ['Reserve factor', share(parameters.reserveFactorBps)],
        [
          'Borrow APY by credit band',
          pool.borrowRates.map((rate) => percent(yearly(rate))).join(' · '),
        ],
        ['Receipt token', addressLink(pool.pToken)],
      ]),
    );
  }

  const drawRanges = () =>
    replace(
      ranges,
      Object.keys(RANGES).map((range) =>
        h(
          'button',
          {
            type: 'button',
            'aria-pressed': String(range === state.range),
            onclick: () => {
              state.range = range;
              setPlace({ range });
              drawRanges();
              load();
            },
          },
          range.toUpperCase(),
        ),
      ),
    );
  drawRanges();
  const timer = setInterval(load, PACE);
  signal.addEventListener('abort', () => clearInterval(timer));
  const element = card(h('span.spread', title, ranges), legend, plot, note, model);
  element.classList.add('late');
  return {
    element,
    choose: (pool) => {
      const other = state.pool?.asset !== pool.asset;
      state.pool = pool;
      draw();
      if (other) Object.assign(state, { history: [], live: [] });
      const time = Number(node.head?.timestamp ?? 0) * 1_000;
      if (time > (state.live.at(-1)?.time ?? 0)) {
        state.live = [
          ...state.live,
          {
            time,
            values: [pool.supplyRate, pool.borrowRates[0]].map((rate) => yearly(rate) * 100),
          },
        ].slice(-LIVE);
        drawRates();
      }
      if (other) load();
    },
  };
}
