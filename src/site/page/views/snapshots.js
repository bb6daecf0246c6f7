// Snapshots of the chain, and reverting to them.

import { card, h, replace, toast } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { node } from '../lib/node.js';

/** Snapshots taken on this page; the node does not list them. They are valid for one chain, which `genesis` identifies. */
let taken = [];
let genesis = null;

export async function snapshotCard(signal) {
  if (!(await node.has('evm_snapshot')) || !(await node.has('evm_revert'))) return null;
  if (genesis !== node.genesis) [taken, genesis] = [[], node.genesis];
  const list = h('div.stack');
  const draw = () => replace(list, taken.length
    ? taken.map((one) => h('div.spread', h('span', `#${Number(one.id)} at block ${count(one.block)}`, h('span.soft', ` · ${one.at}`)), h('button', { type: 'button', onclick: () => back(one) }, 'Revert')))
    : h('p.soft', 'No snapshots taken on this page.'));
  const back = async (one) => {
    try {
      const done = await node.call('evm_revert', one.id);
      // Reverting deletes the snapshot and all later ones.
      taken = taken.slice(0, taken.indexOf(one));
      if (!done) throw new Error('the node no longer has this snapshot');
      toast(`Reverted to block ${count(one.block)}`, 'good');
    } catch (error) {
      toast(error.message, 'error');
    }
    if (!signal.aborted) draw();
  };
  const take = h('button', { type: 'button' }, 'Take snapshot');
  take.addEventListener('click', async () => {
    try {
      const [id, block] = await Promise.all([node.call('evm_snapshot'), node.call('eth_blockNumber')]);
      taken.push({ id, block: Number(block), at: new Date().toLocaleTimeString('en-GB') });
      draw();
    } catch (error) {
      toast(error.message, 'error');
    }
  });
  draw();
  return card('Snapshots', h('div.row', take), list);
}
