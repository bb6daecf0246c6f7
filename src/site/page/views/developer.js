// Controls for the development methods. A control is shown only if the node has its method.

import { parseAddress } from '../lib/address.js';
import { card, failure, field, h, heading, replace, setText, toast } from '../lib/dom.js';
import { amount, count, date, fromUnits, shorten, span } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { network, callData, read } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';
import { priceCard } from './pricecard.js';
import { scenarioCard } from './scenarios.js';
import { snapshotCard } from './snapshots.js';

/** The first of several method names that the node supports, or null. */
async function first(...names) {
  for (const name of names) if (await node.has(name)) return name;
  return null;
}

/** A form that runs an action and reports its success or error. */
function action(fields, button, run) {
  const problem = h('div', { 'aria-live': 'polite' });
  const submit = h('button', { type: 'submit' }, button);
  const form = h('form.stack', fields, h('div.row', submit), problem);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    submit.disabled = true;
    replace(problem);
    try {
      toast(await run(), 'good');
    } catch (error) {
      replace(problem, failure(error));
    }
    submit.disabled = false;
  });
  return form;
}

const quantity = (number) => `0x${BigInt(number).toString(16)}`;

function wholeNumber(input, what) {
  if (!/^\d+$/.test(input.value.trim())) throw new Error(`${what}: expected a whole number`);
  return Number(input.value);
}

async function miningCard() {
  const blocks = h('input', { inputmode: 'numeric', value: '1' });
  const mine = action(field('Blocks', blocks), 'Mine', async () => {
    const number = wholeNumber(blocks, 'Blocks');
    await node.call('evm_mine', { blocks: quantity(number) });
    return `Mined ${count(number)} block${number === 1 ? '' : 's'}`;
  });
  const parts = [mine];
  if (await node.has('evm_setAutomine')) {
    const set = (on) => async () => {
      await node.call('evm_setAutomine', on);
      toast(on ? 'Automine on: transactions are mined immediately' : 'Automine off: blocks are mined on request only', 'good');
    };
    parts.push(h('div.row', h('span.soft', 'Automine'), h('button', { type: 'button', onclick: set(true) }, 'On'), h('button', { type: 'button', onclick: set(false) }, 'Off')));
  }
  return card('Mining', parts);
}

async function timeCard(signal) {
  if (!(await node.has('evm_increaseTime'))) return null;
  const now = h('strong');
  whenever(node, 'head', signal, () => setText(now, node.head ? date(Number(node.head.timestamp)) : '–'));
  const travel = async (seconds) => {
    await node.call('evm_increaseTime', quantity(seconds));
    await node.call('evm_mine');
    return `Time advanced by ${span(seconds)}`;
  };
  const jump = (text, seconds) => h('button', { type: 'button', onclick: () => travel(seconds).then((done) => toast(done, 'good'), (error) => toast(error.message, 'error')) }, text);
  const hours = h('input', { inputmode: 'decimal', value: '24' });
  return card('Time',
    h('p', h('span.soft', 'Latest block: '), now),
    h('div.row', jump('+1 min', 60), jump('+1 h', 3_600), jump('+1 day', 86_400), jump('+30 days', 2_592_000)),
    action(field('Hours', hours, 'Interest, due dates and penalties follow block timestamps.'), 'Advance time', () => {
      const seconds = Math.round(Number(hours.value) * 3_600);
      if (!(seconds > 0)) throw new Error('Hours: expected a positive number');
      return travel(seconds);
    }));
}

async function faucetCard() {
  const setBalance = await first('anvil_setBalance', 'hardhat_setBalance');
  const choices = [network.coin, ...network.tokens.map((token) => token.symbol)];
  const to = h('input', { spellcheck: 'false', autocomplete: 'off', placeholder: `0x… or ${network.prefix}1…`, value: wallets.current?.address ?? '' });
  const what = h('select', choices.map((symbol) => h('option', symbol)));
  const how = h('input', { inputmode: 'decimal', value: '100' });
  const give = async () => {
    const address = parseAddress(to.value, network.prefix);
    const token = network.tokens.find((one) => one.symbol === what.value);
    const value = fromUnits(how.value, token?.decimals ?? 18);
    if (!token && setBalance) {
      const before = BigInt(await node.call('eth_getBalance', address, 'latest'));
      await node.call(setBalance, address, quantity(before + value));
    } else {
      const from = await richest(token, value, address);
      const transaction = token
        ? { from, to: token.address, data: callData('Token', 'transfer', address, value) }
        : { from, to: address, value: quantity(value) };
      await wallets.receipt(await node.call('eth_sendTransaction', transaction));
    }
    return `Sent ${amount(value, token?.decimals ?? 18)} ${what.value}`;
  };
  return card('Faucet', action([field('To', to), h('div.grid', { style: { gridTemplateColumns: '1fr 1fr' } }, field('Asset', what), field('Amount', how))], 'Send', give));
}

/** A node account with a sufficient balance, other than the recipient. */
async function richest(token, value, except) {
  for (const from of wallets.held.filter((one) => one !== except)) {
    const balance = token
      ? await read('Token', token.address, 'balanceOf', from)
      : BigInt(await node.call('eth_getBalance', from, 'latest')) - 10n ** 16n;
    if (balance >= value) return from;
  }
  throw new Error('no node account has a sufficient balance');
}

async function impersonating() {
  const [begin, end] = await Promise.all([first('anvil_impersonateAccount', 'hardhat_impersonateAccount'), first('anvil_stopImpersonatingAccount', 'hardhat_stopImpersonatingAccount')]);
  return begin && end ? { begin, end } : null;
}

async function impersonationCard() {
  const impersonate = await impersonating();
  if (!impersonate) return null;
  const who = h('input', { spellcheck: 'false', autocomplete: 'off', placeholder: `0x… or ${network.prefix}1…` });
  const acting = h('div.stack');
  const draw = () => replace(acting, wallets.impersonated.map((address) => h('div.spread', addressLink(address), h('button', { type: 'button', onclick: async () => {
    await node.call(impersonate.end, address);
    wallets.impersonate(address, false);
    draw();
  } }, 'Stop'))));
  draw();
  return card('Impersonate account', action(field('Account', who, 'It is added to the account list at the top.'), 'Impersonate', async () => {
    const address = parseAddress(who.value, network.prefix);
    await node.call(impersonate.begin, address);
    wallets.impersonate(address, true);
    draw();
    return `Impersonating ${shorten(address)}`;
  }), acting);
}

export default async function view({ signal }) {
  const cards = await Promise.all([miningCard(), timeCard(signal), faucetCard(), snapshotCard(signal), priceCard(signal), scenarioCard(signal), impersonationCard()]);
  return [heading('Developer'), h('p.lead', 'In the development profile, anyone who can reach this node can use these controls.'), h('div.grid.three', cards)];
}
