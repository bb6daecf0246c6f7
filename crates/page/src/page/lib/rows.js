// Transactions as rows of a list, of the index or of JSON-RPC.

import { checksum } from './address.js';
import { cosmosMessage } from './cosmos.js';
import { learn, learnNames, methodName } from './index.js';
import { explainCall } from './knownabis.js';
import { node } from './node.js';
import { explainRevert, panicText } from './reverts.js';

async function indexReason(item) {
  if (item.status === 'ok') return null;
  const { revert_reason: reason, result } = item;
  if (reason?.raw) return explainRevert(reason.raw, { contract: item.to?.hash });
  if (reason?.method_call) {
    const name = reason.method_call.split('(')[0];
    if (name === 'Panic') return panicText(reason.parameters[0]?.value ?? 0);
    const shown = reason.parameters.map(
      ({ name: own, value }) =>
        `${own ? `${own}: ` : ''}${Array.isArray(value) ? JSON.stringify(value) : value}`,
    );
    return name === 'Error' ? String(reason.parameters[0]?.value) : `${name}(${shown.join(', ')})`;
  }
  return /^(error|failed)?$/i.test(result) ? null : result;
}

/**
 * A transaction of the index as a row: hash, block, index, time (in seconds), from, to, created,
 * value, fee, input, method, ok, reason, cosmos.
 */
export async function indexRow(item) {
  const row = {
    hash: item.hash,
    block: item.block_number,
    index: item.position,
    time: Date.parse(item.timestamp) / 1_000,
    from: learn(item.from),
    to: learn(item.to),
    created: learn(item.created_contract),
    value: BigInt(item.value),
    fee: BigInt(item.fee.value),
    input: item.raw_input,
    ok: item.status === 'ok',
    reason: await indexReason(item),
    cosmos: cosmosMessage(item.raw_input),
  };
  row.method = await methodOf(row, item.method);
  return row;
}

/** The same of JSON-RPC's transaction and receipt; `ok` is null without a receipt. */
async function nodeRow(transaction, receipt, time) {
  const price = BigInt(
    receipt?.effectiveGasPrice ?? transaction.gasPrice ?? transaction.maxFeePerGas ?? 0,
  );
  const row = {
    hash: transaction.hash,
    block: transaction.blockNumber === null ? null : Number(transaction.blockNumber),
    index: Number(transaction.transactionIndex ?? 0),
    time,
    from: checksum(transaction.from),
    to: transaction.to ? checksum(transaction.to) : null,
    created:
      !transaction.to && receipt && receipt.status !== '0x0' && receipt.contractAddress
        ? checksum(receipt.contractAddress)
        : null,
    value: BigInt(transaction.value),
    fee: receipt ? BigInt(receipt.gasUsed) * price : null,
    input: transaction.input,
    ok: receipt ? receipt.status !== '0x0' : null,
    reason: null,
    cosmos: cosmosMessage(transaction.input),
  };
  row.method = await methodOf(row, null);
  return row;
}

/**
 * The name of a transaction's method, or its selector. `named` is what the index has said it is, if
 * it was asked.
 */
async function methodOf(row, named) {
  const { to, input, cosmos } = row;
  if (cosmos) return cosmos.split('.').at(-1);
  if (!to) return 'Contract creation';
  if (input === '0x') return 'Transfer';
  if (named && !named.startsWith('0x')) return named;
  const known = await explainCall(input).catch(() => null);
  return known?.fragment.name ?? named ?? (await methodName(row)) ?? input.slice(0, 10);
}

/** Adds the reasons of failed transactions that the index did not give. */
export async function addReasons(rows) {
  const wanted = rows.filter((row) => row.ok === false && !row.reason);
  if (!wanted.length) return rows;
  const traces = await node.has('debug_traceTransaction');
  if (traces) await Promise.all(wanted.map(addReason));
  return rows;
}

/** Adds the reason of a failed transaction from its trace. */
async function addReason(row) {
  const options = { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } };
  const trace = await node.call('debug_traceTransaction', row.hash, options).catch(() => null);
  if (trace?.output && trace.output !== '0x')
    row.reason = await explainRevert(trace.output, { contract: row.to });
  else if (trace?.error)
    row.reason = trace.error === 'execution reverted' ? 'reverted without a reason' : trace.error;
}

/**
 * Rows of transactions that are known by their hashes, in the same order. `times` gives a block's
 * time by its number.
 */
export async function transactionsByHash(hashes, times) {
  const asked = hashes.map((hash) =>
    Promise.all([
      node.call('eth_getTransactionByHash', hash),
      node.call('eth_getTransactionReceipt', hash),
    ]),
  );
  const found = (await Promise.all(asked)).filter(([transaction]) => transaction);

  const called = found
    .map(([{ to, input }, receipt]) => (input === '0x' ? null : (to ?? receipt?.contractAddress)))
    .filter(Boolean);
  await learnNames(called);

  const rows = await Promise.all(
    found.map(([transaction, receipt]) =>
      nodeRow(transaction, receipt, times(Number(transaction.blockNumber))),
    ),
  );
  return addReasons(rows);
}
