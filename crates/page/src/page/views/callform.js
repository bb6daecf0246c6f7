// The form of a simulated call: the call itself, the state on which it runs, and overrides of it.

import { coinsIn } from '../lib/actions.js';
import { checksum, parseAddress } from '../lib/address.js';
import { field, h } from '../lib/dom.js';
import { simulationLink } from '../lib/execution.js';
import { count, toUnits } from '../lib/format.js';
import { ZERO } from '../lib/movements.js';
import { network } from '../lib/network.js';
import { CallInput } from './callinput.js';

const isWhole = (text) => /^\d+$/.test(text);

function textInput(value, properties = {}) {
  const input = h('input', { autocomplete: 'off', spellcheck: 'false', ...properties });
  input.value = value;
  return input;
}

function addressInput(address, properties) {
  const shown = /^0x[0-9a-f]{40}$/i.test(address) ? checksum(address) : address;
  return textInput(shown, properties);
}

/** The address in a field. Throws an error that names the field. */
function addressIn(input, name) {
  try {
    return parseAddress(input.value, network.prefix);
  } catch (error) {
    throw new Error(`${name}: ${error.message}`);
  }
}

/**
 * The choices of the state by the name that the link has for them; `number` is that of the
 * transaction's block, or null.
 */
function stateChoices(number) {
  const always = [
    ['latest', 'Latest block'],
    ['number', 'After block number…'],
  ];
  if (number === null) return always;
  return [
    ['position', `In block ${count(number)}, at its position`],
    ['before', `Before block ${count(number)}`],
    ...always,
  ];
}

/** The choice of the state on which the call runs: `value()` is what the link has for it. */
function stateFields(start, number) {
  const choices = stateChoices(number);
  const select = h(
    'select',
    choices.map(([id, name]) => h('option', { value: id }, name)),
  );
  const isChoice = choices.some(([id]) => id === start);
  const otherwise = isWhole(start) ? 'number' : 'latest';
  select.value = isChoice ? start : otherwise;

  const other = textInput(isWhole(start) ? start : '', {
    inputmode: 'numeric',
    placeholder: '0',
  });
  const otherField = field('Block number', other);
  const showOther = () => (otherField.hidden = select.value !== 'number');
  select.addEventListener('change', showOther);
  showOther();

  return {
    elements: [field('State', select), otherField],
    value: () => (select.value === 'number' ? other.value.trim() : select.value),
  };
}

export class CallForm {
  #transaction;
  /** The number of the transaction's block; null without one. */
  #number;
  #from;
  #to;
  #value;
  #gas;
  #state;
  #input;
  #overrides = h('textarea', {
    rows: '3',
    spellcheck: 'false',
    placeholder: '{"0x…": {"balance": "1000000000000000000", "stateDiff": {"0x…": "0x…"}}}',
  });
  submit = h('button.primary', { type: 'submit' }, 'Simulate');
  share = h('span.row');

  /** `start` are the first contents; `original` is the transaction that the call is a change of. */
  constructor(start, original) {
    this.#transaction = original?.transaction ?? null;
    this.#number = original?.receipt ? Number(original.receipt.blockNumber) : null;

    this.#from = addressInput(start.from);
    this.#to = addressInput(start.to, { placeholder: 'Empty: the input creates a contract' });
    this.#value = textInput(isWhole(start.value) ? toUnits(BigInt(start.value), 18) : start.value, {
      inputmode: 'decimal',
    });
    this.#gas = textInput(start.gas, { inputmode: 'numeric', placeholder: 'The node’s limit' });
    this.#state = stateFields(start.block, this.#number);
    this.#input = new CallInput(start.data);
    this.#overrides.value = start.overrides;
    this.#to.addEventListener('change', () => this.follow());
    this.element = this.#build(start.overrides !== '');
  }

  #build(hasOverrides) {
    return h(
      'form.stack',
      h(
        'div.grid.two',
        field('From', this.#from, 'Any address: no signature is needed.'),
        field('To', this.#to),
        field(`Value (${network.coin})`, this.#value),
        field('Gas limit', this.#gas),
        this.#state.elements,
      ),
      this.#input.element,
      h(
        'details',
        { open: hasOverrides },
        h('summary', 'State overrides'),
        field(
          'Accounts by address (JSON)',
          this.#overrides,
          'balance, nonce, code, state, stateDiff; as in eth_call.',
        ),
      ),
      h('div.row', this.submit, this.share),
    );
  }

  /** Adapts the fields of the input to the recipient. */
  async follow() {
    try {
      await this.#input.follow(parseAddress(this.#to.value, network.prefix));
    } catch {
      await this.#input.follow(ZERO);
    }
  }

  /** The call in the fields. Throws an error that says what is wrong with it. */
  call() {
    const value = coinsIn(this.#value);
    const gas = this.#gas.value.trim();
    if (gas && !/^\d[\d,_]*$/.test(gas)) throw new Error('gas limit: expected a number');

    const data = this.#input.read();
    if (!/^0x([0-9a-f]{2})*$/i.test(data)) throw new Error('input data: expected bytes in hex');
    return {
      from: addressIn(this.#from, 'from'),
      to: this.#to.value.trim() ? addressIn(this.#to, 'to') : null,
      value,
      data,
      gas: gas ? BigInt(gas.replace(/[,_]/g, '')) : null,
    };
  }

  /** The state on which the call runs, by the name that the link has for it. */
  place() {
    return this.#state.value();
  }

  /** The text of the state overrides. */
  overrides() {
    return this.#overrides.value;
  }

  /** The link that fills in this form: the transaction, and what differs from it. */
  linkOf(call, place) {
    const original = this.#transaction;
    const lower = (address) => (address ?? '').toLowerCase();
    const value = original ? BigInt(original.value) : 0n;
    const isSameGas = original && call.gas !== null && BigInt(original.gas) === call.gas;
    const usualPlace = this.#number === null ? 'latest' : 'position';

    return simulationLink({
      tx: original?.hash,
      from: lower(original?.from) === lower(call.from) ? null : call.from,
      value: value === call.value ? null : call.value,
      data: (original?.input ?? '0x') === call.data ? null : call.data,
      gas: isSameGas ? null : call.gas,
      block: place === usualPlace ? null : place,
      overrides: this.#overrides.value.trim() || null,
      ...(lower(original?.to) !== lower(call.to) && { to: call.to ?? 'none' }),
    });
  }
}
