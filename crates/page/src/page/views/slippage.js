// The slippage tolerance of a swap, which the browser remembers.

import { h, replace, setText } from '../lib/dom.js';
import { parseSlippage } from '../lib/trading.js';

const SLIPPAGES = [0.1, 0.5, 1];
const SLIPPAGE = 'tetrad.slippage';

/** The control of the slippage tolerance; `value()` is in per cent. */
export function slippageControl(changed) {
  let value = 0.5;
  try {
    value = parseSlippage(localStorage.getItem(SLIPPAGE) ?? '0.5');
  } catch {
    // A damaged setting is replaced by the default.
  }
  const summary = h('summary');
  const presets = h('div.tabs', { role: 'group', 'aria-label': 'Slippage tolerance' });
  const custom = h('input', {
    inputmode: 'decimal',
    autocomplete: 'off',
    placeholder: 'Custom %',
    'aria-label': 'Custom slippage tolerance in per cent',
  });
  const note = h('p.soft', { 'aria-live': 'polite' });
  const element = h(
    'details.settings',
    summary,
    h('div.stack', h('div.row', presets, custom), note),
  );
  const draw = () => {
    setText(summary, `Slippage ${value}%`);
    replace(
      presets,
      SLIPPAGES.map((one) =>
        h(
          'button',
          { type: 'button', 'aria-pressed': String(one === value), onclick: () => set(one) },
          `${one}%`,
        ),
      ),
    );
    setText(
      note,
      value > 5
        ? 'A high tolerance lets the price move far against you before the swap fails.'
        : value < 0.05
          ? 'With a low tolerance the swap may fail when the price moves.'
          : 'The swap fails if the price moves by more than this before it is mined.',
    );
    note.className = value > 5 || value < 0.05 ? 'warn' : 'soft';
  };
  const set = (next, typed = false) => {
    value = next;
    if (!typed) custom.value = '';
    localStorage.setItem(SLIPPAGE, String(value));
    draw();
    changed();
  };
  custom.addEventListener('input', () => {
    try {
      set(parseSlippage(custom.value), true);
    } catch (error) {
      setText(note, error.message);
      note.className = 'down';
    }
  });
  draw();
  return { element, value: () => value };
}
