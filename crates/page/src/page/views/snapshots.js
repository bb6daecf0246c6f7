// Snapshots of the chain, kept and listed by the node, and reverting to them.

import { action, confirmButton } from '../lib/actions.js';
import { moment } from '../lib/clock.js';
import { card, field, h, replace } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { node, whenever } from '../lib/node.js';

/** Most snapshots that are shown, the newest. */
const SHOWN = 20;
/**
 * Snapshots taken on this page, for nodes that do not list them. They are valid for one chain,
 * which `genesis` identifies.
 */
let taken = [];
let genesis = null;

export async function snapshotCard(signal) {
  if (!(await node.has('evm_snapshot')) || !(await node.has('evm_revert'))) return null;
  const [lists, named] = await Promise.all([
    node.has('tetrad_snapshots'),
    node.has('tetrad_snapshot'),
  ]);
  if (genesis !== node.genesis) [taken, genesis] = [[], node.genesis];
  const list = h('div.stack');
  const name = h('input', { maxlength: '60', autocomplete: 'off', placeholder: 'Optional' });

  /** Newest last: `{ id, name, block, time }`. */
  async function all() {
    if (!lists) return taken;
    const found = await node.call('tetrad_snapshots');
    return found.map((one) => ({
      id: one.id,
      name: one.name,
      block: Number(one.blockNumber),
      time: one.timestamp && Number(one.timestamp),
    }));
  }
  const entry = (one) =>
    h(
      'div.spread',
      h(
        'span',
        one.name ? h('strong', one.name) : `#${Number(one.id)}`,
        h('span.soft', ` · block ${count(one.block)}`, one.time && [' · ', moment(one.time)]),
      ),
      confirmButton(
        'Revert',
        `Delete all after block ${count(one.block)}?`,
        () => back(one),
        `Revert to ${one.name ?? `#${Number(one.id)}`}`,
      ),
    );
  async function draw() {
    const found = await all().catch(() => null);
    if (signal.aborted || !found || list.contains(document.activeElement)) return;
    const shown = found.slice(-SHOWN).reverse();
    replace(
      list,
      shown.length ? shown.map(entry) : h('p.soft', 'No snapshots.'),
      found.length > SHOWN &&
        h('p.soft', `${count(found.length - SHOWN)} older ones are not shown.`),
    );
  }
  async function back(one) {
    const done = await node.call('evm_revert', one.id);
    // Reverting deletes the snapshot and all later ones.
    const at = taken.findIndex((other) => other.id === one.id);
    if (at >= 0) taken = taken.slice(0, at);
    document.activeElement?.blur();
    if (done) await node.refresh();
    await draw();
    if (!done) throw new Error('The node no longer has this snapshot');
    return `Reverted to block ${count(one.block)}`;
  }
  const take = action(named ? field('Name', name) : null, 'Take snapshot', async () => {
    const text = name.value.trim();
    const [id, header] = await Promise.all([
      text ? node.call('tetrad_snapshot', text) : node.call('evm_snapshot'),
      node.call('eth_getBlockByNumber', 'latest', false),
    ]);
    taken.push({
      id,
      name: text || null,
      block: Number(header.number),
      time: Number(header.timestamp),
    });
    name.value = '';
    await draw();
    return text ? `Snapshot "${text}" taken` : 'Snapshot taken';
  });
  whenever(node, 'head', signal, draw, 2_000);
  await draw();
  return card(
    'Snapshots',
    take,
    list,
    h('p.soft', 'Reverting deletes the snapshot and all later ones.'),
  );
}
