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

/** A button that opens the form for an action with an asset. */
function actionLink({ symbol }, action, text, act) {
  return h(
    'button.link-button',
    { type: 'button', 'aria-label': `${text} ${symbol}`, onclick: () => act(symbol, action) },
    text,
  );
}

/** What is supplied or borrowed of an asset. */
function holding({ symbol, decimals }, { name, value, worth, rate, actions }) {
  return h(
    'div.holding',
    h('span', h('span.soft', name), ' ', `${amount(value, Number(decimals), 8)} ${symbol}`),
    h('span.number', worth),
    h('span.row', actions),
    h('span.number', rate),
  );
}

function suppliedRow(one, collateral, set, act) {
  return holding(one, {
    name: 'Supplied',
    value: one.supplied,
    worth: money(one.suppliedUsd),
    rate: h('span.up', `${percent(yearly(one.supplyRate))} APY`),
    actions: [consent(one, collateral, set), actionLink(one, 'withdraw', 'Withdraw', act)],
  });
}

function borrowedRow(one, act) {
  return holding(one, {
    name: 'Borrowed',
    value: one.debt,
    worth: money(one.debtUsd, true),
    rate: h('span.down', `−${percent(yearly(one.borrowRate))} APY`),
    actions: actionLink(one, 'repay', 'Repay', act),
  });
}

/** The price of an asset at which the position is liquidated. */
function liquidationText({ liquidationSide, liquidationPrice }) {
  const side = liquidationSide === 1n ? 'below' : 'above';
  return `Liquidated ${side} ${usd(Number(liquidationPrice) / 1e8)}`;
}

/** The position in an asset. */
function row(one, collateral, set, act) {
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
      one.liquidationPrice > 0n && h('span.soft', liquidationText(one)),
    ),
    one.supplied > 0n && suppliedRow(one, collateral, set, act),
    one.debt > 0n && borrowedRow(one, act),
  );
}

/** The net APY as a row; none without a net worth. */
function yieldRow(account) {
  const net = netYield(account);
  if (net === null) return null;
  const text = `${net < 0 ? '−' : ''}${percent(Math.abs(net))}`;
  return ['Net APY', h(net < 0 ? 'span.down' : 'span', text)];
}

function accountFacts(account) {
  return facts([
    ['Net worth', money(account.suppliedUsd - account.debtUsd)],
    yieldRow(account),
    ['Supplied', money(account.suppliedUsd)],
    ['Borrowed', money(account.debtUsd, true)],
    ['Borrowing power', money(account.borrowingPowerUsd)],
    ['Available to borrow', money(account.availableUsd)],
    account.debtUsd > 0n && account.dueAt > 0n && ['Next payment due', date(Number(account.dueAt))],
  ]);
}

/** How much of the borrowing power is used; null without debt. */
function powerMeter(account) {
  if (account.debtUsd === 0n) return null;

  const all = totals(account);
  const share = all.powerUsd > 0n ? Number(all.debtUsd) / Number(all.powerUsd) : 1;
  const bar = h('i');
  bar.style.width = `${Math.min(100, share * 100)}%`;
  return h(
    'div',
    h('div.spread.soft', h('span', 'Borrowing power used'), h('span', usedText(all))),
    h(
      `div.meter${share > 0.9 ? '.bad' : ''}`,
      { role: 'img', 'aria-label': `${usedText(all)} of the borrowing power used` },
      bar,
    ),
  );
}

function healthTitle({ healthFactorBps }) {
  return h(
    'span.spread',
    'Your position',
    h(
      'span.row',
      h('span.soft', 'Health factor'),
      h('strong.health', healthElement(healthFactorBps)),
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

  const rows = account.positions.map((one) => row(one, collateral, set, act));
  const none = h(
    'p.soft',
    'No supplied or borrowed assets. Supply an asset below to earn interest and use it as collateral.',
  );
  return card(
    healthTitle(account),
    warning(account),
    accountFacts(account),
    powerMeter(account),
    rows.length ? h('div', rows) : none,
  );
}
