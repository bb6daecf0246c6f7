// The steps of an execution, read from the opcode tracer in parts, and the frames in which they
// ran.
//
// Only a few numbers of each step are kept. Its whole stack and memory are asked for when it is
// shown.

import { toWord } from './bytes.js';

/** The maximum number of steps that are read, and of those in one response. */
export const MOST_STEPS = 400_000;
const PART = 40_000;
/**
 * Words on top of the stack that a step's line has: those that name a slot and its value, or the
 * account that is called.
 */
const STACK_LIMIT = 2;

const CALLS = new Set(['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL']);
const CREATIONS = new Set(['CREATE', 'CREATE2']);

/** The address that a call reads from a word of the stack, whose first bytes it ignores. */
const calledAddress = (word) => `0x${BigInt(word).toString(16).padStart(40, '0').slice(-40)}`;

/** A frame of the call stack, made from the call tracer's record of the call. */
function frameOf(call, parent, first) {
  const isCreation = CREATIONS.has(call.type);
  const isBorrowed = call.type === 'DELEGATECALL' || call.type === 'CALLCODE';
  return {
    call,
    parent,
    depth: parent ? parent.depth + 1 : 1,
    isCreation,
    /** Whose code runs, and whose storage it uses. */
    code: call.to?.toLowerCase() ?? null,
    account: (isBorrowed ? call.from : call.to)?.toLowerCase() ?? null,
    first,
    last: first,
    /** The step in the parent frame that made the call. */
    caller: parent ? first - 1 : null,
    hasFailed: Boolean(call.error),
    /**
     * Calls inside it, without those that run no code of their own, and how many of them have
     * begun.
     */
    inner: (call.calls ?? []).filter((one) => one.type !== 'SELFDESTRUCT'),
    begun: 0,
  };
}

/** The steps of an execution, in columns. */
export class Steps {
  #parts = [];
  #names = [];
  #ids = new Map();
  #frame;
  /** The call that the step before made. */
  #entered = null;
  count = 0;
  isComplete = true;
  frames = [];
  /**
   * Slots in the order in which they were read and written: `{ step, frame, slot, value }`, without
   * a value if it was read.
   */
  accesses = [];

  /** `trace` is the call tracer's record of the same execution. */
  constructor(trace) {
    this.trace = trace;
  }

  /** Appends lines of the opcode tracer. */
  add(lines) {
    const size = lines.length;
    const part = {
      pcs: new Uint32Array(size),
      ops: new Uint16Array(size),
      gas: new Float64Array(size),
      costs: new Float64Array(size),
      frames: new Uint32Array(size),
    };
    lines.forEach((line, at) => {
      const frame = this.#follow(line);
      part.pcs[at] = line.pc;
      part.ops[at] = this.#idOf(line.op);
      part.gas[at] = line.gas;
      part.costs[at] = line.gasCost;
      part.frames[at] = frame.index;
      this.#note(line, frame);
      frame.last = this.count++;
    });
    this.#parts.push(part);
  }

  /** Finds the frame of the next line. */
  #follow(line) {
    if (!this.#frame) this.#frame = this.#begin(frameOf(this.trace, null, 0));
    while (this.#frame.depth > line.depth && this.#frame.parent) this.#frame = this.#frame.parent;
    if (line.depth > this.#frame.depth)
      this.#frame = this.#begin(frameOf(this.#entered ?? {}, this.#frame, this.count));
    this.#entered = null;
    return this.#frame;
  }

  #begin(frame) {
    frame.index = this.frames.length;
    this.frames.push(frame);
    return frame;
  }

  /** Notes what a step does to other frames or to storage. */
  #note({ op, error, stack = [] }, frame) {
    if (error) return;
    const under = stack.at(-2);
    const top = stack.at(-1);
    if (op === 'SSTORE' && under)
      this.accesses.push({ step: this.count, frame, slot: toWord(top), value: toWord(under) });
    else if (op === 'SLOAD' && top)
      this.accesses.push({ step: this.count, frame, slot: toWord(top), value: null });
    else if (CREATIONS.has(op)) this.#entered = frame.inner[frame.begun++];
    else if (CALLS.has(op) && under)
      this.#entered = this.#calledBy(frame, op, calledAddress(under));
  }

  /** The record of a call; a node may leave out some that failed before they began. */
  #calledBy(frame, type, to) {
    for (let at = frame.begun; at < frame.inner.length; at++) {
      if (frame.inner[at].to?.toLowerCase() !== to) continue;
      frame.begun = at + 1;
      return frame.inner[at];
    }
    return { type, to, from: frame.account };
  }

  /**
   * Ends the trace before the execution does: how the frames end that are still open is not seen.
   */
  cut() {
    this.isComplete = false;
    for (let frame = this.#frame; frame; frame = frame.parent) frame.hasFailed = false;
  }

  #idOf(name) {
    if (!this.#ids.has(name)) {
      this.#ids.set(name, this.#names.length);
      this.#names.push(name);
    }
    return this.#ids.get(name);
  }

  #at(step, column) {
    return this.#parts[Math.floor(step / PART)][column][step % PART];
  }

  /** One step: `{ pc, op, gas, cost, frame }`. */
  step(at) {
    return {
      pc: this.#at(at, 'pcs'),
      op: this.op(at),
      gas: this.#at(at, 'gas'),
      cost: this.#at(at, 'costs'),
      frame: this.frame(at),
    };
  }

  pc(at) {
    return this.#at(at, 'pcs');
  }

  op(at) {
    return this.#names[this.#at(at, 'ops')];
  }

  frame(at) {
    return this.frames[this.#at(at, 'frames')];
  }
}

/**
 * Fails if a node ignores the offset, as another one does that has the blocks before a fork: only
 * the first step is at position 0.
 */
async function checkParts(run) {
  const {
    structLogs: [line],
  } = await run({ offset: 1, limit: 1, disableStack: true, disableStorage: true });
  if (line?.pc === 0)
    throw new Error(
      'the node that has this block does not return a part of the steps, so there is no debugger for it',
    );
}

/**
 * Reads the steps of an execution, up to the maximum number. `run(options)` resolves to the opcode
 * tracer's result, and `progress(count)` is called after each part.
 */
export async function readSteps(run, trace, progress = () => {}) {
  const steps = new Steps(trace);
  await checkParts(run);
  for (;;) {
    const { structLogs: lines } = await run({
      offset: steps.count,
      limit: PART,
      stackLimit: STACK_LIMIT,
      disableStorage: true,
    });

    steps.add(lines);
    progress(steps.count);
    if (lines.length < PART) return steps;
    if (steps.count >= MOST_STEPS) {
      steps.cut();
      return steps;
    }
  }
}

/**
 * The frames of which what they wrote was undone before a step, since they or frames around them
 * had failed.
 */
function undoneBefore(steps, step) {
  const found = new Set();
  // A frame comes after the one around it.
  for (const frame of steps.frames) {
    const hasEndedBadly = frame.hasFailed && frame.last < step;
    if (hasEndedBadly || found.has(frame.parent)) found.add(frame);
  }
  return found;
}

/** Values by slot that an execution had written to an account before a step. */
export function writtenBefore(steps, account, step) {
  const undone = undoneBefore(steps, step);
  const found = new Map();
  for (const { step: at, frame, slot, value } of steps.accesses) {
    if (at >= step) break;
    if (value !== null && frame.account === account && !undone.has(frame)) found.set(slot, value);
  }
  return found;
}

/** All slots of an account that an execution reads or writes, in that order. */
export function slotsUsed(steps, account) {
  return new Set(
    steps.accesses.filter(({ frame }) => frame.account === account).map(({ slot }) => slot),
  );
}
