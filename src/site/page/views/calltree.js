// Internal calls of a transaction, from the call tracer.

import { h } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { addressLink, argumentsOf, coins } from '../lib/links.js';
import { explainCall, explainRevert } from '../lib/network.js';

/** Maximum number of calls rendered; a transaction may make thousands. */
const MOST = 500;

async function entry(call, budget) {
  if (budget.left-- <= 0) return null;
  const known = call.to && !call.type.startsWith('CREATE') ? await explainCall(call.input) : null;
  const value = call.value && call.value !== '0x0' ? h('span.soft', coins(call.value)) : null;
  const failed = call.error ? h('span.tag.bad', call.output && call.output !== '0x' ? await explainRevert(call.output) : call.error) : null;
  const line = h('div.row',
    h('span.tag', call.type.toLowerCase()),
    addressLink(call.to),
    known && h('span.tag.accent', known.fragment.name),
    !known && call.input?.length >= 10 && !call.type.startsWith('CREATE') && h('span.mono.soft', call.input.slice(0, 10)),
    value,
    h('span.soft', `${count(Number(call.gasUsed))} gas`),
    failed);
  const inner = [];
  for (const one of call.calls ?? []) inner.push(await entry(one, budget));
  const detail = known && argumentsOf(known, call.to);
  return h('li', line, detail && h('details', h('summary', 'Arguments'), detail), inner.some(Boolean) && h('ul', inner));
}

/** The call tree as an element. */
export async function callTree(trace) {
  const budget = { left: MOST };
  const root = await entry(trace, budget);
  return h('div.trace', h('ul', root), budget.left <= 0 && h('p.soft', `Only the first ${MOST} calls are shown.`));
}
