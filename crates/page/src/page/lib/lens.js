// Reads of the lending contracts.

import { decodeLog, topic } from './abi.js';
import { member } from './knownabis.js';
import { network, read } from './network.js';
import { node } from './node.js';

const YEAR = 31_536_000;
/**
 * The largest uint256, which stands for the health factor without debt, and for the whole balance
 * or debt.
 */
export const ENDLESS = (1n << 256n) - 1n;

const lens = (name, ...values) =>
  read('LendingLens', network.addresses.lendingLens, name, ...values);

/** All pools. */
export function pools() {
  return lens('getPools');
}

/** A user's account, with a position per asset. */
export function account(user) {
  return lens('getAccount', user);
}

/**
 * The assets that are collateral of a user; null on a chain of an earlier version, where every
 * supply is.
 */
export function collateral(user) {
  return lens('getCollateral', user).catch(() => null);
}

/** The limits of an asset; without limits on a chain of an earlier version. */
export function limits(asset) {
  return lens('getLimits', asset).catch(() => ({ leastLoanUsd: 0n, priceHalted: false }));
}

/**
 * A bit per asset that the user refuses as collateral, in the order of the pools; 0 on a chain of
 * an earlier version.
 */
export function refusedCollateral(user) {
  return read('LendingPool', network.addresses.lendingPool, 'getAccount', user).then(
    ([found]) => found.credit.refused,
    () => 0n,
  );
}

/** A user's credit score, with its components. */
export function score(user) {
  return lens('getScore', user);
}

/**
 * The amounts `repaid` and `received` of a liquidation in this block; zero if the borrower cannot
 * be liquidated.
 */
export function quoteLiquidation(borrower, debtAsset, collateralAsset, amount) {
  return lens('quoteLiquidation', borrower, debtAsset, collateralAsset, amount);
}

/**
 * The scores and rate bands that a user had, with their times in milliseconds and transactions,
 * oldest first.
 */
export async function scoreHistory(user) {
  const updated = member('LendingPool', 'event', 'CreditUpdated');
  const padded = `0x${user.slice(2).toLowerCase().padStart(64, '0')}`;
  const logs = await node.call('eth_getLogs', {
    fromBlock: '0x0',
    toBlock: 'latest',
    address: network.addresses.lendingPool,
    topics: [topic(updated), padded],
  });

  return logs.map((log) => {
    const { score: points, credit } = decodeLog(updated, log);
    return {
      time: Number(log.blockTimestamp) * 1_000,
      score: Number(points),
      band: Number(credit.band),
      hash: log.transactionHash,
    };
  });
}

/** The APY of a rate per second in ray, as a fraction. */
export function yearly(ray) {
  return Math.expm1(Math.log1p(Number(ray) / 1e27) * YEAR);
}

/** The borrow APY at a utilisation in the first credit band, as a fraction. */
export function borrowRate(parameters, utilisation) {
  const [base, slope1, slope2, kink] = ['baseRateBps', 'slope1Bps', 'slope2Bps', 'kinkBps'].map(
    (name) => Number(parameters[name]) / 10_000,
  );
  const simple =
    utilisation <= kink
      ? base + (slope1 * utilisation) / kink
      : base + slope1 + (slope2 * (utilisation - kink)) / (1 - kink);
  return Math.expm1(Math.log1p(simple / YEAR) * YEAR);
}
