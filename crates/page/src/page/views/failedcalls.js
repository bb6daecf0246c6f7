// Requests that failed lately and left no trace in a block: calls, estimates and refused
// transactions, with their traces.

import { moment } from '../lib/clock.js';
import { decoderFor } from '../lib/decoder.js';
import { card, failure, h, replace } from '../lib/dom.js';
import { addressesIn, callDebugLink, simulationLink } from '../lib/execution.js';
import { count, shorten } from '../lib/format.js';
import { displayName } from '../lib/labels.js';
import { node, whenever } from '../lib/node.js';
import { callTree } from './calltree.js';

const SHOWN = 25;
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

/** The latest failure as an element; its trace is loaded when it is opened. */
async function entry(one) {
  const call = one.call ?? {};
  const decoder = await decoderFor([call.to]);
  const known = call.to ? decoder.call(call.to, call.input ?? call.data) : null;
  const data =
    one.data && one.data !== '0x'
      ? await decoder.error(one.data, { to: call.to, input: call.input ?? call.data })
      : null;
  const what =
    known?.fragment.name ??
    (call.to ? (call.input ?? call.data)?.slice(0, 10) || 'transfer' : 'new contract');
  const body = h('div');
  const details = h(
    'details.failed-call',
    h(
      'summary',
      h(
        'span.failed-head',
        h('span.tag', one.method),
        h('strong', what),
        call.to && h('span.soft', displayName(call.to) ?? h('span.mono', shorten(call.to, 8, 6))),
        moment(one.time / 1_000 + node.clockOffset),
      ),
      h('span.down', one.reason ?? data ?? one.error),
    ),
    body,
  );
  details.addEventListener('toggle', async () => {
    if (!details.open || body.firstChild) return;
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
  });
  return details;
}

export async function failedCallsCard(signal) {
  if (!(await node.has('tetrad_failedCalls'))) return null;
  const list = h('div');
  let drawn = '';
  async function draw() {
    const found = await node.call('tetrad_failedCalls').catch(() => null);
    if (signal.aborted || !found) return;
    // Their ages follow the clock of the chain.
    const seen = JSON.stringify([
      Math.round(node.clockOffset / 60),
      ...found.slice(0, SHOWN).map((one) => [one.time, one.method, one.error]),
    ]);
    // An open trace is not taken away while it is read.
    const isRead = () =>
      list.querySelector('details[open]') || list.contains(document.activeElement);
    if (seen === drawn || isRead()) return;
    drawn = seen;
    const shown = await Promise.all(found.slice(0, SHOWN).map(entry));
    if (signal.aborted || drawn !== seen) return;
    if (isRead()) {
      drawn = '';
      return;
    }
    replace(
      list,
      shown.length
        ? shown
        : h('p.soft', 'No failed calls, gas estimates or refused transactions in the last hour.'),
      found.length > SHOWN &&
        h('p.soft', `${count(found.length - SHOWN)} older ones are not shown.`),
    );
  }
  whenever(node, 'head', signal, draw, 2_000);
  const timer = setInterval(draw, PACE);
  signal.addEventListener('abort', () => clearInterval(timer));
  await draw();
  const element = card(
    'Failed calls of the last hour',
    list,
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
