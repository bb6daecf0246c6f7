// Reads of the LendingLens contract.

import { network, read } from './network.js';

const YEAR = 31_536_000;
/** The largest uint256, which stands for the health factor without debt, and for the whole balance or debt. */
export const ENDLESS = (1n << 256n) - 1n;

/** All pools. */
export function pools() {
  return read('LendingLens', network.addresses.lendingLens, 'getPools');
}

/** A user's account, with a position per asset. */
export function account(user) {
  return read('LendingLens', network.addresses.lendingLens, 'getAccount', user);
}

/** The assets that are collateral of a user; null on a chain of an earlier version, where every supply is. */
export function collateral(user) {
  return read('LendingLens', network.addresses.lendingLens, 'getCollateral', user).catch(() => null);
}

/** A user's credit score, with its components. */
export function score(user) {
  return read('LendingLens', network.addresses.lendingLens, 'getScore', user);
}

/** The APY of a rate per second in ray, as a fraction. */
export function yearly(ray) {
  return Math.expm1(Math.log1p(Number(ray) / 1e27) * YEAR);
}

/** The borrow APY at a utilisation in the first credit band, as a fraction. */
export function borrowRate(parameters, utilisation) {
  const [base, slope1, slope2, kink] = ['baseRateBps', 'slope1Bps', 'slope2Bps', 'kinkBps'].map((name) => Number(parameters[name]) / 10_000);
  const simple = utilisation <= kink ? base + (slope1 * utilisation) / kink : base + slope1 + (slope2 * (utilisation - kink)) / (1 - kink);
  return Math.expm1(Math.log1p(simple / YEAR) * YEAR);
}
