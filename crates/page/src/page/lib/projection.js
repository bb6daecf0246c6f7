// The figures of an account in the lending pool, and those after an action or a liquidation.
//
// Values are US dollars × 10^8, ratios basis points, as the lens has them.

import { valueUsd } from './money.js';

export const BPS = 10_000n;
/** The health factor without debt. */
const ENDLESS = (1n << 256n) - 1n;
const MIN_SCORE = 300n;
const MAX_SCORE = 850n;
/** The most points for the present health, and the least collateral that earns them. */
const HEALTH_POINTS = 50n;
const MIN_COLLATERAL_USD = 100n * 10n ** 8n;

/** The position of an account in a pool that it has never used. */
const NO_POSITION = {
  supplied: 0n,
  debt: 0n,
  suppliedUsd: 0n,
  debtUsd: 0n,
  loanToValueBps: 0n,
  liquidationThresholdBps: 0n,
};

/** The least of several BigInts, which Math.min does not take. */
export function least(first, ...rest) {
  let found = first;
  for (const value of rest) if (value < found) found = value;
  return found;
}

/** What is left of a limit. */
export function remaining(limit, used) {
  return limit > used ? limit - used : 0n;
}

/** The loan-to-value ratio of an asset at a credit score. */
export function loanToValue({ minLtvBps, maxLtvBps }, score) {
  const low = BigInt(minLtvBps);
  const high = BigInt(maxLtvBps);
  return low + ((high - low) * (score - MIN_SCORE)) / (MAX_SCORE - MIN_SCORE);
}

export function healthFactor(coverUsd, debtUsd) {
  return debtUsd === 0n ? ENDLESS : (coverUsd * BPS) / debtUsd;
}

/** The debt that a supply covers before the position is liquidated. */
function coverOf({ suppliedUsd, liquidationThresholdBps }) {
  return (suppliedUsd * liquidationThresholdBps) / BPS;
}

/** The debt that may be taken on a supply. */
function powerOf({ suppliedUsd, loanToValueBps }) {
  return (suppliedUsd * loanToValueBps) / BPS;
}

/** The totals of an account: what covers its debts, its debts, and its borrowing power. */
export function totals(account) {
  let coverUsd = 0n;
  for (const one of account.positions) coverUsd += coverOf(one);
  return {
    coverUsd,
    debtUsd: account.debtUsd,
    powerUsd: account.borrowingPowerUsd,
    health: account.healthFactorBps,
  };
}

/** The position of an account in a pool. */
export function positionOf({ account, pool }) {
  return account.positions.find((one) => one.asset === pool.asset) ?? NO_POSITION;
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

/** The supply and the debt of a position after an action. */
function amountsAfter({ supplied, debt }, action, value) {
  switch (action) {
    case 'deposit':
      return { supplied: supplied + value, debt };
    case 'withdraw':
      return { supplied: supplied - least(value, supplied), debt };
    case 'borrow':
      return { supplied, debt: debt + value };
    default:
      return { supplied, debt: debt - least(value, debt) };
  }
}

/** The position in the pool after an action. */
function positionAfter({ account, pool, refused, halted }, own, action, value) {
  const { supplied, debt } = amountsAfter(own, action, value);

  const wasCollateral = own.liquidationThresholdBps > 0n;
  const isCollateral = wasCollateral || (action === 'deposit' && !refused);
  // A new collateral adds to the borrowing power only with a reliable price.
  const isReliable = pool.priceFresh && !halted;
  let loanToValueBps = 0n;
  if (wasCollateral) loanToValueBps = own.loanToValueBps;
  else if (isCollateral && isReliable) loanToValueBps = loanToValue(pool.parameters, account.score);

  return {
    asset: pool.asset,
    symbol: pool.symbol,
    price: pool.price,
    debt,
    suppliedUsd: valueUsd(supplied, pool.price, pool.decimals),
    debtUsd: valueUsd(debt, pool.price, pool.decimals, true),
    isCollateral,
    loanToValueBps,
    liquidationThresholdBps: isCollateral ? BigInt(pool.parameters.liquidationThresholdBps) : 0n,
  };
}

/** The borrowing power of collaterals at a score. The ratio without a reliable price stays 0. */
function powerAt(score, collaterals, { pool, pools = [] }) {
  const parametersOf = (asset) =>
    asset === pool.asset ? pool.parameters : pools.find((one) => one.asset === asset)?.parameters;

  let powerUsd = 0n;
  for (const { asset, suppliedUsd, loanToValueBps } of collaterals) {
    const parameters = parametersOf(asset);
    const isKnown = loanToValueBps > 0n && parameters;
    const ratio = isKnown ? loanToValue(parameters, score) : loanToValueBps;
    powerUsd += powerOf({ suppliedUsd, loanToValueBps: ratio });
  }
  return powerUsd;
}

/**
 * The totals after an action. `state` has account, pool, refused (whether the user refuses the
 * asset as collateral), halted, and if they are known pools and points (the parts of the score).
 * The pool compares the debt with `powerUsd`, at the score before the action; `finalPowerUsd` is
 * the power at the `score` after it.
 */
export function projected(state, action, value) {
  const { account, pool, points = null } = state;
  const before = totals(account);
  const own = positionOf(state);
  const then = positionAfter(state, own, action, value);

  const coverUsd = before.coverUsd - coverOf(own) + coverOf(then);
  const debtUsd = before.debtUsd - own.debtUsd + then.debtUsd;
  const after = {
    coverUsd,
    powerUsd: before.powerUsd - powerOf(own) + powerOf(then),
    debtUsd,
    ownDebtUsd: then.debtUsd,
    health: healthFactor(coverUsd, debtUsd),
  };

  const others = account.positions.filter(
    (one) => one.asset !== pool.asset && one.liquidationThresholdBps > 0n,
  );
  const othersUsd = others.reduce((sum, one) => sum + one.suppliedUsd, 0n);
  const ownUsdBefore = own.liquidationThresholdBps > 0n ? own.suppliedUsd : 0n;
  const ownUsdAfter = then.isCollateral ? then.suppliedUsd : 0n;
  const score = scoreAfter(
    account,
    points,
    healthPoints(othersUsd + ownUsdBefore, before),
    healthPoints(othersUsd + ownUsdAfter, after),
  );

  const collaterals = [...others, then];
  return {
    ...after,
    score,
    finalPowerUsd: powerAt(score, collaterals, state),
    liquidation: liquidation(collaterals, after),
  };
}

/**
 * The price × 10^8 of the largest collateral at which a position can be liquidated, the other
 * prices being the same: `{ symbol, price }`; null without debt, or if that collateral is borrowed
 * as well.
 */
function liquidation(collaterals, { coverUsd, debtUsd }) {
  const largest = collaterals.reduce((most, one) => (coverOf(most) >= coverOf(one) ? most : one));
  const cover = coverOf(largest);
  if (debtUsd === 0n || cover === 0n || largest.debt > 0n) return null;

  const needed = debtUsd - (coverUsd - cover);
  return needed > 0n ? { symbol: largest.symbol, price: (largest.price * needed) / cover } : null;
}

/** The borrower's totals after a liquidation that repays and seizes amounts with known prices. */
export function afterLiquidation(account, owed, seizedFrom, repaid, seized) {
  const before = totals(account);
  const repaidUsd = valueUsd(repaid, owed.price, owed.decimals);
  const seizedUsd = valueUsd(seized, seizedFrom.price, seizedFrom.decimals);
  const seizedCoverUsd = (seizedUsd * seizedFrom.liquidationThresholdBps) / BPS;
  const coverUsd = remaining(before.coverUsd, seizedCoverUsd);
  const debtUsd = remaining(before.debtUsd, repaidUsd);
  return { coverUsd, debtUsd, health: healthFactor(coverUsd, debtUsd) };
}
