// The terms of a liquidation: what prevents it, and what it leads to.
//
// They are an object with the borrower's `account`, its positions that are `owed` and `seized`, the
// typed `value` (an error if it is not a number), the `largest` liquidation and the `quote` of this
// one, the liquidator's `balance`, the `pool` of the collateral, and whether the liquidator takes
// `receipts` instead of the collateral itself.

import { facts, h } from '../lib/dom.js';
import { amount, percent } from '../lib/format.js';
import { afterLiquidation } from '../lib/loans.js';
import { money, valueUsd } from '../lib/money.js';
import { wallets } from '../lib/wallet.js';
import { beforeAfter, healthElement } from './health.js';

/** The health factor below which a position can be liquidated, in basis points. */
export const LIQUIDATABLE = 10_000n;

const impossible = (text) => ({ label: 'Liquidate', text });

/** What is wrong with the position or its prices, whatever the amount. */
function positionObstacle({ account, owed, seized }) {
  if (account.healthFactorBps >= LIQUIDATABLE)
    return impossible('This position cannot be liquidated: its health factor is 1 or more.');
  if (!owed || !seized) return impossible('The borrower has no collateral to receive.');

  const stale = [owed, seized].find((one) => !one.priceFresh);
  if (stale)
    return impossible(
      `The price of ${stale.symbol} is stale. A liquidation needs fresh prices of both assets.`,
    );
  return null;
}

/** What is wrong with the amount. */
function amountObstacle({ owed, seized, value, largest, quote, balance, pool, receipts }) {
  if (value instanceof Error) return { label: 'Enter a valid amount', text: value.message };
  if (value === 0n) return { label: 'Enter an amount' };

  if (value > largest.repaid)
    return impossible(
      `At most ${amount(largest.repaid, Number(owed.decimals), 8)} ${owed.symbol} can be repaid at once.`,
    );
  if (balance !== null && value > balance) return { label: `Insufficient ${owed.symbol} balance` };
  if (quote.received === 0n) return impossible('The amount is too small.');

  if (!receipts && pool && pool.cash < quote.received)
    return impossible(
      `The pool holds too little ${seized.symbol} to pay it out. Receive p${seized.symbol} instead.`,
    );
  return null;
}

/**
 * What prevents the liquidation: a label for its button, and a text if the label does not say it
 * all; null if nothing does.
 */
export function obstacle(terms) {
  if (!wallets.current) return { label: 'Choose an account' };
  return positionObstacle(terms) ?? amountObstacle(terms);
}

/**
 * The collateral that the borrower loses. The treasury keeps a tenth of the bonus, so this is a
 * little more than the liquidator receives.
 */
function takenFrom(received, bonusBps) {
  return (received * (10_000n + bonusBps) * 10n) / (100_000n + 9n * bonusBps);
}

/** The amounts, the bonus, and what becomes of the borrower's health factor. */
export function liquidationFacts({ account, owed, seized, quote, pool, receipts }) {
  const bonusBps = BigInt(pool?.parameters.liquidationBonusBps ?? 0);
  const paid = valueUsd(quote.repaid, owed.price, owed.decimals, true);
  const got = valueUsd(quote.received, seized.price, seized.decimals);
  const taken = takenFrom(quote.received, bonusBps);
  const after = afterLiquidation(account, owed, seized, quote.repaid, taken);

  return facts([
    [
      'You repay',
      `${amount(quote.repaid, Number(owed.decimals), 8)} ${owed.symbol}`,
      h('span.soft', ` ${money(paid)}`),
    ],
    [
      'You receive',
      `${amount(quote.received, Number(seized.decimals), 8)} ${receipts ? 'p' : ''}${seized.symbol}`,
      h('span.soft', ` ${money(got)}`),
    ],
    [
      'Expected bonus',
      h(got > paid ? 'span.up' : 'span', money(got > paid ? got - paid : 0n)),
      h('span.soft', ` ${percent(Number(bonusBps) / 10_000, 1)} less the treasury’s tenth`),
    ],
    [
      'Borrower’s health factor',
      beforeAfter(healthElement(account.healthFactorBps), healthElement(after.health)),
    ],
  ]);
}
