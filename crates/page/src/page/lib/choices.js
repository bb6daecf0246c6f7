// Buttons of which one is pressed.

import { h } from './dom.js';

/**
 * Buttons for values of which one is chosen: `choices` are pairs of a name and a value;
 * `choose(value)` is called with the value of a button that is clicked.
 */
export function choiceButtons(choices, chosen, choose) {
  return choices.map(([name, value]) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String(value === chosen),
        onclick: () => choose(value),
      },
      name,
    ),
  );
}
