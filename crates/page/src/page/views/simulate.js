// Simulation of a call, such as that of a transaction with changes, beside what the transaction
// did. Nothing is sent.

import { card, copyButton, h, heading, replace } from '../lib/dom.js';
import { callDebugLink, outcomeOf, simulate, traceTransaction } from '../lib/execution.js';
import { addressLink, blockLink, transactionLink } from '../lib/links.js';
import { minedTransaction, parseOverrides, placeOf, startingFrom } from '../lib/simulation.js';
import { CallForm } from './callform.js';
import { comparison } from './comparison.js';

/** Parameters of the link with which there is something to simulate. */
const PARAMETERS = ['tx', 'data', 'value'];

/** What a receipt says of a transaction's outcome, where the node does not trace. */
function outcomeOfReceipt(receipt) {
  const isSuccess = receipt.status === '0x1';
  return {
    status: isSuccess,
    output: null,
    error: isSuccess ? null : 'failed',
    gasUsed: BigInt(receipt.gasUsed),
    logs: receipt.logs,
    trace: null,
    diff: null,
  };
}

/** A transaction with its receipt and its outcome, or null without a hash. */
async function originalOf(hash) {
  const mined = await minedTransaction(hash);
  if (!mined) return null;
  const { transaction, receipt } = mined;
  if (!receipt) return { transaction, receipt, outcome: null };

  const traced = await traceTransaction(hash);
  const outcome = traced ? outcomeOf(traced) : outcomeOfReceipt(receipt);
  return { transaction, receipt, outcome };
}

/** Links to the debugger and to this simulation. */
function shareLinks(link, outcome) {
  const debugText = outcome.status ? 'Debug' : 'Go to the failing line';
  return [
    outcome.trace && h('a.button', { href: callDebugLink(link, !outcome.status) }, debugText),
    copyButton(() => new URL(link, location.href).href, 'Copy link to this simulation'),
  ];
}

/** Runs the call in a form, and shows in `output` what it did. */
async function run(form, original, output, signal) {
  form.submit.disabled = true;
  try {
    const call = form.call();
    const place = form.place();
    const outcome = await simulate(call, {
      ...placeOf(place, original),
      overrides: parseOverrides(form.overrides()),
    });
    const link = form.linkOf(call, place);
    const cards = await comparison(outcome, original, call);
    if (signal.aborted) return;

    history.replaceState(history.state, '', link);
    replace(form.share, shareLinks(link, outcome));
    replace(output, cards);
  } catch (error) {
    if (!signal.aborted) replace(output, h('div.failure', { role: 'alert' }, error.message));
  }
  form.submit.disabled = false;
}

/** The transaction that is simulated with changes. */
function about({ transaction, receipt }) {
  return h(
    'p',
    'Transaction ',
    transactionLink(transaction.hash),
    receipt ? [' in block ', blockLink(Number(receipt.blockNumber))] : ' (pending)',
    ' from ',
    addressLink(transaction.from),
  );
}

function lead() {
  return h(
    'p.lead',
    'Executes a call on the state of a block, from any account. Nothing is sent, and nothing changes.',
  );
}

export default async function view({ query, signal }) {
  const original = await originalOf(query.get('tx'));
  const form = new CallForm(startingFrom(query, original), original);
  const output = h('div.stack.sections', { 'aria-live': 'polite' });
  form.element.addEventListener('submit', (event) => {
    event.preventDefault();
    run(form, original, output, signal);
  });

  await form.follow();
  if (PARAMETERS.some((name) => query.has(name))) run(form, original, output, signal);
  return [
    heading(original ? 'Replay with changes' : 'Simulate a call'),
    original ? about(original) : lead(),
    card('Call', form.element),
    output,
  ];
}
