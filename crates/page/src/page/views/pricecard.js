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
  } catch (error) {
    throw new Error(
      `Price: enter US dollars, such as 3512.35${/decimal places/.test(error.message) ? `, with ${error.message}` : ''}`,
    );
  }
  if (price === 0n) throw new Error('Price: it must be above 0');
  return toUnits(price, USD_DECIMALS);
}

export function priceCard(signal) {
  if (!network.addresses) return null;
  prices.follow();
  const select = h(
    'select',
    network.tokens.map((one) => h('option', one.symbol)),
  );
  const price = h('input', { inputmode: 'decimal', placeholder: 'USD', autocomplete: 'off' });
  const now = h('small.soft');
  const list = h('div.stack');
  const token = () => network.tokens.find((one) => one.symbol === select.value);
  const draw = () => {
    const known = prices.of(token().address);
    setText(now, known ? `Current price: ${usd(Number(known.price))}` : '');
  };

  async function drawHeld() {
    const found = await ask('GET').catch(() => null);
    if (signal.aborted || !found || list.contains(document.activeElement)) return;
    const held = network.tokens.filter((one) => one.address.toLowerCase() in found.prices);
    replace(
      list,
      held.map((one) =>
        h(
          'div.spread',
          h(
            'span',
            h('strong', one.symbol),
            ` ${usd(found.prices[one.address.toLowerCase()])} `,
            h('span.tag.accent', 'Fixed'),
          ),
          actionButton(
            'Release',
            async () => {
              await ask('DELETE', one);
              document.activeElement?.blur();
              await drawHeld();
              return `${one.symbol} price released`;
            },
            { 'aria-label': `Release the price of ${one.symbol}` },
          ),
        ),
      ),
    );
  }

  const form = action(
    [h('div.pair', field('Token', select), field('Price', price)), now],
    'Set price',
    async () => {
      const text = typedPrice(price.value);
      await ask('POST', token(), { price: text });
      price.value = '';
      await drawHeld();
      return `${select.value} price set to $${text}`;
    },
  );
  select.addEventListener('change', () => {
    price.value = '';
    draw();
  });
  prices.addEventListener('prices', draw, { signal });
  whenever(node, 'head', signal, drawHeld, PACE);
  draw();
  return card(
    'Price',
    form,
    needsBlock(signal),
    list,
    h('p.soft', 'A price set here stays fixed until you release it.'),
  );
}
