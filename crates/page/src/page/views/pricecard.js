// Manual prices: a price that is set stays fixed until it is released.

import { card, failure, field, h, replace, setText, toast } from '../lib/dom.js';
import { usd } from '../lib/format.js';
import { network } from '../lib/network.js';
import { prices } from '../lib/prices.js';
import { needsBlock } from './miningnotice.js';

async function ask(method, token, body) {
  const options = { method, ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }) };
  const response = await fetch(`api/admin/prices/${token.address}`, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message ?? `status ${response.status}`);
  return answer.data;
}

export function priceCard(signal) {
  if (!network.addresses) return null;
  prices.follow();
  const select = h('select', network.tokens.map((one) => h('option', one.symbol)));
  const price = h('input', { inputmode: 'decimal', placeholder: 'USD', autocomplete: 'off' });
  const now = h('small.soft');
  const problem = h('div', { 'aria-live': 'polite' });
  const release = h('button', { type: 'button' }, 'Release price');
  const token = () => network.tokens.find((one) => one.symbol === select.value);
  const draw = () => {
    const known = prices.of(token().address);
    setText(now, known ? `Current price: ${usd(Number(known.price))}` : '');
  };
  const attempt = async (run) => {
    replace(problem);
    try {
      toast(await run(), 'good');
    } catch (error) {
      replace(problem, failure(error));
    }
  };
  const pair = h('div.pair', field('Token', select), field('Price', price));
  const form = h('form.stack', pair, now, h('div.row', h('button', { type: 'submit' }, 'Set price'), release), problem);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    attempt(async () => {
      await ask('POST', token(), { price: price.value.trim() });
      return `${select.value} price set to $${price.value.trim()}`;
    });
  });
  release.addEventListener('click', () => attempt(async () => {
    const { released } = await ask('DELETE', token());
    return released ? `${select.value} price released` : `${select.value} price was not set manually`;
  }));
  select.addEventListener('change', draw);
  prices.addEventListener('prices', draw, { signal });
  draw();
  return card('Price', form, needsBlock(signal), h('p.soft', 'A price set here stays fixed until you release it.'));
}
