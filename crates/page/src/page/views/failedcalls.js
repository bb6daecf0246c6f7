// Calls and transactions that failed lately, with their traces.

import { moment } from '../lib/clock.js';
import { card, failure, h, replace } from '../lib/dom.js';
import { count, shorten } from '../lib/format.js';
import { addressLink, argumentsOf, coins } from '../lib/links.js';
import { explainCall, explainRevert } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';

const SHOWN = 25;
const PACE = 4_000;
/** Most calls of a trace that are shown. */
const MOST = 300;

/** A line for one call of a trace, and those inside it. */
async function traced(call, budget) {
  if (budget.left-- <= 0) return null;
  const known = call.to && !call.type.startsWith('CREATE') ? await explainCall(call.input) : null;
  const name = known?.fragment.name ?? (call.type.startsWith('CREATE') ? 'new contract' : call.input?.length >= 10 ? call.input.slice(0, 10) : 'transfer');
  const reason = call.error && (call.output && call.output !== '0x' ? await explainRevert(call.output) : call.error);
  const inner = [];
  for (const one of call.calls ?? []) inner.push(await traced(one, budget));
  const values = known?.fragment.inputs.length ? h('details', h('summary', 'Arguments'), argumentsOf(known, call.to)) : null;
  return h('li',
    h('div.row', h('span.tag', call.type.toLowerCase()), addressLink(call.to), h('span.tag.accent', name),
      call.value && BigInt(call.value) > 0n && h('span.soft', coins(call.value)), h('span.soft', `${count(Number(call.gasUsed))} gas`), reason && h('span.tag.bad', reason)),
    values, inner.some(Boolean) && h('ul', inner));
}

async function trace(one) {
  const options = { tracer: 'callTracer', ...(one.stateOverrides && { stateOverrides: one.stateOverrides }), ...(one.blockOverrides && { blockOverrides: one.blockOverrides }) };
  const found = await node.call('debug_traceCall', one.call, one.block ?? 'latest', options);
  const budget = { left: MOST };
  const root = await traced(found, budget);
  const note = found.error ? null : h('p.soft', 'It succeeds now: the chain has changed since.');
  return h('div.trace', note, h('ul', root), budget.left <= 0 && h('p.soft', `Only the first ${MOST} calls are shown.`));
}

/** The latest failure as an element; its trace is loaded when it is opened. */
async function entry(one) {
  const call = one.call ?? {};
  const known = call.to ? await explainCall(call.input ?? call.data) : null;
  const data = one.data && one.data !== '0x' ? await explainRevert(one.data) : null;
  const what = known?.fragment.name ?? (call.to ? (call.input ?? call.data)?.slice(0, 10) || 'transfer' : 'new contract');
  const body = h('div');
  const details = h('details.failed-call',
    h('summary',
      h('span.failed-head', h('span.tag', one.method), h('strong', what), call.to && h('span.soft.mono', shorten(call.to, 8, 6)), moment(one.time / 1_000 + node.clockOffset)),
      h('span.down', one.reason ?? data ?? one.error)),
    body);
  details.addEventListener('toggle', async () => {
    if (!details.open || body.firstChild) return;
    if (!one.call) return void replace(body, h('p.soft', 'The call is too long to be kept, so there is no trace.'));
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
    const seen = JSON.stringify(found.slice(0, SHOWN).map((one) => [one.time, one.method, one.error]));
    // An open trace is not taken away while it is read.
    if (seen === drawn || list.querySelector('details[open]') || list.contains(document.activeElement)) return;
    drawn = seen;
    const shown = await Promise.all(found.slice(0, SHOWN).map(entry));
    replace(list, shown.length ? shown : h('p.soft', 'No failed calls, gas estimates or transactions in the last hour.'), found.length > SHOWN && h('p.soft', `${count(found.length - SHOWN)} older ones are not shown.`));
  }
  whenever(node, 'head', signal, draw, 2_000);
  const timer = setInterval(draw, PACE);
  signal.addEventListener('abort', () => clearInterval(timer));
  await draw();
  const element = card('Failed calls of the last hour', list);
  element.classList.add('wide');
  return element;
}
