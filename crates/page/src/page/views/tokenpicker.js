// The dialog that selects a token, with a search and the balances of the active account.

import { h, replace, setText } from '../lib/dom.js';
import { amount, counted } from '../lib/format.js';
import { logo } from '../lib/logos.js';
import { market, tokenNames } from '../lib/market.js';
import { dollars } from '../lib/money.js';
import { network, read } from '../lib/network.js';
import { prices } from '../lib/prices.js';
import { wallets } from '../lib/wallet.js';

/** Elements that show the name of a token once it is known. */
export function nameElement(symbol) {
  const element = h('span.soft');
  tokenNames().then(
    (names) => setText(element, names.get(symbol) ?? ''),
    () => {},
  );
  return element;
}

/** The tag of a token that is not tradable, or null. */
export function haltTag(token) {
  const obstacle = market.obstacle(token);
  return obstacle && h('span.tag.bad', { title: obstacle.text }, obstacle.kind);
}

const worth = (token, balance) =>
  (Number(balance) / 10 ** token.decimals) * (prices.of(token.address)?.price ?? 0);

function entry(token, names, balance, current, choose) {
  const held = balance > 0n;
  return h(
    'li',
    h(
      'button.token-choice',
      {
        type: 'button',
        'aria-current': token === current ? 'true' : null,
        onclick: () => choose(token),
      },
      logo(token.symbol, 'large'),
      h(
        'span.token-name',
        h('strong', token.symbol, ' ', haltTag(token)),
        h('span.soft', names.get(token.symbol) ?? ''),
      ),
      balance !== null &&
        h(
          'span.token-balance',
          h('span', held ? amount(balance, token.decimals, 7) : '0'),
          held && h('span.soft', dollars(worth(token, balance))),
        ),
    ),
  );
}

/** Opens the dialog; `chosen(token)` is called with the selected one. */
async function pickToken(current, chosen) {
  const input = h('input', {
    type: 'search',
    placeholder: 'Symbol, name or address',
    'aria-label': 'Search tokens',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const list = h('ul.plain.token-list');
  // The page's own live region is inert while the dialog is open.
  const status = h('p.hidden', { role: 'status' });
  const close = h('button.quiet', { type: 'button', 'aria-label': 'Close' }, '✕');
  const dialog = h(
    'dialog.picker',
    { 'aria-label': 'Select a token' },
    h('div.spread', h('h2', 'Select a token'), close),
    input,
    status,
    list,
  );
  const found = { names: new Map(), balances: new Map() };
  const who = wallets.current?.address;

  const draw = () => {
    const wanted = input.value.trim().toLowerCase();
    const matches = ({ symbol, address }) =>
      [symbol, found.names.get(symbol) ?? '', address].some((text) =>
        text.toLowerCase().includes(wanted),
      );
    const balance = (token) => found.balances.get(token) ?? (who ? 0n : null);
    const shown = network.tokens
      .filter(matches)
      .toSorted((a, b) => worth(b, balance(b) ?? 0n) - worth(a, balance(a) ?? 0n));
    replace(
      list,
      shown.length
        ? shown.map((token) => entry(token, found.names, balance(token), current, choose))
        : h('li.empty', 'No token matches'),
    );
    setText(status, wanted ? counted(shown.length, 'token matches', 'tokens match') : '');
  };
  const choose = (token) => {
    dialog.close();
    if (token !== current) chosen(token);
  };

  input.addEventListener('input', draw);
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('keydown', (event) => {
    const buttons = [...list.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement);
    if (event.key === 'ArrowDown') buttons[Math.min(at + 1, buttons.length - 1)]?.focus();
    else if (event.key === 'ArrowUp') (at > 0 ? buttons[at - 1] : input).focus();
    else if (event.key === 'Enter' && document.activeElement === input) buttons[0]?.click();
    else return;
    event.preventDefault();
  });
  draw();
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
  tokenNames().then(
    (names) => {
      found.names = names;
      draw();
    },
    () => {},
  );
  if (!who) return;
  const all = await Promise.all(
    network.tokens.map((token) => read('Token', token.address, 'balanceOf', who).catch(() => 0n)),
  );
  network.tokens.forEach((token, at) => found.balances.set(token, all[at]));
  if (dialog.open) draw();
}

/** A button that shows a token and opens the dialog; `set(token)` changes what it shows. */
export function tokenButton(label, chosen) {
  let current = null;
  const button = h('button.token-button', { type: 'button', 'aria-haspopup': 'dialog' });
  button.addEventListener('click', () => pickToken(current, chosen));
  const set = (token) => {
    const tag = haltTag(token);
    const state = `${token.symbol}${tag?.textContent ?? ''}`;
    current = token;
    if (button.dataset.state === state) return;
    button.dataset.state = state;
    button.setAttribute(
      'aria-label',
      `${label}: ${token.symbol}${tag ? `, ${tag.textContent.toLowerCase()}` : ''}`,
    );
    replace(
      button,
      logo(token.symbol),
      h('strong', token.symbol),
      tag ? [' ', tag] : [],
      h('span.caret', { 'aria-hidden': 'true' }),
    );
  };
  return { button, set };
}
