// The bar of the debugger: its buttons with the keys that press them, the step and where it is.

import { h, setText } from '../lib/dom.js';
import { switcher } from './parts.js';

/** Characters of the current line that are read out. */
const LONGEST_SPOKEN = 160;

/** Whether keys are the input of a field; a slider takes none that the buttons have. */
function isTyping() {
  const { activeElement } = document;
  return (
    /^(INPUT|TEXTAREA|SELECT)$/.test(activeElement?.tagName ?? '') && activeElement.type !== 'range'
  );
}

/** Buttons with the keys that press them; each entry is `{ key, name, about, run }`. */
function controls(actions, signal) {
  const buttons = actions.map(({ key, name, about, run }) =>
    h(
      'button',
      { type: 'button', title: about, 'aria-keyshortcuts': key, onclick: run },
      name,
      h('kbd', { 'aria-hidden': 'true' }, key),
    ),
  );

  const byKey = new Map(actions.map((action) => [action.key.toLowerCase(), action]));
  document.addEventListener(
    'keydown',
    (event) => {
      const action = byKey.get(event.key?.toLowerCase());
      if (!action || isTyping() || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action.run();
    },
    { signal },
  );
  return h('div.debug-controls', { role: 'group', 'aria-label': 'Steps' }, buttons);
}

export class DebugBar {
  #slider;
  #where = h('span');
  #line = h('span.hidden');

  /**
   * `actions` are those of the buttons; `show(step)` and `setUnit(byInstruction)` are called when
   * another step or unit is chosen.
   */
  constructor({ steps, stops }, { actions, show, setUnit, signal }) {
    this.#slider = h('input', {
      type: 'range',
      min: '0',
      max: String(Math.max(0, steps.count - 1)),
      'aria-label': 'Step',
    });
    this.#slider.addEventListener('input', () => show(Number(this.#slider.value)));

    const units = [
      ['Lines', () => setUnit(false)],
      ['Instructions', () => setUnit(true)],
    ];
    const unit = stops.hasSource && switcher('Unit of steps', units).control;
    const status = h('p.debug-status', { role: 'status' }, this.#where, ' ', this.#line);
    this.element = h(
      'section.card.debug-bar',
      { 'aria-label': 'Control' },
      controls(actions, signal),
      h('div.row', unit, status),
      h('div', this.#slider),
    );
  }

  showStep(step) {
    this.#slider.value = String(step);
  }

  /** Shows where the step is; those who do not see the lines hear the one that is shown. */
  showPlace(text, line) {
    setText(this.#where, text);
    setText(this.#line, line.trim().slice(0, LONGEST_SPOKEN));
  }
}
