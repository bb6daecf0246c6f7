// A transaction that is sent although it would fail: with a gas limit instead of an estimate, which
// nodes refuse to make for it.

import { quantity, wholeNumber } from '../lib/actions.js';
import { field, h } from '../lib/dom.js';

/** The gas limit of a forced transaction, which is enough for most calls and deployments. */
const USUAL_GAS = '1000000';

/**
 * The checkbox with the gas limit: `{ element, on(), gas() }`. `gas` are the members that a
 * transaction gets by it, none if it is not to be forced.
 */
export function forcedSend() {
  const force = h('input', { type: 'checkbox' });
  const limit = h('input', { inputmode: 'numeric', autocomplete: 'off', value: USUAL_GAS });
  const row = field(
    'Gas limit',
    limit,
    'No estimate is made: the transaction is mined even if it reverts, and pays for its gas.',
  );
  row.hidden = true;
  force.addEventListener('change', () => (row.hidden = !force.checked));
  return {
    element: h('div.stack', h('label.toggle', force, 'Send even if it would fail'), row),
    on: () => force.checked,
    gas: () => (force.checked ? { gas: quantity(wholeNumber(limit, 'Gas limit')) } : {}),
  };
}
