// The form that supplies, withdraws, borrows and repays.

import { announce, card, facts, h, replace, setContent, setText, toast } from '../lib/dom.js';
import { approval, flow } from '../lib/flow.js';
import { amount, amountProblem, fromUnits, percent, toUnits, usd } from '../lib/format.js';
import { ENDLESS, limits, refusedCollateral, yearly } from '../lib/lens.js';
import { largest, projected, refusal, totals } from '../lib/loans.js';
import { market } from '../lib/market.js';
import { money, USD_DECIMALS, valueUsd } from '../lib/money.js';
import { callData, network, read } from '../lib/network.js';
import { placed, setPlace } from '../lib/place.js';
import { reasonOf } from '../lib/reasons.js';
import { wallets } from '../lib/wallet.js';
import { beforeAfter, healthElement, usedText } from './health.js';
import { withoutAccount } from './start.js';
import { tokenButton } from './tokenpicker.js';

/**
 * Interest accrues until the repayment is mined, so a thousandth more than the current debt is
 * approved.
 */
const MARGIN = 1_000n;

const ACTIONS = {
  deposit: { name: 'Supply', past: 'Supplied', limit: 'Wallet balance' },
  withdraw: { name: 'Withdraw', past: 'Withdrew', limit: 'Available' },
  borrow: { name: 'Borrow', past: 'Borrowed', limit: 'Available' },
  repay: { name: 'Repay', past: 'Repaid', limit: 'Debt' },
};

/**
 * The card; `update(pools, account, points)` passes new data, `choose(symbol, action)` selects the
 * asset, and the action if it is given, `focus()` the amount.
 */
export function actionsCard(signal, done) {
  const state = {
    action: Object.hasOwn(ACTIONS, placed('action') ?? '') ? placed('action') : 'deposit',
    symbol: placed('asset') ?? 'USDC',
    pools: [],
    account: null,
    points: null,
    balance: 0n,
    limits: null,
    refused: 0n,
    elsewhere: null,
    all: false,
    busy: false,
    failed: null,
  };
  const tabs = h('div.tabs', { role: 'group', 'aria-label': 'Action' });
  const asset = tokenButton('Asset', (token) => pick({ symbol: token.symbol }));
  const input = h('input', {
    inputmode: 'decimal',
    placeholder: '0',
    autocomplete: 'off',
    'aria-label': 'Amount',
  });
  const worth = h('span');
  const limit = h('span');
  const most = h('button.link-button', { type: 'button', 'aria-label': 'Max amount' }, 'Max');
  const box = h(
    'div.swap-side',
    h('div.what', h('span', 'Amount')),
    input,
    asset.button,
    h('div.below', worth, limit, most),
  );
  const details = h('div');
  const problem = h('div', { 'aria-live': 'polite' });
  const submit = h('button.primary.wide', { type: 'submit' }, 'Supply');
  const steps = flow();
  const outcome = h('div');
  const form = h('form.stack', tabs, box, details, problem, submit, steps.element, outcome);

  const token = () =>
    network.tokens.find((one) => one.symbol === state.symbol) ?? network.tokens[0];
  /** What the rules of an action depend on, or null before it is known. */
  const situation = () => {
    const at = state.pools.findIndex((pool) => pool.symbol === state.symbol);
    if (at < 0 || !state.account) return null;
    const refused = ((state.refused >> BigInt(at)) & 1n) === 1n;
    return {
      account: state.account,
      points: state.points,
      pools: state.pools,
      pool: state.pools[at],
      balance: state.balance,
      limits: state.limits,
      halted: state.limits?.priceHalted ?? false,
      refused,
    };
  };
  const typed = () => {
    if (!input.value.trim()) return 0n;
    try {
      return fromUnits(input.value, token().decimals);
    } catch (error) {
      return new Error(amountProblem(error, token()));
    }
  };

  /**
   * The first reason for which the action is not possible now: the button's label, a sentence, and
   * what the button does instead.
   */
  function obstacle(now, value) {
    if (!wallets.current) return withoutAccount();
    if (state.elsewhere)
      return {
        label: 'Switch network',
        text: `${state.elsewhere} is on another network.`,
        act: () => wallets.switchNetwork(),
      };
    if (!now) return { label: `${ACTIONS[state.action].name} ${state.symbol}` };
    if (value instanceof Error) return { label: 'Enter a valid amount', text: value.message };
    const label = `${ACTIONS[state.action].name} ${state.symbol}`;
    if (value === 0n) return { label: 'Enter an amount' };
    const text =
      state.all && ['withdraw', 'repay'].includes(state.action) && largest(now, state.action).whole
        ? null
        : refusal(now, state.action, value);
    return text ? { label, text } : null;
  }

  function drawDetails(now, value) {
    if (!now) return replace(details);
    const { action } = state;
    const { pool, account } = now;
    const before = totals(account);
    const found = value > 0n ? projected(now, action, value) : null;
    const after = found ? { ...found, powerUsd: found.finalPowerUsd } : before;
    const moved = found !== null && found.score !== account.score;
    const band = Number(account.band);
    const rate =
      action === 'deposit' || action === 'withdraw'
        ? ['Supply APY', h('span.up', percent(yearly(pool.supplyRate)))]
        : ['Borrow APY', percent(yearly(pool.borrowRates[band]))];
    const owed = before.debtUsd > 0n || after.debtUsd > 0n;
    replace(
      details,
      facts([
        rate,
        ['Health factor', beforeAfter(healthElement(before.health), healthElement(after.health))],
        moved && ['Credit score', beforeAfter(String(account.score), String(found.score))],
        ['Borrowing power', beforeAfter(money(before.powerUsd), money(after.powerUsd))],
        owed && ['Borrowed', beforeAfter(money(before.debtUsd, true), money(after.debtUsd, true))],
        found?.liquidation && [
          `Liquidated if ${found.liquidation.symbol} falls below`,
          usd(Number(found.liquidation.price) / 10 ** USD_DECIMALS),
        ],
        owed && ['Power used', beforeAfter(usedText(before), usedText(after))],
        action === 'deposit' && now.refused && ['Collateral', 'No, you have disabled it'],
      ]),
      moved &&
        owed &&
        h(
          'p.soft',
          `The credit score follows the health factor, and the borrowing power follows the score${found.finalPowerUsd < after.debtUsd ? '. What you owe may exceed it afterwards: liquidation depends on the health factor alone' : ''}.`,
        ),
    );
  }

  function draw() {
    const { name, limit: what } = ACTIONS[state.action];
    const now = situation();
    const value = typed();
    const valid = typeof value === 'bigint' ? value : 0n;
    for (const tab of tabs.children)
      tab.setAttribute('aria-pressed', String(tab.dataset.action === state.action));
    asset.set(token());
    most.hidden = !now || !wallets.current;
    const { decimals } = token();
    const available =
      now &&
      (state.action === 'repay'
        ? (now.account.positions.find((one) => one.symbol === state.symbol)?.debt ?? 0n)
        : state.action === 'deposit'
          ? state.balance
          : largest(now, state.action).value);
    setText(limit, now && wallets.current ? `${what} ${amount(available, decimals, 7)}` : '');
    const { pool } = now ?? {};
    setText(worth, pool ? money(valueUsd(valid, pool.price, pool.decimals)) : '$0.00');
    drawDetails(wallets.current ? now : null, valid);
    if (state.busy) return;
    state.blocked = obstacle(now, value);
    const text = state.blocked ? state.blocked.text : state.failed;
    const link = state.blocked?.link ?? null;
    setContent(problem, text && h('p.failure', text, link));
    setText(submit, state.blocked?.label ?? `${name} ${state.symbol}`);
    submit.disabled = Boolean(state.blocked && !state.blocked.act);
  }

  async function refresh() {
    const who = wallets.current?.address;
    const { symbol } = state;
    const { address } = token();
    const [balance, found, refused, elsewhere] = await Promise.all([
      who ? read('Token', address, 'balanceOf', who).catch(() => 0n) : 0n,
      limits(address),
      who ? refusedCollateral(who) : 0n,
      wallets.elsewhere(),
    ]);
    if (signal.aborted || symbol !== state.symbol || who !== wallets.current?.address) return;
    Object.assign(state, { balance, limits: found, refused, elsewhere });
    draw();
  }

  function clearOutcome() {
    steps.clear();
    replace(outcome);
  }

  function choose(change) {
    if (state.busy) return;
    Object.assign(state, change, { all: false, failed: null });
    input.value = '';
    clearOutcome();
    draw();
    refresh();
  }

  function pick(change) {
    choose(change);
    setPlace({ asset: state.symbol, action: state.action });
  }

  async function act(now, value) {
    const account = wallets.current;
    const { action, symbol } = state;
    const chosen = token();
    const { lendingPool } = network.addresses;
    // The largest number stands for the whole balance or debt at execution, including interest.
    const whole = state.all && largest(now, action).whole;
    const spent =
      action === 'deposit'
        ? value
        : action === 'repay'
          ? whole
            ? value + value / MARGIN + 1n
            : value
          : null;
    const approving =
      spent === null ? null : await approval(chosen, account.address, lendingPool, spent);
    const transaction = {
      to: lendingPool,
      data: callData('LendingPool', action, chosen.address, whole ? ENDLESS : value),
    };
    const receipt = await steps.run(
      [approving, { name: `${ACTIONS[action].name} ${symbol}`, transaction }].filter(Boolean),
      account,
    );
    const text = `${ACTIONS[action].past} ${amount(value, chosen.decimals)} ${symbol}`;
    const link = { href: `#/tx/${receipt.transactionHash}`, text: 'View transaction' };
    if (signal.aborted) return toast(text, 'good', link);
    announce(text);
    steps.clear();
    replace(
      outcome,
      h('p.note.good', { role: 'status' }, text, ' ', h('a', { href: link.href }, link.text)),
    );
    input.value = '';
    state.all = false;
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (state.busy || submit.disabled) return;
    const now = situation();
    const value = typed();
    const instead = state.blocked?.act;
    if (!instead && (state.blocked || !now)) return;
    Object.assign(state, { busy: true, failed: null });
    submit.disabled = true;
    replace(outcome);
    replace(problem);
    try {
      if (instead) await instead();
      else {
        setText(submit, 'Sending…');
        await act(now, value);
      }
    } catch (error) {
      state.failed = reasonOf(error);
      if (signal.aborted) toast(state.failed, 'error');
    }
    state.busy = false;
    await refresh();
    done();
  });
  replace(
    tabs,
    Object.entries(ACTIONS).map(([key, one]) =>
      h(
        'button',
        {
          type: 'button',
          'data-action': key,
          'aria-pressed': 'false',
          onclick: () => pick({ action: key }),
        },
        one.name,
      ),
    ),
  );
  input.addEventListener('input', () => {
    Object.assign(state, { all: false, failed: null });
    if (!state.busy) clearOutcome();
    draw();
  });
  most.addEventListener('click', () => {
    const now = situation();
    if (!now) return;
    input.value = toUnits(largest(now, state.action).value, token().decimals);
    Object.assign(state, { all: true, failed: null });
    clearOutcome();
    draw();
  });
  market.addEventListener('market', draw, { signal });
  wallets.addEventListener('change', refresh, { signal });
  choose({});
  const element = card('Manage position', form);
  element.classList.add('manage');
  return {
    element,
    choose: (symbol, action = state.action) => pick({ symbol, action }),
    focus: () => input.focus({ preventScroll: true }),
    update: (pools, account, points) => {
      Object.assign(state, { pools, account, points });
      // With the largest amount chosen, it follows the interest.
      refresh();
    },
  };
}
