// What the charts share: paths, the point under the pointer, and redrawing at another size.

import { s } from './dom.js';

const observer = new ResizeObserver((entries) =>
  entries.forEach(({ target }) => target.redraw?.()),
);

/** Calls `redraw` at each change of an element's size, and once at first. */
export function redrawOnResize(element, redraw) {
  element.redraw = redraw;
  observer.observe(element);
}

/** The index of the point, at the position `x(point, index)`, that is nearest to a pointer. */
export function nearestPoint(points, x, area, event) {
  const pointer = event.clientX - area.getBoundingClientRect().left;
  const distance = (at) => Math.abs(x(points[at], at) - pointer);

  let nearest = 0;
  for (const at of points.keys()) if (distance(at) < distance(nearest)) nearest = at;
  return nearest;
}

/** The path of a line through positions. */
export function linePath(positions) {
  return positions.map(([x, y], at) => `${at ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
}

/**
 * The wicks and bodies of candles, those that rose and those that fell: a candle is centred on
 * `x(point, index)`, and `thick` pixels wide.
 */
export function candlePaths(points, x, y, thick) {
  const wicks = { up: '', down: '' };
  const bodies = { up: '', down: '' };
  points.forEach((point, at) => {
    const way = point.close >= point.open ? 'up' : 'down';
    const centre = x(point, at);
    wicks[way] += `M${centre.toFixed(1)} ${y(point.high).toFixed(1)}V${y(point.low).toFixed(1)}`;

    const top = y(Math.max(point.open, point.close));
    // A candle that closed where it opened is a line.
    const bottom = Math.max(y(Math.min(point.open, point.close)), top + 1);
    bodies[way] +=
      `M${(centre - thick / 2).toFixed(1)} ${top.toFixed(1)}h${thick.toFixed(1)}V${bottom.toFixed(1)}h${(-thick).toFixed(1)}Z`;
  });

  return ['up', 'down'].flatMap((way) => [
    s(`path.wick.${way}`, { d: wicks[way] }),
    s(`path.body.${way}`, { d: bodies[way] }),
  ]);
}
