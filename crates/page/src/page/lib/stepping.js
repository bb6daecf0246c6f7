// Steps over source lines: where an execution stops, and the next stop into, over or out of a call.

import { after } from './sorted.js';

/**
 * The stops of an execution. `linesOf(frame)` gives the lines of a frame's code, or null without a
 * source. Without any source each instruction is a stop.
 */
export class Stops {
  #steps;
  #linesOf;
  /** Stops in ascending order, and the number of functions that are open in the frame at each. */
  #stops = [];
  #levels = [];
  #byInstruction = false;

  constructor(steps, linesOf) {
    this.#steps = steps;
    this.#linesOf = linesOf;
    const latest = new Map();
    for (let step = 0; step < steps.count; step++) this.#visit(step, latest);
    this.hasSource = steps.frames.some((frame) => linesOf(frame));
    this.#byInstruction = !this.hasSource;
  }

  /** Whether a step is an instruction, or leads to another line. */
  get byInstruction() {
    return this.#byInstruction;
  }

  set byInstruction(on) {
    this.#byInstruction = on || !this.hasSource;
  }

  /**
   * Adds a step to the stops if it begins another line than the one before it in its frame;
   * `latest` has that one by frame.
   */
  #visit(step, latest) {
    const frame = this.#steps.frame(step);
    const lines = this.#linesOf(frame);
    const before = latest.get(frame) ?? { level: 0, line: null, file: null, stoppedAt: 0 };
    if (!latest.has(frame)) {
      latest.set(frame, before);
      if (!lines) this.#add(step, 0);
    }
    if (!lines) return;

    const place = lines.placeAt(this.#steps.pc(step));
    if (
      place &&
      (place.line !== before.line ||
        place.file !== before.file ||
        before.level !== before.stoppedAt)
    ) {
      this.#add(step, before.level);
      Object.assign(before, { line: place.line, file: place.file, stoppedAt: before.level });
    }
    if (this.#steps.op(step) === 'JUMP')
      before.level = Math.max(0, before.level + lines.jumpAt(this.#steps.pc(step)));
  }

  #add(step, level) {
    this.#stops.push(step);
    this.#levels.push(level);
  }

  /**
   * The place of a step, or of the last step before it in its frame that has one: `{ file, line }`,
   * or null.
   */
  placeOf(step) {
    const frame = this.#steps.frame(step);
    const lines = this.#linesOf(frame);
    if (!lines) return null;
    for (let at = step; at >= frame.first; at--) {
      // Calls inside the frame are passed over at once.
      let inner = this.#steps.frame(at);
      while (inner !== frame && inner.parent !== frame) inner = inner.parent;
      if (inner !== frame) at = inner.caller;
      const place = lines.placeAt(this.#steps.pc(at));
      if (place) return place;
    }
    return null;
  }

  /** The last stop at or before a step, as its position in the list. */
  #current(step) {
    return Math.max(0, after(this.#stops, step) - 1);
  }

  get #end() {
    return Math.max(0, this.#steps.count - 1);
  }

  /**
   * The first stop after a step whose frame and level `isWanted` accepts, or, by instruction, the
   * first step whose frame is accepted.
   */
  #forward(step, isWanted, isWantedInstruction) {
    if (this.#byInstruction) {
      for (let at = step + 1; at < this.#steps.count; at++)
        if (isWantedInstruction(this.#steps.frame(at))) return at;
      return this.#end;
    }
    for (let at = after(this.#stops, step); at < this.#stops.length; at++)
      if (isWanted(this.#steps.frame(this.#stops[at]), this.#levels[at])) return this.#stops[at];
    return this.#end;
  }

  /** The number of open functions at a step, in its frame. */
  #levelAt(step) {
    const frame = this.#steps.frame(step);
    for (let at = this.#current(step); at >= 0; at--)
      if (this.#steps.frame(this.#stops[at]) === frame) return this.#levels[at];
    return 0;
  }

  /** The next line, wherever it is. */
  into(step) {
    return this.#forward(
      step,
      () => true,
      () => true,
    );
  }

  /** The next line of the same function, or of the one that called it. */
  over(step) {
    const frame = this.#steps.frame(step);
    const level = this.#levelAt(step);
    return this.#forward(
      step,
      (one, at) => one.depth < frame.depth || (one === frame && at <= level),
      (one) => one.depth < frame.depth || one === frame,
    );
  }

  /** The first line after the function has ended. */
  out(step) {
    const frame = this.#steps.frame(step);
    const level = this.#levelAt(step);
    return this.#forward(
      step,
      (one, at) => one.depth < frame.depth || (one === frame && at < level),
      (one) => one.depth < frame.depth,
    );
  }

  /** The line before, wherever it is. */
  back(step) {
    if (this.#byInstruction) return Math.max(0, step - 1);
    const at = this.#current(step);
    return this.#stops[this.#stops[at] < step ? at : at - 1] ?? 0;
  }

  /**
   * The next stop at a line that `isBreakpoint` accepts, after a step or, with a direction of -1,
   * before it; null without one.
   */
  breakpoint(step, isBreakpoint, direction = 1) {
    const first = direction > 0 ? after(this.#stops, step) : after(this.#stops, step - 1) - 1;
    for (let at = first; at >= 0 && at < this.#stops.length; at += direction) {
      const stop = this.#stops[at];
      const place = this.#linesOf(this.#steps.frame(stop))?.placeAt(this.#steps.pc(stop));
      if (place && isBreakpoint(place)) return stop;
    }
    return null;
  }

  /** The first step at which to stop: the first line, or the first instruction. */
  get first() {
    return this.#byInstruction ? 0 : (this.#stops[0] ?? 0);
  }
}

/**
 * The step at which a failure began, given the calls that led to it, the outermost first; null if
 * nothing failed.
 */
export function failingStep(steps, path) {
  if (!path.length || !steps.isComplete || !steps.count) return null;
  const failed = new Set(path);
  const frame = steps.frames.findLast((one) => failed.has(one.call));
  return frame ? frame.last : steps.count - 1;
}
