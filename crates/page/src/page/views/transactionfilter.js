// The filter of the explorer's transactions, which the URL has.

import { parseAddress } from '../lib/address.js';
import { addressInput } from '../lib/addressinput.js';
import { field, h, replace } from '../lib/dom.js';
import { network } from '../lib/network.js';
import { setPlace } from '../lib/place.js';

const SHOW_UPDATES = 'tetrad.priceUpdates';
const KINDS = {
  '': 'All kinds',
  transfer: 'Coin transfers',
  call: 'Contract calls',
  creation: 'Contract creations',
  cosmos: 'Cosmos transactions',
};

function remembered() {
  try {
    return localStorage.getItem(SHOW_UPDATES) === 'shown';
  } catch {
    return false;
  }
}

function remember(on) {
  try {
    localStorage.setItem(SHOW_UPDATES, on ? 'shown' : 'hidden');
  } catch {
    // Storage may be disabled.
  }
}

/** The address in an input, or an empty text. */
function addressIn(input) {
  return input.value.trim() ? parseAddress(input.value, network.prefix) : '';
}

/**
 * The controls: `toggles` stand above the list, `element` has the form. `current` is the filter as
 * it was last applied.
 */
export class TransactionFilter {
  #changed;
  #from;
  #to;
  #method;
  #kind;
  #failed;
  #updates = h('input', { type: 'checkbox', checked: remembered() });
  #problem = h('div');
  current = null;

  /** `query` has the filter at first; `changed` is called when another is applied. */
  constructor(query, changed) {
    this.#changed = changed;
    const given = (name) => query.get(name) ?? '';
    this.#from = addressInput({ value: given('from') });
    this.#to = addressInput({ value: given('to') });
    this.#method = h('input', {
      value: given('method'),
      placeholder: 'transfer or 0xa9059cbb',
      spellcheck: 'false',
      autocomplete: 'off',
    });
    this.#kind = h(
      'select',
      Object.entries(KINDS).map(([value, name]) =>
        h('option', { value, selected: value === given('kind') }, name),
      ),
    );
    this.#failed = h('input', { type: 'checkbox', checked: given('failed') === '1' });

    this.#take();
    this.#listen();
    this.element = h(
      'details',
      { open: ['from', 'to', 'method', 'kind'].some(given) },
      h('summary', 'Filter by sender, recipient, method or kind'),
      this.#form(),
      this.#problem,
    );
    this.toggles = [
      network.addresses && h('label.toggle', this.#updates, 'Price updates'),
      h('label.toggle', this.#failed, 'Failed only'),
    ];
  }

  #form() {
    const submitted = (event) => {
      event.preventDefault();
      this.#apply();
    };
    return h(
      'form.filters',
      { onsubmit: submitted },
      h('div.field.wide', field('From', this.#from)),
      h('div.field.wide', field('To', this.#to)),
      field('Method', this.#method),
      field('Kind', this.#kind),
      h('button.primary', { type: 'submit' }, 'Apply'),
      h('button', { type: 'button', onclick: () => this.#clear() }, 'Clear'),
    );
  }

  #listen() {
    this.#kind.addEventListener('change', () => this.#apply());
    this.#failed.addEventListener('change', () => this.#apply());
    this.#updates.addEventListener('change', () => {
      remember(this.#updates.checked);
      this.#apply();
    });
  }

  #read() {
    return {
      from: addressIn(this.#from),
      to: addressIn(this.#to),
      method: this.#method.value.trim(),
      kind: this.#kind.value,
      failed: this.#failed.checked,
      updates: this.#updates.checked,
    };
  }

  /** Makes what is in the controls the current filter. Returns whether it is valid. */
  #take() {
    try {
      this.current = this.#read();
      replace(this.#problem);
      return true;
    } catch (error) {
      const updates = this.#updates.checked;
      this.current ??= { from: '', to: '', method: '', kind: '', failed: false, updates };
      replace(this.#problem, h('div.failure', { role: 'alert' }, error.message));
      return false;
    }
  }

  #apply() {
    if (!this.#take()) return;
    const { from, to, method, kind, failed } = this.current;
    setPlace({ from, to, method, kind, failed });
    this.#changed();
  }

  #clear() {
    for (const input of [this.#from, this.#to, this.#method, this.#kind]) input.value = '';
    this.#failed.checked = false;
    this.#apply();
  }
}
