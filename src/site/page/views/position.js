// What an account has in the pool, and its credit score in words.

import { card, facts, h } from '../lib/dom.js';
import { amount, date, percent, span } from '../lib/format.js';
import { ENDLESS, yearly } from '../lib/lens.js';

const usd = (value) => `$${amount(value, 8, 9)}`;

/** The account's worth, its health and its positions. */
export function positionCard(account) {
  if (!account) return card('Your position', h('p.soft', 'Choose an account at the top to see what it has here.'));
  const { healthFactorBps: health } = account;
  const owes = account.debtUsd > 0n;
  const factor = health === ENDLESS ? null : Number(health) / 10_000;
  const used = account.borrowingPowerUsd > 0n ? Number(account.debtUsd) / Number(account.borrowingPowerUsd) : 0;
  const bar = h('i');
  bar.style.width = `${Math.min(100, used * 100)}%`;
  const rows = account.positions.map((one) => h('div.log',
    h('div.spread', h('strong', one.symbol), one.liquidationPrice > 0n && h('span.soft', `liquidated ${one.liquidationSide === 1n ? 'below' : 'above'} ${usd(one.liquidationPrice)}`)),
    one.supplied > 0n && h('div.spread', h('span', `supplied ${amount(one.supplied, Number(one.decimals), 9)}`), h('span', usd(one.suppliedUsd), h('span.up', ` +${percent(yearly(one.supplyRate))}`))),
    one.debt > 0n && h('div.spread', h('span', `owes ${amount(one.debt, Number(one.decimals), 9)}`), h('span', usd(one.debtUsd), h('span.down', ` −${percent(yearly(one.borrowRate))}`)))));
  return card('Your position',
    facts([
      ['Supplied', usd(account.suppliedUsd)],
      ['Owed', usd(account.debtUsd)],
      ['Can still borrow', usd(account.availableUsd)],
      ['Health', factor === null ? h('span.up', 'no debt') : h(factor < 1.1 ? 'span.down' : factor < 1.5 ? 'span.warn' : 'span.up', factor.toFixed(2))],
      owes && account.dueAt > 0n && ['Next payment due', date(Number(account.dueAt))],
    ]),
    owes && h('div', h('div.spread.soft', h('span', 'Borrowing power used'), h('span', percent(used, 1))), h(`div.meter${used > 0.9 ? '.bad' : ''}`, { role: 'img', 'aria-label': percent(used, 0) }, bar)),
    rows.length ? h('div', rows) : h('p.soft', 'Nothing supplied and nothing borrowed. Deposit something below: it earns interest and backs a loan.'));
}

/** Points and what they come from. */
export function scoreCard(score) {
  const bar = h('i');
  bar.style.width = `${((Number(score.score) - 300) / 550) * 100}%`;
  const line = (points, most, text, why) => h('tr', h('td.number', h(points < 0n ? 'span.down' : 'span', `${points < 0n ? '−' : '+'}${points < 0n ? -points : points}`)), h('td', text, most && h('span.soft', ` of ${most}`), h('div.soft', why)));
  const rows = [
    line(300n, null, 'everybody', 'where every score begins'),
    line(score.depositPoints, 150, 'deposits', `$100 or more supplied for ${span(Number(score.depositSeconds))}; all points after 180 days`),
    line(score.paymentPoints, 250, 'payments on time', `${score.onTimePayments} so far; a tenth of the debt or more, a day apart`),
    line(score.healthPoints, 50, 'health now', 'without debt, or the better the debt is covered'),
    line(score.historyPoints, 100, 'healthy debt', `a covered debt for ${span(Number(score.healthySeconds))}; all points after 90 days`),
    score.penaltyPoints > 0n && line(-score.penaltyPoints, null, 'penalties', 'missed terms and liquidations; they fade over 180 days'),
    score.overduePoints > 0n && line(-score.overduePoints, null, 'overdue', 'a point for each day'),
  ];
  return card(h('span.spread', 'Credit score', h('span.tag', `band ${score.band} of 4`)),
    h('div', h('div.spread', h('strong', { style: { fontSize: '1.7rem' } }, String(score.score)), h('span.soft', '300 – 850')), h('div.meter', { role: 'img', 'aria-label': `${score.score} of 850` }, bar)),
    score.late && h('p.failure', 'The payment of this term is late.'),
    h('details', h('summary', 'How it comes about'), h('table.arguments', h('tbody', rows))));
}
