// Charts over time: lines or candles with an axis of values, an axis of time, and a readout under
// the pointer.

import { h, replace, s } from './dom.js';
import { nearestPoint, redrawOnResize } from './plots.js';
import { drawing, Scales, TOP, valuesOf } from './timeplot.js';

/** The values of a candle by name. */
function candleValues({ open, high, low, close }) {
  return [
    ['Open', open],
    ['High', high],
    ['Low', low],
    ['Close', close],
  ];
}

class TimeChart {
  data = { points: [] };
  /** The scales of what is drawn, or null. */
  scales = null;

  constructor({ title, height = 280, format, tick = format, names = [''], hover = null }) {
    Object.assign(this, { title, height, format, tick, names, hover });
    this.plot = s('svg', { role: 'img', 'aria-label': title });
    this.cross = s('g.cross');
    this.tip = h('div.tip', { hidden: true });
    this.area = h('div.time-plot', { style: { height: `${height}px` } }, this.plot, this.tip);

    this.area.addEventListener('pointermove', (event) => this.pointAt(event));
    this.area.addEventListener('pointerleave', () => this.clear());
    redrawOnResize(this.area, () => this.draw());
  }

  update(data) {
    this.data = data;
    this.draw();
  }

  draw() {
    const width = this.area.clientWidth;
    if (!width) return;

    const { points } = this.data;
    const from = this.data.from ?? points[0]?.time;
    const to = this.data.to ?? points.at(-1)?.time;
    this.plot.setAttribute('viewBox', `0 0 ${width} ${this.height}`);
    if (!points.length || !(to > from)) {
      this.scales = null;
      this.drawNone(width, points.length ? 'Not enough history yet' : 'Loading…');
      return;
    }

    this.scales = new Scales(this.data, { from, to, width, height: this.height });
    replace(this.plot, drawing(this.data, this.scales, this), this.cross);
    this.describe(from);
  }

  /** Draws the reason why there is no chart. */
  drawNone(width, reason) {
    const middle = { x: width / 2, y: this.height / 2, 'text-anchor': 'middle' };
    replace(this.plot, s('text.none', middle, reason));
  }

  /** Describes the chart to screen readers. */
  describe(from) {
    const { points, kind } = this.data;
    const since = new Date(from).toLocaleString('en-GB');
    const latest = valuesOf(kind, points.at(-1)).map(this.format).join(' and ');
    this.plot.setAttribute(
      'aria-label',
      `${this.title}: ${points.length} values from ${since} on, latest ${latest}`,
    );
  }

  /** Reads out the point nearest to the pointer. */
  pointAt(event) {
    const { points } = this.data;
    const { scales } = this;
    if (!scales) return;

    const x = (point) => scales.x(point.time);
    const point = points[nearestPoint(points, x, this.area, event)];
    // Without a width, later data are not drawn yet, and may have no points.
    if (!point) return void this.clear();

    this.markPoint(point);
    replace(this.tip, this.readout(point));
    this.placeTip(x(point));
    this.hover?.(point);
  }

  markPoint(point) {
    const { scales } = this;
    const left = scales.x(point.time);
    replace(
      this.cross,
      s('path', { d: `M${left.toFixed(1)} ${TOP}V${scales.bottom}` }),
      valuesOf(this.data.kind, point).map((value) =>
        s('circle', { cx: left, cy: scales.y(value), r: 3.5 }),
      ),
    );
  }

  /** The lines of the readout: the date, the values, and the volume. */
  readout(point) {
    const { names, format } = this;
    const date = new Date(point.time).toLocaleString('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'short',
    });
    const values =
      this.data.kind === 'candles'
        ? candleValues(point)
        : valuesOf(this.data.kind, point).map((value, line) => [names[line], value]);
    return [
      h('span', date),
      values.map(([name, value]) => h('span', name && `${name} `, h('b', format(value)))),
      point.volume > 0 &&
        h('span', 'Volume ', h('b', `$${Math.round(point.volume).toLocaleString('en')}`)),
    ];
  }

  /** Shows the readout on that side of the point where there is more room. */
  placeTip(left) {
    this.tip.hidden = false;
    const isOnLeft = left > this.scales.right / 2;
    this.tip.style.left = isOnLeft ? '' : `${left + 12}px`;
    this.tip.style.right = isOnLeft ? `${this.area.clientWidth - left + 12}px` : '';
  }

  clear() {
    replace(this.cross);
    this.tip.hidden = true;
    this.hover?.(null);
  }
}

/**
 * A chart; `update({ points, kind, from, to, width, way })` sets its data. Points have a `time` in
 * milliseconds and `values`, one per line, or `open`, `high`, `low`, `close` and `volume`. `kind`
 * is line, stairs or candles; `width` the duration of a candle; `way` the direction that colours
 * the line, `up` or `down`. Options: title, height, format (of a value), tick (of a value on the
 * axis), names (of the lines), hover (called with the point under the pointer, or null).
 */
export function timeChart(options) {
  const chart = new TimeChart(options);
  chart.area.update = (data) => chart.update(data);
  return chart.area;
}
