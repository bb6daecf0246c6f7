// What an action in the lending pool changes for an account, as its form lists it.

import { facts, h } from '../lib/dom.js';
import { percent, usd } from '../lib/format.js';
import { yearly } from '../lib/lens.js';
import { projected, totals } from '../lib/loans.js';
import { money, USD_DECIMALS } from '../lib/money.js';
import { beforeAfter, healthElement, usedText } from './health.js';

function rateOf(action, { pool, account }) {
  if (action === 'deposit' || action === 'withdraw')
    return ['Supply APY', h('span.up', percent(yearly(pool.supplyRate)))];

  const band = Number(account.band);
  return ['Borrow APY', percent(yearly(pool.borrowRates[band]))];
}

function scoreNote(after) {
  const exceeds =
    after.finalPowerUsd < after.debtUsd
      ? '. What you owe may exceed it afterwards: liquidation depends on the health factor alone'
      : '';
  return h(
    'p.soft',
    `The credit score follows the health factor, and the borrowing power follows the score${exceeds}.`,
  );
}

/**
 * The figures of an account before and after an action with a value, given what the rules of the
 * action depend on. With a value of 0 they are those of now.
 */
export function loanDetails(situation, action, value) {
  const { account } = situation;
  const before = totals(account);
  const found = value > 0n ? projected(situation, action, value) : null;
  const after = found ? { ...found, powerUsd: found.finalPowerUsd } : before;

  const changesScore = found !== null && found.score !== account.score;
  const owes = before.debtUsd > 0n || after.debtUsd > 0n;

  return [
    facts([
      rateOf(action, situation),
      ['Health factor', beforeAfter(healthElement(before.health), healthElement(after.health))],
      changesScore && ['Credit score', beforeAfter(String(account.score), String(found.score))],
      ['Borrowing power', beforeAfter(money(before.powerUsd), money(after.powerUsd))],
      owes && ['Borrowed', beforeAfter(money(before.debtUsd, true), money(after.debtUsd, true))],
      found?.liquidation && [
        `Liquidated if ${found.liquidation.symbol} falls below`,
        usd(Number(found.liquidation.price) / 10 ** USD_DECIMALS),
      ],
      owes && ['Power used', beforeAfter(usedText(before), usedText(after))],
      action === 'deposit' && situation.refused && ['Collateral', 'No, you have disabled it'],
    ]),
    changesScore && owes && scoreNote(found),
  ];
}
