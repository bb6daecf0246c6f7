// Reads of the LendingLens contract. The types repeat its ABI.

import { network, read } from './network.js';

const POOL =
  '(address asset,address pToken,string symbol,uint8 decimals,bool paused,uint256 totalSupplied,uint256 totalDebt,uint256 cash,' +
  'uint256 treasury,uint256 deficit,uint256 utilisation,uint256 annualRate,uint256[5] borrowRates,uint256 supplyRate,' +
  'uint256 liquidityIndex,uint256 supplyCap,uint256 borrowCap,uint256 price,bool priceFresh,(uint16 baseRateBps,uint16 slope1Bps,' +
  'uint16 slope2Bps,uint16 kinkBps,uint16 reserveFactorBps,uint16 minLtvBps,uint16 maxLtvBps,uint16 liquidationThresholdBps,' +
  'uint16 liquidationBonusBps) parameters)';
const POSITION =
  '(address asset,string symbol,uint8 decimals,uint256 supplied,uint256 debt,uint256 price,bool priceFresh,uint256 suppliedUsd,' +
  'uint256 debtUsd,uint256 supplyRate,uint256 borrowRate,uint256 loanToValueBps,uint256 liquidationThresholdBps,' +
  'uint256 liquidationPrice,uint8 liquidationSide)';
const ACCOUNT =
  '(uint256 score,uint256 band,uint256 suppliedUsd,uint256 borrowingPowerUsd,uint256 debtUsd,uint256 availableUsd,' +
  `uint256 healthFactorBps,uint256 dueAt,${POSITION}[] positions)`;
const SCORE =
  '(uint256 score,uint256 band,uint256 depositPoints,uint256 paymentPoints,uint256 healthPoints,uint256 historyPoints,' +
  'uint256 penaltyPoints,uint256 overduePoints,uint256 depositSeconds,uint256 onTimePayments,uint256 healthFactorBps,' +
  'uint256 healthySeconds,uint256 penalty,uint256 penaltyAt,uint256 dueAt,bool late,uint256 lastBorrowAt,uint256 lastPaymentAt)';

const YEAR = 31_536_000;
/** The largest uint256, which stands for the health factor without debt, and for the whole balance or debt. */
export const ENDLESS = (1n << 256n) - 1n;

/** All pools. */
export function pools() {
  return read(network.addresses.lendingLens, `getPools() view returns (${POOL}[])`);
}

/** A user's account, with a position per asset. */
export function account(user) {
  return read(network.addresses.lendingLens, `getAccount(address) view returns (${ACCOUNT})`, user);
}

/** A user's credit score, with its components. */
export function score(user) {
  return read(network.addresses.lendingLens, `getScore(address) view returns (${SCORE})`, user);
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
