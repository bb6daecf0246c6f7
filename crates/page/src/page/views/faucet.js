// The faucet: coins and tokens of this network for any address.

import { parseAddress, parseRecipient } from '../lib/address.js';
import { addressInput } from '../lib/addressinput.js';
import { card, failure, field, h, heading, icon, replace, toast } from '../lib/dom.js';
import { describeFaucet, requestPayment } from '../lib/faucet.js';
import { count, shorten, span } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';

/** Least time between two reads of what the faucet pays, in milliseconds. */
const PACE = 15_000;
/** Why a payment can fail of one asset while others are still paid. */
const OF_ONE_ASSET = ['quota_exceeded', 'out_of_funds'];
/** The option that stands for all assets. */
const ALL = '*';

const grouped = (text) =>
  text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+(?!\d))/g, ','));
const symbolOf = (asset) => (asset.token ? asset.symbol : network.coin);
/** The value of an asset's option: coins have none. */
const optionOf = (asset) => (asset.token ? asset.symbol : '');
const worth = (asset) => `${grouped(asset.amount)} ${symbolOf(asset)}`;
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
        asset.remaining > 0 ? worth(asset) : `${symbolOf(asset)} in ${span(asset.retryAfter)}`,
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

/**
 * Requests payments of assets, one after the other. Returns what was paid, as assets with
 * transaction hashes, and the last problem or null.
 */
async function payAll(address, assets) {
  const paid = [];
  let problem = null;
  for (const asset of assets) {
    try {
      const { transactionHash } = await requestPayment(address, asset.token ? asset.symbol : null);
      paid.push([asset, transactionHash]);
    } catch (error) {
      problem = error;
      if (assets.length === 1 || !OF_ONE_ASSET.includes(error.code)) break;
    }
  }
  return { paid, problem };
}

/** What was sent to an address, with links to the transactions. */
function sentText(address, paid) {
  return h(
    'p',
    `Sent to ${shorten(address)}: `,
    paid.map(([asset, hash], at) => [
      at > 0 && ', ',
      h('a', { href: `#/tx/${hash}` }, worth(asset)),
    ]),
  );
}

/** The choice of what to request: an asset, or all of them. */
function assetSelect(assets) {
  return h(
    'select',
    assets.map((asset) => h('option', { value: optionOf(asset) }, worth(asset))),
    assets.length > 1 && h('option', { value: ALL }, `All ${assets.length} assets`),
  );
}

/** The form, and `remaining`, the element with what the faucet still pays to its address. */
class FaucetForm {
  #signal;
  #assets;
  /** Whether the address was typed, so that it does not follow the active account. */
  #isEdited = false;

  #to = addressInput({ value: wallets.current?.address ?? '' });
  #what;
  #submit = h('button.primary', { type: 'submit' }, icon('accounts'), 'Request');
  #outcome = h('div', { 'aria-live': 'polite' });
  remaining = h('div.stack.tight');

  constructor(assets, signal) {
    this.#assets = assets;
    this.#signal = signal;
    this.#what = assetSelect(assets);
    this.element = h(
      'form.stack',
      field('Address', this.#to),
      field('Amount', this.#what),
      h('div.row', this.#submit),
      this.#outcome,
    );

    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#request();
    });
    this.#to.addEventListener('input', () => (this.#isEdited = true));
    this.#to.addEventListener('change', () => this.#refresh());
    wallets.addEventListener('change', () => this.#followAccount(), { signal });
    whenever(node, 'head', signal, () => this.#refresh(), PACE);
    this.#draw();
  }

  #draw() {
    replace(
      this.remaining,
      h('h3', this.#to.value.trim() ? 'Available to this address' : 'Available'),
      remaining(this.#assets),
    );
  }

  /** Asks the faucet again what it pays to the address. */
  async #refresh() {
    let address = null;
    try {
      address = this.#to.value.trim() ? parseAddress(this.#to.value, network.prefix) : null;
    } catch {
      // An incomplete address; submitting the form says what is wrong with it.
    }
    const next = await describeFaucet(address);
    if (this.#signal.aborted || !next?.enabled) return;
    this.#assets = next.assets;
    this.#draw();
  }

  #followAccount() {
    const { current } = wallets;
    if (this.#isEdited || !current || this.#to.value === current.address) return;
    this.#to.value = current.address;
    this.#refresh();
  }

  async #request() {
    this.#submit.disabled = true;
    replace(this.#outcome);
    try {
      const address = parseRecipient(this.#to.value, network.prefix);
      const { paid, problem } = await payAll(address, this.#chosen());
      this.#show(address, paid, problem);
    } catch (error) {
      replace(this.#outcome, failure(error));
    }
    this.#submit.disabled = false;
    this.#refresh();
  }

  /** The assets to request. */
  #chosen() {
    const wanted = this.#what.value;
    const chosen = this.#assets.filter((asset) =>
      wanted === ALL ? asset.remaining > 0 : optionOf(asset) === wanted,
    );
    if (!chosen.length) throw new Error('Nothing is available to this address now');
    return chosen;
  }

  #show(address, paid, problem) {
    replace(this.#outcome, paid.length > 0 && sentText(address, paid), problem && failure(problem));
    if (!paid.length) return;
    toast(paid.length === 1 ? `Sent ${worth(paid[0][0])}` : `Sent ${paid.length} assets`, 'good', {
      href: `#/address/${address}`,
      text: 'View account',
    });
  }
}

/** The card with the form; null if the node does not say what its faucet pays. */
export async function faucetCard(signal) {
  const about = await describeFaucet(wallets.current?.address);
  if (!about) return null;
  if (!about.enabled) return without();
  const form = new FaucetForm(about.assets, signal);
  return card('Faucet', form.element, form.remaining, h('p.soft', rules(about.limits)));
}

/** What the faucet is, and what it has. */
function aboutCard({ account, balance }) {
  const shortened = balance.replace(/\.0$/, '').replace(/(\.\d{2})\d+$/, '$1');
  return card(
    'About',
    h('p', 'Test money for this network. It has no value anywhere else.'),
    h(
      'p.soft',
      'Paid by ',
      addressLink(account),
      `, which holds ${grouped(shortened)} ${network.coin}.`,
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
}

export default async function view({ signal }) {
  const [form, about] = await Promise.all([faucetCard(signal), describeFaucet()]);
  return [
    heading('Faucet'),
    h('div.grid.two', form ?? without(), about?.enabled ? aboutCard(about) : null),
  ];
}
