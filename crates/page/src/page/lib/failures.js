// Why an execution failed, from its trace, and which failures inside it were caught.

import { failedPath } from './execution.js';

const returned = ({ output }) => output && output !== '0x';

/** The reason of a call that failed, without those inside it. */
async function ownReason(call, decoder) {
  if (returned(call)) return decoder.error(call.output, call);
  return !call.error || call.error === 'execution reverted'
    ? 'reverted without a reason'
    : call.error;
}

/**
 * The reason of an execution that failed, in words: that of the call in which the failure began.
 */
export function reasonOfTrace(trace, decoder) {
  return ownReason(failedPath(trace).at(-1), decoder);
}

/**
 * The reason of an outcome that failed, such as that of a simulation: by its trace, or without one
 * by what it returned. `to` and `data` are those of the call: with them amounts are in units of
 * their token.
 */
export async function reasonOfOutcome(
  { trace, output, error },
  decoder,
  { to = null, data = null } = {},
) {
  if (trace) return reasonOfTrace(trace, decoder);
  return returned({ output }) ? decoder.error(output, { to, input: data }) : error;
}

/** The calls inside a trace that failed while their caller went on, in their order. */
export function caughtCalls(trace) {
  const found = [];
  const visit = (call) => {
    for (const inner of call.calls ?? []) {
      if (inner.error) found.push(inner);
      else visit(inner);
    }
  };
  // Of a transaction that failed, the reason of the failure is what matters.
  if (!trace.error) visit(trace);
  return found;
}
