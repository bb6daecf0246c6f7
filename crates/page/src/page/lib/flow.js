// The transactions of an action, sent one after the other, with the state of each.

import { accountName } from './accountnames.js';
import { h, icon, replace } from './dom.js';
import { shorten } from './format.js';
import { displayName } from './labels.js';
import { callData, network, read } from './network.js';
import { node } from './node.js';
import { reasonOf } from './reasons.js';
import { wallets } from './wallet.js';

/** How long a transaction may wait before the page asks whether the node mines, in milliseconds. */
const USUAL = 1_500;

/**
 * Whether blocks are mined neither for transactions nor at an interval. Nodes without these methods
 * mine.
 */
async function miningIsOff() {
  if (!network.development) return false;
  const [automatic, interval] = await Promise.all(
    ['anvil_getAutomine', 'anvil_getIntervalMining'].map((method) =>
      node.call(method).catch(() => true),
    ),
  );
  return automatic === false && !interval;
}

/**
 * The step with which an owner approves a spender for an amount of a token; null if the allowance
 * suffices.
 */
export async function approval(token, owner, spender, value) {
  const allowed = await read('Token', token.address, 'allowance', owner, spender);
  if (allowed >= value) return null;
  return {
    name: `Approve ${token.symbol}`,
    transaction: { to: token.address, data: callData('Token', 'approve', spender, value) },
  };
}

/** Throws if the active account is no longer that of an action. */
function checkAccount(account) {
  const now = wallets.current;
  if (now?.address === account?.address && now?.via === account?.via) return;
  const begun =
    displayName(account.address) ?? accountName(account.address) ?? shorten(account.address, 8, 6);
  throw new Error(
    `The active account has changed from ${begun} in the meantime, so nothing more was sent. Start again with the account that you want to use.`,
  );
}

/**
 * A list of steps. `run(steps, account)` sends the transactions in order and resolves to the last
 * receipt; it stops if `account`, the active one when the action began, is no longer active, as the
 * steps rely on each other. `clear()` empties it. A step has a `name` and a `transaction`, and may
 * have `mayFail`: the transaction may be mined and revert.
 */
export function flow() {
  const element = h('ol.steps', { 'aria-live': 'polite' });
  const rows = [];

  function add({ name }, at) {
    const mark = h('span.mark', String(at + 1));
    const state = h('span.soft');
    const row = h('li', mark, h('span', h('span', name), state));
    rows.push({ row, mark, state });
    return row;
  }

  function show(at, kind, ...content) {
    const shown = rows[at];
    // The list may have been emptied while the transaction waited.
    if (!shown) return;
    const { row, mark, state } = shown;
    row.className = kind;
    replace(mark, kind === 'done' ? icon('check') : String(at + 1));
    replace(state, content);
  }

  const link = (hash) => h('a', { href: `#/tx/${hash}` }, h('span.mono', shorten(hash, 10, 4)));

  async function send(step, at, account) {
    try {
      checkAccount(account);
    } catch (error) {
      show(at, 'failed', 'Not sent');
      throw error;
    }
    let timer = null;
    show(at, 'active', wallets.current?.via === 'node' ? 'Sending…' : 'Confirm in your wallet');
    try {
      const receipt = await wallets.send(
        step.transaction,
        (hash) => {
          show(at, 'active', 'Waiting for a block · ', link(hash));
          timer = setTimeout(async () => {
            if (timer === null || !(await miningIsOff()) || timer === null) return;
            show(
              at,
              'active',
              'Mining is off: the transaction waits until a block is mined. ',
              h('a', { href: '#/developer' }, 'Mine a block'),
              ' · ',
              link(hash),
            );
          }, USUAL);
        },
        { mayFail: step.mayFail },
      );
      const reverted = receipt.status !== '0x1';
      show(
        at,
        reverted ? 'failed' : 'done',
        reverted && 'Mined, and failed · ',
        h('a', { href: `#/tx/${receipt.transactionHash}` }, 'View transaction'),
      );
      return receipt;
    } catch (error) {
      show(at, 'failed', error?.code === 4001 ? 'Rejected' : 'Failed');
      throw Object.assign(new Error(reasonOf(error)), { code: error?.code });
    } finally {
      clearTimeout(timer);
      timer = null;
    }
  }

  return {
    element,
    clear: () => {
      rows.length = 0;
      replace(element);
    },
    async run(steps, account) {
      rows.length = 0;
      replace(element, steps.map(add));
      let receipt = null;
      for (const [at, step] of steps.entries()) receipt = await send(step, at, account);
      return receipt;
    },
  };
}
