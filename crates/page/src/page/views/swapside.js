// One side of the swap form: an amount, its token, and the balance of the account.

import { h, setText } from '../lib/dom.js';
import { amount, amountProblem, fromUnits } from '../lib/format.js';
import { dollars } from '../lib/money.js';
import { tokenButton } from './tokenpicker.js';

export class SwapSide {
  #token = null;
  #button;
  #worth = h('span');
  #balance = h('span');

  /**
   * `title` is what the account does with the amount; `labels` are those of the amount's field and
   * of the token's button; `chosen(token)` is called with a token that was selected; `more` follows
   * the balance.
   */
  constructor(title, labels, chosen, more = null) {
    this.#button = tokenButton(labels.token, chosen);
    this.input = h('input', {
      inputmode: 'decimal',
      placeholder: '0',
      autocomplete: 'off',
      'aria-label': labels.amount,
    });
    this.element = h(
      'div.swap-side',
      h('div.what', h('span', title)),
      this.input,
      this.#button.button,
      h('div.below', this.#worth, this.#balance, more),
    );
  }

  set token(token) {
    this.#token = token;
    this.#button.set(token);
  }

  /** The amount in the field, 0 if it is empty, or the error that says what is wrong with it. */
  get amount() {
    if (!this.input.value.trim()) return 0n;
    try {
      return fromUnits(this.input.value, this.#token.decimals);
    } catch (error) {
      return new Error(amountProblem(error, this.#token));
    }
  }

  /** Shows the value of the amount in dollars. */
  showWorth(value) {
    setText(this.#worth, dollars(value));
  }

  /** Shows the balance of the active account, null without one. */
  showBalance(balance) {
    setText(
      this.#balance,
      balance === null ? '' : `Balance ${amount(balance, this.#token.decimals, 7)}`,
    );
  }
}
