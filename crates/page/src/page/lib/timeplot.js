// What a chart over time draws: lines or candles, volumes below them, and the axes.

import { s } from './dom.js';
import { candlePaths, linePath } from './plots.js';
import { timeLabel, timeTicks, valueTicks } from './ticks.js';

/** Width of the axis of values, in pixels. */
const GUTTER = 66;
/** Height of the axis of time, in pixels. */
const FOOT = 24;
/** Free space above the values, in pixels. */
export const TOP = 10;
/** The share of the height that volumes take. */
const VOLUMES = 0.16;
/** The share of its duration that a candle or a bar takes, and its largest width in pixels. */
const CANDLE_SHARE = 0.72;
const WIDEST_CANDLE = 14;
/** The least distances of ticks on the axes of values and of time, in pixels. */
const VALUE_TICK_DISTANCE = 46;
const TIME_TICK_DISTANCE = 74;

/** The values of a point that are read out, one per line. */
export function valuesOf(kind, point) {
  return kind === 'candles' ? [point.close] : (point.values ?? [point.close]);
}

/** Bounds of the values, with a margin. Values that are never negative have no axis below zero. */
function bounds(values) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const margin = (most - least) * 0.08 || Math.abs(most) * 0.005 || 1;
  return [least >= 0 ? Math.max(0, least - margin) : least - margin, most + margin];
}

/** Where the times from `from` to `to` and the values of a chart's data are, in pixels. */
export class Scales {
  constructor({ points, kind, width: duration = 0 }, { from, to, width, height }) {
    this.from = from;
    this.to = to;
    this.width = width;
    this.height = height;
    this.right = width - GUTTER;
    this.bottom = height - FOOT;

    const hasVolume = points.some((point) => point.volume > 0);
    this.floor = hasVolume ? this.bottom - (this.bottom - TOP) * VOLUMES : this.bottom;

    const wide = (duration / (to - from)) * this.right * CANDLE_SHARE;
    this.thick = Math.max(1, Math.min(wide, WIDEST_CANDLE));

    const values =
      kind === 'candles'
        ? points.flatMap((point) => [point.high, point.low])
        : points.flatMap((point) => valuesOf(kind, point));
    [this.least, this.most] = bounds(values);
  }

  x(time) {
    const share = (time - this.from) / (this.to - this.from);
    return this.thick / 2 + share * (this.right - this.thick);
  }

  y(value) {
    const share = (value - this.least) / (this.most - this.least);
    return this.floor - share * (this.floor - TOP);
  }
}

/** Positions at which a line keeps each value until the next one. */
function stairs(positions) {
  return positions.flatMap(([x, y], at) => {
    if (at === 0) return [[x, y]];
    const before = positions[at - 1][1];
    return [
      [x, before],
      [x, y],
    ];
  });
}

/** The lines of the data, coloured by number; a single one by its direction, and filled. */
function lines({ points, kind, way = 'plain' }, scales, names) {
  return names.flatMap((_, line) => {
    const positions = points.map((point) => [
      scales.x(point.time),
      scales.y(valuesOf(kind, point)[line]),
    ]);
    const path = linePath(kind === 'stairs' ? stairs(positions) : positions);
    if (names.length > 1) return [s(`path.trend.line-${line}`, { d: path })];

    const start = positions[0][0].toFixed(1);
    return [
      s(`path.fill.${way}`, { d: `${path}V${scales.floor}H${start}Z` }),
      s(`path.trend.${way}`, { d: path }),
    ];
  });
}

/** The volumes, below the values; null without any. */
function volumeBars(points, scales) {
  const most = Math.max(...points.map((point) => point.volume ?? 0));
  if (!(most > 0)) return null;

  const { bottom, floor, thick } = scales;
  const room = bottom - floor - 4;
  const bars = points
    .filter((point) => point.volume > 0)
    .map((point) => {
      const left = (scales.x(point.time) - thick / 2).toFixed(1);
      const tall = Math.max(2, (point.volume / most) * room);
      return `M${left} ${bottom}v${(-tall).toFixed(1)}h${thick.toFixed(1)}V${bottom}Z`;
    });
  return s('path.volume', { d: bars.join('') });
}

/** The lines at round values, and their labels on the right. */
function valueAxis(scales, format) {
  const count = Math.floor((scales.floor - TOP) / VALUE_TICK_DISTANCE);
  const ticks = valueTicks(scales.least, scales.most, Math.max(2, count));

  const grid = ticks.map((value) => `M0 ${scales.y(value).toFixed(1)}H${scales.right}`);
  const labels = ticks.map((value) =>
    s(
      'text.tick',
      {
        x: scales.width - 2,
        y: scales.y(value).toFixed(1),
        'text-anchor': 'end',
        'dominant-baseline': 'central',
      },
      format(value),
    ),
  );
  return { grid: s('path.grid', { d: grid.join('') }), labels };
}

/** The labels of round times, at the bottom. */
function timeLabels(scales) {
  const { from, to, right, height } = scales;
  const count = Math.floor(right / TIME_TICK_DISTANCE);
  const { ticks, step } = timeTicks(from, to, Math.max(2, count));

  // A label at the edge would be cut off.
  const fits = (time) => scales.x(time) > 16 && scales.x(time) < right - 8;
  return ticks
    .filter(fits)
    .map((time) =>
      s(
        'text.tick',
        { x: scales.x(time).toFixed(1), y: height - 6, 'text-anchor': 'middle' },
        timeLabel(time, step),
      ),
    );
}

/** All that the data draw, from back to front. */
export function drawing(data, scales, { names, tick }) {
  const { points, kind } = data;
  const { grid, labels } = valueAxis(scales, tick);
  return [
    grid,
    volumeBars(points, scales),
    kind === 'candles'
      ? candlePaths(
          points,
          (point) => scales.x(point.time),
          (value) => scales.y(value),
          scales.thick,
        )
      : lines(data, scales, names),
    s('path.grid', { d: `M0 ${scales.bottom}H${scales.right}` }),
    labels,
    timeLabels(scales),
  ];
}
