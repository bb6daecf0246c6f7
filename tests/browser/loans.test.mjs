// The page's figures of swaps and loans. Needs no browser and no node.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  afterLiquidation,
  healthFactor,
  largest,
  loanToValue,
  projected,
  refusal,
  totals,
} from '../../crates/page/src/page/lib/loans.js';
import { compactDollars, dollars, money, valueUsd } from '../../crates/page/src/page/lib/money.js';
import { timeTicks, valueTicks } from '../../crates/page/src/page/lib/ticks.js';
import { minimumOutput, parseSlippage, rateText } from '../../crates/page/src/page/lib/trading.js';

const USD = 10n ** 8n;
const ETHER = 10n ** 18n;
const PARAMETERS = { minLtvBps: 6500n, maxLtvBps: 8000n, liquidationThresholdBps: 8500n };
const pool = (change) => ({
  asset: '0x1',
  symbol: 'WETH',
  decimals: 18n,
  price: 3000n * USD,
  priceFresh: true,
  paused: false,
  cash: 1_000n * ETHER,
  totalSupplied: 0n,
  totalDebt: 0n,
  supplyCap: 0n,
  borrowCap: 0n,
  parameters: PARAMETERS,
  ...change,
});
const usdc = (change) =>
  pool({
    asset: '0x2',
    symbol: 'USDC',
    decimals: 6n,
    price: USD,
    cash: 10n ** 12n,
    parameters: { minLtvBps: 7000n, maxLtvBps: 8500n, liquidationThresholdBps: 9000n },
    ...change,
  });

/** An account with 10 WETH of collateral, and a debt in USDC. */
function account(debtUsd) {
  const supply = {
    asset: '0x1',
    symbol: 'WETH',
    decimals: 18n,
    price: 3000n * USD,
    priceFresh: true,
    supplied: 10n * ETHER,
    debt: 0n,
    suppliedUsd: 30_000n * USD,
    debtUsd: 0n,
    loanToValueBps: 6500n,
    liquidationThresholdBps: 8500n,
  };
  const loan = {
    asset: '0x2',
    symbol: 'USDC',
    decimals: 6n,
    price: USD,
    priceFresh: true,
    supplied: 0n,
    debt: debtUsd * 10n ** 6n,
    suppliedUsd: 0n,
    debtUsd: debtUsd * USD,
    loanToValueBps: 0n,
    liquidationThresholdBps: 0n,
  };
  const power = 19_500n * USD;
  const owed = debtUsd * USD;
  return {
    score: 300n,
    band: 0n,
    suppliedUsd: 30_000n * USD,
    debtUsd: owed,
    borrowingPowerUsd: power,
    availableUsd: power > owed ? power - owed : 0n,
    healthFactorBps: healthFactor(25_500n * USD, owed),
    positions: debtUsd ? [supply, loan] : [supply],
  };
}
const state = (found, on, change) => ({
  account: found,
  pool: on,
  balance: 10n ** 24n,
  limits: { leastLoanUsd: 10n * USD },
  halted: false,
  refused: false,
  ...change,
});

test('money has two decimals, and debts are rounded up', () => {
  assert.deepEqual(
    [money(123_456_789_000n), money(0n), money(1n), money(1n, true), money(-250n * USD)],
    ['$1,234.56', '$0.00', '<$0.01', '$0.01', '−$250.00'],
  );
  assert.equal(money(123_456_789_000n, true), '$1,234.57');
  assert.equal(money(10n ** 20n), '$1,000,000,000,000.00');
  assert.deepEqual(
    [dollars(1234.5), dollars(0.001), dollars(NaN), compactDollars(10_020_000)],
    ['$1,234.50', '<$0.01', '–', '$10.02M'],
  );
  assert.equal(valueUsd(15n * 10n ** 17n, 3000n * USD, 18n), 4_500n * USD);
  assert.equal(valueUsd(1n, 3n, 1n, true), 1n);
});

test('health and borrowing power after an action follow the rules of the pool', () => {
  const mine = account(10_000n);
  assert.deepEqual(totals(mine), {
    coverUsd: 25_500n * USD,
    debtUsd: 10_000n * USD,
    powerUsd: 19_500n * USD,
    health: 25_500n,
  });
  assert.equal(projected(state(mine, usdc()), 'borrow', 5_000n * 10n ** 6n).health, 17_000n);
  assert.equal(projected(state(mine, usdc()), 'repay', 5_000n * 10n ** 6n).health, 51_000n);
  assert.equal(
    projected(state(mine, usdc()), 'repay', 99_000n * 10n ** 6n).debtUsd,
    0n,
    'no more than the debt is repaid',
  );
  const withdrawn = projected(state(mine, pool()), 'withdraw', 5n * ETHER);
  assert.deepEqual([withdrawn.health, withdrawn.powerUsd], [12_750n, 9_750n * USD]);
  const supplied = projected(state(mine, pool()), 'deposit', 10n * ETHER);
  assert.deepEqual([supplied.health, supplied.powerUsd], [51_000n, 39_000n * USD]);
  // A first supply becomes collateral, unless the user refuses it.
  assert.equal(
    projected(state(account(0n), usdc()), 'deposit', 1_000n * 10n ** 6n).powerUsd,
    20_200n * USD,
  );
  assert.equal(
    projected(state(account(0n), usdc(), { refused: true }), 'deposit', 1_000n * 10n ** 6n)
      .powerUsd,
    19_500n * USD,
  );
  assert.equal(loanToValue(PARAMETERS, 575n), 7_250n);
});

test('a preview has the score after the action, and the power at that score', () => {
  const before = {
    ...account(0n),
    score: 350n,
    borrowingPowerUsd: 19_908n * USD,
    availableUsd: 19_908n * USD,
  };
  before.positions[0].loanToValueBps = loanToValue(PARAMETERS, 350n);
  const now = state(before, usdc(), { pools: [pool(), usdc()] });
  const half = projected(now, 'borrow', 17_000n * 10n ** 6n);
  assert.deepEqual(
    [half.health, half.score, half.finalPowerUsd],
    [15_000n, 325n, (30_000n * USD * loanToValue(PARAMETERS, 325n)) / 10_000n],
  );
  const { value } = largest(now, 'borrow');
  assert.equal(
    refusal(now, 'borrow', value),
    null,
    'the pool checks at the score before the action',
  );
  const most = projected(now, 'borrow', value);
  assert.ok(most.finalPowerUsd < most.debtUsd && most.score < 350n);
  // Penalties beyond the points of the score keep it at its lowest.
  const points = {
    depositPoints: 0n,
    paymentPoints: 0n,
    historyPoints: 0n,
    penaltyPoints: 100n,
    overduePoints: 0n,
  };
  assert.equal(
    projected(
      state({ ...account(10_000n), score: 300n }, usdc(), { points }),
      'repay',
      10_000n * 10n ** 6n,
    ).score,
    300n,
  );
});

test('an impossible action has one reason', () => {
  const borrowing = (dollars, change) =>
    refusal(state(account(10_000n), usdc(change)), 'borrow', dollars * 10n ** 6n);
  assert.equal(borrowing(9_500n), null);
  assert.equal(borrowing(10_734n), 'Exceeds your borrowing power by $1,234.00.');
  assert.equal(
    borrowing(9_000n, { cash: 8_000n * 10n ** 6n }),
    'Exceeds the available liquidity by 1,000 USDC.',
  );
  assert.equal(
    borrowing(9_000n, { borrowCap: 8_000n * 10n ** 6n, totalDebt: 500n * 10n ** 6n }),
    'Exceeds the borrow cap by 1,500 USDC.',
  );
  assert.match(borrowing(1n, { priceFresh: false }), /price of USDC is stale/);
  assert.match(borrowing(1n, { paused: true }), /USDC are paused/);
  const unused = { ...account(0n), borrowingPowerUsd: 0n, suppliedUsd: 0n, positions: [] };
  assert.equal(
    refusal(state(unused, usdc()), 'borrow', 1n),
    'Supply an asset as collateral first.',
  );
  assert.equal(
    refusal(state(account(0n), usdc()), 'borrow', 9n * 10n ** 6n),
    'A loan must be worth at least $10.00.',
  );
  assert.match(
    refusal(state(account(0n), usdc(), { halted: true }), 'borrow', 10n ** 8n),
    /halted/,
  );
  assert.equal(
    refusal(state(account(10_000n), pool()), 'withdraw', 6n * ETHER),
    'Your debt would exceed your borrowing power by $2,200.00.',
  );
  assert.equal(
    refusal(state(account(0n), pool({ priceFresh: false })), 'withdraw', 10n * ETHER),
    null,
    'without debt no price is needed',
  );
  assert.equal(
    refusal(state(account(10_000n), pool()), 'withdraw', 11n * ETHER),
    'Exceeds your supply by 1 WETH.',
  );
  assert.equal(
    refusal(state(account(10_000n), usdc()), 'repay', 10_001n * 10n ** 6n),
    'Exceeds your debt by 1 USDC.',
  );
  assert.equal(
    refusal(state(account(0n), usdc(), { balance: 10n ** 6n }), 'deposit', 3n * 10n ** 6n),
    'Exceeds your wallet balance by 2 USDC.',
  );
});

test('the largest amounts are possible', () => {
  const mine = account(10_000n);
  for (const [action, on] of [
    ['borrow', usdc()],
    ['withdraw', pool()],
    ['repay', usdc()],
    ['deposit', pool()],
  ]) {
    const now = state(mine, on);
    const { value } = largest(now, action);
    assert.ok(value > 0n, action);
    assert.equal(refusal(now, action, value), null, action);
  }
  assert.deepEqual(largest(state(account(0n), pool()), 'withdraw'), {
    value: 10n * ETHER,
    whole: true,
  });
  assert.deepEqual(largest(state(mine, usdc()), 'repay'), {
    value: 10_000n * 10n ** 6n,
    whole: true,
  });
  assert.deepEqual(largest(state(mine, usdc(), { balance: 10n ** 6n }), 'repay'), {
    value: 10n ** 6n,
    whole: false,
  });
  assert.deepEqual(largest(state(account(30_000n), usdc()), 'borrow'), { value: 0n, whole: false });
});

test('a liquidation improves the health factor of a borrower not far below 1', () => {
  const mine = account(26_000n);
  const [supply, loan] = mine.positions;
  const after = afterLiquidation(mine, loan, supply, 13_000n * 10n ** 6n, (455n * ETHER) / 100n);
  assert.equal(after.debtUsd, 13_000n * USD);
  assert.ok(after.health > mine.healthFactorBps);
});

test('slippage and rates are read and written', () => {
  assert.equal(minimumOutput(10_000n, 0.5), 9_950n);
  assert.deepEqual([parseSlippage('0.5'), parseSlippage(' 1,25% ')], [0.5, 1.25]);
  for (const text of ['', '-1', '51', '0.123', 'x'])
    assert.throws(() => parseSlippage(text), /between 0 and 50/);
  assert.deepEqual(
    [rateText(3512.356), rateText(1.23456789), rateText(0.000284719), rateText(NaN)],
    ['3,512.36', '1.2346', '0.00028472', '–'],
  );
});

test('axes have round ticks', () => {
  assert.deepEqual(valueTicks(3_355, 3_534, 5), [3_400, 3_450, 3_500]);
  assert.deepEqual(
    valueTicks(0.92, 1.08, 4).map((value) => Number(value.toFixed(2))),
    [0.95, 1, 1.05],
  );
  const start = new Date(2026, 10, 23, 13, 20).getTime();
  const { ticks, step } = timeTicks(start, start + 86_400_000, 8);
  assert.equal(step, 3 * 3_600_000);
  assert.deepEqual(
    ticks.map((time) => new Date(time).getHours()),
    [15, 18, 21, 0, 3, 6, 9, 12],
  );
});
