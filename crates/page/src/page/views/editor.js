// An editor for the state of any account: balance, nonce, code and storage.

import { action, first, quantity, wholeNumber } from '../lib/actions.js';
import { parseAddress } from '../lib/address.js';
import { addressInput } from '../lib/addressinput.js';
import { toWord } from '../lib/bytes.js';
import { card, copyButton, facts, failure, field, h, replace } from '../lib/dom.js';
import { count, fromUnits, shorten, toUnits } from '../lib/format.js';
import { addressLink, coins } from '../lib/links.js';
import { network, read } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';

/** Least time between two reads of an account's state, in milliseconds. */
const PACE = 2_000;

/**
 * For each input the reading that began last: an earlier one may end after it, and must not replace
 * its text.
 */
const readings = new WeakMap();

/** The number of a slot, or its value, in an input. */
function wordNumber(input, what) {
  const number = wholeNumber(input, what);
  if (number >> 256n) throw new Error('Slot and value: expected at most 32 bytes');
  return number;
}

function hexBytes(input, what) {
  const text = input.value.replace(/\s/g, '');
  const digits = text.replace(/^0x/i, '');
  if (digits.length % 2 || /[^0-9a-f]/i.test(digits))
    throw new Error(`${what}: expected hex bytes, such as 0x6001`);
  return `0x${digits.toLowerCase()}`;
}

/**
 * Puts the text of a reading, which is a promise, into an input, unless something was typed or a
 * later reading began meanwhile.
 */
async function show(input, reading) {
  const before = input.value;
  readings.set(input, reading);
  const text = await reading;
  if (readings.get(input) === reading && input.value === before) input.value = text;
}

async function balanceForm(account, method, done) {
  const deal = network.tokens.length ? await first('anvil_dealERC20') : null;
  const symbols = [network.coin, ...(deal ? network.tokens.map((one) => one.symbol) : [])];
  const asset = h(
    'select',
    symbols.map((symbol) => h('option', symbol)),
  );
  const value = h('input', { inputmode: 'decimal', autocomplete: 'off' });
  const token = () => network.tokens.find((one) => one.symbol === asset.value);

  const load = async () => {
    const chosen = token();
    const now = chosen
      ? await read('Token', chosen.address, 'balanceOf', account)
      : BigInt(await node.call('eth_getBalance', account, 'latest'));
    return toUnits(now, chosen?.decimals ?? 18);
  };

  asset.addEventListener('change', () => show(value, load()));
  await show(value, load());

  return action(
    h('div.pair', field('Asset', asset), field('Balance', value)),
    'Set balance',
    async () => {
      const wanted = fromUnits(value.value, token()?.decimals ?? 18);
      if (token()) await node.call(deal, account, token().address, quantity(wanted));
      else await node.call(method, account, quantity(wanted));
      await done();
      return `Balance set to ${toUnits(wanted, token()?.decimals ?? 18)} ${asset.value}`;
    },
  );
}

async function nonceForm(account, method, done) {
  const value = h('input', {
    inputmode: 'numeric',
    autocomplete: 'off',
    value: String(Number(await node.call('eth_getTransactionCount', account, 'latest'))),
  });

  return action(
    field('Nonce', value, 'The nonce of the account’s next transaction.'),
    'Set nonce',
    async () => {
      const nonce = wholeNumber(value, 'Nonce');
      await node.call(method, account, quantity(nonce));
      await done();
      return `Nonce set to ${count(nonce)}`;
    },
  );
}

async function codeForm(account, method, done) {
  const value = h('textarea', { spellcheck: 'false', placeholder: '0x' });
  value.value = await node.call('eth_getCode', account, 'latest');

  return action(
    field(
      'Runtime code',
      value,
      'Hex of the deployed code, not of the creation code; 0x removes it.',
    ),
    'Set code',
    async () => {
      const code = hexBytes(value, 'Code');
      await node.call(method, account, code);
      await done();
      return `Code set: ${count(code.length / 2 - 1)} bytes`;
    },
  );
}

async function storageForm(account, method, done) {
  const slot = h('input', { spellcheck: 'false', autocomplete: 'off', value: '0' });
  const value = h('input', { spellcheck: 'false', autocomplete: 'off' });

  const load = async () =>
    node.call('eth_getStorageAt', account, toWord(wordNumber(slot, 'Slot')), 'latest');

  slot.addEventListener('change', () =>
    show(
      value,
      load().catch(() => ''),
    ),
  );
  await show(value, load());

  return action(
    [
      field('Slot', slot, 'A number, or 32 bytes in hex.'),
      field('Value', value, 'A number, or 32 bytes in hex.'),
    ],
    'Set slot',
    async () => {
      const at = wordNumber(slot, 'Slot');
      const wanted = wordNumber(value, 'Value');
      await node.call(method, account, toWord(at), toWord(wanted));
      await done();
      return `Slot ${shorten(quantity(at), 10, 6)} set`;
    },
  );
}

/**
 * The editors: name, the methods of which one sets the value, and what makes a form for it.
 * `form(account, method, done)` calls `done` after a change.
 */
const EDITORS = [
  { name: 'Balance', methods: ['anvil_setBalance', 'hardhat_setBalance'], form: balanceForm },
  { name: 'Nonce', methods: ['anvil_setNonce', 'hardhat_setNonce'], form: nonceForm },
  { name: 'Code', methods: ['anvil_setCode', 'hardhat_setCode'], form: codeForm },
  { name: 'Storage', methods: ['anvil_setStorageAt', 'hardhat_setStorageAt'], form: storageForm },
];

/** The editors whose methods the node has, each with its `method`. */
async function supportedEditors() {
  const methods = await Promise.all(EDITORS.map((one) => first(...one.methods)));
  return EDITORS.map((one, at) => ({ ...one, method: methods[at] })).filter((one) => one.method);
}

/** The balance, the nonce and the code of an account. */
async function accountFacts(account) {
  const [balance, nonce, code] = await Promise.all([
    node.call('eth_getBalance', account, 'latest'),
    node.call('eth_getTransactionCount', account, 'latest'),
    node.call('eth_getCode', account, 'latest'),
  ]);
  const size = code.length / 2 - 1;
  return facts([
    ['Account', addressLink(account)],
    ['Balance', coins(balance, 12)],
    ['Nonce', count(Number(nonce))],
    ['Code', size ? h('span', `${count(size)} bytes`, copyButton(code, 'Copy code')) : 'None'],
  ]);
}

/** The account to edit, its state, and the form for a part of it. */
class AccountEditor {
  #signal;
  #chosen;
  /** The account that is shown; null without a valid one. */
  #account = null;
  /** The number of the newest form, whose predecessors may be made after it. */
  #turn = 0;

  #who = addressInput({ value: wallets.current?.address ?? '' });
  #facts = h('div');
  #tabs = h('div.tabs', { role: 'group', 'aria-label': 'Part of the account' });
  #form = h('div.editor-form');

  constructor(editors, signal) {
    this.#signal = signal;
    this.#chosen = editors[0];
    replace(
      this.#tabs,
      editors.map((one) =>
        h('button', { type: 'button', onclick: () => this.#choose(one) }, one.name),
      ),
    );
    this.#who.addEventListener('change', () => this.draw());
    whenever(node, 'head', signal, () => this.#drawFacts().catch(() => {}), PACE);
    this.element = card(
      'Edit account',
      field('Account', this.#who),
      this.#facts,
      this.#tabs,
      this.#form,
    );
  }

  #choose(editor) {
    this.#chosen = editor;
    this.draw();
  }

  async #drawFacts() {
    if (!this.#account) return;
    const shown = await accountFacts(this.#account);
    if (!this.#signal.aborted) replace(this.#facts, shown);
  }

  /** Shows the account in the input, and the chosen form for it. */
  async draw() {
    const turn = ++this.#turn;
    // The form before would still change the account before.
    replace(this.#form);
    for (const tab of this.#tabs.children)
      tab.setAttribute('aria-pressed', String(tab.textContent === this.#chosen.name));

    try {
      const text = this.#who.value;
      this.#account = text.trim() ? parseAddress(text, network.prefix) : null;
      if (!this.#account)
        return void replace(this.#facts, h('p.soft', 'Enter an account to edit.'));

      const [form] = await Promise.all([
        this.#chosen.form(this.#account, this.#chosen.method, () => this.#drawFacts()),
        this.#drawFacts(),
      ]);
      if (turn === this.#turn) replace(this.#form, form);
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#account = null;
      replace(this.#facts, failure(error));
    }
  }
}

/** The card of the editor; null if the node has no method for it. */
export async function editorCard(signal) {
  const editors = await supportedEditors();
  if (!editors.length) return null;
  const editor = new AccountEditor(editors, signal);
  await editor.draw();
  return editor.element;
}
