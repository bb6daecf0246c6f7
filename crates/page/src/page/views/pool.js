// The transaction pool: what waits, and dropping it.

import { actionButton } from '../lib/actions.js';
import { shortCoins } from '../lib/cells.js';
import { card, h, replace, table } from '../lib/dom.js';
import { count, fee } from '../lib/format.js';
import { addressLink, transactionLink } from '../lib/links.js';
import { mining } from '../lib/mining.js';
import { node, whenever } from '../lib/node.js';
import { mineButtons } from './miningnotice.js';

const SHOWN = 50;
const PACE = 3_000;

export async function poolCard(signal) {
  if (!(await node.has('txpool_content'))) return null;
  const [drop, dropAll] = await Promise.all([
    node.has('anvil_dropTransaction'),
    node.has('anvil_dropAllTransactions'),
  ]);
  const list = h('div');
  const all = h('div.row');

  async function draw() {
    const content = await node.call('txpool_content').catch(() => null);
    if (signal.aborted || !content || list.contains(document.activeElement)) return;
    const each = (kind) =>
      Object.values(content[kind])
        .flatMap((byNonce) => Object.values(byNonce))
        .map((one) => ({ ...one, kind }));
    const found = [...each('pending'), ...each('queued')];
    const rows = found.slice(0, SHOWN).map((one) => [
      transactionLink(one.hash),
      one.kind === 'queued'
        ? h('span.tag', { title: 'An earlier nonce of this account is missing' }, 'queued')
        : h('span.tag.accent', 'pending'),
      addressLink(one.from),
      one.to ? addressLink(one.to) : h('span.soft', 'New contract'),
      count(Number(one.nonce)),
      shortCoins(BigInt(one.value)),
      fee(one.maxFeePerGas ?? one.gasPrice),
      drop &&
        actionButton(
          'Drop',
          async () => {
            await node.call('anvil_dropTransaction', one.hash);
            document.activeElement?.blur();
            await draw();
            mining.refresh();
            return 'Transaction dropped';
          },
          { 'aria-label': `Drop transaction ${one.hash}` },
        ),
    ]);
    const options = {
      empty: 'No transactions are waiting.',
      lines: [
        'line-1',
        'line-1',
        'line-2',
        'line-2.parties-to',
        '',
        'line-1.end',
        '',
        'line-2.end',
      ],
    };
    replace(
      list,
      table(
        ['Transaction hash', 'Status', 'From', 'To', '-Nonce', '-Value', '-Max fee', 'Action'],
        rows,
        options,
      ),
      found.length > SHOWN && h('p.soft', `${count(found.length - SHOWN)} more are not shown.`),
    );
    const empty = !found.length;
    if (all.dataset.empty === String(empty)) return;
    all.dataset.empty = String(empty);
    replace(
      all,
      !empty && [
        mineButtons()[0],
        dropAll &&
          actionButton('Drop all', async () => {
            await node.call('anvil_dropAllTransactions');
            await draw();
            mining.refresh();
            return 'All waiting transactions dropped';
          }),
      ],
    );
  }
  whenever(node, 'head', signal, draw, 1_000);
  mining.addEventListener('change', draw, { signal });
  const timer = setInterval(draw, PACE);
  signal.addEventListener('abort', () => clearInterval(timer));
  const element = card('Transaction pool', list, all);
  element.classList.add('wide');
  return element;
}
