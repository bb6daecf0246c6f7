// Setting prices by hand: they stay until they are let go.

import { card, failure, field, h, replace, setText, toast } from '../lib/dom.js';
import { network } from '../lib/network.js';
import { prices } from '../lib/prices.js';

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
  const price = h('input', { inputmode: 'decimal', placeholder: 'US dollars', autocomplete: 'off' });
  const now = h('small.soft');
  const problem = h('div', { 'aria-live': 'polite' });
  const release = h('button', { type: 'button' }, 'Let it move');
  const token = () => network.tokens.find((one) => one.symbol === select.value);
  const draw = () => {
    const known = prices.of(token().address);
    setText(now, known ? `Now $${known.price}` : '');
  };
  const attempt = async (run) => {
    replace(problem);
    try {
      toast(await run(), 'good');
    } catch (error) {
      replace(problem, failure(error));
    }
  };
  const pair = h('div.grid', { style: { gridTemplateColumns: '1fr 1fr' } }, field('Token', select), field('Price', price));
  const form = h('form.stack', pair, now, h('div.row', h('button', { type: 'submit' }, 'Set the price'), release), problem);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    attempt(async () => {
      await ask('POST', token(), { price: price.value.trim() });
      return `${select.value} costs $${price.value.trim()} now`;
    });
  });
  release.addEventListener('click', () => attempt(async () => {
    const { released } = await ask('DELETE', token());
    return released ? `${select.value} moves again` : `${select.value} was not held`;
  }));
  select.addEventListener('change', draw);
  prices.addEventListener('prices', draw, { signal });
  draw();
  return card('Price', form, h('p.soft', 'A price that is set here is held, however the others move.'));
}
