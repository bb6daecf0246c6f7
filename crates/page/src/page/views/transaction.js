// One transaction: what it did, fields, transfers, decoded input, calls, events and state changes.

import { moment } from '../lib/clock.js';
import { card, copyButton, facts, h, heading, replace, setText } from '../lib/dom.js';
import { contractAt } from '../lib/contracts.js';
import { decoderFor } from '../lib/decoder.js';
import { addressesIn, failedPath, simulationLink, traceTransaction } from '../lib/execution.js';
import { count, fee, percent } from '../lib/format.js';
import { KINDS } from '../lib/kinds.js';
import { addressLink, argumentsOf, blockLink, coins, transactionLink } from '../lib/links.js';
import { coinTransfers, tokensOf, tokenTransfers } from '../lib/movements.js';
import { nameOf, network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { NotFound } from '../lib/notfound.js';
import { summary } from '../lib/summary.js';
import { callName, callTree, knownCall } from './calltree.js';
import { flame } from './flame.js';
import { addressesInLogs, eventList, hexBlock, rawCall, stateChanges, switcher, transferTable } from './parts.js';

/** Whether a transaction is one of the Cosmos SDK, which Ethereum's interfaces show as a legacy transaction without a signature. */
function isCosmos({ r, s, v, input, type }) {
  return Boolean(network.addresses) && Number(type) === 0 && /^0x0*$/.test(r ?? '0x1') && /^0x0*$/.test(s ?? '0x1') && /^0x0*$/.test(v ?? '0x1') && input !== '0x';
}

async function cosmosTransaction(hash) {
  const response = await fetch(`cosmos/tx/v1beta1/txs/${hash.slice(2).toUpperCase()}`);
  return response.ok ? await response.json() : null;
}

/** The reason of a failed transaction, from its trace; without one, from the same call on the parent block's state. */
async function reasonOf(transaction, receipt, trace, decoder) {
  if (receipt?.status !== '0x0') return null;
  if (trace) {
    if (trace.output && trace.output !== '0x') return decoder.error(trace.output);
    return !trace.error || trace.error === 'execution reverted' ? 'reverted without a reason' : trace.error;
  }
  const { from, to, input, value, gas } = transaction;
  try {
    await node.call('eth_call', { from, to, input, value, gas }, `0x${(Number(receipt.blockNumber) - 1).toString(16)}`);
  } catch (error) {
    return error.data !== null && error.data !== undefined ? decoder.error(error.data) : error.message;
  }
  return Number(receipt.gasUsed) >= Number(gas) ? 'out of gas' : 'failed because of an earlier transaction in the same block';
}

/** Where a failure began, if that was in a call inside the transaction. */
function origin(trace, decoder) {
  const path = trace ? failedPath(trace) : [];
  const call = path.at(-1);
  if (path.length < 2 || !call.to) return null;
  return [', in ', addressLink(call.to), '.', h('strong', callName(call, knownCall(call, decoder)))];
}

function inputCard(transaction, known, isContract) {
  if (transaction.input === '0x') return null;
  const size = `${count(transaction.input.length / 2 - 1)} bytes`;
  if (!transaction.to) return card('Creation code', h('details', h('summary', size), hexBlock(transaction.input)));
  if (!known) {
    return card('Input data', h('p.soft', `No known ABI has the selector ${transaction.input.slice(0, 10)}. `, h('a', { href: isContract ? `#/contract/${transaction.to}?tab=abi` : '#/interfaces' }, 'Add an ABI')), rawCall(transaction.input));
  }
  const decoded = () => argumentsOf(known, transaction.to) ?? h('p.soft', 'No arguments');
  const { control, content } = switcher('Form of the input', [['Decoded', decoded], ['Raw', () => rawCall(transaction.input)]]);
  return card(h('span.row', 'Input data', h('span.tag.accent', known.fragment.name)), control, content);
}

/** Rows about fees: the fee itself, what of it was burnt and what went to the proposer, and the difference to the maximum. */
function feeRows(transaction, receipt, block) {
  const price = BigInt(receipt.effectiveGasPrice);
  const gas = BigInt(receipt.gasUsed);
  const base = block?.baseFeePerGas ? BigInt(block.baseFeePerGas) : null;
  const most = transaction.maxFeePerGas ? BigInt(transaction.maxFeePerGas) : null;
  const blobs = receipt.blobGasUsed ? BigInt(receipt.blobGasUsed) * BigInt(receipt.blobGasPrice ?? 0) : 0n;
  return [
    ['Transaction fee', coins(price * gas + blobs, 12), blobs > 0n && h('span.soft', ` · ${coins(blobs, 12)} of it for blobs`)],
    ['Effective gas price', fee(price), base !== null && h('span.soft', ` · base fee ${fee(base)} + priority fee ${fee(price > base ? price - base : 0n)}`), most !== null && h('span.soft', ` · maximum ${fee(most)}`)],
    base !== null && ['Burnt', coins(base * gas, 12)],
    base !== null && ['Priority fee paid', coins((price > base ? price - base : 0n) * gas, 12)],
    most !== null && ['Savings', coins((most - price) * gas, 12), h('span.soft', ' below the maximum fee')],
  ];
}

function cosmosCard(found) {
  if (!found) return null;
  const { tx, tx_response: response } = found;
  const list = (amounts) => (amounts ?? []).map(({ amount, denom }) => (denom === network.addresses?.nativeCoin?.denomination ? coins(amount, 18) : `${amount} ${denom}`)).join(', ') || '–';
  const messages = (tx?.body?.messages ?? []).slice(0, 50).map((message) => {
    const { '@type': type, ...rest } = message;
    return h('div.log', h('div.row', h('span.tag.accent', String(type).split('.').at(-1)), h('span.soft.mono', type)),
      h('table.arguments', h('tbody', Object.entries(rest).map(([name, value]) => h('tr', h('td', name), h('td.mono', typeof value === 'string' ? value : name === 'amount' ? list(value) : JSON.stringify(value)))))));
  });
  return card('Cosmos transaction', facts([
    ['Cosmos hash', h('span.mono', response?.txhash), copyButton(response?.txhash ?? '')],
    ['Height', response && blockLink(response.height)],
    response?.code ? ['Code', `${response.code} (${response.codespace})`] : null,
    ['Memo', tx?.body?.memo || h('span.soft', 'None')],
    ['Fee', list(tx?.auth_info?.fee?.amount)],
  ]), h('h3', 'Messages'), messages);
}

/** The cards that depend on the trace. */
function traceCards(traced, decoder, logs, transaction, block, cosmos) {
  if (!traced) return [];
  const { trace, diff } = traced;
  const tree = callTree(trace, decoder);
  const roles = new Map([[block?.miner?.toLowerCase(), 'Fee recipient'], [transaction.from.toLowerCase(), 'Sender']]);
  const keys = [transaction.from, transaction.to, ...addressesInLogs(logs), ...addressesIn(trace)].filter(Boolean);
  return [
    // The input of a Cosmos transaction is no call, and its transfers are listed already.
    trace.calls?.length && !cosmos ? card('Gas by call', flame(trace, decoder, tree.reveal)) : null,
    !cosmos && (transaction.input !== '0x' || trace.calls?.length) ? card('Call tree', tree.element) : null,
    diff && card('State changes', stateChanges(diff, keys, roles)),
  ];
}

/** The link to the simulation of a transaction with changes. */
function replayLink(transaction) {
  return h('a.button', { href: simulationLink({ tx: transaction.hash }) }, 'Replay with changes');
}

async function draw(transaction, receipt) {
  const cosmos = isCosmos(transaction);
  const [traced, block, cosmosFound] = await Promise.all([
    receipt ? traceTransaction(transaction.hash) : null,
    receipt ? node.call('eth_getBlockByHash', receipt.blockHash, false).catch(() => null) : null,
    cosmos ? cosmosTransaction(transaction.hash).catch(() => null) : null,
  ]);
  const trace = traced?.trace ?? null;
  const logs = receipt?.logs ?? [];
  const decoder = await decoderFor([transaction.to, receipt?.contractAddress, ...logs.map((log) => log.address), ...addressesIn(trace)]);
  const known = transaction.to && !cosmos ? decoder.call(transaction.to, transaction.input) : null;
  const transfers = [...(trace ? coinTransfers(trace) : []), ...tokenTransfers(logs)];
  if (!trace && receipt?.status === '0x1' && BigInt(transaction.value) > 0n) transfers.unshift({ kind: 'native', token: null, from: transaction.from, to: transaction.to ?? receipt.contractAddress, value: BigInt(transaction.value) });
  // Cosmos transfers are calls inside the transaction, and native to their users.
  if (cosmos) transfers.forEach((one) => (one.kind = 'native'));
  const named = [...transfers, ...logs.flatMap((log) => decoder.log(log)?.values.filter((value) => /^0x[0-9a-fA-F]{40}$/.test(value) && nameOf(value)) ?? []).map((token) => ({ token }))];
  if (known?.fragment.name === 'approve') named.push({ token: transaction.to });
  for (const log of logs) if (log.topics.length === 3 && decoder.log(log)?.fragment.name === 'Approval') named.push({ token: log.address });
  const [tokens, reason, isContract] = await Promise.all([
    tokensOf(named),
    reasonOf(transaction, receipt, trace, decoder),
    transaction.to ? contractAt(transaction.to).then(({ code }) => code !== '0x', () => false) : false,
  ]);
  const status = !receipt ? h('span.tag', 'Pending') : receipt.status === '0x0' ? h('span.tag.bad', 'Failed') : h('span.tag.good', 'Success');
  const title = cosmos ? 'Cosmos transaction' : known ? known.fragment.name : !transaction.to ? 'Contract creation' : transaction.input === '0x' ? 'Transfer' : 'Transaction';
  const sent = cosmos && transfers.length ? [addressLink(transfers[0].from), ' sent ', h('strong', coins(transfers[0].value, 18)), ' to ', addressLink(transfers[0].to), transfers.length > 1 && ` and made ${transfers.length - 1} more transfers`] : null;
  const sentence = sent ?? (cosmos ? null : summary({ transaction, receipt, known, logs, decoder, transfers, tokens, failure: reason }));
  const confirmations = h('span.tag.confirmations');
  const price = BigInt(transaction.gasPrice ?? transaction.maxFeePerGas);
  const cards = [
    heading(title, cosmos && h('span.tag.accent', 'Cosmos'), status, receipt && !cosmos && replayLink(transaction)),
    sentence && (receipt?.status === '0x0' ? h('p.failure', sentence, origin(trace, decoder)) : h('p.happened', sentence)),
    card(null, facts([
      ['Transaction hash', transactionLink(transaction.hash, { full: true })],
      receipt && ['Block', blockLink(receipt.blockNumber), ' ', confirmations, block && [' · ', moment(block.timestamp)], h('span.soft', ` · index ${Number(receipt.transactionIndex)}`)],
      ['From', addressLink(transaction.from, { full: true })],
      transaction.to ? ['To', addressLink(transaction.to, { full: true })] : cosmos ? null : ['Contract created', receipt ? addressLink(receipt.contractAddress, { full: true }) : h('span.soft', 'Pending')],
      ['Value', coins(transaction.value, 24)],
      ...(receipt ? feeRows(transaction, receipt, block) : [['Gas price', fee(price)]]),
      receipt ? ['Gas used', `${count(Number(receipt.gasUsed))} of ${count(Number(transaction.gas))} (${percent(Number(receipt.gasUsed) / Number(transaction.gas), 1)})`] : ['Gas limit', count(Number(transaction.gas))],
      ['Nonce', count(Number(transaction.nonce))],
      ['Type', cosmos ? 'Cosmos SDK' : (KINDS[Number(transaction.type)] ?? transaction.type)],
      transaction.accessList?.length ? ['Access list', `${count(transaction.accessList.length)} ${transaction.accessList.length === 1 ? 'address' : 'addresses'}, ${count(transaction.accessList.reduce((sum, one) => sum + one.storageKeys.length, 0))} storage keys`] : null,
      transaction.blobVersionedHashes?.length ? ['Blobs', h('ul.plain', transaction.blobVersionedHashes.map((one) => h('li', h('span.mono', one))))] : null,
      transaction.authorizationList?.length ? ['Authorizations', h('ul.plain', transaction.authorizationList.map((one) => h('li', 'Delegates to ', addressLink(one.address), h('span.soft', ` · nonce ${count(Number(one.nonce))}`))))] : null,
    ])),
    cosmosCard(cosmosFound),
    transfers.length ? card(`Transfers (${count(transfers.length)})`, transferTable(transfers, tokens)) : null,
    cosmos ? card('Signed transaction (TxRaw)', h('details', h('summary', `${count(transaction.input.length / 2 - 1)} bytes`), hexBlock(transaction.input))) : inputCard(transaction, known, isContract),
    receipt && card(`Events (${count(logs.length)})`, eventList(logs, decoder)),
    ...traceCards(traced, decoder, logs, transaction, block, cosmos),
  ];
  return { cards: cards.filter(Boolean), confirmations };
}

export default async function view({ signal, rest: [hash = ''] }) {
  if (!/^0x[0-9a-f]{64}$/i.test(hash)) throw new Error(`not a transaction hash: ${hash.slice(0, 80)}`);
  const [transaction, found] = await Promise.all([node.call('eth_getTransactionByHash', hash), node.call('eth_getTransactionReceipt', hash)]);
  if (!transaction) throw new NotFound('Transaction', `no block has the transaction ${hash}, and it does not wait for one`);
  let receipt = found;
  let drawn = await draw(transaction, receipt);
  const box = h('div.stack.sections', drawn.cards);
  whenever(node, 'head', signal, async () => {
    if (!receipt) {
      const mined = await node.call('eth_getTransactionReceipt', hash).catch(() => null);
      if (!mined || signal.aborted || receipt) return;
      receipt = mined;
      drawn = await draw({ ...transaction, blockNumber: mined.blockNumber }, mined);
      if (signal.aborted) return;
      replace(box, drawn.cards);
    }
    const number = Math.max(1, Number(node.head?.number ?? receipt.blockNumber) - Number(receipt.blockNumber) + 1);
    setText(drawn.confirmations, `${count(number)} ${number === 1 ? 'confirmation' : 'confirmations'}`);
  }, 1_000);
  return box;
}
