// The amount that an action in the lending pool moves, with its asset, its worth and its limit.

import { h, setText } from '../lib/dom.js';
import { amountProblem, fromUnits } from '../lib/format.js';
import { money, valueUsd } from '../lib/money.js';
import { tokenButton } from './tokenpicker.js';

export class AmountField {
  input = h('input', {
    inputmode: 'decimal',
    placeholder: '0',
    autocomplete: 'off',
    'aria-label': 'Amount',
  });

  #worth = h('span');
  #limit = h('span');
  #most = h('button.link-button', { type: 'button', 'aria-label': 'Max amount' }, 'Max');

  /** `pick` is called with the asset that is chosen, `fill` to enter the largest amount. */
  constructor({ pick, fill }) {
    this.asset = tokenButton('Asset', pick);
    this.#most.addEventListener('click', fill);
    this.element = h(
      'div.swap-side',
      h('div.what', h('span', 'Amount')),
      this.input,
      this.asset.button,
      h('div.below', this.#worth, this.#limit, this.#most),
    );
  }

  /** The amount in units of the token: 0 if the field is empty, an error if it has no amount. */
  valueOf(token) {
    if (!this.input.value.trim()) return 0n;
    try {
      return fromUnits(this.input.value, token.decimals);
    } catch (error) {
      return new Error(amountProblem(error, token));
    }
  }

  /** Shows what is available, a text or null if it is not known, and what the value is worth. */
  draw({ token, available, pool, value }) {
    this.asset.set(token);
    this.#most.hidden = available === null;
    setText(this.#limit, available ?? '');
    setText(this.#worth, pool ? money(valueUsd(value, pool.price, pool.decimals)) : '$0.00');
  }
}
