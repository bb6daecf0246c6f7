// An editor for the state of any account: balance, nonce, code and storage.

import { action, first, quantity, wholeNumber } from '../lib/actions.js';
import { parseAddress } from '../lib/address.js';
import { toWord } from '../lib/bytes.js';
import { card, copyButton, facts, failure, field, h, replace } from '../lib/dom.js';
import { count, fromUnits, shorten, toUnits } from '../lib/format.js';
import { addressLink, coins } from '../lib/links.js';
import { network, read } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';

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

/** The editors: name, the method that sets the value, and a form for it. */
const EDITORS = [
  {
    name: 'Balance',
    methods: ['anvil_setBalance', 'hardhat_setBalance'],
    async form(account, method, done) {
      const deal = network.tokens.length ? await first('anvil_dealERC20') : null;
      const asset = h(
        'select',
        [network.coin, ...(deal ? network.tokens.map((one) => one.symbol) : [])].map((symbol) =>
          h('option', symbol),
        ),
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
    },
  },
  {
    name: 'Nonce',
    methods: ['anvil_setNonce', 'hardhat_setNonce'],
    async form(account, method, done) {
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
    },
  },
  {
    name: 'Code',
    methods: ['anvil_setCode', 'hardhat_setCode'],
    async form(account, method, done) {
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
    },
  },
  {
    name: 'Storage',
    methods: ['anvil_setStorageAt', 'hardhat_setStorageAt'],
    async form(account, method, done) {
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
    },
  },
];

export async function editorCard(signal) {
  const methods = await Promise.all(EDITORS.map((one) => first(...one.methods)));
  const editors = EDITORS.map((one, at) => ({ ...one, method: methods[at] })).filter(
    (one) => one.method,
  );
  if (!editors.length) return null;
  const who = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x… or ${network.prefix}1…`,
    value: wallets.current?.address ?? '',
  });
  const now = h('div');
  const body = h('div.editor-form');
  const tabs = h('div.tabs', { role: 'group', 'aria-label': 'Part of the account' });
  let [account, chosen, turn] = [null, editors[0], 0];

  async function drawFacts() {
    if (!account) return;
    const [balance, nonce, code] = await Promise.all([
      node.call('eth_getBalance', account, 'latest'),
      node.call('eth_getTransactionCount', account, 'latest'),
      node.call('eth_getCode', account, 'latest'),
    ]);
    if (signal.aborted) return;
    const size = code.length / 2 - 1;
    replace(
      now,
      facts([
        ['Account', addressLink(account)],
        ['Balance', coins(balance, 12)],
        ['Nonce', count(Number(nonce))],
        ['Code', size ? h('span', `${count(size)} bytes`, copyButton(code, 'Copy code')) : 'None'],
      ]),
    );
  }
  async function draw() {
    const own = ++turn;
    // The form before would still change the account before.
    replace(body);
    for (const tab of tabs.children)
      tab.setAttribute('aria-pressed', String(tab.textContent === chosen.name));
    try {
      account = who.value.trim() ? parseAddress(who.value, network.prefix) : null;
      if (!account) return void replace(now, h('p.soft', 'Enter an account to edit.'));
      const [form] = await Promise.all([
        chosen.form(account, chosen.method, drawFacts),
        drawFacts(),
      ]);
      if (own === turn) replace(body, form);
    } catch (error) {
      if (own !== turn) return;
      account = null;
      replace(now, failure(error));
    }
  }
  replace(
    tabs,
    editors.map((one) =>
      h(
        'button',
        {
          type: 'button',
          onclick: () => {
            chosen = one;
            draw();
          },
        },
        one.name,
      ),
    ),
  );
  who.addEventListener('change', draw);
  whenever(node, 'head', signal, () => drawFacts().catch(() => {}), 2_000);
  await draw();
  return card('Edit account', field('Account', who), now, tabs, body);
}
