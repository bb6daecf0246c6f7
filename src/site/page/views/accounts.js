// Accounts: every form of an address, what the Cosmos side says of it, and the keys that everybody knows.

import { forms, parseAddress } from '../lib/address.js';
import { card, copyButton, facts, failure, field, h, heading, replace, table } from '../lib/dom.js';
import { shorten } from '../lib/format.js';
import { addressLink, coins } from '../lib/links.js';
import { network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';
import { KNOWN_KEYS } from '../lib/keys.js';

function copyable(text) {
  return h('span', h('span.mono', text), copyButton(text));
}

function converter(signal, about) {
  const input = h('input', { spellcheck: 'false', autocomplete: 'off', placeholder: `0x…, ${network.prefix}1…, ${network.prefix}valoper1… or ${network.prefix}valcons1…` });
  const result = h('div', { 'aria-live': 'polite' });
  const draw = () => {
    const text = input.value.trim();
    if (!text) return void replace(result, h('p.soft', 'Type or paste an address in any form.'));
    try {
      const all = forms(parseAddress(text, network.prefix), network.prefix);
      replace(result, facts([
        ['Hex (EIP-55)', copyable(all.hex)],
        ['Account', copyable(all.account)],
        ['Validator operator', copyable(all.operator)],
        ['Consensus', copyable(all.consensus)],
        ['', h('a', { href: `#/address/${all.hex}` }, 'Look at the account')],
      ]));
      about(all);
    } catch (error) {
      replace(result, failure(error));
    }
  };
  input.addEventListener('input', draw);
  const begin = () => {
    if (!input.value && wallets.current) {
      input.value = wallets.current.address;
      draw();
    }
  };
  wallets.addEventListener('change', begin, { signal });
  queueMicrotask(() => (input.value ? null : (draw(), begin())));
  return card('Converter', field('Address in any form', input), result);
}

function cosmosCard() {
  const url = h('span.mono.soft');
  const answer = h('code');
  const element = card('Cosmos account query', h('p', url), h('div.code', h('pre', { tabindex: '0' }, answer), copyButton(() => answer.textContent)));
  let asked = '';
  const ask = async (all) => {
    const path = `cosmos/auth/v1beta1/accounts/${all.account}`;
    if (asked === path) return;
    asked = path;
    url.textContent = `GET /${path}`;
    try {
      const body = await (await fetch(path)).json();
      if (asked === path) answer.textContent = JSON.stringify(body, null, 2);
    } catch {
      if (asked === path) answer.textContent = 'the node does not answer';
    }
  };
  return { element, ask };
}

/** A key that everybody knows is shown when it is asked for, others never: the node printed them when it started. */
function keyOf(address) {
  const key = KNOWN_KEYS[address.toLowerCase()];
  if (!key) return h('span.soft', 'printed when the node started');
  const button = h('button.link-button', { type: 'button' }, 'Show');
  const box = h('span', button);
  button.addEventListener('click', () => replace(box, h('span.mono', shorten(key, 12, 8)), copyButton(key, 'Copy the private key')));
  return box;
}

function heldCard(signal) {
  const list = h('div');
  const draw = async () => {
    const held = [...wallets.held];
    const balances = await Promise.all(held.map((address) => node.call('eth_getBalance', address, 'latest').catch(() => '0x0')));
    if (signal.aborted || list.contains(document.activeElement)) return;
    const rows = held.map((address, at) => [at, addressLink(address, { plain: true }), h('span.mono', { title: forms(address, network.prefix).account }, shorten(forms(address, network.prefix).account, 9, 6)), coins(balances[at], 9), keyOf(address)]);
    replace(list, table(['#', 'Address', 'Cosmos form', '-Balance', 'Private key'], rows));
  };
  whenever(node, 'head', signal, draw, 5_000);
  wallets.addEventListener('change', draw, { signal });
  return card('Keys that the node holds', list, h('p.soft', 'Everybody knows these keys. Never send anything of value to them on another network.'));
}

export default function view({ signal }) {
  const cosmos = network.addresses ? cosmosCard() : null;
  return [
    heading('Accounts'),
    h('div.grid.two', converter(signal, (all) => cosmos?.ask(all)), cosmos?.element),
    wallets.held.length > 0 && heldCard(signal),
  ];
}
