// The debugger: an execution of a transaction or of a call, line by line, with its frames,
// variables, stack and memory.

import { Breakpoints, MOST_BREAKPOINTS } from '../lib/breakpoints.js';
import { debugSession, ofCall, ofTransaction } from '../lib/debugsession.js';
import { decoderFor } from '../lib/decoder.js';
import { card, failure, h, heading, replace, setText, toast } from '../lib/dom.js';
import { callObject, simulationLink, stateOptions } from '../lib/execution.js';
import { reasonOfTrace } from '../lib/failures.js';
import { count, shorten } from '../lib/format.js';
import { transactionLink } from '../lib/links.js';
import { nameOf } from '../lib/network.js';
import { node } from '../lib/node.js';
import { NotFound } from '../lib/notfound.js';
import { placed, setPlace } from '../lib/place.js';
import { MOST_STEPS } from '../lib/steptrace.js';
import { instructionTable, sourcePane } from './debugcode.js';
import {
  callDataPanel,
  framesPanel,
  memoryPanel,
  slotsPanel,
  stackPanel,
  variablesPanel,
} from './debugstate.js';
import { hexBlock, switcher } from './parts.js';
import { minedTransaction, parseOverrides, placeOf, startingFrom } from './simulate.js';

/**
 * How long the address bar waits for further steps, in milliseconds: browsers limit how often it
 * changes.
 */
const URL_DELAY = 400;
/** Characters of the current line that are read out. */
const LONGEST_SPOKEN = 160;

/** What is debugged: how to run it, and what the heading says of it. */
async function subjectOf(rest, query) {
  const [hash] = rest;
  if (rest.length === 1) return callSubject(query);
  if (!/^0x[0-9a-f]{64}$/i.test(hash))
    throw new Error(`not a transaction hash: ${hash.slice(0, 80)}`);
  const receipt = await node.call('eth_getTransactionReceipt', hash);
  if (!receipt) throw new NotFound('Transaction', `no block has the transaction ${hash}`);
  const transaction = {
    hash,
    blockHash: receipt.blockHash,
    transactionIndex: receipt.transactionIndex,
  };
  return { ...ofTransaction(transaction), hash, about: ['Transaction ', transactionLink(hash)] };
}

async function callSubject(query) {
  const original = await minedTransaction(query.get('tx'));
  const start = startingFrom(query, original);
  const call = callObject({
    ...start,
    value: BigInt(start.value || 0),
    gas: start.gas ? BigInt(start.gas) : null,
  });
  const { at: block, index } = placeOf(start.block, original);
  // It is executed many times, each time on the same state.
  const at = block === 'latest' ? await node.call('eth_blockNumber') : block;
  const options = stateOptions({ index, overrides: parseOverrides(start.overrides) });
  const back = new URLSearchParams(query);
  ['step', 'breakpoints'].forEach((name) => back.delete(name));
  return {
    ...ofCall(call, at, options),
    hash: null,
    about: [
      'A call of ',
      h('a', { href: simulationLink(Object.fromEntries(back)) }, 'a simulation'),
      '. Nothing is sent.',
    ],
  };
}

/** Where a transaction failed, if that is beyond the steps that are shown. */
async function failureBeyond(hash) {
  const found = hash && (await node.call('tetrad_stackTrace', hash).catch(() => null));
  const frame = found?.frames.find(({ line }) => line);
  return frame
    ? ` The transaction failed at ${frame.contract ?? 'a contract'}.${frame.function ?? 'unknown'} (${frame.file}:${frame.line}).`
    : '';
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
      const { activeElement } = document;
      const isTyping =
        /^(INPUT|TEXTAREA|SELECT)$/.test(activeElement?.tagName ?? '') &&
        activeElement.type !== 'range';
      const action = byKey.get(event.key?.toLowerCase());
      if (!action || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action.run();
    },
    { signal },
  );
  return h('div.debug-controls', { role: 'group', 'aria-label': 'Steps' }, buttons);
}

/** The view of one execution. */
class Debugger {
  #session;
  #signal;
  #decoder;
  #breakpoints = new Breakpoints();
  #step = 0;
  /** The frame whose line, variables and call data are shown. */
  #frame = null;
  /** The machine at the step, or null if it has not been read. */
  #machine = null;
  #isLoading = false;
  #isStale = false;
  #urlTimer = null;

  constructor(session, decoder, signal) {
    this.#session = session;
    this.#decoder = decoder;
    this.#signal = signal;
    this.pane = sourcePane({
      breakpoints: this.#breakpoints,
      toggle: (path, line) => this.#toggle(path, line),
    });
    this.#build();
    signal.addEventListener('abort', () => clearTimeout(this.#urlTimer));
  }

  /**
   * Builds the elements, which stay; only their contents change with the step, so that the focus
   * stays as well.
   */
  #build() {
    this.instructions = h('div.stack');
    this.breakpointList = h('div.row');
    this.frames = h('div');
    this.variables = h('div.stack');
    this.#buildFiles();
    this.#buildPanels();

    const code = card(
      'Code',
      this.files.length > 1 && this.select,
      this.pane.element,
      this.instructions,
      this.breakpointList,
    );
    const machine = card('Machine', this.panels.control, this.panels.content);
    const beside = h(
      'div.stack',
      card('Call stack', this.frames),
      card('Variables', this.variables),
    );
    this.element = h(
      'div.stack.debugger',
      this.#buildBar(),
      h('div.grid.main-side', h('div.stack', code, machine), beside),
    );
  }

  /** The buttons, with their keys. */
  #actions() {
    const { stops, failingStep } = this.#session;
    const go = (find) => () => this.show(find(this.#step));
    return [
      { key: 'B', name: 'Back', about: 'The line before', run: go((step) => stops.back(step)) },
      {
        key: 'I',
        name: 'Into',
        about: 'The next line, also of a function that is called',
        run: go((step) => stops.into(step)),
      },
      {
        key: 'O',
        name: 'Over',
        about: 'The next line of this function',
        run: go((step) => stops.over(step)),
      },
      {
        key: 'U',
        name: 'Out',
        about: 'The line after this function',
        run: go((step) => stops.out(step)),
      },
      {
        key: 'C',
        name: 'Continue',
        about: 'The next breakpoint, or the end',
        run: () => this.#continue(1),
      },
      {
        key: 'R',
        name: 'Reverse',
        about: 'The breakpoint before, or the beginning',
        run: () => this.#continue(-1),
      },
      stops.hasSource && {
        key: 'T',
        name: 'Breakpoint',
        about: 'Set or remove a breakpoint at this line',
        run: () => this.#toggleHere(),
      },
      failingStep !== null && {
        key: 'F',
        name: 'Failing line',
        about: 'Where the execution failed',
        run: () => this.show(failingStep),
      },
    ].filter(Boolean);
  }

  #buildBar() {
    const { steps, stops } = this.#session;
    this.slider = h('input', {
      type: 'range',
      min: '0',
      max: String(Math.max(0, steps.count - 1)),
      'aria-label': 'Step',
    });
    this.slider.addEventListener('input', () => this.show(Number(this.slider.value)));

    this.where = h('span');
    this.line = h('span.hidden');
    const status = h('p.debug-status', { role: 'status' }, this.where, ' ', this.line);

    const units = [
      ['Lines', () => this.#setUnit(false)],
      ['Instructions', () => this.#setUnit(true)],
    ];
    const unit = stops.hasSource && switcher('Unit of steps', units).control;
    return h(
      'section.card.debug-bar',
      { 'aria-label': 'Control' },
      controls(this.#actions(), this.#signal),
      h('div.row', unit, status),
      h('div', this.slider),
    );
  }

  /** The files of all contracts, in which breakpoints can be set before they are reached. */
  #buildFiles() {
    const all = [...this.#session.contracts.values()].flatMap(({ files }) => files);
    this.files = [...new Set(all)];
    this.select = h(
      'select',
      { 'aria-label': 'File' },
      this.files.map((file, at) => h('option', { value: at }, file.path)),
    );
    this.select.addEventListener('change', () => {
      this.pane.element.hidden = false;
      this.pane.show(this.files[Number(this.select.value)], 0, false);
    });
  }

  #buildPanels() {
    const machine = (panel) => () =>
      this.#machine
        ? panel(this.#machine)
        : h('p.soft', 'The machine at this step has not been read.');
    this.panels = switcher('State', [
      ['Stack', machine(({ stack }) => stackPanel(stack))],
      ['Memory', machine(({ memory }) => memoryPanel(memory))],
      ['Call data', () => this.#frame && callDataPanel(this.#frame, this.#decoder)],
      [
        'Returned',
        machine(({ returnData }) =>
          returnData === '0x'
            ? h('p.soft', 'No call has returned data yet.')
            : hexBlock(returnData),
        ),
      ],
      [
        'Slots',
        () =>
          this.#frame?.account &&
          slotsPanel(this.#session.storage.used(this.#frame.account, this.#stepIn(this.#frame))),
      ],
    ]);
  }

  #setUnit(byInstruction) {
    this.#session.stops.byInstruction = byInstruction;
    if (this.#frame) this.#drawCode();
    return [];
  }

  /** Shows a step, in its own frame. */
  show(step) {
    const { steps } = this.#session;
    this.#step = Math.min(Math.max(0, step), steps.count - 1);
    this.#frame = steps.frame(this.#step);
    this.#draw();
  }

  #draw() {
    this.slider.value = String(this.#step);
    this.#drawCode();
    this.#drawFrames();
    this.#drawBreakpoints();
    this.#load();
    clearTimeout(this.#urlTimer);
    this.#urlTimer = setTimeout(
      () => setPlace({ step: this.#step, breakpoints: this.#breakpoints.text }),
      URL_DELAY,
    );
  }

  /** The frames that are open at the step, the innermost first. */
  #openFrames() {
    const found = [];
    for (let frame = this.#session.steps.frame(this.#step); frame; frame = frame.parent)
      found.push(frame);
    return found;
  }

  /** The step at which a frame is: the current one, or that of its call. */
  #stepIn(frame) {
    const open = this.#openFrames();
    const at = open.indexOf(frame);
    return at > 0 ? open[at - 1].caller : this.#step;
  }

  #nameOf(frame) {
    return (
      this.#session.contracts.get(frame.code)?.name ??
      nameOf(frame.code) ??
      (frame.code ? shorten(frame.code, 8, 4) : 'new contract')
    );
  }

  #drawCode() {
    const { steps, stops, failingStep } = this.#session;
    const step = this.#stepIn(this.#frame);
    const place = stops.placeOf(step);
    const { op, gas } = steps.step(step);
    const isFailure = step === failingStep;
    const where = place
      ? `${place.file.path}, line ${place.line}`
      : `${this.#nameOf(this.#frame)}, instruction ${op}`;
    setText(
      this.where,
      `${isFailure ? (place ? 'Failing line: ' : 'Failing instruction: ') : ''}${where}. Step ${count(step)} of ${count(steps.count - 1)}, ${count(gas)} gas left.`,
    );
    // Those who do not see the lines hear the one that is shown.
    setText(
      this.line,
      place ? place.file.lines[place.line - 1].trim().slice(0, LONGEST_SPOKEN) : '',
    );
    if (place) {
      this.select.value = String(this.files.indexOf(place.file));
      this.pane.show(place.file, place.line, isFailure);
    }
    // The lines stay in the document, or their scroll position would be lost.
    this.pane.element.hidden = !place;
    replace(
      this.instructions,
      !place && h('p.soft', this.#whyWithoutLine()),
      (!place || stops.byInstruction) && instructionTable(steps, step, (at) => this.show(at)),
    );
  }

  /** Why an instruction has no line of a source. */
  #whyWithoutLine() {
    const name = this.#nameOf(this.#frame);
    const hasSource =
      this.#session.contracts.get(this.#frame.code)?.files.length > 0 && !this.#frame.isCreation;
    return hasSource
      ? `No line of ${name} belongs to this instruction: the compiler has added it.`
      : `The source of ${name} is not known. Verify it, or start the node with its artifacts.`;
  }

  #drawFrames() {
    const { stops } = this.#session;
    const choose = (frame) => {
      this.#frame = frame;
      this.#draw();
      this.frames.querySelector('[aria-pressed="true"]')?.focus();
    };
    const placeOfFrame = (frame) => stops.placeOf(this.#stepIn(frame));
    replace(
      this.frames,
      framesPanel({
        frames: this.#openFrames(),
        chosen: this.#frame,
        decoder: this.#decoder,
        nameOf: (frame) => this.#nameOf(frame),
        placeOf: placeOfFrame,
        choose,
      }),
    );
  }

  #drawBreakpoints() {
    const remove = ({ path, line }) =>
      h(
        'button.quiet',
        {
          type: 'button',
          'aria-label': `Remove the breakpoint at ${path}:${line}`,
          onclick: () => this.#toggle(path, line),
        },
        `${path.split('/').at(-1)}:${line} ×`,
      );
    const { all } = this.#breakpoints;
    replace(
      this.breakpointList,
      all.length > 0 && [h('span.soft', 'Breakpoints'), all.map(remove)],
    );
  }

  #toggle(path, line) {
    if (!this.#breakpoints.toggle(path, line))
      return toast(`There are ${MOST_BREAKPOINTS} breakpoints already.`, 'error');
    this.pane.redraw();
    this.#drawBreakpoints();
    setPlace({ breakpoints: this.#breakpoints.text });
  }

  #toggleHere() {
    const place = this.#session.stops.placeOf(this.#stepIn(this.#frame));
    if (place) this.#toggle(place.file.path, place.line);
  }

  #continue(direction) {
    const { stops, steps } = this.#session;
    const end = direction > 0 ? steps.count - 1 : stops.first;
    this.show(
      stops.breakpoint(this.#step, (place) => this.#breakpoints.has(place), direction) ?? end,
    );
  }

  /**
   * Reads the machine and the variables of the newest step that is shown; steps that were passed
   * meanwhile are left out.
   */
  async #load() {
    if (this.#isLoading) {
      this.#isStale = true;
      return;
    }
    this.#isLoading = true;
    do {
      this.#isStale = false;
      const [step, frame] = [this.#stepIn(this.#frame), this.#frame];
      try {
        const [machine, variables] = await Promise.all([
          this.#session.machine(step),
          this.#session.variables(frame, step),
        ]);
        if (this.#signal.aborted) return;
        this.#machine = machine;
        this.panels.draw();
        replace(
          this.variables,
          variables
            ? variablesPanel(variables)
            : h(
                'p.soft',
                'The layout of the storage is not known. The slots are below, under Machine.',
              ),
        );
        this.element.dataset.step = String(step);
      } catch (error) {
        if (this.#signal.aborted) return;
        // What is known of the step before is not shown as if it were of this one.
        this.#machine = null;
        this.panels.draw();
        replace(this.variables, failure(error));
        delete this.element.dataset.step;
      }
    } while (this.#isStale && !this.#signal.aborted);
    this.#isLoading = false;
  }
}

/** The step that a URL names: a number, or `failure`. */
function stepIn(text, { steps, stops, failingStep }) {
  if (text === 'failure' && failingStep !== null) return failingStep;
  return /^\d{1,9}$/.test(text ?? '') ? Math.min(Number(text), steps.count - 1) : stops.first;
}

export default async function view({ signal, rest, query }) {
  const subject = await subjectOf(rest, query);
  const outcome = h('span');
  const progress = h('p.soft', { role: 'status' }, 'Reading the execution…');
  const content = h('div.stack.sections', progress);

  async function load() {
    const session = await debugSession(subject, (text) => setText(progress, text));
    if (signal.aborted) return;
    const { trace, steps, hasFailed } = session;
    const decoder = await decoderFor(steps.frames.map(({ code }) => code));
    const reason = hasFailed ? await reasonOfTrace(trace, decoder) : null;
    const beyond = steps.isComplete
      ? null
      : `The execution has more steps than the ${count(MOST_STEPS)} that are shown.${hasFailed ? await failureBeyond(subject.hash) : ''}`;
    if (signal.aborted) return;
    replace(
      outcome,
      h(hasFailed ? 'span.tag.bad' : 'span.tag.good', hasFailed ? 'Failed' : 'Success'),
    );
    const notes = [hasFailed && h('p.failure', reason), beyond && h('p.note', beyond)];
    if (!steps.count)
      return void replace(
        content,
        notes,
        h('p.note', 'No code ran, so there is nothing to step through.'),
      );
    const shown = new Debugger(session, decoder, signal);
    replace(content, notes, shown.element);
    shown.show(stepIn(placed('step'), session));
  }
  load().catch((error) => signal.aborted || replace(content, failure(error)));
  return h('div.stack.sections', heading('Debugger', outcome), h('p', subject.about), content);
}
