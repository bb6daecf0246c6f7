// Requests that failed lately and left no trace in a block: calls, estimates and refused
// transactions, with their traces.

import { moment } from '../lib/clock.js';
import { decoderFor } from '../lib/decoder.js';
import { card, failure, h, replace } from '../lib/dom.js';
import { addressesIn, callDebugLink, simulationLink } from '../lib/execution.js';
import { count, shorten } from '../lib/format.js';
import { displayName } from '../lib/labels.js';
import { node, repeat, whenever } from '../lib/node.js';
import { callTree } from './calltree.js';

/** Maximum number of failures that are shown. */
const SHOWN = 25;
/** How often they are read without a new block, in milliseconds. */
const PACE = 4_000;

/** The link to the debugger for a failed call, or null: it cannot repeat another block's header. */
function debugLink({ call, block, stateOverrides, blockOverrides }) {
  if (blockOverrides) return null;
  const number = /^0x[0-9a-f]{1,12}$/i.test(block ?? '') ? Number(block) : 'latest';
  const value = call.value ? BigInt(call.value) : null;
  const gas = call.gas ? BigInt(call.gas) : null;
  const overrides = stateOverrides ? JSON.stringify(stateOverrides) : null;
  const link = simulationLink({
    from: call.from,
    to: call.to ?? 'none',
    value,
    data: call.input ?? call.data,
    gas,
    block: number,
    overrides,
  });
  return callDebugLink(link, true);
}

/** The trace of a failed call, repeated now. */
async function trace(one) {
  const options = {
    tracer: 'callTracer',
    ...(one.stateOverrides && { stateOverrides: one.stateOverrides }),
    ...(one.blockOverrides && { blockOverrides: one.blockOverrides }),
  };
  const found = await node.call('debug_traceCall', one.call, one.block ?? 'latest', options);
  const decoder = await decoderFor(addressesIn(found));
  const note = found.error ? null : h('p.soft', 'It succeeds now: the chain has changed since.');
  const link = found.error ? debugLink(one) : null;
  return [
    note,
    link && h('p', h('a', { href: link }, 'Go to the failing line')),
    callTree(found, decoder).element,
  ];
}

/** What a failure is called: the function, its selector, or what else the call was for. */
function nameOf(call, data, decoder) {
  if (!call.to) return 'new contract';
  return decoder.call(call.to, data)?.fragment.name ?? (data?.slice(0, 10) || 'transfer');
}

/** Loads the trace of a failure into an element. */
async function showTrace(body, one) {
  if (!one.call)
    return void replace(
      body,
      h('p.soft', 'The call is too long to be kept, so there is no trace.'),
    );
  replace(body, h('p.soft', 'Loading trace…'));
  try {
    replace(body, await trace(one));
  } catch (error) {
    replace(body, failure(error));
  }
}

/** A failure as an element; its trace is loaded when it is opened. */
async function entry(one) {
  const call = one.call ?? {};
  const data = call.input ?? call.data;
  const decoder = await decoderFor([call.to]);
  const name = nameOf(call, data, decoder);
  const reason =
    one.data && one.data !== '0x'
      ? await decoder.error(one.data, { to: call.to, input: data })
      : null;

  const body = h('div');
  const details = h(
    'details.failed-call',
    h(
      'summary',
      h(
        'span.failed-head',
        h('span.tag', one.method),
        h('strong', name),
        call.to && h('span.soft', displayName(call.to) ?? h('span.mono', shorten(call.to, 8, 6))),
        moment(one.time / 1_000 + node.clockOffset),
      ),
      h('span.down', one.reason ?? reason ?? one.error),
    ),
    body,
  );
  details.addEventListener('toggle', () => {
    if (details.open && !body.firstChild) showTrace(body, one);
  });
  return details;
}

/** The failures as entries, the newest first. */
class FailureList {
  #signal;
  /** What is shown, as a text; empty to draw in any case. */
  #drawn = '';
  element = h('div');

  constructor(signal) {
    this.#signal = signal;
  }

  /** Whether an entry is open or focused: an open trace is not taken away while it is read. */
  get #isRead() {
    return (
      this.element.querySelector('details[open]') || this.element.contains(document.activeElement)
    );
  }

  async draw() {
    const found = await node.call('tetrad_failedCalls').catch(() => null);
    if (this.#signal.aborted || !found) return;
    const newest = found.slice(0, SHOWN);
    // Their ages follow the clock of the chain.
    const seen = JSON.stringify([
      Math.round(node.clockOffset / 60),
      ...newest.map((one) => [one.time, one.method, one.error]),
    ]);
    if (seen === this.#drawn || this.#isRead) return;

    this.#drawn = seen;
    const entries = await Promise.all(newest.map(entry));
    if (this.#signal.aborted || this.#drawn !== seen) return;
    if (this.#isRead) this.#drawn = '';
    else this.#show(entries, found.length - entries.length);
  }

  #show(entries, more) {
    replace(
      this.element,
      entries.length
        ? entries
        : h('p.soft', 'No failed calls, gas estimates or refused transactions in the last hour.'),
      more > 0 && h('p.soft', `${count(more)} older ones are not shown.`),
    );
  }
}

/** The card; null if the node does not keep failed calls. */
export async function failedCallsCard(signal) {
  if (!(await node.has('tetrad_failedCalls'))) return null;
  const list = new FailureList(signal);
  const draw = () => list.draw();
  whenever(node, 'head', signal, draw, 2_000);
  repeat(PACE, signal, draw);
  await draw();

  const element = card(
    'Failed calls of the last hour',
    list.element,
    h(
      'p.soft',
      'Transactions that were mined and failed are in their blocks: ',
      h('a', { href: '#/explorer?failed=1' }, 'failed transactions'),
      '.',
    ),
  );
  element.classList.add('wide');
  return element;
}
