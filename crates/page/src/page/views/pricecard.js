// Manual prices: a price that is set stays fixed until it is released.

import { action, actionButton } from '../lib/actions.js';
import { card, field, h, replace, setText } from '../lib/dom.js';
import { fromUnits, toUnits, usd } from '../lib/format.js';
import { USD_DECIMALS } from '../lib/money.js';
import { network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { prices } from '../lib/prices.js';
import { needsBlock } from './miningnotice.js';

/** How often the held prices are read, in milliseconds: other clients set prices, too. */
const PACE = 5_000;

/** Requests the prices that are held, or that of one token. */
async function ask(method, token = null, body = null) {
  const options = {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  };
  const response = await fetch(`api/admin/prices${token ? `/${token.address}` : ''}`, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message ?? `status ${response.status}`);
  return answer.data;
}

/** A price that was typed, as the exact decimal. */
function typedPrice(text) {
  let price;
  try {
    price = fromUnits(text.replace(/^\s*\$/, ''), USD_DECIMALS);
  } catch ({ message }) {
    const detail = /decimal places/.test(message) ? `, with ${message}` : '';
    throw new Error(`Price: enter US dollars, such as 3512.35${detail}`);
  }
  if (price === 0n) throw new Error('Price: it must be above 0');
  return toUnits(price, USD_DECIMALS);
}

class PriceCard {
  #signal;
  #select = h(
    'select',
    network.tokens.map((one) => h('option', one.symbol)),
  );
  #price = h('input', { inputmode: 'decimal', placeholder: 'USD', autocomplete: 'off' });
  #now = h('small.soft');
  /** The tokens whose prices are held. */
  #held = h('div.stack');

  constructor(signal) {
    this.#signal = signal;
    this.#select.addEventListener('change', () => {
      this.#price.value = '';
      this.#drawNow();
    });
    prices.addEventListener('prices', () => this.#drawNow(), { signal });
    whenever(node, 'head', signal, () => this.#drawHeld(), PACE);
    this.#drawNow();
    this.element = card(
      'Price',
      this.#form(),
      needsBlock(signal),
      this.#held,
      h('p.soft', 'A price set here stays fixed until you release it.'),
    );
  }

  get #token() {
    return network.tokens.find((one) => one.symbol === this.#select.value);
  }

  #form() {
    const fields = [
      h('div.pair', field('Token', this.#select), field('Price', this.#price)),
      this.#now,
    ];
    return action(fields, 'Set price', async () => {
      const text = typedPrice(this.#price.value);
      await ask('POST', this.#token, { price: text });
      this.#price.value = '';
      await this.#drawHeld();
      return `${this.#select.value} price set to $${text}`;
    });
  }

  #drawNow() {
    const known = prices.of(this.#token.address);
    setText(this.#now, known ? `Current price: ${usd(Number(known.price))}` : '');
  }

  async #drawHeld() {
    const found = await ask('GET').catch(() => null);
    // A button with the focus would lose it.
    const isInUse = this.#held.contains(document.activeElement);
    if (this.#signal.aborted || !found || isInUse) return;

    const priceOf = (token) => found.prices[token.address.toLowerCase()];
    const held = network.tokens.filter((one) => one.address.toLowerCase() in found.prices);
    replace(
      this.#held,
      held.map((token) => this.#entry(token, priceOf(token))),
    );
  }

  #entry(token, price) {
    const release = async () => {
      await ask('DELETE', token);
      document.activeElement?.blur();
      await this.#drawHeld();
      return `${token.symbol} price released`;
    };
    return h(
      'div.spread',
      h('span', h('strong', token.symbol), ` ${usd(price)} `, h('span.tag.accent', 'Fixed')),
      actionButton('Release', release, { 'aria-label': `Release the price of ${token.symbol}` }),
    );
  }
}

/** The card; null on a chain without the network. */
export function priceCard(signal) {
  if (!network.addresses) return null;
  prices.follow();
  return new PriceCard(signal).element;
}
