// The gas of an execution by call, as a flame graph: a call is as wide as the gas it used, and lies
// below its caller.

import { h, replace, s } from '../lib/dom.js';
import { count, percent, shorten } from '../lib/format.js';
import { displayName } from '../lib/labels.js';
import { callName, knownCall } from './calltree.js';

/** The height of a row, in pixels. */
const ROW = 26;
/** Maximum depth and number of calls drawn, and the least width of a call in pixels. */
const DEEPEST = 40;
const MAX_FRAMES = 1_500;
const NARROWEST = 0.5;
/** The width of a character in a frame, and the fewest characters that are written there. */
const CHARACTER = 7.2;
const SHORTEST = 3;
const COLOURS = 5;

const observer = new ResizeObserver((entries) =>
  entries.forEach(({ target }) => target.redraw?.()),
);

function colourOf(address) {
  return address
    ? [...address.slice(-6)].reduce((sum, digit) => sum + parseInt(digit, 16), 0) % COLOURS
    : 0;
}

/** The gas of the calls inside a call. */
function innerGas(call) {
  return (call.calls ?? []).reduce((sum, one) => sum + Number(one.gasUsed), 0);
}

/**
 * The visible calls below `top` with their places. The caller of each is added to `parents`, also
 * of those that are not visible.
 */
function layout(top, width, parents) {
  const placed = [];

  function place(call, x, room, depth, parent) {
    if (parent) parents.set(call, parent);
    if (room < NARROWEST || depth > DEEPEST || placed.length >= MAX_FRAMES) return;
    placed.push({ call, x, room, depth });

    // Refunds can make a call cheaper than the calls inside it.
    const whole = Math.max(Number(call.gasUsed), innerGas(call), 1);
    let at = x;
    for (const one of call.calls ?? []) {
      const size = (room * Number(one.gasUsed)) / whole;
      place(one, at, size, depth + 1, call);
      at += size;
    }
  }

  place(top, 0, width, 0, null);
  return placed;
}

/** The text in a frame, cut if it is too long; null where the frame is too narrow for any. */
function frameText(label, { x, room, depth }) {
  const fits = Math.floor((room - 10) / CHARACTER);
  if (fits < SHORTEST) return null;
  return s(
    'text',
    { x: (x + 5).toFixed(2), y: depth * ROW + 16 },
    label.length > fits ? `${label.slice(0, fits - 1)}…` : label,
  );
}

class FlameGraph {
  #trace;
  #decoder;
  #parents = new Map();
  /** The call that is as wide as the graph, and the one that is described. */
  #top;
  #active;
  /** The elements of the visible calls. */
  #frames = new Map();
  #width = 0;

  #svg = s('svg.flame', { role: 'tree', 'aria-label': 'Gas used by each call' });
  #text = h('span');
  #show = h('button.link-button', { type: 'button' }, 'Show in the call tree');
  #reset = h('button.link-button', { type: 'button', hidden: true }, 'Whole transaction');

  constructor(trace, decoder, select) {
    this.#trace = trace;
    this.#decoder = decoder;
    this.#top = trace;
    this.#active = trace;

    this.#svg.addEventListener('keydown', (event) => this.#pressed(event));
    this.#show.addEventListener('click', () => select(this.#active));
    this.#reset.addEventListener('click', () => this.#zoom(trace));
    this.#svg.redraw = () => {
      if (Math.abs(this.#svg.getBoundingClientRect().width - this.#width) > 1) this.#draw();
    };
    observer.observe(this.#svg);
    this.element = h(
      'div.stack',
      this.#svg,
      h('div.row', h('p.soft', this.#text), this.#show, this.#reset),
      h('p.soft.hint', 'Click or press Enter to zoom in; the arrow keys move between calls.'),
    );
  }

  #labelOf(call) {
    const where = call.to ? (displayName(call.to) ?? shorten(call.to, 6, 4)) : '';
    return `${where ? `${where}.` : ''}${callName(call, knownCall(call, this.#decoder))}`;
  }

  #describe(call) {
    const gas = Number(call.gasUsed);
    const share = percent(gas / Math.max(1, Number(this.#trace.gasUsed)), 1);
    const own = Math.max(0, gas - innerGas(call));
    const ownText = call.calls?.length ? `, ${count(own)} of it its own` : '';
    const error = call.error ? `, ${call.error}` : '';
    return `${this.#labelOf(call)}: ${count(gas)} gas, ${share}${ownText}${error}`;
  }

  #draw() {
    this.#width = Math.max(100, this.#svg.getBoundingClientRect().width);
    const placed = layout(this.#top, this.#width, this.#parents);
    const height = (Math.max(...placed.map(({ depth }) => depth)) + 1) * ROW;
    this.#svg.setAttribute('viewBox', `0 0 ${this.#width} ${height}`);
    this.#svg.setAttribute('height', String(height));

    const isFocused = this.#svg.contains(document.activeElement);
    if (!placed.some(({ call }) => call === this.#active)) this.#active = this.#top;
    this.#frames = new Map(placed.map((place) => [place.call, this.#frame(place)]));

    // The texts lie above the frames, whose names for screen readers are not cut.
    const texts = placed.map((place) => frameText(this.#labelOf(place.call), place));
    replace(this.#svg, [...this.#frames.values()], s('g.texts', { 'aria-hidden': 'true' }, texts));
    replace(this.#text, this.#describe(this.#active));
    if (isFocused) this.#frames.get(this.#active).focus();
  }

  #frame({ call, x, room, depth }) {
    const isActive = call === this.#active;
    const frame = s(
      'g',
      {
        role: 'treeitem',
        'aria-level': depth + 1,
        'aria-label': this.#describe(call),
        tabindex: isActive ? '0' : '-1',
        'aria-selected': String(isActive),
      },
      s(`rect.f${colourOf(call.to)}${call.error ? '.failed' : ''}`, {
        x: x.toFixed(2),
        y: depth * ROW,
        width: Math.max(NARROWEST, room - 1).toFixed(2),
        height: ROW - 2,
        rx: 3,
      }),
    );

    frame.addEventListener('click', () => {
      this.#activate(call, true);
      // The widest call leads back out.
      this.#zoom(call === this.#top ? (this.#parents.get(call) ?? this.#trace) : call);
    });
    frame.addEventListener('mouseenter', () => replace(this.#text, this.#describe(call)));
    frame.addEventListener('mouseleave', () => replace(this.#text, this.#describe(this.#active)));
    frame.addEventListener('focus', () => this.#activate(call, false));
    return frame;
  }

  #activate(call, focus) {
    for (const [one, frame] of this.#frames) {
      frame.setAttribute('tabindex', one === call ? '0' : '-1');
      frame.setAttribute('aria-selected', String(one === call));
    }
    this.#active = call;
    replace(this.#text, this.#describe(call));
    if (focus) this.#frames.get(call)?.focus();
  }

  #zoom(call) {
    this.#top = call;
    this.#reset.hidden = call === this.#trace;
    this.#draw();
  }

  /** The visible call to which a key leads from the active one, or nothing. */
  #neighbour(key) {
    const active = this.#active;
    const caller = this.#parents.get(active);
    const siblings = caller?.calls?.filter((one) => this.#frames.has(one)) ?? [active];
    const at = siblings.indexOf(active);
    return {
      ArrowUp: this.#frames.has(caller) ? caller : null,
      ArrowDown: active.calls?.find((one) => this.#frames.has(one)),
      ArrowLeft: siblings[at - 1],
      ArrowRight: siblings[at + 1],
      Home: this.#top,
    }[key];
  }

  #pressed(event) {
    const next = this.#neighbour(event.key);
    if (next) this.#activate(next, true);
    else if (event.key === 'Enter' || event.key === ' ') this.#zoom(this.#active);
    else if (event.key === 'Escape' && this.#top !== this.#trace) this.#zoom(this.#trace);
    else if (!/^Arrow/.test(event.key)) return;
    event.preventDefault();
  }
}

/** The graph of a call tree. `select(call)` shows a call elsewhere. */
export function flame(trace, decoder, select) {
  return new FlameGraph(trace, decoder, select).element;
}
