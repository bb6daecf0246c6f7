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

/** The snapshots that the node lists, newest last: `{ id, name, block, time }`. */
async function listed() {
  const found = await node.call('tetrad_snapshots');
  return found.map((one) => ({
    id: one.id,
    name: one.name,
    block: Number(one.blockNumber),
    time: one.timestamp && Number(one.timestamp),
  }));
}

/** Takes a snapshot, with a name if the text is not empty. */
async function take(text) {
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
}

/** Reverts the chain to a snapshot. Resolves to whether the node still has it. */
async function revert({ id }) {
  const isDone = await node.call('evm_revert', id);
  // Reverting deletes the snapshot and all later ones.
  const at = taken.findIndex((other) => other.id === id);
  if (at >= 0) taken = taken.slice(0, at);
  return isDone;
}

class Snapshots {
  #signal;
  #isListed;
  #list = h('div.stack');
  #name = h('input', { maxlength: '60', autocomplete: 'off', placeholder: 'Optional' });

  /** `isListed` and `isNamed` say whether the node lists its snapshots and names them. */
  constructor(signal, isListed, isNamed) {
    this.#signal = signal;
    this.#isListed = isListed;
    this.element = card(
      'Snapshots',
      this.#form(isNamed),
      this.#list,
      h('p.soft', 'Reverting deletes the snapshot and all later ones.'),
    );
  }

  #form(isNamed) {
    return action(isNamed ? field('Name', this.#name) : null, 'Take snapshot', async () => {
      const text = this.#name.value.trim();
      await take(text);
      this.#name.value = '';
      await this.draw();
      return text ? `Snapshot "${text}" taken` : 'Snapshot taken';
    });
  }

  async draw() {
    const found = await (this.#isListed ? listed().catch(() => null) : taken);
    // A button with the focus would lose it.
    const isInUse = this.#list.contains(document.activeElement);
    if (this.#signal.aborted || !found || isInUse) return;

    const shown = found.slice(-SHOWN).reverse();
    const rest = found.length - SHOWN;
    replace(
      this.#list,
      shown.length ? shown.map((one) => this.#entry(one)) : h('p.soft', 'No snapshots.'),
      rest > 0 && h('p.soft', `${count(rest)} older ones are not shown.`),
    );
  }

  #entry(snapshot) {
    const { id, name, block, time } = snapshot;
    const number = `#${Number(id)}`;
    return h(
      'div.spread',
      h(
        'span',
        name ? h('strong', name) : number,
        h('span.soft', ` · block ${count(block)}`, time && [' · ', moment(time)]),
      ),
      confirmButton(
        'Revert',
        `Delete all after block ${count(block)}?`,
        () => this.#goBack(snapshot),
        `Revert to ${name ?? number}`,
      ),
    );
  }

  async #goBack(snapshot) {
    const isDone = await revert(snapshot);
    document.activeElement?.blur();
    if (isDone) await node.refresh();
    await this.draw();
    if (!isDone) throw new Error('The node no longer has this snapshot');
    return `Reverted to block ${count(snapshot.block)}`;
  }
}

/** The card; null if the node takes no snapshots. */
export async function snapshotCard(signal) {
  if (!(await node.has('evm_snapshot')) || !(await node.has('evm_revert'))) return null;

  const [isListed, isNamed] = await Promise.all([
    node.has('tetrad_snapshots'),
    node.has('tetrad_snapshot'),
  ]);
  if (genesis !== node.genesis) {
    taken = [];
    genesis = node.genesis;
  }
  const snapshots = new Snapshots(signal, isListed, isNamed);
  whenever(node, 'head', signal, () => snapshots.draw(), 2_000);
  await snapshots.draw();
  return snapshots.element;
}
