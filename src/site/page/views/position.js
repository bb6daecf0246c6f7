// The position of an account in the lending pool, and its credit score.

import { card, facts, h } from '../lib/dom.js';
import { amount, date, percent, span } from '../lib/format.js';
import { ENDLESS, yearly } from '../lib/lens.js';

const usd = (value) => `$${amount(value, 8, 9)}`;

/** Says whether a supply is collateral, and switches it. */
function consent({ asset, symbol }, collateral, set) {
  if (!collateral) return null;
  const enabled = collateral.includes(asset);
  const text = enabled ? 'Collateral' : 'Not collateral';
  return h('button.link-button', { type: 'button', 'aria-pressed': String(enabled), 'aria-label': `Use ${symbol} as collateral`, onclick: () => set(asset, symbol, !enabled) }, text);
}

/** The account's totals, health factor and position in each asset; `set(asset, symbol, enabled)` enables an asset as collateral. */
export function positionCard(account, collateral, set) {
  if (!account) return card('Your position', h('p.soft', 'Choose an account at the top to see its position.'));
  const { healthFactorBps: health } = account;
  const owes = account.debtUsd > 0n;
  const factor = health === ENDLESS ? null : Number(health) / 10_000;
  const used = account.borrowingPowerUsd > 0n ? Number(account.debtUsd) / Number(account.borrowingPowerUsd) : 0;
  const bar = h('i');
  bar.style.width = `${Math.min(100, used * 100)}%`;
  const rows = account.positions.map((one) => h('div.log',
    h('div.spread', h('strong', one.symbol), one.liquidationPrice > 0n && h('span.soft', `Liquidated ${one.liquidationSide === 1n ? 'below' : 'above'} ${usd(one.liquidationPrice)}`)),
    one.supplied > 0n && h('div.spread', h('span', `Supplied ${amount(one.supplied, Number(one.decimals), 9)} `, consent(one, collateral, set)), h('span', usd(one.suppliedUsd), h('span.up', ` +${percent(yearly(one.supplyRate))}`))),
    one.debt > 0n && h('div.spread', h('span', `Borrowed ${amount(one.debt, Number(one.decimals), 9)}`), h('span', usd(one.debtUsd), h('span.down', ` −${percent(yearly(one.borrowRate))}`)))));
  return card('Your position',
    facts([
      ['Supplied', usd(account.suppliedUsd)],
      ['Borrowed', usd(account.debtUsd)],
      ['Available to borrow', usd(account.availableUsd)],
      ['Health factor', factor === null ? h('span.up', 'No debt') : h(factor < 1.1 ? 'span.down' : factor < 1.5 ? 'span.warn' : 'span.up', factor.toFixed(2))],
      owes && account.dueAt > 0n && ['Next payment due', date(Number(account.dueAt))],
    ]),
    owes && h('div', h('div.spread.soft', h('span', 'Borrowing power used'), h('span', percent(used, 1))), h(`div.meter${used > 0.9 ? '.bad' : ''}`, { role: 'img', 'aria-label': percent(used, 0) }, bar)),
    rows.length ? h('div', rows) : h('p.soft', 'No supplied or borrowed assets. Supply an asset below to earn interest and use it as collateral.'));
}

/** The credit score and its components. */
export function scoreCard(score) {
  const bar = h('i');
  bar.style.width = `${((Number(score.score) - 300) / 550) * 100}%`;
  const line = (points, most, text, why) => h('tr', h('td.number', h(points < 0n ? 'span.down' : 'span', `${points < 0n ? '−' : '+'}${points < 0n ? -points : points}`)), h('td', text, most && h('span.soft', ` of ${most}`), h('div.soft', why)));
  const rows = [
    line(300n, null, 'Base', 'the same for every account'),
    line(score.depositPoints, 150, 'Deposits', `at least $100 supplied for ${span(Number(score.depositSeconds))}; full points after 180 days`),
    line(score.paymentPoints, 250, 'On-time payments', `${score.onTimePayments} so far; each at least a tenth of the debt, a day apart`),
    line(score.healthPoints, 50, 'Current health', 'full points without debt or from a health factor of 2'),
    line(score.historyPoints, 100, 'Healthy debt', `debt kept healthy for ${span(Number(score.healthySeconds))}; full points after 90 days`),
    score.penaltyPoints > 0n && line(-score.penaltyPoints, null, 'Penalties', 'missed payment terms and liquidations; they decay over 180 days'),
    score.overduePoints > 0n && line(-score.overduePoints, null, 'Overdue', 'one point per day'),
  ];
  return card(h('span.spread', 'Credit score', h('span.tag', `Band ${score.band} of 4`)),
    h('div', h('div.spread', h('strong', { style: { fontSize: '1.7rem' } }, String(score.score)), h('span.soft', '300 – 850')), h('div.meter', { role: 'img', 'aria-label': `${score.score} of 850` }, bar)),
    score.late && h('p.failure', 'The payment for this term is overdue.'),
    h('details', h('summary', 'Score breakdown'), h('table.arguments', h('tbody', rows))));
}
