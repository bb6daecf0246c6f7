// The other nodes: those of the cluster, and the one that was forked.

import { card, facts, h, replace, table } from '../lib/dom.js';
import { count, percent } from '../lib/format.js';
import { node, repeat } from '../lib/node.js';

/**
 * Draws now, and at an interval if there was something to draw, which `draw` says. Intervals are in
 * milliseconds.
 */
async function poll(draw, interval, signal) {
  if (await draw()) repeat(interval, signal, draw);
}

function nodeTable(state) {
  const end = Math.max(...state.nodes.map((one) => one.height));
  const rows = state.nodes.map((one) => [
    one.node === state.node ? h('strong', one.node) : one.node,
    one.role,
    count(one.epoch),
    count(one.height),
    count(end - one.height),
    count(one.block),
    one.version,
  ]);
  return table(['Node', 'Role', '-Epoch', '-Log entries', '-Behind', '-Block', 'Version'], rows);
}

/** The card with the nodes of the cluster, hidden if there is none. */
export function clusterCard(signal) {
  const nodes = h('div');
  const element = card('Nodes', nodes);
  element.hidden = true;

  async function draw() {
    const state = await fetch('/health', { signal })
      .then((answer) => answer.json())
      .catch(() => null);
    if (signal.aborted || !state?.nodes) return false;
    replace(nodes, nodeTable(state));
    element.hidden = false;
    return true;
  }

  poll(draw, 1_000, signal);
  return element;
}

function forkFacts({ blockNumber, requests, retries, bytes, waitedMs, hits, misses }) {
  const lookups = hits + misses;
  const known = lookups > 0 ? ` (${percent(hits / lookups, 1)})` : '';
  return facts([
    ['Forked block', count(Number(blockNumber))],
    ['HTTP requests', `${count(requests)}, ${count(retries)} of them again`],
    ['Received', `${(bytes / 2 ** 20).toFixed(1)} MB`],
    ['Waited', `${(waitedMs / 1_000).toFixed(1)} s`],
    ['Already known', `${count(hits)} of ${count(lookups)} lookups${known}`],
  ]);
}

/** The card with what was asked of the forked node, hidden if there is none. */
export function forkCard(signal) {
  const asked = h('div');
  const element = card(
    'Forked node',
    h('p.soft', 'What this node asked of the other one since the fork began.'),
    asked,
  );
  element.hidden = true;

  async function draw() {
    const stats = (await node.has('tetrad_forkStats'))
      ? await node.call('tetrad_forkStats').catch(() => null)
      : null;
    if (signal.aborted || !stats) return false;
    const calls = Object.entries(stats.calls).map(([method, times]) => [
      h('code', method),
      count(times),
    ]);
    replace(asked, forkFacts(stats), table(['Method', '-Calls'], calls));
    element.hidden = false;
    return true;
  }

  poll(draw, 3_000, signal);
  return element;
}
