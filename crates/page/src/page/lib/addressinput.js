// The input for an address, in either of its two formats.

import { h } from './dom.js';
import { network } from './network.js';

/** An input with further properties, such as a `value`. */
export function addressInput(properties = {}) {
  return h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x… or ${network.prefix}1…`,
    ...properties,
  });
}
