// The debugger of one execution: the code, the call stack, the variables and the machine at a step.

import { Breakpoints, MOST_BREAKPOINTS } from '../lib/breakpoints.js';
import { card, failure, h, replace, toast } from '../lib/dom.js';
import { count, shorten } from '../lib/format.js';
import { nameOf } from '../lib/network.js';
import { setPlace } from '../lib/place.js';
import { SourcePane, instructionTable } from './debugcode.js';
import { DebugBar } from './debugcontrols.js';
import {
  callDataPanel,
  framesPanel,
  memoryPanel,
  slotsPanel,
  stackPanel,
  variablesPanel,
} from './debugstate.js';
import { hexBlock, switcher } from './parts.js';

/**
 * How long the address bar waits for further steps, in milliseconds: browsers limit how often it
 * changes.
 */
const URL_DELAY = 400;

function returnedPanel({ returnData }) {
  return returnData === '0x' ? h('p.soft', 'No call has returned data yet.') : hexBlock(returnData);
}

/** The button that removes a breakpoint. */
function breakpointButton({ path, line }, remove) {
  return h(
    'button.quiet',
    {
      type: 'button',
      'aria-label': `Remove the breakpoint at ${path}:${line}`,
      onclick: () => remove(path, line),
    },
    `${path.split('/').at(-1)}:${line} ×`,
  );
}

export class Debugger {
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
    this.pane = new SourcePane({
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
    this.bar = new DebugBar(this.#session, {
      actions: this.#actions(),
      show: (step) => this.show(step),
      setUnit: (byInstruction) => this.#setUnit(byInstruction),
      signal: this.#signal,
    });

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
      this.bar.element,
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
      ['Returned', machine(returnedPanel)],
      ['Slots', () => this.#frame?.account && slotsPanel(this.#usedSlots(this.#frame))],
    ]);
  }

  #usedSlots(frame) {
    return this.#session.storage.used(frame.account, this.#stepIn(frame));
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
    this.bar.showStep(this.#step);
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
    this.#drawStatus(step, place);

    if (place) {
      this.select.value = String(this.files.indexOf(place.file));
      this.pane.show(place.file, place.line, step === failingStep);
    }
    // The lines stay in the document, or their scroll position would be lost.
    this.pane.element.hidden = !place;
    replace(
      this.instructions,
      !place && h('p.soft', this.#whyWithoutLine()),
      (!place || stops.byInstruction) && instructionTable(steps, step, (at) => this.show(at)),
    );
  }

  /** Says where the step is: at a place in a source, or at an instruction without one. */
  #drawStatus(step, place) {
    const { steps, failingStep } = this.#session;
    const { op, gas } = steps.step(step);
    const where = place
      ? `${place.file.path}, line ${place.line}`
      : `${this.#nameOf(this.#frame)}, instruction ${op}`;
    const failing = place ? 'Failing line: ' : 'Failing instruction: ';
    const prefix = step === failingStep ? failing : '';
    const line = place ? place.file.lines[place.line - 1] : '';
    this.bar.showPlace(
      `${prefix}${where}. Step ${count(step)} of ${count(steps.count - 1)}, ${count(gas)} gas left.`,
      line,
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
    replace(
      this.frames,
      framesPanel({
        frames: this.#openFrames(),
        chosen: this.#frame,
        decoder: this.#decoder,
        nameOf: (frame) => this.#nameOf(frame),
        placeOf: (frame) => stops.placeOf(this.#stepIn(frame)),
        choose: (frame) => this.#chooseFrame(frame),
      }),
    );
  }

  #chooseFrame(frame) {
    this.#frame = frame;
    this.#draw();
    this.frames.querySelector('[aria-pressed="true"]')?.focus();
  }

  #drawBreakpoints() {
    const { all } = this.#breakpoints;
    const buttons = all.map((one) =>
      breakpointButton(one, (path, line) => this.#toggle(path, line)),
    );
    replace(this.breakpointList, all.length > 0 && [h('span.soft', 'Breakpoints'), buttons]);
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
    const isSet = (place) => this.#breakpoints.has(place);
    const end = direction > 0 ? steps.count - 1 : stops.first;
    this.show(stops.breakpoint(this.#step, isSet, direction) ?? end);
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
      await this.#readState();
      if (this.#signal.aborted) return;
    } while (this.#isStale);
    this.#isLoading = false;
  }

  async #readState() {
    const frame = this.#frame;
    const step = this.#stepIn(frame);
    try {
      const [machine, variables] = await Promise.all([
        this.#session.machine(step),
        this.#session.variables(frame, step),
      ]);
      if (this.#signal.aborted) return;
      this.#machine = machine;
      this.panels.draw();
      this.#drawVariables(variables);
      this.element.dataset.step = String(step);
    } catch (error) {
      if (this.#signal.aborted) return;
      // What is known of the step before is not shown as if it were of this one.
      this.#machine = null;
      this.panels.draw();
      replace(this.variables, failure(error));
      delete this.element.dataset.step;
    }
  }

  #drawVariables(variables) {
    replace(
      this.variables,
      variables
        ? variablesPanel(variables)
        : h(
            'p.soft',
            'The layout of the storage is not known. The slots are below, under Machine.',
          ),
    );
  }
}
