// Charts over time: lines or candles with an axis of values, an axis of time, and a readout under
// the pointer.

import { h, replace, s } from './dom.js';
import { timeLabel, timeTicks, valueTicks } from './ticks.js';

const observer = new ResizeObserver((entries) =>
  entries.forEach(({ target }) => target.redraw?.()),
);

/**
 * Width of the axis of values, height of the axis of time, and free space at the top, in pixels.
 */
const [GUTTER, FOOT, TOP] = [66, 24, 10];
/** The share of the height that volumes take. */
const VOLUMES = 0.16;
/** Bounds of the values, with a margin. Values that are never negative have no axis below zero. */
function bounds(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const margin = (most - least) * 0.08 || Math.abs(most) * 0.005 || 1;
  return [least >= 0 ? Math.max(0, least - margin) : least - margin, most + margin];
}

const path = (points) =>
  points.map(([x, y], at) => `${at ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

/** A line that keeps each value until the next one. */
const stairs = (points) =>
  points.flatMap(([x, y], at) =>
    at
      ? [
          [x, points[at - 1][1]],
          [x, y],
        ]
      : [[x, y]],
  );

function candlePaths(points, x, y, thick) {
  const paths = { up: { wick: '', body: '' }, down: { wick: '', body: '' } };
  for (const point of points) {
    const way = paths[point.close >= point.open ? 'up' : 'down'];
    const [top, bottom] = [
      y(Math.max(point.open, point.close)),
      y(Math.min(point.open, point.close)),
    ];
    way.wick += `M${x(point.time).toFixed(1)} ${y(point.high).toFixed(1)}V${y(point.low).toFixed(1)}`;
    way.body += `M${(x(point.time) - thick / 2).toFixed(1)} ${top.toFixed(1)}h${thick.toFixed(1)}V${Math.max(bottom, top + 1).toFixed(1)}h${(-thick).toFixed(1)}Z`;
  }
  return ['up', 'down'].flatMap((way) => [
    s(`path.wick.${way}`, { d: paths[way].wick }),
    s(`path.body.${way}`, { d: paths[way].body }),
  ]);
}

function volumeBars(points, x, bottom, room, thick) {
  const most = Math.max(...points.map((point) => point.volume ?? 0));
  if (!(most > 0)) return null;
  const bars = points
    .filter((point) => point.volume > 0)
    .map((point) => {
      const tall = Math.max(2, (point.volume / most) * room);
      return `M${(x(point.time) - thick / 2).toFixed(1)} ${bottom}v${(-tall).toFixed(1)}h${thick.toFixed(1)}V${bottom}Z`;
    });
  return s('path.volume', { d: bars.join('') });
}

/**
 * A chart; `update({ points, kind, from, to, width, way })` sets its data. Points have a `time` in
 * milliseconds and `values`, one per line, or `open`, `high`, `low`, `close` and `volume`. `kind`
 * is line, stairs or candles; `width` the duration of a candle; `way` the direction that colours
 * the line, `up` or `down`. Options: title, height, format (of a value), tick (of a value on the
 * axis), names (of the lines), hover (called with the point under the pointer, or null).
 */
export function timeChart({
  title,
  height = 280,
  format,
  tick = format,
  names = [''],
  hover = null,
}) {
  const plot = s('svg', { role: 'img', 'aria-label': title });
  const cross = s('g.cross');
  const tip = h('div.tip', { hidden: true });
  const area = h('div.time-plot', { style: { height: `${height}px` } }, plot, tip);
  let data = { points: [] };
  let scale = null;

  const valuesOf = (point) =>
    data.kind === 'candles' ? [point.close] : (point.values ?? [point.close]);

  function draw() {
    const wide = area.clientWidth;
    if (!wide) return;
    const { points, kind } = data;
    const from = data.from ?? points[0]?.time;
    const to = data.to ?? points.at(-1)?.time;
    plot.setAttribute('viewBox', `0 0 ${wide} ${height}`);
    if (!points.length || !(to > from)) {
      scale = null;
      return void replace(
        plot,
        s(
          'text.none',
          { x: wide / 2, y: height / 2, 'text-anchor': 'middle' },
          points.length ? 'Not enough history yet' : 'Loading…',
        ),
      );
    }
    const [right, bottom] = [wide - GUTTER, height - FOOT];
    const all =
      kind === 'candles'
        ? points.flatMap((point) => [point.high, point.low])
        : points.flatMap(valuesOf);
    const [least, most] = bounds(all);
    const withVolume = points.some((point) => point.volume > 0);
    const floor = withVolume ? bottom - (bottom - TOP) * VOLUMES : bottom;
    const thick = Math.max(1, Math.min(((data.width ?? 0) / (to - from)) * right * 0.72, 14));
    const x = (time) => thick / 2 + ((time - from) / (to - from)) * (right - thick);
    const y = (value) => floor - ((value - least) / (most - least)) * (floor - TOP);
    scale = { x, y, right, bottom };
    const rows = valueTicks(least, most, Math.max(2, Math.floor((floor - TOP) / 46)));
    const { ticks, step } = timeTicks(from, to, Math.max(2, Math.floor(right / 74)));
    const grid = s('path.grid', {
      d: rows.map((value) => `M0 ${y(value).toFixed(1)}H${right}`).join(''),
    });
    const marks = rows.map((value) =>
      s(
        'text.tick',
        {
          x: wide - 2,
          y: y(value).toFixed(1),
          'text-anchor': 'end',
          'dominant-baseline': 'central',
        },
        tick(value),
      ),
    );
    // A label at the edge would be cut off.
    const times = ticks
      .filter((time) => x(time) > 16 && x(time) < right - 8)
      .map((time) =>
        s(
          'text.tick',
          { x: x(time).toFixed(1), y: height - 6, 'text-anchor': 'middle' },
          timeLabel(time, step),
        ),
      );
    const drawn = [];
    if (kind === 'candles') drawn.push(...candlePaths(points, x, y, thick));
    else {
      names.forEach((_, at) => {
        const own = points.map((point) => [x(point.time), y(valuesOf(point)[at])]);
        const line = path(kind === 'stairs' ? stairs(own) : own);
        const colour = names.length > 1 ? `line-${at}` : (data.way ?? 'plain');
        if (names.length === 1)
          drawn.push(s(`path.fill.${colour}`, { d: `${line}V${floor}H${own[0][0].toFixed(1)}Z` }));
        drawn.push(s(`path.trend.${colour}`, { d: line }));
      });
    }
    replace(
      plot,
      grid,
      volumeBars(points, x, bottom, bottom - floor - 4, thick) ?? [],
      drawn,
      s('path.grid', { d: `M0 ${bottom}H${right}` }),
      marks,
      times,
      cross,
    );
    plot.setAttribute(
      'aria-label',
      `${title}: ${points.length} values from ${new Date(from).toLocaleString('en-GB')} on, latest ${valuesOf(points.at(-1)).map(format).join(' and ')}`,
    );
  }

  function point(at) {
    const one = data.points[at];
    if (!one || !scale) return clear();
    const own = valuesOf(one);
    const left = scale.x(one.time);
    replace(
      cross,
      s('path', { d: `M${left.toFixed(1)} ${TOP}V${scale.bottom}` }),
      own.map((value) => s('circle', { cx: left, cy: scale.y(value), r: 3.5 })),
    );
    const date = new Date(one.time).toLocaleString('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'short',
    });
    const lines =
      data.kind === 'candles'
        ? [
            ['Open', one.open],
            ['High', one.high],
            ['Low', one.low],
            ['Close', one.close],
          ].map(([name, value]) => h('span', `${name} `, h('b', format(value))))
        : own.map((value, line) =>
            h('span', names[line] && `${names[line]} `, h('b', format(value))),
          );
    replace(
      tip,
      h('span', date),
      lines,
      one.volume > 0 &&
        h('span', 'Volume ', h('b', `$${Math.round(one.volume).toLocaleString('en')}`)),
    );
    tip.hidden = false;
    const aside = left > scale.right / 2;
    tip.style.left = aside ? '' : `${left + 12}px`;
    tip.style.right = aside ? `${area.clientWidth - left + 12}px` : '';
    hover?.(one);
  }

  function clear() {
    replace(cross);
    tip.hidden = true;
    hover?.(null);
  }

  area.addEventListener('pointermove', (event) => {
    if (!scale) return;
    const across = event.clientX - area.getBoundingClientRect().left;
    let nearest = 0;
    data.points.forEach((one, at) => {
      if (
        Math.abs(scale.x(one.time) - across) < Math.abs(scale.x(data.points[nearest].time) - across)
      )
        nearest = at;
    });
    point(nearest);
  });
  area.addEventListener('pointerleave', clear);
  area.redraw = draw;
  observer.observe(area);
  area.update = (next) => {
    data = next;
    draw();
  };
  return area;
}
