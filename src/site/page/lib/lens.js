// Views of the lending lens, and rates.

import { network, read } from './network.js';

const YEAR = 31_536_000;
/** What the largest number on the chain stands for: no debt, no limit. */
export const ENDLESS = (1n << 256n) - 1n;

/** Every pool. */
export function pools() {
  return read('LendingLens', network.addresses.lendingLens, 'getPools');
}

/** A user's account. */
export function account(user) {
  return read('LendingLens', network.addresses.lendingLens, 'getAccount', user);
}

/** A user's score, explained. */
export function score(user) {
  return read('LendingLens', network.addresses.lendingLens, 'getScore', user);
}

/** A rate per second, as a share a year with its interest. */
export function yearly(ray) {
  return Math.expm1(Math.log1p(Number(ray) / 1e27) * YEAR);
}

/** The borrow rate a year at a utilisation, in the first credit band. */
export function borrowRate(parameters, utilisation) {
  const [base, slope1, slope2, kink] = ['baseRateBps', 'slope1Bps', 'slope2Bps', 'kinkBps'].map((name) => Number(parameters[name]) / 10_000);
  const simple = utilisation <= kink ? base + (slope1 * utilisation) / kink : base + slope1 + (slope2 * (utilisation - kink)) / (1 - kink);
  return Math.expm1(Math.log1p(simple / YEAR) * YEAR);
}
