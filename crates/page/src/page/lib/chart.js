// SVG charts, redrawn completely on each update: a few hundred points take less than a frame.

import { h, replace, s, setText } from './dom.js';

const observer = new ResizeObserver((entries) =>
  entries.forEach(({ target }) => target.redraw?.()),
);

/** The next round number above a value, as the end of an axis. */
function niceCeiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10].find((step) => step * power >= value) * power;
}

/** The ends of the axis and its marks, round numbers between them. */
function scale(kind, points, zero) {
  const lows = points.map((point) => (kind === 'candles' ? point.low : point.y));
  const highs = points.map((point) => (kind === 'candles' ? point.high : point.y));
  let [least, most] = [zero ? 0 : Math.min(...lows), Math.max(...highs)];
  const room = most - least || Math.abs(most) * 0.02 || 1;
  const power = 10 ** Math.floor(Math.log10(room / 3));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= room / 3 - 1e-12) * power;
  if (zero) [least, most] = [0, Math.max(step, Math.ceil(most / step - 1e-9) * step)];
  else {
    // An axis of non-negative values does not extend below zero.
    [least, most] = [
      least >= 0 ? Math.max(0, least - room * 0.08) : least - room * 0.08,
      most + room * 0.08,
    ];
  }
  const first = Math.ceil(least / step - 1e-9);
  const marks = Array.from(
    { length: Math.floor(most / step + 1e-9) - first + 1 },
    (_, at) => (first + at) * step,
  );
  return { least, most, marks };
}

function paint(kind, points, place, across, width, height) {
  if (kind === 'line') {
    const path = points
      .map((point, at) => `${at ? 'L' : 'M'}${across(at).toFixed(1)} ${place(point.y).toFixed(1)}`)
      .join('');
    const area = `${path}L${across(points.length - 1).toFixed(1)} ${height}L${across(0).toFixed(1)} ${height}Z`;
    return [s('path.area', { d: area }), s('path.line', { d: path })];
  }
  const room = width / Math.max(points.length, 1);
  const thick = Math.max(1, Math.min(room - 1, 14));
  if (kind === 'bars') {
    const bars = points.map((point, at) => {
      const top = place(point.y);
      return `M${(across(at) - thick / 2).toFixed(1)} ${height}V${Math.min(top, height - (point.y > 0 ? 1 : 0)).toFixed(1)}h${thick.toFixed(1)}V${height}Z`;
    });
    return [s('path.bars', { d: bars.join('') })];
  }
  const wicks = { up: '', down: '' };
  const bodies = { up: '', down: '' };
  points.forEach((point, at) => {
    const way = point.close >= point.open ? 'up' : 'down';
    const [top, bottom] = [
      place(Math.max(point.open, point.close)),
      place(Math.min(point.open, point.close)),
    ];
    wicks[way] +=
      `M${across(at).toFixed(1)} ${place(point.high).toFixed(1)}V${place(point.low).toFixed(1)}`;
    bodies[way] +=
      `M${(across(at) - thick / 2).toFixed(1)} ${top.toFixed(1)}h${thick.toFixed(1)}V${Math.max(bottom, top + 1).toFixed(1)}h${(-thick).toFixed(1)}Z`;
  });
  return ['up', 'down'].flatMap((way) => [
    s(`path.wick.${way}`, { d: wicks[way] }),
    s(`path.body.${way}`, { d: bodies[way] }),
  ]);
}

/**
 * A chart; `update(points)` sets its data. Points have `y`, or `open`, `high`, `low` and `close`,
 * and a `label`. Options: title, kind (line, bars, candles), format (of values), mark (format of
 * the axis' marks, given a mark and the largest), zero (the axis starts at 0), bare (no caption).
 * The range below names the first and the last point by their `short`.
 */
export function chart({
  title,
  kind = 'line',
  format,
  mark = format,
  zero = false,
  height = 150,
  bare = false,
}) {
  const latest = h('strong');
  const plot = s('svg', { role: 'img', 'aria-label': title });
  const tip = h('div.tip', { hidden: true });
  const none = h('span.none', 'No data yet');
  const area = h('div.plot', { style: { height: `${height}px` } }, plot, none, tip);
  const ticks = h('div.ticks', { 'aria-hidden': 'true' });
  const [from, to] = [h('span'), h('span')];
  const range = h('div.range', from, to);
  const figure = h(
    'figure.chart',
    !bare && h('figcaption', h('span', title), latest),
    h('div.axes', area, ticks, range),
  );
  const describe = kind === 'candles' ? (point) => format(point.close) : (point) => format(point.y);
  let points = [];
  let across = () => 0;

  const redraw = () => {
    const width = area.clientWidth;
    if (!width) return;
    plot.setAttribute('viewBox', `0 0 ${width} ${height}`);
    none.hidden = points.length > 0;
    if (!points.length) {
      setText(latest, '–');
      replace(ticks);
      return void replace(plot);
    }
    const { least, most, marks } = scale(kind, points, zero);
    const place = (value) => height - ((value - least) / (most - least)) * height;
    const room = width / points.length;
    across =
      kind === 'line'
        ? (at) => (points.length === 1 ? width / 2 : (at / (points.length - 1)) * width)
        : (at) => (at + 0.5) * room;
    const grid = marks.map((value) =>
      s('path.grid', { d: `M0 ${place(value).toFixed(1)}H${width}` }),
    );
    replace(plot, grid, paint(kind, points, place, across, width, height));
    const labels = marks.map((value) =>
      h('span', { style: { top: `${place(value).toFixed(1)}px` } }, mark(value, marks.at(-1))),
    );
    replace(ticks, labels);
    ticks.style.setProperty(
      '--gutter',
      `${Math.max(2.2, Math.max(...labels.map((label) => label.textContent.length)) * 0.42 + 0.6)}rem`,
    );
    const [oldest, newest] = [points[0], points.at(-1)];
    setText(from, points.length > 1 ? (oldest.short ?? oldest.label) : '');
    setText(to, newest.short ?? newest.label);
    const text = describe(points.at(-1));
    setText(latest, text);
    plot.setAttribute('aria-label', `${title}: ${points.length} values, latest ${text}`);
  };

  area.addEventListener('pointermove', (event) => {
    if (!points.length) return;
    const x = event.clientX - area.getBoundingClientRect().left;
    let nearest = 0;
    points.forEach((_, at) => {
      if (Math.abs(across(at) - x) < Math.abs(across(nearest) - x)) nearest = at;
    });
    const point = points[nearest];
    tip.hidden = false;
    replace(tip, h('b', describe(point)), h('span', point.label));
    const left = across(nearest);
    tip.style.left = `${Math.min(Math.max(left, 60), area.clientWidth - 60)}px`;
  });
  area.addEventListener('pointerleave', () => (tip.hidden = true));
  area.redraw = redraw;
  observer.observe(area);

  figure.update = (next) => {
    points = next;
    redraw();
  };
  return figure;
}

/**
 * A small line chart without axes. `way` colours it: up or down, by default the direction of the
 * values.
 */
export function sparkline(values, label, way = values.at(-1) >= values[0] ? 'up' : 'down') {
  const [width, height] = [96, 28];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const spread = most - least || 1;
  const x = (at) => ((at / Math.max(values.length - 1, 1)) * width).toFixed(1);
  const y = (value) => (height - 2 - ((value - least) / spread) * (height - 4)).toFixed(1);
  const path = values.map((value, at) => `${at ? 'L' : 'M'}${x(at)} ${y(value)}`).join('');
  return s(
    `svg.sparkline.${way}`,
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label },
    s('path', { d: path }),
  );
}

/** An interest rate curve over utilisation, with a mark at the current utilisation. */
export function curve(rate, now, format) {
  const [width, height] = [320, 130];
  const values = Array.from({ length: 101 }, (_, at) => rate(at / 100));
  const most = niceCeiling(Math.max(...values));
  const y = (value) => height - (value / most) * (height - 8);
  const path = values
    .map(
      (value, at) => `${at ? 'L' : 'M'}${((at / 100) * width).toFixed(1)} ${y(value).toFixed(1)}`,
    )
    .join('');
  const [markX, markY] = [now * width, y(rate(now))];
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
