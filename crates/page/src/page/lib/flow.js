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

function transactionLink(hash) {
  return h('a', { href: `#/tx/${hash}` }, h('span.mono', shorten(hash, 10, 4)));
}

/** The list of an action's steps, with the state of each. */
class StepList {
  rows = [];
  element = h('ol.steps', { 'aria-live': 'polite' });

  /** Replaces the steps. */
  set(steps) {
    this.rows = steps.map(({ name }, at) => {
      const mark = h('span.mark', String(at + 1));
      const state = h('span.soft');
      return { row: h('li', mark, h('span', h('span', name), state)), mark, state };
    });
    replace(
      this.element,
      this.rows.map(({ row }) => row),
    );
  }

  /** Shows the state of a step, of a kind: active, done or failed. */
  show(at, kind, ...content) {
    const shown = this.rows[at];
    // The list may have been emptied while the transaction waited.
    if (!shown) return;

    const { row, mark, state } = shown;
    row.className = kind;
    replace(mark, kind === 'done' ? icon('check') : String(at + 1));
    replace(state, content);
  }

  /**
   * Shows that a transaction waits for a block, and what to do if none is mined, until the signal
   * aborts.
   */
  showWaiting(at, hash, signal) {
    this.show(at, 'active', 'Waiting for a block · ', transactionLink(hash));

    const timer = setTimeout(async () => {
      if (!(await miningIsOff()) || signal.aborted) return;
      this.show(
        at,
        'active',
        'Mining is off: the transaction waits until a block is mined. ',
        h('a', { href: '#/developer' }, 'Mine a block'),
        ' · ',
        transactionLink(hash),
      );
    }, USUAL);
    signal.addEventListener('abort', () => clearTimeout(timer));
  }

  /** Shows that a transaction was mined, with success or without. */
  showMined(at, receipt) {
    const reverted = receipt.status !== '0x1';
    this.show(
      at,
      reverted ? 'failed' : 'done',
      reverted && 'Mined, and failed · ',
      h('a', { href: `#/tx/${receipt.transactionHash}` }, 'View transaction'),
    );
  }
}

/** Sends the transaction of a step, and resolves to its receipt. */
async function send(list, { transaction, mayFail }, at, account) {
  try {
    checkAccount(account);
  } catch (error) {
    list.show(at, 'failed', 'Not sent');
    throw error;
  }

  list.show(at, 'active', wallets.current?.via === 'node' ? 'Sending…' : 'Confirm in your wallet');
  const done = new AbortController();
  try {
    const sent = (hash) => list.showWaiting(at, hash, done.signal);
    const receipt = await wallets.send(transaction, sent, { mayFail });
    list.showMined(at, receipt);
    return receipt;
  } catch (error) {
    list.show(at, 'failed', error?.code === 4001 ? 'Rejected' : 'Failed');
    throw Object.assign(new Error(reasonOf(error)), { code: error?.code });
  } finally {
    done.abort();
  }
}

/**
 * A list of steps. `run(steps, account)` sends the transactions in order and resolves to the last
 * receipt; it stops if `account`, the active one when the action began, is no longer active, as the
 * steps rely on each other. `clear()` empties it. A step has a `name` and a `transaction`, and may
 * have `mayFail`: the transaction may be mined and revert.
 */
export function flow() {
  const list = new StepList();

  async function run(steps, account) {
    list.set(steps);
    let receipt = null;
    for (const [at, step] of steps.entries()) receipt = await send(list, step, at, account);
    return receipt;
  }

  return { element: list.element, clear: () => list.set([]), run };
}
