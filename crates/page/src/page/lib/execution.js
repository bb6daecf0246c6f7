// Executions: traces of transactions, and simulations of calls.

import { node } from './node.js';

const TRACER = {
  tracer: 'muxTracer',
  tracerConfig: { callTracer: { withLog: true }, prestateTracer: { diffMode: true } },
};

/**
 * Call tree and state changes of a transaction: `{ trace, diff }`, or null if the node cannot trace
 * it.
 */
export async function traceTransaction(hash) {
  if (!(await node.has('debug_traceTransaction'))) return null;
  const found = await node.call('debug_traceTransaction', hash, TRACER).catch(() => null);
  return found && { trace: found.callTracer, diff: found.prestateTracer };
}

/** The addresses in a call tree, each once, those called first. */
export function addressesIn(trace) {
  const found = new Set();
  const visit = (call) => {
    if (call.to) found.add(call.to);
    for (const log of call.logs ?? []) found.add(log.address);
    call.calls?.forEach(visit);
  };
  if (trace) visit(trace);
  return [...found];
}

/** The logs of a call tree in the order in which they were emitted. Calls that failed have none. */
export function logsIn(trace) {
  const found = [];
  const visit = (call) => {
    if (call.error) return;
    found.push(...(call.logs ?? []));
    call.calls?.forEach(visit);
  };
  visit(trace);
  return found
    .sort((a, b) => Number(a.index) - Number(b.index))
    .map((log, at) => ({ ...log, logIndex: `0x${at.toString(16)}` }));
}

const outputOf = (call) => call.output ?? '0x';

/**
 * The call inside a failed one that made it fail. Solidity passes on what an inner call reverted
 * with. Without any data that says nothing, unless the inner call was the last thing that happened.
 */
function failedInside(call) {
  const output = outputOf(call);
  if (output === '0x') {
    const last = call.calls?.at(-1);
    return last?.error && outputOf(last) === '0x' ? last : null;
  }
  return call.calls?.findLast((one) => one.error && outputOf(one) === output) ?? null;
}

/**
 * The path to the call in which a failure began: the outermost call first, the innermost failed one
 * last.
 */
export function failedPath(trace) {
  const path = [];
  for (let call = trace; call?.error; call = failedInside(call)) path.push(call);
  return path;
}

const hex = (number) => `0x${BigInt(number).toString(16)}`;

/**
 * An execution as views show it: `status`, `output`, `error`, `gasUsed`, `logs`, and `trace` and
 * `diff` if the node traced it.
 */
export function outcomeOf({ trace, diff }) {
  return {
    status: !trace.error,
    output: trace.output ?? '0x',
    error: trace.error ?? null,
    gasUsed: BigInt(trace.gasUsed),
    logs: logsIn(trace),
    trace,
    diff,
  };
}

/** A call as nodes take it. */
export function callObject({ from, to, value, data, gas }) {
  return {
    from,
    ...(to && { to }),
    value: hex(value ?? 0n),
    input: data ?? '0x',
    ...(gas && { gas: hex(gas) }),
  };
}

/**
 * Options of a call's trace: the state that it replaces, and the position in the block at which it
 * runs.
 */
export function stateOptions({ index = null, overrides = null }) {
  return {
    ...(overrides && { stateOverrides: overrides }),
    ...(index !== null && { txIndex: hex(index) }),
  };
}

/** The outcome of a call on a node that does not trace. */
async function simulateWithoutTracing(given, at, overrides) {
  const blocks = [{ calls: [given], ...(overrides && { stateOverrides: overrides }) }];
  const [block] = await node.call('eth_simulateV1', { blockStateCalls: blocks }, at);
  const [found] = block.calls;
  const logs = (found.logs ?? []).map((log, position) => ({ ...log, logIndex: hex(position) }));
  const failed = found.status !== '0x1';
  return {
    status: !failed,
    output: failed ? (found.error?.data ?? found.returnData) : found.returnData,
    error: failed ? (found.error?.message ?? 'execution reverted') : null,
    gasUsed: BigInt(found.gasUsed),
    logs,
    trace: null,
    diff: null,
  };
}

/**
 * Executes a call without changing the chain. `call` is `{ from, to, value, data, gas }`, `at` the
 * block whose state it sees; with an `index` it sees the state before the transaction at that
 * position of the block. Throws if it cannot be executed.
 */
export async function simulate(call, { at = 'latest', index = null, overrides = null } = {}) {
  const given = callObject(call);
  if (await node.has('debug_traceCall')) {
    const found = await node.call('debug_traceCall', given, at, {
      ...TRACER,
      ...stateOptions({ index, overrides }),
    });
    return outcomeOf({ trace: found.callTracer, diff: found.prestateTracer });
  }

  // Without tracing there is no position in a block: the state before the block is the nearest.
  const before = index !== null ? hex(Math.max(0, Number(at) - 1)) : at;
  return simulateWithoutTracing(given, before, overrides);
}

/**
 * What a contract returns to a call that it may not support, or null if the call fails. Unlike a
 * failed `eth_call`, that is not among the failed calls that the node lists for developers.
 */
export async function probe(to, data, gas = undefined) {
  const [
    {
      calls: [found],
    },
  ] = await node.call(
    'eth_simulateV1',
    { blockStateCalls: [{ calls: [{ to, data, gas }] }] },
    'latest',
  );
  return found.status === '0x1' ? found.returnData : null;
}

/**
 * The hash of the simulation view for a call, such as `#/simulate?to=0x…`. Members that are null
 * are left out.
 */
export function simulationLink(members) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members))
    if (value !== null && value !== undefined && value !== '') query.set(name, String(value));
  return `#/simulate?${query}`;
}

/** The link to the debugger for a transaction; `isFailed` opens it where the transaction failed. */
export function transactionDebugLink(hash, isFailed) {
  return `#/tx/${hash}/debug${isFailed ? '?step=failure' : ''}`;
}

/**
 * The link to the debugger for the call of a link to a simulation; `isFailed` opens it where the
 * call fails.
 */
export function callDebugLink(link, isFailed) {
  return `${link.replace('#/simulate?', '#/simulate/debug?')}${isFailed ? '&step=failure' : ''}`;
}
