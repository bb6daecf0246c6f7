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

function breakdown(score) {
  const line = (points, most, text, why) =>
    h(
      'tr',
      h(
        'td.number',
        h(
          points < 0n ? 'span.down' : 'span',
          `${points < 0n ? '−' : '+'}${points < 0n ? -points : points}`,
        ),
      ),
      h('td', text, most && h('span.soft', ` of ${most}`), h('div.soft', why)),
    );
  return h(
    'table.arguments',
    h(
      'tbody',
      [
        line(300n, null, 'Base', 'the same for every account'),
        line(
          score.depositPoints,
          150,
          'Deposits',
          `at least $100 supplied for ${span(Number(score.depositSeconds))}; full points after 180 days`,
        ),
        line(
          score.paymentPoints,
          250,
          'On-time payments',
          `${score.onTimePayments} so far; each at least a tenth of the debt, one per term of 30 days`,
        ),
        line(
          score.healthPoints,
          50,
          'Current health',
          'with at least $100 of collateral; full points without debt, or from a health factor of 2',
        ),
        line(
          score.historyPoints,
          100,
          'Healthy debt',
          `debt with a health factor of 1.5 or more for ${span(Number(score.healthySeconds))}; full points after 90 days`,
        ),
        score.penaltyPoints > 0n &&
          line(
            -score.penaltyPoints,
            null,
            'Penalties',
            'missed payment terms and liquidations; they decay over 180 days',
          ),
        score.overduePoints > 0n &&
          line(-score.overduePoints, null, 'Overdue', 'one point per day'),
      ].filter(Boolean),
    ),
  );
}

function effects(score, pool) {
  const band = Number(score.band);
  const next = BANDS[band + 1];
  const ratio = (points) => percent(Number(loanToValue(pool.parameters, points)) / 10_000, 1);
  return facts([
    [
      'Borrow rate',
      `${rateOf(band)} of the full rate`,
      h(
        'span.soft',
        next ? ` · ${rateOf(band + 1)} from a score of ${next[0]}` : ' · the lowest rate',
      ),
    ],
    pool && [
      `Loan-to-value of ${pool.symbol}`,
      ratio(score.score),
      h('span.soft', ` · ${ratio(850n)} at a score of 850`),
    ],
  ]);
}

/** The newest changes of the score and of the rate that follows from it. */
function changes(history, open, toggle) {
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
  return h(
    'details',
    { open, ontoggle: (event) => toggle(event.target.open) },
    h('summary', 'Changes of score and rate'),
    table(['Time', '-Score', '-Borrow rate'], rows),
  );
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
  let open = false;
  return {
    element,
    update(history, now, time) {
      const points = [...history, { time, score: now }].filter(
        (one, at, all) => !at || one.time > all[at - 1].time,
      );
      const shown = points.length > 1 && history.length > 0;
      replace(element, shown ? [plot, changes(history, open, (now) => (open = now))] : none);
      if (points.length > 1)
        plot.update({
          kind: 'stairs',
          points: points.map((one) => ({ time: one.time, values: [one.score] })),
        });
    },
  };
}

/** The card; `pool` is the selected one, `chart` an element. */
export function scoreCard(score, pool, chart, open, toggle) {
  const bar = h('i');
  bar.style.width = `${((Number(score.score) - 300) / 550) * 100}%`;
  return card(
    h('span.spread', 'Credit score', h('span.tag', `Band ${score.band} of 4`)),
    h(
      'div',
      h('div.spread', h('strong.price', String(score.score)), h('span.soft', '300 – 850')),
      h('div.meter', { role: 'img', 'aria-label': `${score.score} of 850` }, bar),
    ),
    score.late && h('p.failure', 'The payment for this term is overdue.'),
    effects(score, pool),
    h(
      'details',
      { open, ontoggle: (event) => toggle(event.target.open) },
      h('summary', 'How the score is made up'),
      breakdown(score),
    ),
    h('div.stack', h('h3', 'Score history'), chart),
  );
}
