// What an action in the lending pool would do to an account: the pool's rules, on the figures of
// the lens.
//
// Values are US dollars × 10^8, ratios basis points. The contract decides; this says it before a
// transaction is sent.

import { amount } from './format.js';
import { money, valueUsd } from './money.js';

const BPS = 10_000n;
/** The health factor without debt. */
const ENDLESS = (1n << 256n) - 1n;
const [MIN_SCORE, MAX_SCORE] = [300n, 850n];
/** The most points for the present health, and the least collateral that earns them. */
const HEALTH_POINTS = 50n;
const MIN_COLLATERAL_USD = 100n * 10n ** 8n;
/**
 * Interest accrues until a transaction is mined, so the largest amounts leave a thousandth of what
 * they depend on.
 */
const MARGIN = 1_000n;
/** Health factors below which a position is close to liquidation, and at risk. */
export const CLOSE = 11_000n;
export const RISKY = 15_000n;

/** The least of several BigInts, which Math.min does not take. */
function least(first, ...rest) {
  let found = first;
  for (const value of rest) if (value < found) found = value;
  return found;
}

/** The loan-to-value ratio of an asset at a credit score. */
export function loanToValue({ minLtvBps, maxLtvBps }, score) {
  const [low, high] = [BigInt(minLtvBps), BigInt(maxLtvBps)];
  return low + ((high - low) * (score - MIN_SCORE)) / (MAX_SCORE - MIN_SCORE);
}

/** The points of a score that follow from the present health, given the value of the collateral. */
function healthPoints(collateralUsd, { debtUsd, health }) {
  if (collateralUsd < MIN_COLLATERAL_USD) return 0n;
  if (debtUsd === 0n) return HEALTH_POINTS;
  const margin = health > BPS ? least(health - BPS, BPS) : 0n;
  return (HEALTH_POINTS * margin) / BPS;
}

/**
 * The credit score once the points for the present health have changed. `points` are the parts of
 * the present score; without them it counts as neither cut off at 300 nor at 850. A payment that
 * counts as on time earns further points.
 */
function scoreAfter(account, points, now, then) {
  const sum = points
    ? MIN_SCORE +
      points.depositPoints +
      points.paymentPoints +
      points.historyPoints -
      points.penaltyPoints -
      points.overduePoints
    : account.score - now;
  const score = sum + then;
  return score < MIN_SCORE ? MIN_SCORE : least(score, MAX_SCORE);
}

export function healthFactor(coverUsd, debtUsd) {
  return debtUsd === 0n ? ENDLESS : (coverUsd * BPS) / debtUsd;
}

/** The totals of an account: what covers its debts, its debts, and its borrowing power. */
export function totals(account) {
  let coverUsd = 0n;
  for (const one of account.positions)
    coverUsd += (one.suppliedUsd * one.liquidationThresholdBps) / BPS;
  return {
    coverUsd,
    debtUsd: account.debtUsd,
    powerUsd: account.borrowingPowerUsd,
    health: account.healthFactorBps,
  };
}

function positionOf({ account, pool }) {
  return (
    account.positions.find((one) => one.asset === pool.asset) ?? {
      supplied: 0n,
      debt: 0n,
      suppliedUsd: 0n,
      debtUsd: 0n,
      loanToValueBps: 0n,
      liquidationThresholdBps: 0n,
    }
  );
}

/**
 * The totals after an action. `state` has account, pool, refused (whether the user refuses the
 * asset as collateral), halted, and if they are known pools and points (the parts of the score).
 * The pool compares the debt with `powerUsd`, at the score before the action; `finalPowerUsd` is
 * the power at the `score` after it.
 */
export function projected(state, action, value) {
  const { account, pool, refused, halted, pools = [], points = null } = state;
  const own = positionOf(state);
  const before = totals(account);
  const supplied =
    action === 'deposit'
      ? own.supplied + value
      : action === 'withdraw'
        ? own.supplied - least(value, own.supplied)
        : own.supplied;
  const debt =
    action === 'borrow'
      ? own.debt + value
      : action === 'repay'
        ? own.debt - least(value, own.debt)
        : own.debt;
  const was = own.liquidationThresholdBps > 0n;
  const counts = was || (action === 'deposit' && !refused);
  const reliable = pool.priceFresh && !halted;
  const ratio = was
    ? own.loanToValueBps
    : counts && reliable
      ? loanToValue(pool.parameters, account.score)
      : 0n;
  const threshold = counts ? BigInt(pool.parameters.liquidationThresholdBps) : 0n;
  const suppliedUsd = valueUsd(supplied, pool.price, pool.decimals);
  const debtUsd = valueUsd(debt, pool.price, pool.decimals, true);
  const after = {
    coverUsd:
      before.coverUsd -
      (own.suppliedUsd * own.liquidationThresholdBps) / BPS +
      (suppliedUsd * threshold) / BPS,
    powerUsd:
      before.powerUsd - (own.suppliedUsd * own.loanToValueBps) / BPS + (suppliedUsd * ratio) / BPS,
    debtUsd: before.debtUsd - own.debtUsd + debtUsd,
    ownDebtUsd: debtUsd,
    health: 0n,
  };
  after.health = healthFactor(after.coverUsd, after.debtUsd);
  const others = account.positions.filter(
    (one) => one.asset !== pool.asset && one.liquidationThresholdBps > 0n,
  );
  const othersUsd = others.reduce((sum, one) => sum + one.suppliedUsd, 0n);
  const collateralUsd = othersUsd + (counts ? suppliedUsd : 0n);
  const score = scoreAfter(
    account,
    points,
    healthPoints(othersUsd + (was ? own.suppliedUsd : 0n), before),
    healthPoints(collateralUsd, after),
  );
  /** The ratio of a collateral at the score after the action; 0 without a reliable price. */
  const ratioAfter = (asset, ratioBefore) => {
    const parameters =
      asset === pool.asset ? pool.parameters : pools.find((one) => one.asset === asset)?.parameters;
    return ratioBefore > 0n && parameters ? loanToValue(parameters, score) : ratioBefore;
  };
  const collaterals = [...others, { asset: pool.asset, suppliedUsd, loanToValueBps: ratio }];
  const finalPowerUsd = collaterals.reduce(
    (sum, one) => sum + (one.suppliedUsd * ratioAfter(one.asset, one.loanToValueBps)) / BPS,
    0n,
  );
  const covers = [
    ...others,
    {
      asset: pool.asset,
      symbol: pool.symbol,
      price: pool.price,
      suppliedUsd,
      debt,
      liquidationThresholdBps: threshold,
    },
  ];
  return { ...after, score, finalPowerUsd, liquidation: liquidation(covers, after) };
}

/**
 * The price × 10^8 of the largest collateral at which a position can be liquidated, the other
 * prices being the same: `{ symbol, price }`; null without debt, or if that collateral is borrowed
 * as well.
 */
function liquidation(covers, { coverUsd, debtUsd }) {
  const coverOf = (one) => (one.suppliedUsd * one.liquidationThresholdBps) / BPS;
  const largestCover = covers.reduce(
    (most, one) => (most && coverOf(most) >= coverOf(one) ? most : one),
    null,
  );
  if (debtUsd === 0n || !largestCover || coverOf(largestCover) === 0n || largestCover.debt > 0n)
    return null;
  const needed = debtUsd - (coverUsd - coverOf(largestCover));
  return needed > 0n
    ? { symbol: largestCover.symbol, price: (largestCover.price * needed) / coverOf(largestCover) }
    : null;
}

/** The amount of an asset worth a number of dollars. */
function amountOf(usd, { price, decimals }) {
  return price === 0n ? 0n : (usd * 10n ** BigInt(decimals)) / price;
}

/** The largest amount of an action, and whether it stands for the whole balance or debt. */
export function largest(state, action) {
  const { account, pool, balance } = state;
  const own = positionOf(state);
  if (action === 'deposit') {
    const room =
      pool.supplyCap > 0n
        ? pool.supplyCap > pool.totalSupplied
          ? pool.supplyCap - pool.totalSupplied
          : 0n
        : balance;
    return { value: least(balance, room), whole: false };
  }
  if (action === 'repay') {
    // A little more than the debt, for the interest until the repayment is mined.
    const whole = own.debt > 0n && balance >= own.debt + own.debt / MARGIN + 1n;
    return { value: least(own.debt, balance), whole };
  }
  if (action === 'withdraw') {
    const free = account.debtUsd === 0n || own.liquidationThresholdBps === 0n;
    if (free)
      return {
        value: least(own.supplied, pool.cash),
        whole: own.supplied <= pool.cash && own.supplied > 0n,
      };
    if (own.loanToValueBps === 0n) return { value: 0n, whole: false };
    const spare =
      account.borrowingPowerUsd > account.debtUsd
        ? account.borrowingPowerUsd - account.debtUsd
        : 0n;
    const within = amountOf((spare * BPS) / own.loanToValueBps, pool);
    return {
      value:
        within >= own.supplied
          ? least(own.supplied, pool.cash)
          : least(within - within / MARGIN, pool.cash),
      whole: false,
    };
  }
  const within = amountOf(account.availableUsd, pool);
  const room =
    pool.borrowCap > 0n
      ? pool.borrowCap > pool.totalDebt
        ? pool.borrowCap - pool.totalDebt
        : 0n
      : pool.cash;
  return { value: least(within - within / MARGIN, pool.cash, room), whole: false };
}

/**
 * Why an action with an amount is not possible, as a sentence; null if it is. `state` has account,
 * pool, balance, limits and halted.
 */
export function refusal(state, action, value) {
  const { account, pool, balance, limits, halted } = state;
  const own = positionOf(state);
  const text = (number) => `${amount(number, Number(pool.decimals), 8)} ${pool.symbol}`;
  const over = (what, limit) => `Exceeds ${what} by ${text(value - limit)}.`;
  const after = projected(state, action, value);
  if (pool.paused && action !== 'repay')
    return `Operations on ${pool.symbol} are paused. Repayment is possible.`;
  if (action === 'deposit') {
    if (value > balance) return over('your wallet balance', balance);
    if (pool.supplyCap > 0n && pool.totalSupplied + value > pool.supplyCap)
      return over(
        'the supply cap',
        pool.supplyCap > pool.totalSupplied ? pool.supplyCap - pool.totalSupplied : 0n,
      );
    return null;
  }
  if (action === 'repay') {
    if (own.debt === 0n) return `You have no ${pool.symbol} debt.`;
    if (value > own.debt) return over('your debt', own.debt);
    return value > balance ? over('your wallet balance', balance) : null;
  }
  const unreliable = account.positions.find((one) => one.debt > 0n && !one.priceFresh);
  const priced = action === 'borrow' || (account.debtUsd > 0n && own.liquidationThresholdBps > 0n);
  if (action === 'withdraw') {
    if (own.supplied === 0n) return `You have no ${pool.symbol} supply.`;
    if (value > own.supplied) return over('your supply', own.supplied);
  }
  if (priced && !pool.priceFresh)
    return `The price of ${pool.symbol} is stale, so ${action === 'borrow' ? 'it cannot be borrowed' : 'it cannot be withdrawn while you have debt'}.`;
  if (priced && halted)
    return `${pool.symbol} is halted: its price has not reached that of its source yet.`;
  if (priced && unreliable)
    return `The price of ${unreliable.symbol}, which you borrowed, is stale.`;
  if (value > pool.cash) return over('the available liquidity', pool.cash);
  if (action === 'borrow') {
    if (account.borrowingPowerUsd === 0n)
      return account.suppliedUsd > 0n
        ? 'None of your supply is usable as collateral.'
        : 'Supply an asset as collateral first.';
    if (after.debtUsd > after.powerUsd)
      return `Exceeds your borrowing power by ${money(after.debtUsd - after.powerUsd, true)}.`;
    if (pool.borrowCap > 0n && pool.totalDebt + value > pool.borrowCap)
      return over(
        'the borrow cap',
        pool.borrowCap > pool.totalDebt ? pool.borrowCap - pool.totalDebt : 0n,
      );
    if (limits && after.ownDebtUsd < limits.leastLoanUsd)
      return `A loan must be worth at least ${money(limits.leastLoanUsd)}.`;
    return null;
  }
  if (priced && after.debtUsd > after.powerUsd)
    return `Your debt would exceed your borrowing power by ${money(after.debtUsd - after.powerUsd, true)}.`;
  return null;
}

/** The borrower's totals after a liquidation that repays and seizes amounts with known prices. */
export function afterLiquidation(account, owed, seizedFrom, repaid, seized) {
  const before = totals(account);
  const left = (value, taken) => (taken > value ? 0n : value - taken);
  const repaidUsd = valueUsd(repaid, owed.price, owed.decimals);
  const seizedUsd = valueUsd(seized, seizedFrom.price, seizedFrom.decimals);
  const coverUsd = left(before.coverUsd, (seizedUsd * seizedFrom.liquidationThresholdBps) / BPS);
  const debtUsd = left(before.debtUsd, repaidUsd);
  return { coverUsd, debtUsd, health: healthFactor(coverUsd, debtUsd) };
}
