// The slippage tolerance of a swap, which the browser remembers.

import { choiceButtons } from '../lib/choices.js';
import { h, replace, setText } from '../lib/dom.js';
import { parseSlippage } from '../lib/trading.js';

const SLIPPAGES = [0.1, 0.5, 1];
/** The setting in the browser's storage. */
const SLIPPAGE = 'tetrad.slippage';
const DEFAULT = '0.5';
/** Tolerances above and below which the control warns, in per cent. */
const HIGH = 5;
const LOW = 0.05;

/** The tolerance that the browser remembers, or the default. */
function storedSlippage() {
  try {
    return parseSlippage(localStorage.getItem(SLIPPAGE) ?? DEFAULT);
  } catch {
    // A damaged setting is replaced by the default.
    return Number(DEFAULT);
  }
}

/** What a tolerance means for a swap. */
function consequence(value) {
  if (value > HIGH)
    return 'A high tolerance lets the price move far against you before the swap fails.';
  if (value < LOW) return 'With a low tolerance the swap may fail when the price moves.';
  return 'The swap fails if the price moves by more than this before it is mined.';
}

/** The control of the slippage tolerance; `value()` is in per cent. */
export function slippageControl(changed) {
  let value = storedSlippage();
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

  function draw() {
    setText(summary, `Slippage ${value}%`);
    const choices = SLIPPAGES.map((one) => [`${one}%`, one]);
    replace(presets, choiceButtons(choices, value, choosePreset));
    setText(note, consequence(value));
    note.className = value > HIGH || value < LOW ? 'warn' : 'soft';
  }

  function set(next) {
    value = next;
    localStorage.setItem(SLIPPAGE, String(value));
    draw();
    changed();
  }

  function choosePreset(preset) {
    custom.value = '';
    set(preset);
  }

  custom.addEventListener('input', () => {
    try {
      set(parseSlippage(custom.value));
    } catch (error) {
      setText(note, error.message);
      note.className = 'down';
    }
  });
  draw();

  return { element, value: () => value };
}
