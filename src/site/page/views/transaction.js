// One transaction: fields, outcome, decoded input, internal calls and events.

import { card, copyButton, facts, h, heading } from '../lib/dom.js';
import { count, fee, percent, shorten } from '../lib/format.js';
import { addressLink, argumentsOf, blockLink, coins, moment, transactionLink } from '../lib/links.js';
import { explainCall, explainLog, explainRevert } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { callTree } from './calltree.js';

const KINDS = ['Legacy', 'Access list (EIP-2930)', 'Dynamic fee (EIP-1559)', 'Blob (EIP-4844)', 'Set code (EIP-7702)'];

/** The reason of a failed transaction, from its trace; without one, from the same call on the parent block's state. */
async function reasonOf(transaction, receipt, trace) {
  if (receipt.status !== '0x0') return null;
  if (trace) return trace.output && trace.output !== '0x' ? explainRevert(trace.output) : (trace.error ?? 'reverted without a reason');
  const { from, to, input, value, gas } = transaction;
  try {
    await node.call('eth_call', { from, to, input, value, gas }, `0x${(Number(receipt.blockNumber) - 1).toString(16)}`);
  } catch (error) {
    return error.data !== null && error.data !== undefined ? explainRevert(error.data) : error.message;
  }
  return Number(receipt.gasUsed) >= Number(gas) ? 'out of gas' : 'failed because of an earlier transaction in the same block';
}

function inputCard(transaction, known) {
  if (transaction.input === '0x') return null;
  const raw = h('details', h('summary', `Raw data (${count(transaction.input.length / 2 - 1)} bytes)`), h('div.code', h('pre', { tabindex: '0' }, transaction.input.slice(0, 20_000)), copyButton(transaction.input)));
  if (!transaction.to) return card('Creation code', raw);
  if (known) return card(h('span.row', 'Input data', h('span.tag.accent', known.fragment.name)), argumentsOf(known, transaction.to), raw);
  return card('Input data', h('p.soft', `No known ABI has the selector ${transaction.input.slice(0, 10)}. `, h('a', { href: '#/interfaces' }, 'Add an ABI')), raw);
}

async function logEntry(log) {
  const known = await explainLog(log);
  const title = known ? h('span.tag.accent', known.fragment.name) : h('span.tag', 'Unknown event');
  const body = known
    ? argumentsOf(known, log.address)
    : h('table.arguments', h('tbody', [...log.topics.map((topic, at) => [`topic ${at}`, topic]), ['data', shorten(log.data, 130, 10)]].map(([name, text]) => h('tr', h('td', name), h('td.mono', text)))));
  return h('div.log', h('div.row', title, addressLink(log.address), h('span.soft', `#${Number(log.logIndex)}`)), body);
}

async function draw(transaction, receipt) {
  const trace = await node.has('debug_traceTransaction')
    .then((has) => (has && receipt ? node.call('debug_traceTransaction', transaction.hash, { tracer: 'callTracer' }) : null))
    .catch(() => null);
  const [known, reason, block, logs] = await Promise.all([
    transaction.to ? explainCall(transaction.input) : null,
    receipt ? reasonOf(transaction, receipt, trace) : null,
    receipt ? node.call('eth_getBlockByHash', receipt.blockHash, false) : null,
    Promise.all((receipt?.logs ?? []).map(logEntry)),
  ]);
  const price = receipt ? BigInt(receipt.effectiveGasPrice) : BigInt(transaction.gasPrice ?? transaction.maxFeePerGas);
  const status = !receipt ? h('span.tag', 'Pending') : receipt.status === '0x0' ? h('span.tag.bad', 'Failed') : h('span.tag.good', 'Success');
  return [
    heading(known ? known.fragment.name : 'Transaction', status),
    reason && h('div.failure', h('strong', 'Failure reason: '), reason),
    card(null, facts([
      ['Transaction hash', transactionLink(transaction.hash, { full: true })],
      receipt && ['Block', blockLink(receipt.blockNumber), block && [' · ', moment(block.timestamp)], h('span.soft', ` · index ${Number(receipt.transactionIndex)}`)],
      ['From', addressLink(transaction.from, { full: true })],
      transaction.to ? ['To', addressLink(transaction.to, { full: true })] : ['Contract created', receipt ? addressLink(receipt.contractAddress, { full: true }) : h('span.soft', 'Pending')],
      ['Value', coins(transaction.value, 24)],
      receipt && ['Transaction fee', coins(BigInt(receipt.gasUsed) * price, 12), h('span.soft', ` · gas price ${fee(price)}`)],
      receipt ? ['Gas used', `${count(Number(receipt.gasUsed))} of ${count(Number(transaction.gas))} (${percent(Number(receipt.gasUsed) / Number(transaction.gas), 1)})`] : ['Gas limit', count(Number(transaction.gas))],
      ['Nonce', count(Number(transaction.nonce))],
      ['Type', KINDS[Number(transaction.type)] ?? transaction.type],
    ])),
    inputCard(transaction, known),
    trace?.calls?.length ? card('Internal calls', await callTree(trace)) : null,
    receipt && card(`Events (${logs.length})`, logs.length ? logs : h('p.soft', 'No events')),
  ];
}

export default async function view({ signal, rest: [hash = ''] }) {
  const [transaction, receipt] = await Promise.all([node.call('eth_getTransactionByHash', hash), node.call('eth_getTransactionReceipt', hash)]);
  if (!transaction) throw new Error(`transaction ${hash.slice(0, 80)} not found`);
  const box = h('div.stack', { style: { gap: '1.1rem' } }, await draw(transaction, receipt));
  if (!receipt) {
    whenever(node, 'head', signal, async () => {
      const found = await node.call('eth_getTransactionReceipt', hash).catch(() => null);
      if (!found || signal.aborted) return;
      box.replaceChildren(...(await draw({ ...transaction, blockNumber: found.blockNumber }, found)).filter(Boolean));
    }, 1_000);
  }
  return box;
}
