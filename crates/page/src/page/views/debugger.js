// The debugger: an execution of a transaction or of a call, line by line, with its frames,
// variables, stack and memory.

import { debugSession } from '../lib/debugsession.js';
import { decoderFor } from '../lib/decoder.js';
import { failure, h, heading, replace, setText } from '../lib/dom.js';
import { reasonOfTrace } from '../lib/failures.js';
import { count } from '../lib/format.js';
import { node } from '../lib/node.js';
import { placed } from '../lib/place.js';
import { MOST_STEPS } from '../lib/steptrace.js';
import { subjectOf } from './debugsubject.js';
import { Debugger } from './debugview.js';

/** Where a transaction failed, if that is beyond the steps that are shown. */
async function failureBeyond(hash) {
  const found = hash && (await node.call('tetrad_stackTrace', hash).catch(() => null));
  const frame = found?.frames.find(({ line }) => line);
  return frame
    ? ` The transaction failed at ${frame.contract ?? 'a contract'}.${frame.function ?? 'unknown'} (${frame.file}:${frame.line}).`
    : '';
}

/** The step that a URL names: a number, or `failure`. */
function stepIn(text, { steps, stops, failingStep }) {
  if (text === 'failure' && failingStep !== null) return failingStep;
  return /^\d{1,9}$/.test(text ?? '') ? Math.min(Number(text), steps.count - 1) : stops.first;
}

/** Why the steps that are shown end before the execution, or null if they do not. */
async function missingSteps({ steps, hasFailed }, hash) {
  if (steps.isComplete) return null;
  const failed = hasFailed ? await failureBeyond(hash) : '';
  return `The execution has more steps than the ${count(MOST_STEPS)} that are shown.${failed}`;
}

/** Shows an execution in `content`, and whether it failed in `outcome`. */
async function showSession(session, hash, { content, outcome, signal }) {
  const { trace, steps, hasFailed } = session;
  const decoder = await decoderFor(steps.frames.map(({ code }) => code));
  const reason = hasFailed ? await reasonOfTrace(trace, decoder) : null;
  const missing = await missingSteps(session, hash);
  if (signal.aborted) return;

  const tag = hasFailed ? h('span.tag.bad', 'Failed') : h('span.tag.good', 'Success');
  replace(outcome, tag);
  const notes = [hasFailed && h('p.failure', reason), missing && h('p.note', missing)];
  if (!steps.count) {
    const note = h('p.note', 'No code ran, so there is nothing to step through.');
    replace(content, notes, note);
    return;
  }

  const shown = new Debugger(session, decoder, signal);
  replace(content, notes, shown.element);
  shown.show(stepIn(placed('step'), session));
}

export default async function view({ signal, rest, query }) {
  const subject = await subjectOf(rest, query);
  const outcome = h('span');
  const progress = h('p.soft', { role: 'status' }, 'Reading the execution…');
  const content = h('div.stack.sections', progress);

  async function load() {
    const session = await debugSession(subject, (text) => setText(progress, text));
    if (!signal.aborted) await showSession(session, subject.hash, { content, outcome, signal });
  }
  load().catch((error) => signal.aborted || replace(content, failure(error)));
  return h('div.stack.sections', heading('Debugger', outcome), h('p', subject.about), content);
}
