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

/** An address in all its forms. */
function formsOf(all) {
  return facts([
    ['Hex (EIP-55)', copyable(all.hex)],
    ['Account (bech32)', copyable(all.account)],
    ['Validator operator', copyable(all.operator)],
    ['Validator consensus', copyable(all.consensus)],
    ['', h('a', { href: `#/address/${all.hex}` }, 'View account')],
  ]);
}

/** The card that converts addresses; `found` is called with all forms of each. */
function converter(signal, found) {
  const { prefix } = network;
  const input = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x…, ${prefix}1…, ${prefix}valoper1… or ${prefix}valcons1…`,
  });
  const result = h('div', { 'aria-live': 'polite' });

  const draw = () => {
    const text = input.value.trim();
    if (!text) return void replace(result, h('p.soft', 'Enter an address in any format.'));
    try {
      const all = forms(parseAddress(text, prefix), prefix);
      replace(result, formsOf(all));
      found(all);
    } catch (error) {
      replace(result, failure(error));
    }
  };
  const fillActive = () => {
    if (input.value || !wallets.current) return;
    input.value = wallets.current.address;
    draw();
  };

  input.addEventListener('input', draw);
  wallets.addEventListener('change', fillActive, { signal });
  queueMicrotask(() => {
    if (input.value) return;
    draw();
    fillActive();
  });
  return card('Address converter', field('Address', input), result);
}

/** The response of the Cosmos interface to the query of an account: `{ element, query(forms) }`. */
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
  const query = async ({ account }) => {
    const path = `cosmos/auth/v1beta1/accounts/${account}`;
    if (asked === path) return;
    asked = path;
    url.classList.add('mono');
    url.textContent = `GET /${path}`;
    code.hidden = false;

    let text = 'the node is not responding';
    try {
      text = JSON.stringify(await (await fetch(path)).json(), null, 2);
    } catch {
      // The text says so.
    }
    if (asked === path) answer.textContent = text;
  };
  return { element, query };
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

function heldRow(address, at, balance) {
  const { account } = forms(address, network.prefix);
  return [
    at,
    addressLink(address, { plain: true }),
    h('span.mono', { title: account }, shorten(account, 9, 6)),
    coins(balance, 9),
    keyOf(address),
  ];
}

function heldCard(signal) {
  const list = h('div');
  const draw = async () => {
    const held = [...wallets.held];
    const balances = await Promise.all(
      held.map((address) => node.call('eth_getBalance', address, 'latest').catch(() => '0x0')),
    );
    // A button keeps the focus.
    if (signal.aborted || list.contains(document.activeElement)) return;

    const columns = ['#', 'Address', 'Cosmos address', '-Balance', 'Private key'];
    const lines = ['line-1', 'line-1', 'line-2', 'line-1.end', 'line-2.end'];
    const rows = held.map((address, at) => heldRow(address, at, balances[at]));
    replace(list, table(columns, rows, { lines }));
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
      converter(signal, (all) => cosmos?.query(all)),
      cosmos?.element,
    ),
    wallets.held.length > 0 && heldCard(signal),
  ];
}
