// The button of a token in a table: its logo, symbol, tags and name.

import { h } from '../lib/dom.js';
import { logo } from '../lib/logos.js';
import { nameElement } from './tokenpicker.js';

export function tokenButton(symbol, tags, choose) {
  return h(
    'button.link-button.token-link',
    { type: 'button', onclick: choose },
    logo(symbol, 'large'),
    h('span.token-name', h('span.row.nowrap', h('strong', symbol), tags), nameElement(symbol)),
  );
}
