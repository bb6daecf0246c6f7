// The faucet: coins and tokens of this network for any address.

import { parseAddress, parseRecipient } from '../lib/address.js';
import { card, failure, field, h, heading, icon, replace, toast } from '../lib/dom.js';
import { describeFaucet, requestPayment } from '../lib/faucet.js';
import { count, shorten, span } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';

const grouped = (text) =>
  text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+(?!\d))/g, ','));
const worth = (asset) => `${grouped(asset.amount)} ${asset.token ? asset.symbol : network.coin}`;
const times = (number) => (number === 1 ? 'once' : `${count(number)} times`);

/** The limits in a sentence. */
function rules({ perAddress, perClient, perDay }) {
  const each = [
    perAddress && `${times(perAddress)} per address`,
    perClient && `${times(perClient)} per IP address`,
    `${times(perDay)} in all`,
  ].filter(Boolean);
  const list = each.length > 1 ? `${each.slice(0, -1).join(', ')} and ${each.at(-1)}` : each[0];
  return `In 24 hours, each asset is paid at most ${list}.`;
}

/** What the faucet pays now, per asset, as tags. */
function remaining(assets) {
  return h(
    'div.tokens-left',
    assets.map((asset) =>
      h(
        asset.remaining > 0 ? 'span.tag.good' : 'span.tag',
        asset.remaining > 0
          ? worth(asset)
          : `${asset.token ? asset.symbol : network.coin} in ${span(asset.retryAfter)}`,
      ),
    ),
  );
}

/** A node without a faucet: what to do instead. */
function without() {
  return card(
    'Faucet',
    h('p', 'This node has no faucet.'),
    h(
      'p.soft',
      'Its operator can start it with ',
      h('span.mono', '--faucet 10'),
      ', or send coins from the treasury, whose key the node keeps.',
    ),
  );
}

/** The card with the form. */
export async function faucetCard(signal) {
  const first = await describeFaucet(wallets.current?.address);
  if (!first) return null;
  if (!first.enabled) return without();
  let state = first;
  let edited = false;
  const to = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x… or ${network.prefix}1…`,
    value: wallets.current?.address ?? '',
  });
  const what = h(
    'select',
    first.assets.map((asset) =>
      h('option', { value: asset.token ? asset.symbol : '' }, worth(asset)),
    ),
    first.assets.length > 1 && h('option', { value: '*' }, `All ${first.assets.length} assets`),
  );
  const submit = h('button.primary', { type: 'submit' }, icon('accounts'), 'Request');
  const left = h('div.stack.tight');
  const outcome = h('div', { 'aria-live': 'polite' });
  const form = h(
    'form.stack',
    field('Address', to),
    field('Amount', what),
    h('div.row', submit),
    outcome,
  );

  const draw = () =>
    replace(
      left,
      h('h3', to.value.trim() ? 'Available to this address' : 'Available'),
      remaining(state.assets),
    );
  const refresh = async () => {
    let address = null;
    try {
      address = to.value.trim() ? parseAddress(to.value, network.prefix) : null;
    } catch {
      // An incomplete address; submitting the form says what is wrong with it.
    }
    const next = await describeFaucet(address);
    if (signal.aborted || !next?.enabled) return;
    state = next;
    draw();
  };
  async function pay(address) {
    const chosen =
      what.value === '*'
        ? state.assets.filter((asset) => asset.remaining > 0)
        : state.assets.filter((asset) => (asset.token ? asset.symbol : '') === what.value);
    if (!chosen.length) throw new Error('Nothing is available to this address now');
    const paid = [];
    let problem = null;
    for (const asset of chosen) {
      try {
        const { transactionHash } = await requestPayment(
          address,
          asset.token ? asset.symbol : null,
        );
        paid.push([asset, transactionHash]);
      } catch (error) {
        problem = error;
        if (chosen.length === 1 || !['quota_exceeded', 'out_of_funds'].includes(error.code)) break;
      }
    }
    return { paid, problem };
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    submit.disabled = true;
    replace(outcome);
    try {
      const address = parseRecipient(to.value, network.prefix);
      const { paid, problem } = await pay(address);
      const sent =
        paid.length > 0 &&
        h(
          'p',
          `Sent to ${shorten(address)}: `,
          paid.map(([asset, hash], at) => [
            at > 0 && ', ',
            h('a', { href: `#/tx/${hash}` }, worth(asset)),
          ]),
        );
      replace(outcome, sent, problem && failure(problem));
      if (paid.length)
        toast(
          paid.length === 1 ? `Sent ${worth(paid[0][0])}` : `Sent ${paid.length} assets`,
          'good',
          { href: `#/address/${address}`, text: 'View account' },
        );
    } catch (error) {
      replace(outcome, failure(error));
    }
    submit.disabled = false;
    refresh();
  });
  to.addEventListener('input', () => (edited = true));
  to.addEventListener('change', refresh);
  wallets.addEventListener(
    'change',
    () => {
      if (edited || !wallets.current || to.value === wallets.current.address) return;
      to.value = wallets.current.address;
      refresh();
    },
    { signal },
  );
  whenever(node, 'head', signal, refresh, 15_000);
  draw();
  return card('Faucet', form, left, h('p.soft', rules(first.limits)));
}

export default async function view({ signal }) {
  const [form, about] = await Promise.all([faucetCard(signal), describeFaucet()]);
  const balance =
    about?.enabled &&
    card(
      'About',
      h('p', 'Test money for this network. It has no value anywhere else.'),
      h(
        'p.soft',
        'Paid by ',
        addressLink(about.account),
        `, which holds ${grouped(about.balance.replace(/\.0$/, '').replace(/(\.\d{2})\d+$/, '$1'))} ${network.coin}.`,
      ),
      h(
        'p.soft',
        'Scripts can use ',
        h('span.mono', 'POST /api/faucet'),
        ' with ',
        h('span.mono', '{"address": "0x…"}'),
        '.',
      ),
    );
  return [heading('Faucet'), h('div.grid.two', form ?? without(), balance || null)];
}
