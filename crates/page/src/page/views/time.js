// The chain's time: advance it, or set it.

import { action, actionButton, quantity } from '../lib/actions.js';
import { clockText } from '../lib/clock.js';
import { card, field, h, setText } from '../lib/dom.js';
import { date, span } from '../lib/format.js';
import { node, whenever } from '../lib/node.js';

/** The local time as a `datetime-local` input takes it. */
function local(seconds) {
  const time = new Date(seconds * 1_000);
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}

export async function timeCard(signal) {
  if (!(await node.has('evm_increaseTime'))) return null;
  const now = h('strong');
  const ahead = h('span.soft');
  const at = h('input', { type: 'datetime-local', step: '1' });
  let touched = false;
  at.addEventListener('input', () => (touched = true));
  whenever(node, 'head', signal, () => {
    if (!node.head) return;
    const time = Number(node.head.timestamp);
    setText(now, date(time));
    setText(ahead, node.clockOffset ? ` · clock ${clockText()}` : '');
    if (!touched && document.activeElement !== at) at.value = local(time);
  });
  const travel = async (seconds) => {
    await node.call('evm_increaseTime', quantity(seconds));
    await node.call('evm_mine');
    return `Time advanced by ${span(seconds)}`;
  };
  const jump = (text, seconds) => actionButton(text, () => travel(seconds));
  const settable = await node.has('evm_setTime');
  return card(
    'Time',
    h('p', h('span.soft', 'Latest block: '), now, ahead),
    h(
      'div.row',
      jump('+1 min', 60),
      jump('+1 h', 3_600),
      jump('+1 day', 86_400),
      jump('+30 days', 2_592_000),
    ),
    settable &&
      action(
        field(
          'Set time',
          at,
          'Interest, due dates and penalties follow block timestamps. Time cannot go back before the latest block.',
        ),
        'Set time',
        async () => {
          const seconds = Math.round(new Date(at.value).getTime() / 1_000);
          if (!Number.isFinite(seconds)) throw new Error('Set time: choose a date and a time');
          if (node.head && seconds <= Number(node.head.timestamp))
            throw new Error(
              `Set time: the latest block is of ${date(Number(node.head.timestamp))}; choose a later time, or revert to a snapshot`,
            );
          await node.call('evm_setTime', quantity(seconds));
          await node.call('evm_mine');
          touched = false;
          return `Time set to ${date(seconds)}`;
        },
      ),
  );
}
