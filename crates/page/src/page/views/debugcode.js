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
 * The lines of a source file: `{ element, show(file, line, isFailure), redraw() }`; without a line,
 * with 0, the file is shown from its beginning. `toggle(path, line)` is called to set or remove a
 * breakpoint.
 */
export function sourcePane({ breakpoints, toggle }) {
  const title = h('strong.mono');
  const list = h('div.source-lines', { tabindex: '0', role: 'group' });
  const element = h('div.stack', title, list);
  let [file, current, failed, first, last] = [null, 0, false, 0, -1];

  function lineElement(number) {
    const isCurrent = number === current;
    const isReached = isCurrent || (!current && number === first);
    const isSet = breakpoints.has({ file, line: number });
    const button = h(
      'button.line-number',
      {
        type: 'button',
        tabindex: isReached ? '0' : '-1',
        'aria-pressed': String(isSet),
        'aria-label': `Breakpoint at line ${number}`,
        onclick: () => toggle(file.path, number),
      },
      number,
    );
    const kind = isCurrent
      ? failed
        ? 'div.source-line.current.failing'
        : 'div.source-line.current'
      : 'div.source-line';
    const properties = isCurrent ? { 'aria-current': 'step' } : {};
    return h(
      kind,
      { 'data-line': number, ...properties },
      button,
      h('code', lineContent(file, number)),
    );
  }

  function draw() {
    const lines = Array.from({ length: last - first + 1 }, (_, at) => lineElement(first + at));
    const more = (from, to, text) =>
      h('button.quiet', { type: 'button', onclick: () => reveal(from, to) }, text);
    const total = file.lines.length;
    replace(
      list,
      first > 1 &&
        more(Math.max(1, first - 2 * AROUND), last, `Show earlier lines of ${count(total)}`),
      lines,
      last < total &&
        more(first, Math.min(total, last + 2 * AROUND), `Show later lines of ${count(total)}`),
    );
  }

  /** Whether a line is drawn with enough lines around it. */
  function hasMargin(line) {
    const hasBefore = first === 1 || line - MARGIN >= first;
    const hasAfter = last === file.lines.length || line + MARGIN <= last;
    return line >= first && line <= last && hasBefore && hasAfter;
  }

  /** Makes another drawn line the current one; the other lines stay. */
  function move(line, isFailure) {
    const changed = new Set([current, line]);
    [current, failed] = [line, isFailure];
    for (const number of changed)
      list.querySelector(`[data-line="${number}"]`)?.replaceWith(lineElement(number));
  }

  function reveal(from, to) {
    [first, last] = [from, to];
    draw();
  }

  /** Moves the focus between line numbers, of which only the current one is reached with Tab. */
  list.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const line = event.target.closest('.line-number')?.parentElement;
    if (!step || !line) return;
    const other = list.querySelector(
      `[data-line="${Number(line.dataset.line) + step}"] .line-number`,
    );
    if (!other) return;
    event.preventDefault();
    other.focus();
  });

  /** Scrolls the list alone: the page stays where it is. */
  function centre() {
    const line = list.querySelector('.current');
    if (!line) return;
    const top = line.offsetTop;
    const isVisible =
      top >= list.scrollTop + line.offsetHeight &&
      top <= list.scrollTop + list.clientHeight - 2 * line.offsetHeight;
    if (!isVisible) list.scrollTop = top - list.clientHeight / 2;
  }

  /** Draws the lines again, with the focus and the place where they are. */
  function redraw() {
    if (!file) return;
    const focused = document.activeElement?.closest?.('.source-line');
    const number = list.contains(focused) ? focused.dataset.line : null;
    const top = list.scrollTop;
    draw();
    list.scrollTop = top;
    if (number)
      list.querySelector(`[data-line="${number}"] .line-number`)?.focus({ preventScroll: true });
  }

  return {
    element,
    redraw,
    show(shown, line, isFailure) {
      if (shown === file && current > 0 && line > 0 && hasMargin(line)) {
        move(line, isFailure);
      } else {
        [file, current, failed] = [shown, line, isFailure];
        first = Math.max(1, line - AROUND);
        last = Math.min(file.lines.length, line + AROUND);
        title.textContent = file.path;
        list.setAttribute('aria-label', `Source of ${file.path}`);
        draw();
      }
      requestAnimationFrame(centre);
    },
  };
}

/** The instructions around a step of the same execution, in the order in which they ran. */
export function instructionTable(steps, step, goTo) {
  const from = Math.max(0, step - INSTRUCTIONS_AROUND);
  const to = Math.min(steps.count - 1, step + INSTRUCTIONS_AROUND);
  const rows = Array.from({ length: to - from + 1 }, (_, at) => from + at).map((at) => {
    const { pc, op, gas, cost, frame } = steps.step(at);
    const jump = h(
      'button.link-button',
      { type: 'button', 'aria-label': `Go to step ${at}`, onclick: () => goTo(at) },
      count(at),
    );
    return h(
      at === step ? 'tr.chosen' : 'tr',
      { 'aria-current': at === step ? 'step' : null },
      h('td.number', jump),
      h('td.number.mono', pc),
      h('td.mono', op),
      h('td.number', count(cost)),
      h('td.number', count(gas)),
      h('td.number', frame.depth),
    );
  });
  const head = ['Step', 'Position', 'Instruction', 'Gas', 'Gas left', 'Depth'].map((name) =>
    h(name === 'Instruction' ? 'th' : 'th.number', { scope: 'col' }, name),
  );
  return h(
    'div.scroll',
    { tabindex: '0', role: 'group', 'aria-label': 'Instructions' },
    h('table.instructions', h('thead', h('tr', head)), h('tbody', rows)),
  );
}
