// A notice above every view while transactions wait because mining is off.

import { announce, h, replace, toast } from '../lib/dom.js';
import { counted } from '../lib/format.js';
import { mining } from '../lib/mining.js';

function button(text, run) {
  const element = h('button', { type: 'button' }, text);
  element.addEventListener('click', async () => {
    element.disabled = true;
    try {
      await run();
    } catch (error) {
      toast(error.message, 'error');
    }
    element.disabled = false;
  });
  return element;
}

/** The buttons that let waiting transactions be mined. */
export function mineButtons() {
  return [
    button('Mine a block', () => mining.mine()),
    button('Turn on automine', () => mining.auto()),
  ];
}

/** Shows the notice whenever it applies. */
export function showMiningNotice() {
  const notice = h('aside.mining-notice', { hidden: true, 'aria-label': 'Mining' });
  document.getElementById('main').before(notice);
  mining.addEventListener('change', () => {
    const shown = mining.mode === 'off' && mining.waiting > 0;
    const text = `Mining is off: ${counted(mining.waiting, 'transaction waits', 'transactions wait')} for a block.`;
    if (shown && notice.hidden) announce(text);
    notice.hidden = !shown;
    if (shown) replace(notice, h('p', text), h('div.row', mineButtons()));
  });
  mining.begin();
}

/** A line for a form whose action needs a block; it is shown only while mining is off. */
export function needsBlock(signal) {
  const line = h(
    'p.note.small',
    { hidden: true },
    'Mining is off: this takes effect once a block is mined. ',
    h('a', { href: '#/developer' }, 'Mining'),
  );
  const draw = () => (line.hidden = mining.mode !== 'off');
  mining.addEventListener('change', draw, { signal });
  draw();
  return line;
}
