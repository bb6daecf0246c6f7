// Token logos, drawn for this page: simple shapes on a disc, legible on light and dark ground.

import { s } from './dom.js';

const WHITE = '#fff';
const line = (d, width = 2, color = WHITE) =>
  s('path', {
    d,
    fill: 'none',
    stroke: color,
    'stroke-width': width,
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
  });
const shape = (d, color = WHITE, opacity = 1) =>
  s('path', { d, fill: color, 'fill-opacity': opacity });
const spot = (cx, cy, r, color = WHITE) => s('circle', { cx, cy, r, fill: color });
const drop = () => [
  shape('M16 5.5l5.6 9.2L16 18l-5.6-3.3z'),
  shape('M9.6 17.2L16 21l6.4-3.8a7.4 7.4 0 11-12.8 0z', WHITE, 0.82),
];

/** Colour of the disc and drawing on it, in a square of 32, by symbol. */
const LOGOS = {
  WBTC: [
    '#e98a15',
    () =>
      line(
        'M12.3 9.5h5.6a3.2 3.2 0 010 6.4h-5.6zM12.3 15.9h6.4a3.3 3.3 0 010 6.6h-6.4zM14.4 7v2.3M18 7v2.3M14.4 22.7V25M18 22.7V25',
        1.9,
      ),
  ],
  WETH: [
    '#4a5468',
    () => [
      shape('M16 4.8l6.9 11.5-6.9 4.1-6.9-4.1z'),
      shape('M9.1 18L16 22.1l6.9-4.1L16 27.3z', WHITE, 0.7),
    ],
  ],
  stETH: ['#1f9bea', drop],
  wstETH: [
    '#1566c0',
    () => [
      s('circle', {
        cx: 16,
        cy: 16,
        r: 13.2,
        fill: 'none',
        stroke: WHITE,
        'stroke-width': 1.3,
        'stroke-opacity': 0.75,
      }),
      s('g', { transform: 'translate(2.7 2.9) scale(0.83)' }, drop()),
    ],
  ],
  BNB: [
    '#f0b90b',
    () =>
      shape(
        'M16 12.7l3.3 3.3-3.3 3.3-3.3-3.3zM16 5.8l6.4 6.4-2.4 2.4-4-4-4 4-2.4-2.4zM16 26.2l-6.4-6.4 2.4-2.4 4 4 4-4 2.4 2.4zM7.4 13.6L9.8 16l-2.4 2.4L5 16zM24.6 13.6L27 16l-2.4 2.4-2.4-2.4z',
        '#1d1503',
      ),
  ],
  UNI: [
    '#e8197d',
    () => [
      shape(
        'M7.5 23.5C8 15 12 8.6 21 6.5c-2.6 3-2.7 5.3.4 7.3 4 2.6 3.5 8.2-.6 10.4-4 2.1-9.3 1.9-13.3-.7z',
      ),
      spot(17.3, 16.8, 1.7, '#e8197d'),
    ],
  ],
  DOT: [
    '#d6006f',
    () =>
      [
        [16, 7.6],
        [23.3, 11.8],
        [23.3, 20.2],
        [16, 24.4],
        [8.7, 20.2],
        [8.7, 11.8],
      ].map(([x, y]) => spot(x, y, 2.5)),
  ],
  TON: ['#0a84d0', () => line('M8.8 10.2h14.4L16 23.8zM16 10.4v13', 2.1)],
  CRO: [
    '#12346b',
    () => [
      line('M16 5.8l8.8 5.1v10.2L16 26.2l-8.8-5.1V10.9z', 1.9),
      shape('M16 11.3l4.1 2.4v4.6L16 20.7l-4.1-2.4v-4.6z'),
    ],
  ],
  USDT: [
    '#1f936f',
    () => [
      line('M9.8 9.3h12.4M16 9.3v14.2', 3.2),
      s('ellipse', {
        cx: 16,
        cy: 15,
        rx: 8.4,
        ry: 2.5,
        fill: 'none',
        stroke: WHITE,
        'stroke-width': 1.5,
      }),
    ],
  ],
  SOL: [
    '#1d1630',
    () => [
      shape('M11.2 8.8h13.3l-3.2 3.4H8z', '#25e3a5'),
      shape('M8 14.3h13.3l3.2 3.4H11.2z', '#7fa6f5'),
      shape('M11.2 19.8h13.3l-3.2 3.4H8z', '#a866f7'),
    ],
  ],
  USDC: [
    '#2870c2',
    () => [
      line(
        'M19.7 12.7c-.4-1.5-1.8-2.3-3.7-2.3-2.2 0-3.7 1.1-3.7 2.8 0 3.9 7.5 1.7 7.5 5.6 0 1.7-1.6 2.8-3.8 2.8-2.1 0-3.6-.9-4-2.5M16 8.2v2M16 21.8v2',
        1.9,
      ),
      line('M11.4 6.6a10.5 10.5 0 000 18.8M20.6 6.6a10.5 10.5 0 010 18.8', 1.7),
    ],
  ],
};

/** A disc in a colour that follows from the symbol, with its first letters. */
function generated(symbol) {
  const text =
    symbol
      .replace(/[^\p{L}\p{N}]/gu, '')
      .slice(0, 3)
      .toUpperCase() || '?';
  let hash = 7;
  for (const letter of symbol) hash = (hash * 31 + letter.codePointAt(0)) % 360;

  const size = [17, 17, 13, 10.5][text.length];
  return [
    spot(16, 16, 16, `hsl(${hash} 45% 38%)`),
    s(
      'text',
      {
        x: 16,
        y: 16,
        fill: WHITE,
        'font-size': size,
        'font-weight': 650,
        'text-anchor': 'middle',
        'dominant-baseline': 'central',
      },
      text,
    ),
  ];
}

/**
 * The logo of a token, decorative: the symbol stands beside it. `size` is small, medium or large.
 */
export function logo(symbol, size = 'medium') {
  const [color, draw] = LOGOS[symbol] ?? [];
  return s(
    `svg.logo.${size}`,
    { viewBox: '0 0 32 32', 'aria-hidden': 'true' },
    draw ? [spot(16, 16, 16, color), draw()] : generated(symbol),
  );
}
