// Accounts: the faucet, address formats, the Cosmos account query, and the development accounts
// with their public keys.

import { forms, parseAddress } from '../lib/address.js';
import { card, copyButton, facts, failure, field, h, heading, replace, table } from '../lib/dom.js';
import { shorten } from '../lib/format.js';
import { addressLink, coins } from '../lib/links.js';
import { network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';
import { KNOWN_KEYS } from '../lib/keys.js';
import { faucetCard } from './faucet.js';
import { startCard } from './start.js';

function copyable(text) {
  return h('span', h('span.mono', text), copyButton(text));
}

function converter(signal, about) {
  const input = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x…, ${network.prefix}1…, ${network.prefix}valoper1… or ${network.prefix}valcons1…`,
  });
  const result = h('div', { 'aria-live': 'polite' });
  const draw = () => {
    const text = input.value.trim();
    if (!text) return void replace(result, h('p.soft', 'Enter an address in any format.'));
    try {
      const all = forms(parseAddress(text, network.prefix), network.prefix);
      replace(
        result,
        facts([
          ['Hex (EIP-55)', copyable(all.hex)],
          ['Account (bech32)', copyable(all.account)],
          ['Validator operator', copyable(all.operator)],
          ['Validator consensus', copyable(all.consensus)],
          ['', h('a', { href: `#/address/${all.hex}` }, 'View account')],
        ]),
      );
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
  queueMicrotask(() => {
    if (input.value) return;
    draw();
    begin();
  });
  return card('Address converter', field('Address', input), result);
}

function cosmosCard() {
  const url = h('span.soft', 'Enter an address to query its account.');
  const answer = h('code');
  const code = h(
    'div.code',
    { hidden: true },
    h('pre.hex', { tabindex: '0' }, answer),
    copyButton(() => answer.textContent),
  );
  const element = card('Cosmos account query', h('p', url), code);
  let asked = '';
  const ask = async (all) => {
    const path = `cosmos/auth/v1beta1/accounts/${all.account}`;
    if (asked === path) return;
    asked = path;
    url.classList.add('mono');
    url.textContent = `GET /${path}`;
    code.hidden = false;
    try {
      const body = await (await fetch(path)).json();
      if (asked === path) answer.textContent = JSON.stringify(body, null, 2);
    } catch {
      if (asked === path) answer.textContent = 'the node is not responding';
    }
  };
  return { element, ask };
}

/**
 * The private key, revealed on demand, of a well-known account. Other keys never reach the page:
 * the node printed them at startup.
 */
function keyOf(address) {
  const key = KNOWN_KEYS[address.toLowerCase()];
  if (!key) return h('span.soft', 'printed at startup');
  const button = h('button.link-button', { type: 'button' }, 'Show');
  const box = h('span', button);
  button.addEventListener('click', () =>
    replace(box, h('span.mono', shorten(key, 12, 8)), copyButton(key, 'Copy private key')),
  );
  return box;
}

function heldCard(signal) {
  const list = h('div');
  const draw = async () => {
    const held = [...wallets.held];
    const balances = await Promise.all(
      held.map((address) => node.call('eth_getBalance', address, 'latest').catch(() => '0x0')),
    );
    if (signal.aborted || list.contains(document.activeElement)) return;
    const rows = held.map((address, at) => [
      at,
      addressLink(address, { plain: true }),
      h(
        'span.mono',
        { title: forms(address, network.prefix).account },
        shorten(forms(address, network.prefix).account, 9, 6),
      ),
      coins(balances[at], 9),
      keyOf(address),
    ]);
    replace(
      list,
      table(['#', 'Address', 'Cosmos address', '-Balance', 'Private key'], rows, {
        lines: ['line-1', 'line-1', 'line-2', 'line-1.end', 'line-2.end'],
      }),
    );
  };
  whenever(node, 'head', signal, draw, 5_000);
  wallets.addEventListener('change', draw, { signal });
  return card(
    'Node accounts',
    list,
    h(
      'p.soft',
      'These accounts are for development. Never send real funds to them on another network.',
    ),
  );
}

export default async function view({ signal }) {
  const cosmos = network.addresses ? cosmosCard() : null;
  const [faucet, start] = await Promise.all([faucetCard(signal), startCard(signal)]);
  return [
    heading(
      'Accounts',
      h('a.button', { href: '#/transact?tab=send' }, 'Send'),
      h('a.button', { href: '#/transact?tab=sign' }, 'Sign'),
      h('a.button', { href: '#/transact?tab=broadcast' }, 'Broadcast'),
    ),
    h(
      'div.grid.two',
      start,
      faucet,
      converter(signal, (all) => cosmos?.ask(all)),
      cosmos?.element,
    ),
    wallets.held.length > 0 && heldCard(signal),
  ];
}
