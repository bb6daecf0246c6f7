// The ranges of the price chart, and the candles in them.

import { ask, joinCandles, withPrice } from '../lib/prices.js';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/**
 * Ranges: interval and number of the REST API's candles, their length, and the length of the
 * candles that are drawn.
 */
export const RANGES = [
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

/** The range that is chosen at first, and whose bounds are among the figures. */
export const PAST_DAY = RANGES[1];

function candles(token, { interval, limit }) {
  return ask(`api/prices/${token.address}/candles?interval=${interval}&limit=${limit}`);
}

/** The candles of a range, and those of the past day. */
export function loadCandles(token, range) {
  const asked = candles(token, range);
  return Promise.all([asked, range === PAST_DAY ? asked : candles(token, PAST_DAY)]);
}

/** The points of a range, up to the current price, as the chart takes them. */
export function pointsOf(series, now, range, kind) {
  const width = kind === 'candles' ? range.width : range.unit;
  const joined = joinCandles(series, width);
  const points = now && joined.length ? withPrice(joined, now, width) : joined;

  const to = Math.max(now?.timestamp ?? 0, points.at(-1)?.time ?? 0);
  const within = points.filter((point) => point.time >= to - range.span - width);
  if (kind === 'candles') return { width, points: within };

  // A candle's price at its end is that of a line.
  const lines = within.map((point) => ({ ...point, time: Math.min(point.time + width, to) }));
  return { width, points: lines };
}
