// The gas of an execution by call, as a flame graph: a call is as wide as the gas it used, and lies
// below its caller.

import { h, replace, s } from '../lib/dom.js';
import { count, percent, shorten } from '../lib/format.js';
import { displayName } from '../lib/labels.js';
import { callName, knownCall } from './calltree.js';

const ROW = 26;
/** Maximum depth and number of calls drawn. Narrower calls than half a pixel are left out. */
const DEEPEST = 40;
const MAX_FRAMES = 1_500;
const COLOURS = 5;

const observer = new ResizeObserver((entries) =>
  entries.forEach(({ target }) => target.redraw?.()),
);

function colourOf(address) {
  return address
    ? [...address.slice(-6)].reduce((sum, digit) => sum + parseInt(digit, 16), 0) % COLOURS
    : 0;
}

/** The graph of a call tree. `select(call)` shows a call elsewhere. */
export function flame(trace, decoder, select) {
  const svg = s('svg.flame', { role: 'tree', 'aria-label': 'Gas used by each call' });
  const text = h('span');
  const show = h('button.link-button', { type: 'button' }, 'Show in the call tree');
  const reset = h('button.link-button', { type: 'button', hidden: true }, 'Whole transaction');
  const parents = new Map();
  let [top, active, frames, width] = [trace, trace, new Map(), 0];

  const labelOf = (call) => {
    const where = call.to ? (displayName(call.to) ?? shorten(call.to, 6, 4)) : '';
    return `${where ? `${where}.` : ''}${callName(call, knownCall(call, decoder))}`;
  };
  const share = (call) => percent(Number(call.gasUsed) / Math.max(1, Number(trace.gasUsed)), 1);
  const describe = (call) => {
    const inner = (call.calls ?? []).reduce((sum, one) => sum + Number(one.gasUsed), 0);
    const own = Math.max(0, Number(call.gasUsed) - inner);
    return `${labelOf(call)}: ${count(Number(call.gasUsed))} gas, ${share(call)}${call.calls?.length ? `, ${count(own)} of it its own` : ''}${call.error ? `, ${call.error}` : ''}`;
  };

  /** The visible calls with their places. */
  function layout() {
    const placed = [];
    const place = (call, x, room, depth, parent) => {
      if (parent) parents.set(call, parent);
      if (room < 0.5 || depth > DEEPEST || placed.length >= MAX_FRAMES) return;
      placed.push({ call, x, room, depth });
      const calls = call.calls ?? [];
      const inner = calls.reduce((sum, one) => sum + Number(one.gasUsed), 0);
      // Refunds can make a call cheaper than the calls inside it.
      const whole = Math.max(Number(call.gasUsed), inner, 1);
      let at = x;
      for (const one of calls) {
        const size = (room * Number(one.gasUsed)) / whole;
        place(one, at, size, depth + 1, call);
        at += size;
      }
    };
    place(top, 0, width, 0, null);
    return placed;
  }

  function draw() {
    width = Math.max(100, svg.getBoundingClientRect().width);
    const placed = layout();
    const height = (Math.max(...placed.map(({ depth }) => depth)) + 1) * ROW;
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    svg.setAttribute('height', String(height));
    const focused = svg.contains(document.activeElement);
    frames = new Map();
    if (!placed.some(({ call }) => call === active)) active = top;
    const texts = [];
    const elements = placed.map(({ call, x, room, depth }) => {
      const label = labelOf(call);
      const fits = Math.floor((room - 10) / 7.2);
      const frame = s(
        'g',
        {
          role: 'treeitem',
          'aria-level': depth + 1,
          'aria-label': describe(call),
          tabindex: call === active ? '0' : '-1',
          'aria-selected': String(call === active),
        },
        s(`rect.f${colourOf(call.to)}${call.error ? '.failed' : ''}`, {
          x: x.toFixed(2),
          y: depth * ROW,
          width: Math.max(0.5, room - 1).toFixed(2),
          height: ROW - 2,
          rx: 3,
        }),
      );
      if (fits >= 3)
        texts.push(
          s(
            'text',
            { x: (x + 5).toFixed(2), y: depth * ROW + 16 },
            label.length > fits ? `${label.slice(0, fits - 1)}…` : label,
          ),
        );
      frame.addEventListener('click', () => {
        activate(call, true);
        zoom(call === top ? (parents.get(call) ?? trace) : call);
      });
      frame.addEventListener('mouseenter', () => replace(text, describe(call)));
      frame.addEventListener('mouseleave', () => replace(text, describe(active)));
      frame.addEventListener('focus', () => activate(call, false));
      frames.set(call, frame);
      return frame;
    });
    // The texts lie above the frames, whose names for screen readers are not cut.
    replace(svg, elements, s('g.texts', { 'aria-hidden': 'true' }, texts));
    replace(text, describe(active));
    if (focused) frames.get(active).focus();
  }

  function activate(call, focus) {
    for (const [one, frame] of frames) {
      frame.setAttribute('tabindex', one === call ? '0' : '-1');
      frame.setAttribute('aria-selected', String(one === call));
    }
    active = call;
    replace(text, describe(call));
    if (focus) frames.get(call)?.focus();
  }

  function zoom(call) {
    top = call;
    reset.hidden = top === trace;
    draw();
  }

  svg.addEventListener('keydown', (event) => {
    const siblings = parents.get(active)?.calls?.filter((one) => frames.has(one)) ?? [active];
    const at = siblings.indexOf(active);
    const up = parents.get(active);
    const next = {
      ArrowUp: frames.has(up) ? up : null,
      ArrowDown: active.calls?.find((one) => frames.has(one)),
      ArrowLeft: siblings[at - 1],
      ArrowRight: siblings[at + 1],
      Home: top,
    }[event.key];
    if (next) activate(next, true);
    else if (event.key === 'Enter' || event.key === ' ') zoom(active);
    else if (event.key === 'Escape' && top !== trace) zoom(trace);
    else if (!/^Arrow/.test(event.key)) return;
    event.preventDefault();
  });
  show.addEventListener('click', () => select(active));
  reset.addEventListener('click', () => zoom(trace));
  svg.redraw = () => {
    if (Math.abs(svg.getBoundingClientRect().width - width) > 1) draw();
  };
  observer.observe(svg);
  return h(
    'div.stack',
    svg,
    h('div.row', h('p.soft', text), show, reset),
    h('p.soft.hint', 'Click or press Enter to zoom in; the arrow keys move between calls.'),
  );
}
