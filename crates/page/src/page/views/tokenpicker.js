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

/** The choice of a token; `balance` is null without an account. */
function entry(token, { name, balance, isCurrent, choose }) {
  const isHeld = balance > 0n;
  return h(
    'li',
    h(
      'button.token-choice',
      { type: 'button', 'aria-current': isCurrent ? 'true' : null, onclick: choose },
      logo(token.symbol, 'large'),
      h('span.token-name', h('strong', token.symbol, ' ', haltTag(token)), h('span.soft', name)),
      balance !== null &&
        h(
          'span.token-balance',
          h('span', isHeld ? amount(balance, token.decimals, 7) : '0'),
          isHeld && h('span.soft', dollars(worth(token, balance))),
        ),
    ),
  );
}

/** The dialog, which calls `chosen(token)` if another token than the current one is selected. */
class TokenPicker {
  #current;
  #chosen;
  #owner = wallets.current?.address;
  #names = new Map();
  #balances = new Map();

  #input = h('input', {
    type: 'search',
    placeholder: 'Symbol, name or address',
    'aria-label': 'Search tokens',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  #list = h('ul.plain.token-list');
  /** The page's own live region is inert while the dialog is open. */
  #status = h('p.hidden', { role: 'status' });
  #close = h('button.quiet', { type: 'button', 'aria-label': 'Close' }, '✕');
  #dialog = h(
    'dialog.picker',
    { 'aria-label': 'Select a token' },
    h('div.spread', h('h2', 'Select a token'), this.#close),
    this.#input,
    this.#status,
    this.#list,
  );

  constructor(current, chosen) {
    this.#current = current;
    this.#chosen = chosen;
    this.#input.addEventListener('input', () => this.#draw());
    this.#close.addEventListener('click', () => this.#dialog.close());
    this.#dialog.addEventListener('click', ({ target }) => {
      // A click beside the dialog is one on its backdrop.
      if (target === this.#dialog) this.#dialog.close();
    });
    this.#dialog.addEventListener('close', () => this.#dialog.remove());
    this.#dialog.addEventListener('keydown', (event) => this.#move(event));
  }

  open() {
    this.#draw();
    document.body.append(this.#dialog);
    this.#dialog.showModal();
    this.#input.focus();
    this.#loadNames();
    if (this.#owner) this.#loadBalances();
  }

  #loadNames() {
    tokenNames().then(
      (names) => {
        this.#names = names;
        this.#draw();
      },
      () => {},
    );
  }

  async #loadBalances() {
    const all = await Promise.all(
      network.tokens.map((token) =>
        read('Token', token.address, 'balanceOf', this.#owner).catch(() => 0n),
      ),
    );
    network.tokens.forEach((token, at) => this.#balances.set(token, all[at]));
    if (this.#dialog.open) this.#draw();
  }

  #nameOf(token) {
    return this.#names.get(token.symbol) ?? '';
  }

  /** The balance of the account, 0 before it is known; null without an account. */
  #balanceOf(token) {
    return this.#balances.get(token) ?? (this.#owner ? 0n : null);
  }

  /** The tokens that match a text, those of which the account holds most first. */
  #matching(wanted) {
    const worthOf = (token) => worth(token, this.#balanceOf(token) ?? 0n);
    const matches = (token) =>
      [token.symbol, this.#nameOf(token), token.address].some((text) =>
        text.toLowerCase().includes(wanted),
      );
    return network.tokens.filter(matches).toSorted((a, b) => worthOf(b) - worthOf(a));
  }

  #draw() {
    const wanted = this.#input.value.trim().toLowerCase();
    const shown = this.#matching(wanted);
    const entries = shown.map((token) =>
      entry(token, {
        name: this.#nameOf(token),
        balance: this.#balanceOf(token),
        isCurrent: token === this.#current,
        choose: () => this.#choose(token),
      }),
    );
    replace(this.#list, shown.length ? entries : h('li.empty', 'No token matches'));
    setText(this.#status, wanted ? counted(shown.length, 'token matches', 'tokens match') : '');
  }

  #choose(token) {
    this.#dialog.close();
    if (token !== this.#current) this.#chosen(token);
  }

  /** Moves between the field and the tokens with the keyboard. */
  #move(event) {
    const buttons = [...this.#list.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement);
    if (event.key === 'ArrowDown') buttons[Math.min(at + 1, buttons.length - 1)]?.focus();
    else if (event.key === 'ArrowUp') (at > 0 ? buttons[at - 1] : this.#input).focus();
    else if (event.key === 'Enter' && document.activeElement === this.#input) buttons[0]?.click();
    else return;
    event.preventDefault();
  }
}

/** A button that shows a token and opens the dialog; `set(token)` changes what it shows. */
export function tokenButton(label, chosen) {
  let current = null;
  const button = h('button.token-button', { type: 'button', 'aria-haspopup': 'dialog' });
  button.addEventListener('click', () => new TokenPicker(current, chosen).open());

  function set(token) {
    current = token;
    const tag = haltTag(token);
    const state = `${token.symbol}${tag?.textContent ?? ''}`;
    if (button.dataset.state === state) return;
    button.dataset.state = state;

    const halt = tag ? `, ${tag.textContent.toLowerCase()}` : '';
    button.setAttribute('aria-label', `${label}: ${token.symbol}${halt}`);
    replace(
      button,
      logo(token.symbol),
      h('strong', token.symbol),
      tag ? [' ', tag] : [],
      h('span.caret', { 'aria-hidden': 'true' }),
    );
  }
  return { button, set };
}
