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

/** The shortest and the longest interval, in seconds. */
const LEAST_INTERVAL = 0.001;
const MOST_INTERVAL = 86_400;

/** The choice of a mode; the pressed button is the node's mode. */
class ModeChoice {
  #seconds = h('input', {
    inputmode: 'decimal',
    value: '2',
    'aria-label': 'Seconds between blocks',
  });
  #interval = h(
    'form.row',
    { hidden: true },
    h('span.soft', 'Every'),
    this.#seconds,
    h('span.soft', 'seconds'),
    h('button', { type: 'submit' }, 'Set'),
  );
  #about = h('p.soft', { role: 'status' });
  #buttons = MODES.map(([mode, name]) =>
    h('button', { type: 'button', 'data-mode': mode, onclick: () => this.#change(mode) }, name),
  );

  constructor(signal) {
    this.#interval.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#change('interval');
    });
    mining.addEventListener('change', () => this.#draw(), { signal });
    this.#draw();
    this.elements = [
      h('div.tabs', { role: 'group', 'aria-label': 'Mining mode' }, this.#buttons),
      this.#interval,
      this.#about,
    ];
  }

  /** Changes the node's mode, and shows the one that it has then. */
  async #change(mode) {
    try {
      await this.#set(mode);
    } catch (error) {
      toast(error.message, 'error');
    }
    this.#draw();
  }

  #set(mode) {
    if (mode === 'auto') return mining.auto();
    if (mode === 'off') return mining.stop();

    const number = Number(this.#seconds.value);
    if (!(number >= LEAST_INTERVAL && number <= MOST_INTERVAL))
      throw new Error('Interval: expected 0.001 to 86,400 seconds');
    return mining.every(number);
  }

  #draw() {
    const { mode, seconds } = mining;
    for (const button of this.#buttons)
      button.setAttribute('aria-pressed', String(button.dataset.mode === mode));
    this.#interval.hidden = mode !== 'interval';
    if (mode === 'interval' && seconds && document.activeElement !== this.#seconds)
      this.#seconds.value = String(seconds);
    setText(this.#about, mining.describe());
  }
}

/** Mines blocks, `apart` seconds from each other if that input has a text and the node can. */
async function mine(blocks, apart) {
  const number = wholeNumber(blocks, 'Blocks');
  if (apart.value.trim() && (await node.has('anvil_mine')))
    await node.call('anvil_mine', quantity(number), quantity(wholeNumber(apart, 'Seconds apart')));
  else await node.call('evm_mine', { blocks: quantity(number) });

  mining.refresh();
  return `Mined ${count(Number(number))} block${number === 1n ? '' : 's'}`;
}

export async function miningCard(signal) {
  await mining.refresh();
  const blocks = h('input', { inputmode: 'numeric', value: '1' });
  const apart = h('input', { inputmode: 'numeric', placeholder: 'at least 1' });
  const form = action(
    h('div.pair', field('Blocks', blocks), field('Seconds apart', apart)),
    'Mine',
    () => mine(blocks, apart),
  );
  return card('Mining', mining.mode && new ModeChoice(signal).elements, form);
}
