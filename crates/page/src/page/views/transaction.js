// One transaction: what it did, fields, transfers, decoded input, calls, events and state changes.

import { signature } from '../lib/abi.js';
import { dateAndAge } from '../lib/clock.js';
import { card, copyButton, facts, h, heading, replace, setText } from '../lib/dom.js';
import { contractAt } from '../lib/contracts.js';
import { decoderFor } from '../lib/decoder.js';
import {
  addressesIn,
  failedPath,
  simulationLink,
  traceTransaction,
  transactionDebugLink,
} from '../lib/execution.js';
import { caughtCalls, reasonOfTrace } from '../lib/failures.js';
import { count, counted, fee, percent } from '../lib/format.js';
import { KINDS, accessListText } from '../lib/kinds.js';
import { addressLink, argumentsOf, blockLink, coins, transactionLink } from '../lib/links.js';
import { coinTransfers, tokensOf, tokenTransfers } from '../lib/movements.js';
import { nameOf, network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { NotFound } from '../lib/notfound.js';
import { placed, setPlace } from '../lib/place.js';
import { summary } from '../lib/summary.js';
import { tabList } from '../lib/tabs.js';
import { callName, callTree, knownCall } from './calltree.js';
import { flame } from './flame.js';
import {
  addressesInLogs,
  eventList,
  hexBlock,
  rawCall,
  stateChanges,
  switcher,
  transferTable,
} from './parts.js';

/**
 * Whether a transaction is one of the Cosmos SDK, which Ethereum's interfaces show as a legacy
 * transaction without a signature.
 */
function isCosmos({ r, s, v, input, type }) {
  return (
    Boolean(network.addresses) &&
    Number(type) === 0 &&
    /^0x0*$/.test(r ?? '0x1') &&
    /^0x0*$/.test(s ?? '0x1') &&
    /^0x0*$/.test(v ?? '0x1') &&
    input !== '0x'
  );
}

async function cosmosTransaction(hash) {
  const response = await fetch(`cosmos/tx/v1beta1/txs/${hash.slice(2).toUpperCase()}`);
  return response.ok ? await response.json() : null;
}

/**
 * The reason of a failed transaction, from its trace; without one, from the same call on the parent
 * block's state.
 */
async function reasonOf(transaction, receipt, trace, decoder) {
  if (receipt?.status !== '0x0') return null;
  if (trace?.error) return reasonOfTrace(trace, decoder);
  const { from, to, input, value, gas } = transaction;
  try {
    await node.call(
      'eth_call',
      { from, to, input, value, gas },
      `0x${(Number(receipt.blockNumber) - 1).toString(16)}`,
    );
  } catch (error) {
    return error.data !== null && error.data !== undefined
      ? decoder.error(error.data, { to, input })
      : error.message;
  }
  return Number(receipt.gasUsed) >= Number(gas)
    ? 'out of gas'
    : 'failed because of an earlier transaction in the same block';
}

/** Where a failure began, if that was in a call inside the transaction. */
function origin(trace, decoder) {
  const path = trace ? failedPath(trace) : [];
  const call = path.at(-1);
  if (path.length < 2 || !call.to) return null;
  return [
    ', in ',
    addressLink(call.to),
    '.',
    h('strong', callName(call, knownCall(call, decoder))),
  ];
}

/** Most caught failures that are listed one by one. */
const MOST_CAUGHT = 3;

/**
 * Calls inside a successful transaction that failed, which its outcome does not show; null without
 * any.
 */
async function caughtNote(trace, decoder, hash) {
  const caught = trace ? caughtCalls(trace) : [];
  if (!caught.length) return null;
  const line = async (call) => {
    const reason = await reasonOfTrace(call, decoder);
    return h(
      'li',
      call.to && [addressLink(call.to), '.'],
      h('strong', callName(call, knownCall(call, decoder))),
      ': ',
      reason,
    );
  };
  const lines = await Promise.all(caught.slice(0, MOST_CAUGHT).map(line));
  const number = counted(caught.length, 'inner call failed', 'inner calls failed');
  return h(
    'div.note.caught',
    h(
      'p',
      `${number}, and the caller went on. `,
      h('a', { href: `#/tx/${hash}?tab=calls` }, 'Show the calls'),
    ),
    h('ul.plain', lines),
    caught.length > MOST_CAUGHT && h('p', `and ${count(caught.length - MOST_CAUGHT)} more`),
  );
}

function inputCard(transaction, known, isContract) {
  if (transaction.input === '0x') return null;
  const size = `${count(transaction.input.length / 2 - 1)} bytes`;
  if (!transaction.to)
    return card('Creation code', h('details', h('summary', size), hexBlock(transaction.input)));
  if (!known) {
    return card(
      'Input data',
      h(
        'p.soft',
        `No known ABI has the selector ${transaction.input.slice(0, 10)}. `,
        h(
          'a',
          { href: isContract ? `#/contract/${transaction.to}?tab=abi` : '#/interfaces' },
          'Add an ABI',
        ),
      ),
      rawCall(transaction.input),
    );
  }
  const decoded = () => [
    h(
      'p.soft',
      h('span.mono', signature(known.fragment)),
      ' · selector ',
      h('span.mono', transaction.input.slice(0, 10)),
    ),
    argumentsOf(known, transaction.to, { types: true }) ?? h('p.soft', 'No arguments'),
  ];
  const { control, content } = switcher('Form of the input', [
    ['Decoded', decoded],
    ['Raw', () => rawCall(transaction.input)],
  ]);
  return card(
    h('span.row', 'Input data', h('span.tag.accent', known.fragment.name)),
    control,
    content,
  );
}

/**
 * Rows about fees: the fee itself, what of it was burnt and what went to the proposer, and the
 * difference to the maximum.
 */
function feeRows(transaction, receipt, block) {
  const price = BigInt(receipt.effectiveGasPrice);
  const gas = BigInt(receipt.gasUsed);
  const base = block?.baseFeePerGas ? BigInt(block.baseFeePerGas) : null;
  const most = transaction.maxFeePerGas ? BigInt(transaction.maxFeePerGas) : null;
  const blobs = receipt.blobGasUsed
    ? BigInt(receipt.blobGasUsed) * BigInt(receipt.blobGasPrice ?? 0)
    : 0n;
  return [
    [
      'Transaction fee',
      coins(price * gas + blobs, 12),
      blobs > 0n && h('span.soft', ` · ${coins(blobs, 12)} of it for blobs`),
    ],
    [
      'Effective gas price',
      fee(price),
      base !== null &&
        h(
          'span.soft',
          ` · base fee ${fee(base)} + priority fee ${fee(price > base ? price - base : 0n)}`,
        ),
      most !== null && h('span.soft', ` · maximum ${fee(most)}`),
    ],
    base !== null && ['Burnt', coins(base * gas, 12)],
    base !== null && ['Priority fee paid', coins((price > base ? price - base : 0n) * gas, 12)],
    most !== null && [
      'Savings',
      coins((most - price) * gas, 12),
      h('span.soft', ' below the maximum fee'),
    ],
  ];
}

function cosmosCard(found) {
  if (!found) return null;
  const { tx, tx_response: response } = found;
  const list = (amounts) =>
    (amounts ?? [])
      .map(({ amount, denom }) =>
        denom === network.addresses?.nativeCoin?.denomination
          ? coins(amount, 18)
          : `${amount} ${denom}`,
      )
      .join(', ') || '–';
  const messages = (tx?.body?.messages ?? []).slice(0, 50).map((message) => {
    const { '@type': type, ...rest } = message;
    return h(
      'div.log',
      h('div.row', h('span.tag.accent', String(type).split('.').at(-1)), h('span.soft.mono', type)),
      h(
        'table.arguments',
        h(
          'tbody',
          Object.entries(rest).map(([name, value]) =>
            h(
              'tr',
              h('td', name),
              h(
                'td.mono',
                typeof value === 'string'
                  ? value
                  : name === 'amount'
                    ? list(value)
                    : JSON.stringify(value),
              ),
            ),
          ),
        ),
      ),
    );
  });
  return card(
    'Cosmos transaction',
    facts([
      ['Cosmos hash', h('span.mono', response?.txhash), copyButton(response?.txhash ?? '')],
      ['Height', response && blockLink(response.height)],
      response?.code ? ['Code', `${response.code} (${response.codespace})`] : null,
      ['Memo', tx?.body?.memo || h('span.soft', 'None')],
      ['Fee', list(tx?.auth_info?.fee?.amount)],
    ]),
    h('h3', 'Messages'),
    messages,
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

/** Everything about a transaction that the view shows. */
async function load(transaction, receipt) {
  const cosmos = isCosmos(transaction);
  const [traced, block, cosmosFound] = await Promise.all([
    receipt ? traceTransaction(transaction.hash) : null,
    receipt ? node.call('eth_getBlockByHash', receipt.blockHash, false).catch(() => null) : null,
    cosmos ? cosmosTransaction(transaction.hash).catch(() => null) : null,
  ]);
  const trace = traced?.trace ?? null;
  const logs = receipt?.logs ?? [];
  const decoder = await decoderFor([
    transaction.to,
    receipt?.contractAddress,
    ...logs.map((log) => log.address),
    ...addressesIn(trace),
  ]);
  const known = transaction.to && !cosmos ? decoder.call(transaction.to, transaction.input) : null;
  const transfers = transfersOf(transaction, receipt, trace, cosmos);
  const [tokens, reason, caught, isContract] = await Promise.all([
    tokensOf([...transfers, ...tokensNamed(transaction, logs, known, decoder)]),
    reasonOf(transaction, receipt, trace, decoder),
    cosmos ? null : caughtNote(trace, decoder, transaction.hash),
    transaction.to
      ? contractAt(transaction.to).then(
          ({ code }) => code !== '0x',
          () => false,
        )
      : false,
  ]);
  return {
    transaction,
    receipt,
    cosmos,
    cosmosFound,
    traced,
    trace,
    block,
    logs,
    decoder,
    known,
    transfers,
    tokens,
    reason,
    caught,
    isContract,
  };
}

/** The transfers of a transaction. */
function transfersOf(transaction, receipt, trace, cosmos) {
  const transfers = [
    ...(trace ? coinTransfers(trace) : []),
    ...tokenTransfers(receipt?.logs ?? []),
  ];
  if (!trace && receipt?.status === '0x1' && BigInt(transaction.value) > 0n) {
    const { from, to, value } = transaction;
    transfers.unshift({
      kind: 'native',
      token: null,
      from,
      to: to ?? receipt.contractAddress,
      value: BigInt(value),
    });
  }
  // Cosmos transfers are calls inside the transaction, and native to their users.
  if (cosmos) transfers.forEach((one) => (one.kind = 'native'));
  return transfers;
}

/** Tokens that sentences name, beside those of the transfers. */
function tokensNamed(transaction, logs, known, decoder) {
  const isNamed = (value) => /^0x[0-9a-fA-F]{40}$/.test(value) && nameOf(value);
  const decoded = logs.map((log) => [log, decoder.log(log)]).filter(([, event]) => event);
  const found = decoded.flatMap(([, { values }]) => values.filter(isNamed));
  if (known?.fragment.name === 'approve') found.push(transaction.to);
  for (const [log, { fragment }] of decoded)
    if (log.topics.length === 3 && fragment.name === 'Approval') found.push(log.address);
  return found.map((token) => ({ token }));
}

function titleOf({ transaction, cosmos, known }) {
  if (cosmos) return 'Cosmos transaction';
  if (known) return known.fragment.name;
  if (!transaction.to) return 'Contract creation';
  return transaction.input === '0x' ? 'Transfer' : 'Transaction';
}

/** What a transaction did, as a sentence, or why it failed. */
function sentenceOf(about) {
  const { receipt, cosmos, transfers, trace, decoder } = about;
  if (cosmos) {
    if (!transfers.length) return null;
    const [{ from, to, value }] = transfers;
    const others = transfers.length > 1 && ` and made ${transfers.length - 1} more transfers`;
    return h(
      'p.happened',
      addressLink(from),
      ' sent ',
      h('strong', coins(value, 18)),
      ' to ',
      addressLink(to),
      others,
    );
  }
  const sentence = summary({ ...about, failure: about.reason });
  return receipt?.status === '0x0'
    ? h('p.failure', sentence, origin(trace, decoder))
    : h('p.happened', sentence);
}

/** What typed transactions have in addition. */
function typeRows({ accessList, blobVersionedHashes, authorizationList }) {
  return [
    accessList?.length ? ['Access list', accessListText(accessList)] : null,
    blobVersionedHashes?.length
      ? [
          'Blobs',
          h(
            'ul.plain',
            blobVersionedHashes.map((one) => h('li', h('span.mono', one))),
          ),
        ]
      : null,
    authorizationList?.length
      ? [
          'Authorizations',
          h(
            'ul.plain',
            authorizationList.map((one) =>
              h(
                'li',
                'Delegates to ',
                addressLink(one.address),
                h('span.soft', ` · nonce ${count(Number(one.nonce))}`),
              ),
            ),
          ),
        ]
      : null,
  ];
}

function factsOf({ transaction, receipt, cosmos, block }, confirmations) {
  const gas = Number(transaction.gas);
  const recipient = transaction.to
    ? ['To', addressLink(transaction.to, { full: true })]
    : [
        'Contract created',
        receipt ? addressLink(receipt.contractAddress, { full: true }) : h('span.soft', 'Pending'),
      ];
  return facts([
    ['Transaction hash', transactionLink(transaction.hash, { full: true })],
    receipt && [
      'Block',
      blockLink(receipt.blockNumber),
      ' ',
      confirmations,
      h('span.soft', ` · index ${Number(receipt.transactionIndex)}`),
    ],
    block && ['Time', dateAndAge(block.timestamp)],
    ['From', addressLink(transaction.from, { full: true })],
    transaction.to || !cosmos ? recipient : null,
    ['Value', coins(transaction.value, 24)],
    ...(receipt
      ? feeRows(transaction, receipt, block)
      : [['Gas price', fee(BigInt(transaction.gasPrice ?? transaction.maxFeePerGas))]]),
    receipt
      ? [
          'Gas used',
          `${count(Number(receipt.gasUsed))} of ${count(gas)} (${percent(Number(receipt.gasUsed) / gas, 1)})`,
        ]
      : ['Gas limit', count(gas)],
    ['Nonce', count(Number(transaction.nonce))],
    ['Type', cosmos ? 'Cosmos SDK' : (KINDS[Number(transaction.type)] ?? transaction.type)],
    ...typeRows(transaction),
  ]);
}

function overview(about, confirmations) {
  const { transaction, cosmos, cosmosFound, transfers, tokens, known, isContract } = about;
  return [
    factsOf(about, confirmations),
    cosmosCard(cosmosFound),
    transfers.length
      ? card(`Transfers (${count(transfers.length)})`, transferTable(transfers, tokens))
      : null,
    cosmos
      ? card(
          'Signed transaction (TxRaw)',
          h(
            'details',
            h('summary', `${count(transaction.input.length / 2 - 1)} bytes`),
            hexBlock(transaction.input),
          ),
        )
      : inputCard(transaction, known, isContract),
  ];
}

/** The tabs of a transaction that have content. */
function tabsOf(about, confirmations) {
  const { transaction, receipt, cosmos, traced, block, logs, decoder } = about;
  // The input of a Cosmos transaction is no call, and its transfers are listed already.
  const calls = traced && !cosmos ? callCards(traced, decoder, transaction) : null;
  return [
    { id: 'overview', title: 'Overview', make: () => overview(about, confirmations) },
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

async function draw(transaction, receipt, signal) {
  const about = await load(transaction, receipt);
  const status = !receipt
    ? h('span.tag', 'Pending')
    : receipt.status === '0x0'
      ? h('span.tag.bad', 'Failed')
      : h('span.tag.good', 'Success');
  const confirmations = h('span.tag.confirmations');
  const cards = [
    heading(
      titleOf(about),
      about.cosmos && h('span.tag.accent', 'Cosmos'),
      status,
      debugLink(about),
      receipt && !about.cosmos && replayLink(transaction),
    ),
    sentenceOf(about),
    about.caught,
    tabList({
      label: 'Parts of the transaction',
      tabs: tabsOf(about, confirmations),
      selected: placed('tab') ?? 'overview',
      signal,
      chosen: (tab) => setPlace({ tab: tab === 'overview' ? null : tab }),
    }),
  ];
  return { cards: cards.filter(Boolean), confirmations };
}

export default async function view({ signal, rest: [hash = ''] }) {
  if (!/^0x[0-9a-f]{64}$/i.test(hash))
    throw new Error(`not a transaction hash: ${hash.slice(0, 80)}`);
  const [transaction, found] = await Promise.all([
    node.call('eth_getTransactionByHash', hash),
    node.call('eth_getTransactionReceipt', hash),
  ]);
  if (!transaction)
    throw new NotFound(
      'Transaction',
      `no block has the transaction ${hash}, and it does not wait for one`,
    );
  let receipt = found;
  let drawn = await draw(transaction, receipt, signal);
  const box = h('div.stack.sections', drawn.cards);
  whenever(
    node,
    'head',
    signal,
    async () => {
      if (!receipt) {
        const mined = await node.call('eth_getTransactionReceipt', hash).catch(() => null);
        if (!mined || signal.aborted || receipt) return;
        receipt = mined;
        drawn = await draw({ ...transaction, blockNumber: mined.blockNumber }, mined, signal);
        if (signal.aborted) return;
        replace(box, drawn.cards);
      }
      const number = Math.max(
        1,
        Number(node.head?.number ?? receipt.blockNumber) - Number(receipt.blockNumber) + 1,
      );
      setText(drawn.confirmations, counted(number, 'confirmation'));
    },
    1_000,
  );
  return box;
}
