// The code that a debugged execution is at: lines of a source with breakpoints, or instructions
// where there is no source.

import { h, replace } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { colouredLines } from './source.js';

/** Lines shown before and after the current one; buttons show others. */
const AROUND = 150;
/**
 * Drawn lines that the current one must have before and after it; otherwise the lines are drawn
 * anew around it.
 */
const MARGIN = 30;
/** Longer lines are cut. */
const LONGEST_LINE = 400;
/** Instructions shown before and after the current one. */
const INSTRUCTIONS_AROUND = 12;

/** The coloured lines of files, by file; they go with the execution that has the file. */
const coloured = new WeakMap();

function linesOf(file) {
  if (!coloured.has(file)) coloured.set(file, colouredLines(file.text));
  return coloured.get(file);
}

/** The content of a line, cut if it is long. */
function lineContent(file, number) {
  const text = file.lines[number - 1];
  if (text.length > LONGEST_LINE) return [text.slice(0, LONGEST_LINE), h('span.soft', '…')];
  return linesOf(file)[number - 1];
}

/**
 * The lines of a source file, with their breakpoints. `toggle(path, line)` is called to set or
 * remove one.
 */
export class SourcePane {
  #breakpoints;
  #toggle;
  #file = null;
  /** The line that execution is at, or 0, and whether the execution fails there. */
  #current = 0;
  #isFailure = false;
  /** The lines that are drawn. */
  #first = 0;
  #last = -1;

  #title = h('strong.mono');
  #list = h('div.source-lines', { tabindex: '0', role: 'group' });

  constructor({ breakpoints, toggle }) {
    this.#breakpoints = breakpoints;
    this.#toggle = toggle;
    this.element = h('div.stack', this.#title, this.#list);
    this.#list.addEventListener('keydown', (event) => this.#moveFocus(event));
  }

  /** Shows a line; without one, with 0, the file is shown from its beginning. */
  show(file, line, isFailure) {
    const isDrawn = file === this.#file && this.#current > 0 && line > 0 && this.#hasMargin(line);
    if (isDrawn) this.#move(line, isFailure);
    else this.#open(file, line, isFailure);
    requestAnimationFrame(() => this.#centre());
  }

  /** Draws the lines again, with the focus and the place where they are. */
  redraw() {
    if (!this.#file) return;
    const focused = document.activeElement?.closest?.('.source-line');
    const number = this.#list.contains(focused) ? focused.dataset.line : null;
    const top = this.#list.scrollTop;

    this.#draw();
    this.#list.scrollTop = top;
    if (number) this.#buttonOf(number)?.focus({ preventScroll: true });
  }

  #buttonOf(number) {
    return this.#list.querySelector(`[data-line="${number}"] .line-number`);
  }

  #open(file, line, isFailure) {
    this.#file = file;
    this.#current = line;
    this.#isFailure = isFailure;
    this.#title.textContent = file.path;
    this.#list.setAttribute('aria-label', `Source of ${file.path}`);
    this.#reveal(Math.max(1, line - AROUND), Math.min(file.lines.length, line + AROUND));
  }

  #reveal(first, last) {
    this.#first = first;
    this.#last = last;
    this.#draw();
  }

  /** Whether a line is drawn with enough lines around it. */
  #hasMargin(line) {
    const [first, last] = [this.#first, this.#last];
    const hasBefore = first === 1 || line - MARGIN >= first;
    const hasAfter = last === this.#file.lines.length || line + MARGIN <= last;
    return line >= first && line <= last && hasBefore && hasAfter;
  }

  /** Makes another drawn line the current one; the other lines stay. */
  #move(line, isFailure) {
    const changed = new Set([this.#current, line]);
    this.#current = line;
    this.#isFailure = isFailure;
    for (const number of changed)
      this.#list.querySelector(`[data-line="${number}"]`)?.replaceWith(this.#lineElement(number));
  }

  #draw() {
    const [first, last] = [this.#first, this.#last];
    const total = this.#file.lines.length;
    const lines = Array.from({ length: last - first + 1 }, (_, at) =>
      this.#lineElement(first + at),
    );
    const more = (from, to, text) =>
      h('button.quiet', { type: 'button', onclick: () => this.#reveal(from, to) }, text);
    replace(
      this.#list,
      first > 1 &&
        more(Math.max(1, first - 2 * AROUND), last, `Show earlier lines of ${count(total)}`),
      lines,
      last < total &&
        more(first, Math.min(total, last + 2 * AROUND), `Show later lines of ${count(total)}`),
    );
  }

  #lineElement(number) {
    const file = this.#file;
    const isCurrent = number === this.#current;
    // Only the current line number is reached with Tab; without one it is the first.
    const isReached = isCurrent || (!this.#current && number === this.#first);
    const button = h(
      'button.line-number',
      {
        type: 'button',
        tabindex: isReached ? '0' : '-1',
        'aria-pressed': String(this.#breakpoints.has({ file, line: number })),
        'aria-label': `Breakpoint at line ${number}`,
        onclick: () => this.#toggle(file.path, number),
      },
      number,
    );

    const failing = this.#isFailure ? '.failing' : '';
    return h(
      isCurrent ? `div.source-line.current${failing}` : 'div.source-line',
      { 'data-line': number, 'aria-current': isCurrent ? 'step' : null },
      button,
      h('code', lineContent(file, number)),
    );
  }

  /** Moves the focus between line numbers. */
  #moveFocus(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const line = event.target.closest('.line-number')?.parentElement;
    if (!step || !line) return;
    const other = this.#buttonOf(Number(line.dataset.line) + step);
    if (!other) return;
    event.preventDefault();
    other.focus();
  }

  /** Scrolls the list alone: the page stays where it is. */
  #centre() {
    const list = this.#list;
    const line = list.querySelector('.current');
    if (!line) return;
    const top = line.offsetTop;
    const isVisible =
      top >= list.scrollTop + line.offsetHeight &&
      top <= list.scrollTop + list.clientHeight - 2 * line.offsetHeight;
    if (!isVisible) list.scrollTop = top - list.clientHeight / 2;
  }
}

/** A step of the execution as a row; `goTo` is called with its number to go there. */
function instructionRow(number, { pc, op, gas, cost, frame }, isCurrent, goTo) {
  const jump = h(
    'button.link-button',
    { type: 'button', 'aria-label': `Go to step ${number}`, onclick: () => goTo(number) },
    count(number),
  );
  return h(
    isCurrent ? 'tr.chosen' : 'tr',
    { 'aria-current': isCurrent ? 'step' : null },
    h('td.number', jump),
    h('td.number.mono', pc),
    h('td.mono', op),
    h('td.number', count(cost)),
    h('td.number', count(gas)),
    h('td.number', frame.depth),
  );
}

/** The instructions around a step of the same execution, in the order in which they ran. */
export function instructionTable(steps, step, goTo) {
  const from = Math.max(0, step - INSTRUCTIONS_AROUND);
  const to = Math.min(steps.count - 1, step + INSTRUCTIONS_AROUND);
  const rows = Array.from({ length: to - from + 1 }, (_, at) => from + at).map((at) =>
    instructionRow(at, steps.step(at), at === step, goTo),
  );
  const head = ['Step', 'Position', 'Instruction', 'Gas', 'Gas left', 'Depth'].map((name) =>
    h(name === 'Instruction' ? 'th' : 'th.number', { scope: 'col' }, name),
  );

  return h(
    'div.scroll',
    { tabindex: '0', role: 'group', 'aria-label': 'Instructions' },
    h('table.instructions', h('thead', h('tr', head)), h('tbody', rows)),
  );
}
