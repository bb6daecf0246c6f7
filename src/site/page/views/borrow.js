// Deposit, withdraw, borrow, repay.

import { card, failure, field, h, replace, setText, toast } from '../lib/dom.js';
import { amount, fromUnits, toUnits } from '../lib/format.js';
import { ENDLESS } from '../lib/lens.js';
import { callData, network, read } from '../lib/network.js';
import { wallets } from '../lib/wallet.js';
import { approve } from './swap.js';

/** Interest goes on until the repayment is in a block: so much more is approved, a thousandth. */
const MARGIN = 1_000n;

const ACTIONS = {
  deposit: { name: 'Deposit', most: ({ balance }) => balance, limit: 'In your account' },
  withdraw: { name: 'Withdraw', most: ({ position }) => position?.supplied ?? 0n, limit: 'Supplied' },
  borrow: { name: 'Borrow', most: ({ pool, account }) => borrowable(pool, account), limit: 'Can be borrowed' },
  repay: { name: 'Repay', most: ({ position, balance }) => least(position?.debt ?? 0n, balance), limit: 'Can be repaid' },
};

function least(a, b) {
  return a < b ? a : b;
}

/** What the account may borrow of an asset: as far as its power and the pool's cash go. */
function borrowable(pool, account) {
  if (!account || pool.price === 0n) return 0n;
  return least((account.availableUsd * 10n ** BigInt(pool.decimals)) / pool.price, pool.cash);
}

/** The card; `update(pools, account)` tells it what has changed, `choose(symbol)` which asset it is about. */
export function actionsCard(signal, done) {
  const state = { action: 'deposit', symbol: 'USDC', pools: [], account: null, balance: 0n, all: false, busy: false };
  const tabs = h('div.tabs', { role: 'group', 'aria-label': 'Action' });
  const asset = h('select', network.tokens.map((token) => h('option', { value: token.symbol }, token.symbol)));
  const input = h('input', { inputmode: 'decimal', placeholder: '0', autocomplete: 'off' });
  const limit = h('button.link-button', { type: 'button' });
  const problem = h('div', { 'aria-live': 'polite' });
  const submit = h('button.primary.wide', { type: 'submit' }, 'Deposit');
  const form = h('form.stack', tabs, field('Asset', asset), field('Amount', input), limit, problem, submit);

  const token = () => network.tokens.find((one) => one.symbol === state.symbol) ?? network.tokens[0];
  const situation = () => ({
    pool: state.pools.find((pool) => pool.symbol === state.symbol),
    position: state.account?.positions.find((one) => one.symbol === state.symbol),
    account: state.account,
    balance: state.balance,
  });

  function draw() {
    const { name, most, limit: what } = ACTIONS[state.action];
    const now = situation();
    replace(tabs, Object.entries(ACTIONS).map(([key, one]) => h('button', { type: 'button', 'aria-pressed': String(key === state.action), onclick: () => choose({ action: key }) }, one.name)));
    asset.value = state.symbol;
    setText(limit, now.pool ? `${what}: ${amount(most(now), token().decimals, 9)} ${state.symbol}` : '');
    if (!state.busy) setText(submit, wallets.current ? `${name} ${state.symbol}` : 'Choose an account');
    submit.disabled = state.busy || !wallets.current;
  }

  async function refresh() {
    const who = wallets.current?.address;
    const symbol = state.symbol;
    const balance = who ? await read('Token', token().address, 'balanceOf', who).catch(() => 0n) : 0n;
    if (signal.aborted || symbol !== state.symbol) return;
    state.balance = balance;
    draw();
  }

  function choose(change) {
    Object.assign(state, change, { all: false });
    input.value = '';
    replace(problem);
    draw();
    refresh();
  }

  async function act() {
    const { address, decimals } = token();
    const { position } = situation();
    const value = fromUnits(input.value, decimals);
    if (value === 0n) throw new Error('enter an amount');
    const { lendingPool } = network.addresses;
    // All of it means what it is by then, with its interest.
    const whole = state.all && ((state.action === 'withdraw' && !state.account.debtUsd) || (state.action === 'repay' && value >= (position?.debt ?? 0n)));
    if (state.action === 'deposit') await approve(token(), lendingPool, value);
    if (state.action === 'repay') await approve(token(), lendingPool, whole ? value + value / MARGIN + 1n : value);
    const data = callData('LendingPool', state.action, address, whole ? ENDLESS : value);
    return { value, receipt: await wallets.send({ to: lendingPool, data }) };
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (state.busy) return;
    state.busy = true;
    setText(submit, 'Sending…');
    submit.disabled = true;
    replace(problem);
    try {
      const { value, receipt } = await act();
      const { name } = ACTIONS[state.action];
      toast(`${name}: ${amount(value, token().decimals)} ${state.symbol}`, 'good', { href: `#/tx/${receipt.transactionHash}`, text: 'Look at the transaction' });
      input.value = '';
      state.all = false;
    } catch (error) {
      replace(problem, failure(error));
    }
    state.busy = false;
    await refresh();
    done();
  });
  asset.addEventListener('change', () => choose({ symbol: asset.value }));
  input.addEventListener('input', () => (state.all = false));
  limit.addEventListener('click', () => {
    const now = situation();
    if (!now.pool) return;
    input.value = toUnits(ACTIONS[state.action].most(now), token().decimals);
    state.all = true;
  });
  draw();
  return {
    element: card('Act', form),
    choose: (symbol) => choose({ symbol }),
    update: (pools, account) => {
      Object.assign(state, { pools, account });
      refresh();
    },
  };
}
