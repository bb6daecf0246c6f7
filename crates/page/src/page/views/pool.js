// The transaction pool: what waits, and dropping it.

import { actionButton } from '../lib/actions.js';
import { shortCoins } from '../lib/cells.js';
import { card, h, replace, table } from '../lib/dom.js';
import { count, fee } from '../lib/format.js';
import { addressLink, transactionLink } from '../lib/links.js';
import { mining } from '../lib/mining.js';
import { node, whenever } from '../lib/node.js';
import { mineButtons } from './miningnotice.js';

/** Most transactions that are listed. */
const SHOWN = 50;
/** How often the pool is read, in milliseconds. */
const PACE = 3_000;
const COLUMNS = [
  'Transaction hash',
  'Status',
  'From',
  'To',
  '-Nonce',
  '-Value',
  '-Max fee',
  'Action',
];
const OPTIONS = {
  empty: 'No transactions are waiting.',
  lines: ['line-1', 'line-1', 'line-2', 'line-2.parties-to', '', 'line-1.end', '', 'line-2.end'],
};

/** The transactions of a kind in the answer to `txpool_content`. */
function transactionsOf(content, kind) {
  return Object.values(content[kind])
    .flatMap((byNonce) => Object.values(byNonce))
    .map((transaction) => ({ ...transaction, kind }));
}

/** The cells of a transaction; `drop` is its button. */
function row(transaction, drop) {
  const { hash, kind, from, to, nonce, value, maxFeePerGas, gasPrice } = transaction;
  return [
    transactionLink(hash),
    kind === 'queued'
      ? h('span.tag', { title: 'An earlier nonce of this account is missing' }, 'queued')
      : h('span.tag.accent', 'pending'),
    addressLink(from),
    to ? addressLink(to) : h('span.soft', 'New contract'),
    count(Number(nonce)),
    shortCoins(BigInt(value)),
    fee(maxFeePerGas ?? gasPrice),
    drop,
  ];
}

class PoolCard {
  #signal;
  #canDrop;
  #canDropAll;
  #list = h('div');
  #controls = h('div.row');

  constructor(signal, { canDrop, canDropAll }) {
    this.#signal = signal;
    this.#canDrop = canDrop;
    this.#canDropAll = canDropAll;
    whenever(node, 'head', signal, () => this.#draw(), 1_000);
    mining.addEventListener('change', () => this.#draw(), { signal });
    const timer = setInterval(() => this.#draw(), PACE);
    signal.addEventListener('abort', () => clearInterval(timer));
    this.element = card('Transaction pool', this.#list, this.#controls);
    this.element.classList.add('wide');
  }

  async #draw() {
    const content = await node.call('txpool_content').catch(() => null);
    // A button with the focus would lose it.
    const isInUse = this.#list.contains(document.activeElement);
    if (this.#signal.aborted || !content || isInUse) return;

    const found = [...transactionsOf(content, 'pending'), ...transactionsOf(content, 'queued')];
    this.#drawList(found);
    this.#drawControls(!found.length);
  }

  #drawList(found) {
    const rows = found
      .slice(0, SHOWN)
      .map((transaction) => row(transaction, this.#canDrop && this.#dropButton(transaction)));
    const rest = found.length - SHOWN;
    replace(
      this.#list,
      table(COLUMNS, rows, OPTIONS),
      rest > 0 && h('p.soft', `${count(rest)} more are not shown.`),
    );
  }

  /** The buttons are drawn again only when they change, as one of them may have the focus. */
  #drawControls(isEmpty) {
    const { dataset } = this.#controls;
    if (dataset.empty === String(isEmpty)) return;
    dataset.empty = String(isEmpty);
    replace(
      this.#controls,
      !isEmpty && [mineButtons()[0], this.#canDropAll && this.#dropAllButton()],
    );
  }

  #dropButton({ hash }) {
    const drop = async () => {
      await node.call('anvil_dropTransaction', hash);
      document.activeElement?.blur();
      await this.#draw();
      mining.refresh();
      return 'Transaction dropped';
    };
    return actionButton('Drop', drop, { 'aria-label': `Drop transaction ${hash}` });
  }

  #dropAllButton() {
    return actionButton('Drop all', async () => {
      await node.call('anvil_dropAllTransactions');
      await this.#draw();
      mining.refresh();
      return 'All waiting transactions dropped';
    });
  }
}

/** The card; null if the node does not show its pool. */
export async function poolCard(signal) {
  if (!(await node.has('txpool_content'))) return null;

  const [canDrop, canDropAll] = await Promise.all([
    node.has('anvil_dropTransaction'),
    node.has('anvil_dropAllTransactions'),
  ]);
  return new PoolCard(signal, { canDrop, canDropAll }).element;
}
