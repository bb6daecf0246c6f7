// An execution that is debugged, of a transaction or of a call: its steps, the sources of its
// contracts, and the state at a step.

import { keccak256 } from '../vendor/ethers.js';
import { toWord } from './bytes.js';
import { debugInfo } from './debuginfo.js';
import { failedPath } from './execution.js';
import { node } from './node.js';
import { failingStep, Stops } from './stepping.js';
import { keysBySlot, variables } from './storagelayout.js';
import { readSteps, slotsUsed, writtenBefore } from './steptrace.js';

const OVERVIEW = { tracer: 'muxTracer', tracerConfig: { callTracer: {}, prestateTracer: {} } };
const PREIMAGES = { tracer: 'keccak256PreimageTracer' };
/**
 * Slots that the execution does not use which are read at a time and in all, and how often: a
 * string's slots follow from its length.
 */
const READ_AT_ONCE = 200;
const MOST_READ = 2_000;
const MOST_ROUNDS = 4;
const NOTHING = toWord(0);

/**
 * A slot before the transaction at an index of a block: the first one in the order of hashes from
 * the slot's own on, if it is this one.
 */
async function slotBefore(block, index, account, slot) {
  const { storage } = await node.call(
    'debug_storageRangeAt',
    block,
    Number(index),
    account,
    keccak256(slot),
    1,
  );
  const [found] = Object.values(storage);
  return found?.key === slot ? found.value : NOTHING;
}

/** The execution of a transaction that a block has. */
export function ofTransaction({ hash, blockHash, transactionIndex }) {
  const run = (options) => node.call('debug_traceTransaction', hash, options);
  const readSlot = (account, slot) => slotBefore(blockHash, transactionIndex, account, slot);
  return { run, readSlot, replaced: new Set() };
}

/** The execution of a call, with the parameters of `debug_traceCall`. */
export function ofCall(call, at, given) {
  const overrides = new Map(
    Object.entries(given.stateOverrides ?? {}).map(([address, account]) => [
      address.toLowerCase(),
      account,
    ]),
  );
  const run = (options) => node.call('debug_traceCall', call, at, { ...given, ...options });
  const overridden = (account, slot) => {
    const { state, stateDiff } = overrides.get(account) ?? {};
    const value = Object.entries(state ?? stateDiff ?? {}).find(
      ([key]) => toWord(key) === slot,
    )?.[1];
    return value !== undefined ? toWord(value) : state ? NOTHING : null;
  };

  // Within a block, the state after it is that of later transactions as well.
  const stored =
    given.txIndex === undefined
      ? (account, slot) => node.call('eth_getStorageAt', account, slot, at)
      : (account, slot) => slotBefore(at, given.txIndex, account, slot);
  const readSlot = async (account, slot) => overridden(account, slot) ?? stored(account, slot);

  const replaced = new Set(
    [...overrides].filter(([, { code }]) => code !== undefined).map(([address]) => address),
  );
  return { run, readSlot, replaced };
}

/** The state of an account's storage at the steps of an execution. */
class Storage {
  #steps;
  #readSlot;
  #before;
  /** Slots that the execution does not use, as they were before it, by account and slot. */
  #unused = new Map();
  /** The slots that the execution uses, by account. */
  #used = new Map();

  constructor(steps, readSlot, prestate) {
    this.#steps = steps;
    this.#readSlot = readSlot;
    this.#before = prestate;
  }

  /** The value of a slot before the execution, or null if it has not been read. */
  before(account, slot) {
    return this.#before[account]?.storage?.[slot] ?? this.#unused.get(`${account}/${slot}`) ?? null;
  }

  /** All slots of an account that the execution reads or writes. */
  #slotsUsed(account) {
    const known = this.#used.get(account);
    if (known) return known;
    const found = slotsUsed(this.#steps, account);
    this.#used.set(account, found);
    return found;
  }

  /** The slots that an account's frames have used up to a step: `{ slot, before, value }`. */
  used(account, step) {
    const written = writtenBefore(this.#steps, account, step);
    return [...this.#slotsUsed(account)].map((slot) => {
      const before = this.before(account, slot) ?? NOTHING;
      return { slot, before, value: written.get(slot) ?? before };
    });
  }

  /**
   * Variables at a step, with their values before the execution where they differ. Slots that are
   * missing are read first.
   */
  async variables(layout, keys, account, step) {
    const used = this.#slotsUsed(account);
    const written = writtenBefore(this.#steps, account, step);
    for (let round = 0; ; round++) {
      const missing = new Set();
      const before = (slot) => {
        const known = this.before(account, slot) ?? (used.has(slot) ? NOTHING : null);
        if (known === null && !this.#unused.has(`${account}/${slot}`)) missing.add(slot);
        return known;
      };

      const now = variables(layout, {
        read: (slot) => written.get(slot) ?? before(slot),
        keys,
        used,
      });

      const then = new Map(
        variables(layout, { read: before, keys, used }).rows.map((row) => [row.name, row.text]),
      );
      const rows = now.rows.map((row) => ({
        ...row,
        before: then.get(row.name) === row.text ? null : (then.get(row.name) ?? 'none'),
      }));

      if (!missing.size || round === MOST_ROUNDS || this.#unused.size >= MOST_READ)
        return { ...now, rows };
      await this.#readAll(account, [...missing].slice(0, READ_AT_ONCE));
    }
  }

  async #readAll(account, slots) {
    await Promise.all(
      slots.map(async (slot) => {
        // A fork does not have the whole storage of a contract: the slot is unknown.
        const value = await this.#readSlot(account, slot).catch(() => '');
        this.#unused.set(`${account}/${slot}`, value || null);
      }),
    );
  }
}

/** The machine at a step: `{ stack, memory, returnData }`. */
async function readMachine(run, step) {
  const {
    structLogs: [line],
  } = await run({
    offset: step,
    limit: 1,
    enableMemory: true,
    enableReturnData: true,
    disableStorage: true,
  });
  return {
    stack: line?.stack ?? [],
    memory: line?.memory ?? [],
    returnData: line?.returnData ?? '0x',
  };
}

/** Reads everything about an execution. `progress(text)` is called with what is being read. */
export async function debugSession({ run, readSlot, replaced }, progress) {
  progress('Reading calls…');
  const [{ callTracer: trace, prestateTracer: prestate }, preimages] = await Promise.all([
    run(OVERVIEW),
    run(PREIMAGES).catch(() => ({})),
  ]);
  const steps = await readSteps(run, trace, (count) =>
    progress(`Reading steps: ${count.toLocaleString('en')}…`),
  );

  progress('Reading sources…');
  const { contracts, lines } = await debugInfo(steps.frames, replaced);
  const stops = new Stops(steps, (frame) => lines.get(frame) ?? null);
  const storage = new Storage(steps, readSlot, prestate);
  const keys = keysBySlot(preimages);
  const path = failedPath(trace);

  return {
    trace,
    steps,
    stops,
    contracts,
    storage,
    hasFailed: path.length > 0,
    failingStep: failingStep(steps, path),
    machine: (step) => readMachine(run, step),
    /** The variables of a frame's contract at a step, or null without a layout. */
    variables: (frame, step) => {
      const layout = contracts.get(frame.code)?.layout;
      return layout && frame.account ? storage.variables(layout, keys, frame.account, step) : null;
    },
  };
}
