// Mining: the current mode, another one, and blocks on request.

import { action, quantity, wholeNumber } from '../lib/actions.js';
import { card, field, h, setText, toast } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { mining } from '../lib/mining.js';
import { node } from '../lib/node.js';

const MODES = [
  ['auto', 'Automine'],
  ['interval', 'Interval'],
  ['off', 'Off'],
];

/** The choice of a mode; the pressed button is the node's mode. */
function modes(signal) {
  const seconds = h('input', {
    inputmode: 'decimal',
    value: '2',
    'aria-label': 'Seconds between blocks',
  });
  const set = h('button', { type: 'submit' }, 'Set');
  const interval = h(
    'form.row',
    { hidden: true },
    h('span.soft', 'Every'),
    seconds,
    h('span.soft', 'seconds'),
    set,
  );
  const about = h('p.soft', { role: 'status' });
  const attempt = async (run) => {
    try {
      await run();
    } catch (error) {
      toast(error.message, 'error');
    }
    draw();
  };
  const every = () => {
    const number = Number(seconds.value);
    if (!(number >= 0.001 && number <= 86_400))
      throw new Error('Interval: expected 0.001 to 86,400 seconds');
    return mining.every(number);
  };
  const choose = { auto: () => mining.auto(), interval: every, off: () => mining.stop() };
  const buttons = MODES.map(([mode, name]) =>
    h('button', { type: 'button', 'data-mode': mode, onclick: () => attempt(choose[mode]) }, name),
  );
  function draw() {
    for (const button of buttons)
      button.setAttribute('aria-pressed', String(button.dataset.mode === mining.mode));
    interval.hidden = mining.mode !== 'interval';
    if (mining.mode === 'interval' && mining.seconds && document.activeElement !== seconds)
      seconds.value = String(mining.seconds);
    setText(about, mining.describe());
  }
  interval.addEventListener('submit', (event) => {
    event.preventDefault();
    attempt(every);
  });
  mining.addEventListener('change', draw, { signal });
  draw();
  return [h('div.tabs', { role: 'group', 'aria-label': 'Mining mode' }, buttons), interval, about];
}

export async function miningCard(signal) {
  await mining.refresh();
  const blocks = h('input', { inputmode: 'numeric', value: '1' });
  const apart = h('input', { inputmode: 'numeric', placeholder: 'at least 1' });
  const mine = action(
    h('div.pair', field('Blocks', blocks), field('Seconds apart', apart)),
    'Mine',
    async () => {
      const number = wholeNumber(blocks, 'Blocks');
      const interval =
        apart.value.trim() && (await node.has('anvil_mine'))
          ? [quantity(wholeNumber(apart, 'Seconds apart'))]
          : [];
      if (interval.length) await node.call('anvil_mine', quantity(number), ...interval);
      else await node.call('evm_mine', { blocks: quantity(number) });
      mining.refresh();
      return `Mined ${count(Number(number))} block${number === 1n ? '' : 's'}`;
    },
  );
  return card('Mining', mining.mode && modes(signal), mine);
}
