// Which actions in the lending pool are possible for an account: the pool's rules, on the figures
// of the lens.
//
// Values are US dollars × 10^8, ratios basis points. The contract decides; this says it before a
// transaction is sent.

import { amount } from './format.js';
import { money } from './money.js';
import { BPS, least, positionOf, projected, remaining } from './projection.js';

export { afterLiquidation, healthFactor, loanToValue, projected, totals } from './projection.js';

/** Interest accrues until a transaction is mined: amounts leave a thousandth for it. */
const INTEREST_MARGIN = 1_000n;
/** Health factors below which a position is close to liquidation, and at risk. */
export const CLOSE = 11_000n;
export const RISKY = 15_000n;

/** The amount of an asset worth a number of dollars. */
function amountOf(usd, { price, decimals }) {
  return price === 0n ? 0n : (usd * 10n ** BigInt(decimals)) / price;
}

/** An amount less the margin for interest. */
function lessInterest(value) {
  return value - value / INTEREST_MARGIN;
}

/** What repays a debt, or a part of it, with the interest until the transaction is mined. */
export function withInterest(debt) {
  return debt + debt / INTEREST_MARGIN + 1n;
}

function largestDeposit({ pool, balance }) {
  const room = pool.supplyCap > 0n ? remaining(pool.supplyCap, pool.totalSupplied) : balance;
  return { value: least(balance, room), whole: false };
}

function largestRepayment({ balance }, own) {
  const whole = own.debt > 0n && balance >= withInterest(own.debt);
  return { value: least(own.debt, balance), whole };
}

function largestWithdrawal({ account, pool }, own) {
  const isFree = account.debtUsd === 0n || own.liquidationThresholdBps === 0n;
  if (isFree) {
    const whole = own.supplied <= pool.cash && own.supplied > 0n;
    return { value: least(own.supplied, pool.cash), whole };
  }
  if (own.loanToValueBps === 0n) return { value: 0n, whole: false };

  const spare = remaining(account.borrowingPowerUsd, account.debtUsd);
  const within = amountOf((spare * BPS) / own.loanToValueBps, pool);
  const value = within >= own.supplied ? own.supplied : lessInterest(within);
  return { value: least(value, pool.cash), whole: false };
}

function largestLoan({ account, pool }) {
  const within = amountOf(account.availableUsd, pool);
  const room = pool.borrowCap > 0n ? remaining(pool.borrowCap, pool.totalDebt) : pool.cash;
  return { value: least(lessInterest(within), pool.cash, room), whole: false };
}

/** The largest amount of an action, and whether it stands for the whole balance or debt. */
export function largest(state, action) {
  const own = positionOf(state);
  switch (action) {
    case 'deposit':
      return largestDeposit(state);
    case 'repay':
      return largestRepayment(state, own);
    case 'withdraw':
      return largestWithdrawal(state, own);
    default:
      return largestLoan(state);
  }
}

/** The sentence that an amount exceeds a limit. */
function exceeds(limit, name, value, pool) {
  const excess = amount(value - limit, Number(pool.decimals), 8);
  return `Exceeds ${name} by ${excess} ${pool.symbol}.`;
}

function depositRefusal({ pool, balance }, value) {
  if (value > balance) return exceeds(balance, 'your wallet balance', value, pool);
  if (pool.supplyCap > 0n && pool.totalSupplied + value > pool.supplyCap)
    return exceeds(remaining(pool.supplyCap, pool.totalSupplied), 'the supply cap', value, pool);
  return null;
}

function repaymentRefusal({ pool, balance }, own, value) {
  if (own.debt === 0n) return `You have no ${pool.symbol} debt.`;
  if (value > own.debt) return exceeds(own.debt, 'your debt', value, pool);
  if (value > balance) return exceeds(balance, 'your wallet balance', value, pool);
  return null;
}

/** Why an action that depends on prices is not possible; `stale` is what a stale price prevents. */
function priceRefusal({ account, pool, halted }, stale) {
  if (!pool.priceFresh) return `The price of ${pool.symbol} is stale, so ${stale}.`;
  if (halted) return `${pool.symbol} is halted: its price has not reached that of its source yet.`;
  const unreliable = account.positions.find((one) => one.debt > 0n && !one.priceFresh);
  return unreliable ? `The price of ${unreliable.symbol}, which you borrowed, is stale.` : null;
}

function withdrawalRefusal(state, own, value) {
  const { account, pool } = state;
  if (own.supplied === 0n) return `You have no ${pool.symbol} supply.`;
  if (value > own.supplied) return exceeds(own.supplied, 'your supply', value, pool);

  const needsPrice = account.debtUsd > 0n && own.liquidationThresholdBps > 0n;
  const reason = needsPrice && priceRefusal(state, 'it cannot be withdrawn while you have debt');
  if (reason) return reason;
  if (value > pool.cash) return exceeds(pool.cash, 'the available liquidity', value, pool);

  const after = projected(state, 'withdraw', value);
  if (needsPrice && after.debtUsd > after.powerUsd)
    return `Your debt would exceed your borrowing power by ${money(after.debtUsd - after.powerUsd, true)}.`;
  return null;
}

function loanRefusal(state, value) {
  const { account, pool, limits } = state;
  const reason = priceRefusal(state, 'it cannot be borrowed');
  if (reason) return reason;
  if (value > pool.cash) return exceeds(pool.cash, 'the available liquidity', value, pool);

  if (account.borrowingPowerUsd === 0n)
    return account.suppliedUsd > 0n
      ? 'None of your supply is usable as collateral.'
      : 'Supply an asset as collateral first.';
  const after = projected(state, 'borrow', value);
  if (after.debtUsd > after.powerUsd)
    return `Exceeds your borrowing power by ${money(after.debtUsd - after.powerUsd, true)}.`;
  if (pool.borrowCap > 0n && pool.totalDebt + value > pool.borrowCap)
    return exceeds(remaining(pool.borrowCap, pool.totalDebt), 'the borrow cap', value, pool);
  if (limits && after.ownDebtUsd < limits.leastLoanUsd)
    return `A loan must be worth at least ${money(limits.leastLoanUsd)}.`;
  return null;
}

/**
 * Why an action with an amount is not possible, as a sentence; null if it is. `state` has account,
 * pool, balance, limits and halted.
 */
export function refusal(state, action, value) {
  const { pool } = state;
  if (pool.paused && action !== 'repay')
    return `Operations on ${pool.symbol} are paused. Repayment is possible.`;

  const own = positionOf(state);
  switch (action) {
    case 'deposit':
      return depositRefusal(state, value);
    case 'repay':
      return repaymentRefusal(state, own, value);
    case 'withdraw':
      return withdrawalRefusal(state, own, value);
    default:
      return loanRefusal(state, value);
  }
}
