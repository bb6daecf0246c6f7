// The form that supplies, withdraws, borrows and repays.

import { card, failure, field, h, replace, setText, toast } from '../lib/dom.js';
import { amount, fromUnits, toUnits } from '../lib/format.js';
import { ENDLESS } from '../lib/lens.js';
import { callData, network, read } from '../lib/network.js';
import { wallets } from '../lib/wallet.js';
import { approve } from './swap.js';

/** Interest accrues until the repayment is mined, so a thousandth more than the current debt is approved. */
const MARGIN = 1_000n;

const ACTIONS = {
  deposit: { name: 'Supply', past: 'Supplied', most: ({ balance }) => balance, limit: 'Wallet balance' },
  withdraw: { name: 'Withdraw', past: 'Withdrew', most: ({ position }) => position?.supplied ?? 0n, limit: 'Available to withdraw' },
  borrow: { name: 'Borrow', past: 'Borrowed', most: ({ pool, account }) => borrowable(pool, account), limit: 'Available to borrow' },
  repay: { name: 'Repay', past: 'Repaid', most: ({ position, balance }) => least(position?.debt ?? 0n, balance), limit: 'Available to repay' },
};

function least(a, b) {
  return a < b ? a : b;
}

/** The amount of an asset that the account can borrow, limited by its borrowing power and the pool's liquidity. */
function borrowable(pool, account) {
  if (!account || pool.price === 0n) return 0n;
  return least((account.availableUsd * 10n ** BigInt(pool.decimals)) / pool.price, pool.cash);
}

/** The card; `update(pools, account)` passes new data, `choose(symbol)` selects the asset. */
export function actionsCard(signal, done) {
  const state = { action: 'deposit', symbol: 'USDC', pools: [], account: null, balance: 0n, all: false, busy: false };
  const tabs = h('div.tabs', { role: 'group', 'aria-label': 'Action' });
  const asset = h('select', network.tokens.map((token) => h('option', { value: token.symbol }, token.symbol)));
  const input = h('input', { inputmode: 'decimal', placeholder: '0', autocomplete: 'off' });
  const limit = h('button.link-button', { type: 'button' });
  const problem = h('div', { 'aria-live': 'polite' });
  const submit = h('button.primary.wide', { type: 'submit' }, 'Supply');
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
    // The largest number stands for the whole balance or debt at execution, including interest.
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
      const { past } = ACTIONS[state.action];
      toast(`${past} ${amount(value, token().decimals)} ${state.symbol}`, 'good', { href: `#/tx/${receipt.transactionHash}`, text: 'View transaction' });
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
    element: card('Manage position', form),
    choose: (symbol) => choose({ symbol }),
    update: (pools, account) => {
      Object.assign(state, { pools, account });
      refresh();
    },
  };
}
