// The position of an account in the lending pool.

import { card, facts, h } from '../lib/dom.js';
import { amount, date, percent, usd } from '../lib/format.js';
import { yearly } from '../lib/lens.js';
import { logo } from '../lib/logos.js';
import { CLOSE, RISKY, totals } from '../lib/loans.js';
import { money } from '../lib/money.js';
import { healthElement, usedText } from './health.js';

/** Says whether a supply is collateral, and switches it. */
function consent({ asset, symbol }, collateral, set) {
  if (!collateral) return null;
  const enabled = collateral.includes(asset);
  const text = enabled ? 'Collateral' : 'Not collateral';
  return h(
    'button.link-button',
    {
      type: 'button',
      'aria-pressed': String(enabled),
      'aria-label': `${text}: ${symbol}`,
      title: enabled ? `Stop using ${symbol} as collateral` : `Use ${symbol} as collateral`,
      onclick: () => set(asset, symbol, !enabled),
    },
    text,
  );
}

/**
 * The interest of a year on what is supplied less that on what is borrowed, as a share of the net
 * worth; null without one.
 */
function netYield({ positions, suppliedUsd, debtUsd }) {
  const worth = Number(suppliedUsd - debtUsd);
  if (!(worth > 0)) return null;
  const income = positions.reduce(
    (sum, one) =>
      sum +
      Number(one.suppliedUsd) * yearly(one.supplyRate) -
      Number(one.debtUsd) * yearly(one.borrowRate),
    0,
  );
  return income / worth;
}

function warning({ healthFactorBps: health, debtUsd }) {
  if (debtUsd === 0n || health >= RISKY) return null;
  if (health < 10_000n)
    return h(
      'p.failure',
      'Your health factor is below 1: anyone can liquidate this position now. Repay debt or supply collateral.',
    );
  if (health < CLOSE)
    return h(
      'p.failure',
      'Your position is close to liquidation. Repay debt or supply collateral to raise your health factor.',
    );
  return h(
    'p.note.warn',
    'Below a health factor of 1 your collateral can be seized. Keep a distance for changes of prices.',
  );
}

function row(one, collateral, set, act) {
  const decimals = Number(one.decimals);
  const link = (action, text) =>
    h(
      'button.link-button',
      {
        type: 'button',
        'aria-label': `${text} ${one.symbol}`,
        onclick: () => act(one.symbol, action),
      },
      text,
    );
  const line = (name, value, worth, rate, actions) =>
    h(
      'div.holding',
      h('span', h('span.soft', name), ' ', `${amount(value, decimals, 8)} ${one.symbol}`),
      h('span.number', worth),
      h('span.row', actions),
      h('span.number', rate),
    );
  return h(
    'div.log',
    h(
      'div.spread',
      h(
        'span.row',
        logo(one.symbol),
        h('strong', one.symbol),
        !one.priceFresh && h('span.tag.bad', 'Stale price'),
      ),
      one.liquidationPrice > 0n &&
        h(
          'span.soft',
          `Liquidated ${one.liquidationSide === 1n ? 'below' : 'above'} ${usd(Number(one.liquidationPrice) / 1e8)}`,
        ),
    ),
    one.supplied > 0n &&
      line(
        'Supplied',
        one.supplied,
        money(one.suppliedUsd),
        h('span.up', `${percent(yearly(one.supplyRate))} APY`),
        [consent(one, collateral, set), link('withdraw', 'Withdraw')],
      ),
    one.debt > 0n &&
      line(
        'Borrowed',
        one.debt,
        money(one.debtUsd, true),
        h('span.down', `−${percent(yearly(one.borrowRate))} APY`),
        [link('repay', 'Repay')],
      ),
  );
}

/**
 * The account's totals, health factor and position in each asset. `set(asset, symbol, enabled)`
 * enables an asset as collateral; `act(symbol, action)` opens the form.
 */
export function positionCard(account, collateral, set, act) {
  if (!account)
    return card('Your position', h('p.soft', 'Choose an account at the top to see its position.'));
  const owes = account.debtUsd > 0n;
  const all = totals(account);
  const share =
    owes && all.powerUsd > 0n ? Number(all.debtUsd) / Number(all.powerUsd) : owes ? 1 : 0;
  const bar = h('i');
  bar.style.width = `${Math.min(100, share * 100)}%`;
  const worth = netYield(account);
  return card(
    h(
      'span.spread',
      'Your position',
      h(
        'span.row',
        h('span.soft', 'Health factor'),
        h('strong.health', healthElement(account.healthFactorBps)),
      ),
    ),
    warning(account),
    facts([
      ['Net worth', money(account.suppliedUsd - account.debtUsd)],
      worth !== null && [
        'Net APY',
        h(worth < 0 ? 'span.down' : 'span', `${worth < 0 ? '−' : ''}${percent(Math.abs(worth))}`),
      ],
      ['Supplied', money(account.suppliedUsd)],
      ['Borrowed', money(account.debtUsd, true)],
      ['Borrowing power', money(account.borrowingPowerUsd)],
      ['Available to borrow', money(account.availableUsd)],
      owes && account.dueAt > 0n && ['Next payment due', date(Number(account.dueAt))],
    ]),
    owes &&
      h(
        'div',
        h('div.spread.soft', h('span', 'Borrowing power used'), h('span', usedText(all))),
        h(
          `div.meter${share > 0.9 ? '.bad' : ''}`,
          { role: 'img', 'aria-label': `${usedText(all)} of the borrowing power used` },
          bar,
        ),
      ),
    account.positions.length
      ? h(
          'div',
          account.positions.map((one) => row(one, collateral, set, act)),
        )
      : h(
          'p.soft',
          'No supplied or borrowed assets. Supply an asset below to earn interest and use it as collateral.',
        ),
  );
}
