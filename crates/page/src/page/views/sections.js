// The bar of the explorer's lists.

import { h } from '../lib/dom.js';
import { scrollToTab } from '../lib/tabs.js';

/** The lists under `#/explorer`: their names, by the rest of the path. */
export const SECTIONS = {
  '': 'Transactions',
  blocks: 'Blocks',
  transfers: 'Token transfers',
  internal: 'Internal transactions',
};

/** Links to the lists; `current` is a key of `SECTIONS`, or `tokens`. */
export function sections(current) {
  const link = (href, id, name) =>
    h('a', { href, 'aria-current': id === current ? 'page' : null }, name);
  const links = Object.entries(SECTIONS).map(([path, name]) =>
    link(`#/explorer${path && `/${path}`}`, path, name),
  );
  const bar = h('nav.tabs', { 'aria-label': 'Lists' }, links, link('#/tokens', 'tokens', 'Tokens'));
  scrollToTab(bar, bar.querySelector('[aria-current]'));
  return bar;
}
