// Health factors, and values before and after an action.

import { h } from '../lib/dom.js';
import { percent } from '../lib/format.js';
import { ENDLESS } from '../lib/lens.js';
import { CLOSE, RISKY } from '../lib/loans.js';

const colour = (health) => (health < CLOSE ? 'down' : health < RISKY ? 'warn' : 'up');

/**
 * A health factor as text, with two decimals, rounded down: it is 1.00 or more only if the position
 * cannot be liquidated.
 */
function healthText(health) {
  if (health === ENDLESS) return 'No debt';
  if (health >= 1_000_000n) return '>100';
  const cut = health / 100n;
  return `${cut / 100n}.${String(cut % 100n).padStart(2, '0')}`;
}

/** A coloured health factor. */
export function healthElement(health) {
  return h(
    `span.${colour(health)}`,
    { title: 'Below 1 a position can be liquidated' },
    healthText(health),
  );
}

/** Two values with an arrow between them; one value if nothing changes. */
export function beforeAfter(before, after) {
  const same = after === null || (before.textContent ?? before) === (after.textContent ?? after);
  return same
    ? h('span.before-after', before)
    : h(
        'span.before-after',
        h('span', before),
        h('span.soft', { 'aria-label': 'becomes' }, '→'),
        h('strong', after),
      );
}

/** The share of the borrowing power that is used. */
export function usedText({ debtUsd, powerUsd }) {
  if (debtUsd === 0n) return '0.0%';
  return powerUsd === 0n ? '>100%' : percent(Number((debtUsd * 100_000n) / powerUsd) / 100_000, 1);
}
