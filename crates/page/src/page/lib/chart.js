// SVG charts, redrawn completely on each update: a few hundred points take less than a frame.

import { h, replace, s, setText } from './dom.js';
import { candlePaths, linePath, nearestPoint, redrawOnResize } from './plots.js';

/** The next round number above a value, as the end of an axis. */
function niceCeiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10].find((step) => step * power >= value) * power;
}

/** Round distance of the marks of an axis, about a third of it. */
function markDistance(room) {
  const power = 10 ** Math.floor(Math.log10(room / 3));
  return [1, 2, 2.5, 5, 10].find((one) => one * power >= room / 3 - 1e-12) * power;
}

/** The ends of the axis and its marks, round numbers between them. */
function scale(kind, points, zero) {
  const lows = points.map((point) => (kind === 'candles' ? point.low : point.y));
  const highs = points.map((point) => (kind === 'candles' ? point.high : point.y));
  let least = zero ? 0 : Math.min(...lows);
  let most = Math.max(...highs);

  const room = most - least || Math.abs(most) * 0.02 || 1;
  const step = markDistance(room);
  if (zero) {
    most = Math.max(step, Math.ceil(most / step - 1e-9) * step);
  } else {
    // An axis of non-negative values does not extend below zero.
    least = least >= 0 ? Math.max(0, least - room * 0.08) : least - room * 0.08;
    most += room * 0.08;
  }

  const first = Math.ceil(least / step - 1e-9);
  const last = Math.floor(most / step + 1e-9);
  const marks = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
  return { least, most, marks };
}

/** A line through points, and the area below it. */
function line(points, x, y, height) {
  const path = linePath(points.map((point, at) => [x(at), y(point.y)]));
  const start = x(0).toFixed(1);
  const end = x(points.length - 1).toFixed(1);
  return [
    s('path.area', { d: `${path}L${end} ${height}L${start} ${height}Z` }),
    s('path.line', { d: path }),
  ];
}

/** A bar for each point; a value above zero is visible. */
function bars(points, x, y, height, thick) {
  const paths = points.map((point, at) => {
    const left = (x(at) - thick / 2).toFixed(1);
    const top = Math.min(y(point.y), height - (point.y > 0 ? 1 : 0));
    return `M${left} ${height}V${top.toFixed(1)}h${thick.toFixed(1)}V${height}Z`;
  });
  return [s('path.bars', { d: paths.join('') })];
}

class Chart {
  points = [];
  /** The width of what is drawn, in pixels. */
  width = 0;

  constructor({
    title,
    kind = 'line',
    format,
    mark = format,
    zero = false,
    height = 150,
    bare = false,
  }) {
    Object.assign(this, { title, kind, format, mark, zero, height });

    this.latest = h('strong');
    this.plot = s('svg', { role: 'img', 'aria-label': title });
    this.tip = h('div.tip', { hidden: true });
    this.none = h('span.none', 'No data yet');
    this.area = h('div.plot', { style: { height: `${height}px` } }, this.plot, this.none, this.tip);
    this.ticks = h('div.ticks', { 'aria-hidden': 'true' });
    this.from = h('span');
    this.to = h('span');
    this.figure = h(
      'figure.chart',
      !bare && h('figcaption', h('span', title), this.latest),
      h('div.axes', this.area, this.ticks, h('div.range', this.from, this.to)),
    );

    this.area.addEventListener('pointermove', (event) => this.pointAt(event));
    this.area.addEventListener('pointerleave', () => (this.tip.hidden = true));
    redrawOnResize(this.area, () => this.draw());
  }

  update(points) {
    this.points = points;
    this.draw();
  }

  /** The value of a point as text. */
  describe(point) {
    return this.format(this.kind === 'candles' ? point.close : point.y);
  }

  /** Where the point of an index is, in pixels from the left. */
  x(at) {
    const { points, width } = this;
    if (this.kind !== 'line') return (at + 0.5) * (width / points.length);
    return points.length === 1 ? width / 2 : (at / (points.length - 1)) * width;
  }

  draw() {
    const { points, height } = this;
    const width = this.area.clientWidth;
    if (!width) return;

    this.width = width;
    this.plot.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.none.hidden = points.length > 0;
    if (!points.length) {
      setText(this.latest, '–');
      replace(this.ticks);
      replace(this.plot);
      return;
    }

    const { least, most, marks } = scale(this.kind, points, this.zero);
    const y = (value) => height - ((value - least) / (most - least)) * height;
    const grid = marks.map((value) => s('path.grid', { d: `M0 ${y(value).toFixed(1)}H${width}` }));
    replace(this.plot, grid, this.paths(y));
    this.drawTicks(marks, y);
    this.drawTexts();
  }

  /** The points as a line, bars or candles. */
  paths(y) {
    const { points, kind, height } = this;
    const x = (at) => this.x(at);
    if (kind === 'line') return line(points, x, y, height);

    const thick = Math.max(1, Math.min(this.width / points.length - 1, 14));
    if (kind === 'bars') return bars(points, x, y, height, thick);
    return candlePaths(points, (_, at) => x(at), y, thick);
  }

  /** Labels the marks of the axis, which is as wide as the longest label. */
  drawTicks(marks, y) {
    const labels = marks.map((value) =>
      h('span', { style: { top: `${y(value).toFixed(1)}px` } }, this.mark(value, marks.at(-1))),
    );
    replace(this.ticks, labels);

    const longest = Math.max(...labels.map((label) => label.textContent.length));
    this.ticks.style.setProperty('--gutter', `${Math.max(2.2, longest * 0.42 + 0.6)}rem`);
  }

  /** Names the first and the last point, and describes the latest value. */
  drawTexts() {
    const { points } = this;
    const oldest = points[0];
    const newest = points.at(-1);
    setText(this.from, points.length > 1 ? (oldest.short ?? oldest.label) : '');
    setText(this.to, newest.short ?? newest.label);

    const text = this.describe(newest);
    setText(this.latest, text);
    this.plot.setAttribute('aria-label', `${this.title}: ${points.length} values, latest ${text}`);
  }

  /** Shows the value of the point nearest to the pointer. */
  pointAt(event) {
    const { points, area, tip } = this;
    if (!points.length) return;

    const nearest = nearestPoint(points, (_, at) => this.x(at), area, event);
    const point = points[nearest];
    tip.hidden = false;
    replace(tip, h('b', this.describe(point)), h('span', point.label));
    const left = Math.min(Math.max(this.x(nearest), 60), area.clientWidth - 60);
    tip.style.left = `${left}px`;
  }
}

/**
 * A chart; `update(points)` sets its data. Points have `y`, or `open`, `high`, `low` and `close`,
 * and a `label`. Options: title, kind (line, bars, candles), format (of values), mark (format of
 * the axis' marks, given a mark and the largest), zero (the axis starts at 0), bare (no caption).
 * The range below names the first and the last point by their `short`.
 */
export function chart(options) {
  const made = new Chart(options);
  made.figure.update = (points) => made.update(points);
  return made.figure;
}

/**
 * A small line chart without axes. `way` colours it: up or down, by default the direction of the
 * values.
 */
export function sparkline(values, label, way = values.at(-1) >= values[0] ? 'up' : 'down') {
  const width = 96;
  const height = 28;
  const least = Math.min(...values);
  const most = Math.max(...values);
  const spread = most - least || 1;
  const x = (at) => (at / Math.max(values.length - 1, 1)) * width;
  const y = (value) => height - 2 - ((value - least) / spread) * (height - 4);
  const path = linePath(values.map((value, at) => [x(at), y(value)]));

  return s(
    `svg.sparkline.${way}`,
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label },
    s('path', { d: path }),
  );
}

/** An interest rate curve over utilisation, with a mark at the current utilisation. */
export function curve(rate, now, format) {
  const width = 320;
  const height = 130;
  const values = Array.from({ length: 101 }, (_, at) => rate(at / 100));
  const most = niceCeiling(Math.max(...values));
  const y = (value) => height - (value / most) * (height - 8);
  const path = linePath(values.map((value, at) => [(at / 100) * width, y(value)]));
  const markX = now * width;
  const markY = y(rate(now));

  return s(
    'svg.curve',
    {
      viewBox: `-8 -8 ${width + 16} ${height + 30}`,
      role: 'img',
      'aria-label': `Borrow APY by utilisation, currently ${format(rate(now))} at ${Math.round(now * 100)}%`,
    },
    s('path.grid', { d: `M0 ${height}H${width}M0 0H${width}M0 ${height / 2}H${width}` }),
    s('path.line', { d: path }),
    s('path.now', { d: `M${markX} ${height}V${markY}` }),
    s('circle', { cx: markX, cy: markY, r: 4.5 }),
    s('text', { x: 0, y: -1, 'dominant-baseline': 'hanging' }, format(most)),
    s('text', { x: 0, y: height + 16 }, '0%'),
    s('text', { x: width, y: height + 16, 'text-anchor': 'end' }, 'Utilisation 100%'),
  );
}
