// The credit score: its components, what it changes, and how it developed.

import { card, facts, h, replace, table } from '../lib/dom.js';
import { date, percent, span } from '../lib/format.js';
import { timeChart } from '../lib/timechart.js';
import { loanToValue } from '../lib/loans.js';

/** The lowest score of each rate band, and its share of the full rate. */
const BANDS = [
  [300, 1],
  [580, 0.95],
  [670, 0.9],
  [740, 0.825],
  [800, 0.75],
];

/** The changes of the score that are listed. */
const CHANGES = 10;

const rateOf = (band) => percent(BANDS[band][1], band === 3 ? 1 : 0);

/** The parts of a score: points, their maximum, name and explanation. */
function components(score) {
  const supplied = span(Number(score.depositSeconds));
  const healthy = span(Number(score.healthySeconds));
  return [
    { points: 300n, name: 'Base', why: 'the same for every account' },
    {
      points: score.depositPoints,
      most: 150,
      name: 'Deposits',
      why: `at least $100 supplied for ${supplied}; full points after 180 days`,
    },
    {
      points: score.paymentPoints,
      most: 250,
      name: 'On-time payments',
      why: `${score.onTimePayments} so far; each at least a tenth of the debt, one per term of 30 days`,
    },
    {
      points: score.healthPoints,
      most: 50,
      name: 'Current health',
      why: 'with at least $100 of collateral; full points without debt, or from a health factor of 2',
    },
    {
      points: score.historyPoints,
      most: 100,
      name: 'Healthy debt',
      why: `debt with a health factor of 1.5 or more for ${healthy}; full points after 90 days`,
    },
    score.penaltyPoints > 0n && {
      points: -score.penaltyPoints,
      name: 'Penalties',
      why: 'missed payment terms and liquidations; they decay over 180 days',
    },
    score.overduePoints > 0n && {
      points: -score.overduePoints,
      name: 'Overdue',
      why: 'one point per day',
    },
  ].filter(Boolean);
}

function componentRow({ points, most = null, name, why }) {
  const isNegative = points < 0n;
  const number = isNegative ? `−${-points}` : `+${points}`;
  return h(
    'tr',
    h('td.number', h(isNegative ? 'span.down' : 'span', number)),
    h('td', name, most && h('span.soft', ` of ${most}`), h('div.soft', why)),
  );
}

function breakdown(score) {
  return h('table.arguments', h('tbody', components(score).map(componentRow)));
}

/** What a score changes: the rate, and what can be borrowed in a pool. */
function effects(score, pool) {
  const band = Number(score.band);
  const next = BANDS[band + 1];
  const ahead = next ? `${rateOf(band + 1)} from a score of ${next[0]}` : 'the lowest rate';
  const ratio = (points) => percent(Number(loanToValue(pool.parameters, points)) / 10_000, 1);
  return facts([
    ['Borrow rate', `${rateOf(band)} of the full rate`, h('span.soft', ` · ${ahead}`)],
    pool && [
      `Loan-to-value of ${pool.symbol}`,
      ratio(score.score),
      h('span.soft', ` · ${ratio(850n)} at a score of 850`),
    ],
  ]);
}

/** Details that are open or not, of which `toggle(isOpen)` is told. */
function rememberedDetails(summary, content, isOpen, toggle) {
  return h(
    'details',
    { open: isOpen, ontoggle: (event) => toggle(event.target.open) },
    h('summary', summary),
    content,
  );
}

/** The newest changes of the score and of the rate that follows from it. */
function changes(history) {
  const own = history.filter(
    (one, at) => !at || one.score !== history[at - 1].score || one.band !== history[at - 1].band,
  );
  const rows = own
    .slice(-CHANGES)
    .reverse()
    .map((one) => [
      h('a', { href: `#/tx/${one.hash}` }, date(one.time / 1_000)),
      String(one.score),
      rateOf(one.band),
    ]);
  return table(['Time', '-Score', '-Borrow rate'], rows);
}

/** The score over time, drawn again only when it has changed. */
export function scoreChart() {
  const plot = timeChart({
    title: 'Credit score',
    height: 150,
    format: (value) => String(Math.round(value)),
  });
  const none = h(
    'p.soft',
    'The score is recorded with each action in the pool. It has no history yet.',
  );
  const element = h('div.stack', none);
  let isOpen = false;

  function changesDetails(history) {
    const toggle = (now) => (isOpen = now);
    return rememberedDetails('Changes of score and rate', changes(history), isOpen, toggle);
  }

  function update(history, now, time) {
    const points = [...history, { time, score: now }].filter(
      (one, at, all) => !at || one.time > all[at - 1].time,
    );
    const isDrawn = points.length > 1 && history.length > 0;
    replace(element, isDrawn ? [plot, changesDetails(history)] : none);
    if (points.length > 1)
      plot.update({
        kind: 'stairs',
        points: points.map((one) => ({ time: one.time, values: [one.score] })),
      });
  }
  return { element, update };
}

/** The score as a number and as a bar. */
function meter({ score }) {
  const bar = h('i');
  bar.style.width = `${((Number(score) - 300) / 550) * 100}%`;
  return h(
    'div',
    h('div.spread', h('strong.price', String(score)), h('span.soft', '300 – 850')),
    h('div.meter', { role: 'img', 'aria-label': `${score} of 850` }, bar),
  );
}

/** The card; `pool` is the selected one, `chart` an element. */
export function scoreCard(score, pool, chart, open, toggle) {
  return card(
    h('span.spread', 'Credit score', h('span.tag', `Band ${score.band} of 4`)),
    meter(score),
    score.late && h('p.failure', 'The payment for this term is overdue.'),
    effects(score, pool),
    rememberedDetails('How the score is made up', breakdown(score), open, toggle),
    h('div.stack', h('h3', 'Score history'), chart),
  );
}
