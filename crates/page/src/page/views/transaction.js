// One transaction: what it did, fields, transfers, decoded input, calls, events and state changes.

import { signature } from '../lib/abi.js';
import { card, h, heading, replace, setText } from '../lib/dom.js';
import { addressesIn, simulationLink, transactionDebugLink } from '../lib/execution.js';
import { count, counted } from '../lib/format.js';
import { argumentsOf } from '../lib/links.js';
import { node, whenever } from '../lib/node.js';
import { NotFound } from '../lib/notfound.js';
import { placed, setPlace } from '../lib/place.js';
import { tabList } from '../lib/tabs.js';
import { transactionDetails } from '../lib/transactiondetails.js';
import { callTree } from './calltree.js';
import { cosmosCard, signedCard } from './cosmoscards.js';
import { flame } from './flame.js';
import { eventList, hexBlock, rawCall, switcher, transferTable } from './parts.js';
import { addressesInLogs, stateChanges } from './statechanges.js';
import { transactionFacts } from './transactionfacts.js';
import { caughtNote, outcomeSentence } from './transactionoutcome.js';

/** The input of a call of which no ABI is known. */
function unknownInputCard({ input, to }, isContract) {
  const href = isContract ? `#/contract/${to}?tab=abi` : '#/interfaces';
  return card(
    'Input data',
    h(
      'p.soft',
      `No known ABI has the selector ${input.slice(0, 10)}. `,
      h('a', { href }, 'Add an ABI'),
    ),
    rawCall(input),
  );
}

/** The arguments of a call. */
function decodedInput({ input, to }, known) {
  return [
    h(
      'p.soft',
      h('span.mono', signature(known.fragment)),
      ' · selector ',
      h('span.mono', input.slice(0, 10)),
    ),
    argumentsOf(known, to, { types: true }) ?? h('p.soft', 'No arguments'),
  ];
}

function inputCard({ transaction, known, isContract }) {
  const { input, to } = transaction;
  if (input === '0x') return null;
  if (!to) {
    const size = `${count(input.length / 2 - 1)} bytes`;
    return card('Creation code', h('details', h('summary', size), hexBlock(input)));
  }
  if (!known) return unknownInputCard(transaction, isContract);

  const { control, content } = switcher('Form of the input', [
    ['Decoded', () => decodedInput(transaction, known)],
    ['Raw', () => rawCall(input)],
  ]);
  return card(
    h('span.row', 'Input data', h('span.tag.accent', known.fragment.name)),
    control,
    content,
  );
}

/** The calls of a transaction; null without a trace, or if there is nothing to see in it. */
function callCards({ trace }, decoder, transaction) {
  if (transaction.input === '0x' && !trace.calls?.length) return null;

  const tree = callTree(trace, decoder);
  return [
    trace.calls?.length > 0 && card('Gas by call', flame(trace, decoder, tree.reveal)),
    card('Call tree', tree.element),
  ];
}

/** What a transaction changed in the state. */
function stateCard({ trace, diff }, logs, transaction, block) {
  const roles = new Map([
    [block?.miner?.toLowerCase(), 'Fee recipient'],
    [transaction.from.toLowerCase(), 'Sender'],
  ]);

  const keys = [
    transaction.from,
    transaction.to,
    ...addressesInLogs(logs),
    ...addressesIn(trace),
  ].filter(Boolean);
  return card('State changes', stateChanges(diff, keys, roles));
}

/** The link to the simulation of a transaction with changes. */
function replayLink(transaction) {
  return h('a.button', { href: simulationLink({ tx: transaction.hash }) }, 'Replay with changes');
}

/**
 * The link to the debugger, which begins at the failing line of a failed transaction; none where no
 * code ran.
 */
function debugLink({ transaction, receipt, trace, cosmos, isContract }) {
  if (!trace || cosmos || !(isContract || !transaction.to)) return null;
  const { hash } = transaction;
  const isFailed = receipt.status === '0x0';
  return h(
    'a.button',
    { href: transactionDebugLink(hash, isFailed) },
    isFailed ? 'Go to the failing line' : 'Debug',
  );
}

function titleOf({ transaction, cosmos, known }) {
  if (cosmos) return 'Cosmos transaction';
  if (known) return known.fragment.name;
  if (!transaction.to) return 'Contract creation';
  return transaction.input === '0x' ? 'Transfer' : 'Transaction';
}

function statusTag(receipt) {
  if (!receipt) return h('span.tag', 'Pending');
  return receipt.status === '0x0' ? h('span.tag.bad', 'Failed') : h('span.tag.good', 'Success');
}

function titleBar(details) {
  const { transaction, receipt, cosmos } = details;
  return heading(
    titleOf(details),
    cosmos && h('span.tag.accent', 'Cosmos'),
    statusTag(receipt),
    debugLink(details),
    receipt && !cosmos && replayLink(transaction),
  );
}

function overview(details, confirmations) {
  const { transaction, cosmos, cosmosFound, transfers, tokens } = details;
  return [
    transactionFacts(details, confirmations),
    cosmosCard(cosmosFound),
    transfers.length
      ? card(`Transfers (${count(transfers.length)})`, transferTable(transfers, tokens))
      : null,
    cosmos ? signedCard(transaction.input) : inputCard(details),
  ];
}

/** The tabs of a transaction that have content. */
function tabsOf(details, confirmations) {
  const { transaction, receipt, cosmos, traced, block, logs, decoder } = details;
  // The input of a Cosmos transaction is no call, and its transfers are listed already.
  const calls = traced && !cosmos ? callCards(traced, decoder, transaction) : null;
  return [
    { id: 'overview', title: 'Overview', make: () => overview(details, confirmations) },
    receipt && {
      id: 'events',
      title: `Events (${count(logs.length)})`,
      make: () => card(`Events (${count(logs.length)})`, eventList(logs, decoder)),
    },
    calls && { id: 'calls', title: 'Calls', make: () => calls },
    traced?.diff && {
      id: 'state',
      title: 'State changes',
      make: () => stateCard(traced, logs, transaction, block),
    },
  ].filter(Boolean);
}

/** The cards of a transaction, and the element that shows its confirmations. */
async function draw(transaction, receipt, signal) {
  const details = await transactionDetails(transaction, receipt);
  const confirmations = h('span.tag.confirmations');
  const cards = [
    titleBar(details),
    outcomeSentence(details),
    caughtNote(details),
    tabList({
      label: 'Parts of the transaction',
      tabs: tabsOf(details, confirmations),
      selected: placed('tab') ?? 'overview',
      signal,
      chosen: (tab) => setPlace({ tab: tab === 'overview' ? null : tab }),
    }),
  ];
  return { cards, confirmations };
}

/** A transaction that is drawn again once it is in a block, and then counts its confirmations. */
class TransactionView {
  #transaction;
  /** Null while the transaction is pending. */
  #receipt;
  #confirmations = null;
  #signal;
  element = h('div.stack.sections');

  constructor(transaction, receipt, signal) {
    this.#transaction = transaction;
    this.#receipt = receipt;
    this.#signal = signal;
  }

  async draw() {
    const { cards, confirmations } = await draw(this.#transaction, this.#receipt, this.#signal);
    if (this.#signal.aborted) return;
    this.#confirmations = confirmations;
    replace(this.element, cards);
  }

  /** Goes on to the newest block. */
  async follow() {
    const { hash } = this.#transaction;
    if (!this.#receipt) {
      const mined = await node.call('eth_getTransactionReceipt', hash).catch(() => null);
      if (!mined || this.#signal.aborted || this.#receipt) return;
      this.#receipt = mined;
      this.#transaction = { ...this.#transaction, blockNumber: mined.blockNumber };
      await this.draw();
      if (this.#signal.aborted) return;
    }
    this.#countConfirmations();
  }

  #countConfirmations() {
    const own = Number(this.#receipt.blockNumber);
    const newest = Number(node.head?.number ?? own);
    setText(this.#confirmations, counted(Math.max(1, newest - own + 1), 'confirmation'));
  }
}

export default async function view({ signal, rest: [hash = ''] }) {
  if (!/^0x[0-9a-f]{64}$/i.test(hash))
    throw new Error(`not a transaction hash: ${hash.slice(0, 80)}`);

  const [transaction, receipt] = await Promise.all([
    node.call('eth_getTransactionByHash', hash),
    node.call('eth_getTransactionReceipt', hash),
  ]);
  if (!transaction)
    throw new NotFound(
      'Transaction',
      `no block has the transaction ${hash}, and it does not wait for one`,
    );

  const shown = new TransactionView(transaction, receipt, signal);
  await shown.draw();
  whenever(node, 'head', signal, () => shown.follow(), 1_000);
  return shown.element;
}
