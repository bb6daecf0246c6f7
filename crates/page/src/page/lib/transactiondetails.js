// What the page knows about a transaction: its execution, its block, and what these mean.

import { quantity } from './actions.js';
import { contractAt } from './contracts.js';
import { decoderFor } from './decoder.js';
import { addressesIn, traceTransaction } from './execution.js';
import { caughtCalls, reasonOfTrace } from './failures.js';
import { coinTransfers, tokensOf, tokenTransfers } from './movements.js';
import { nameOf, network } from './network.js';
import { node } from './node.js';

/** Most caught failures whose reasons are decoded. */
const MOST_CAUGHT = 3;

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

/** A transaction as the Cosmos SDK has it, or null. */
async function cosmosTransaction(hash) {
  const response = await fetch(`cosmos/tx/v1beta1/txs/${hash.slice(2).toUpperCase()}`);
  return response.ok ? await response.json() : null;
}

/**
 * The reason of a failed transaction, from its trace; without one, from the same call on the parent
 * block's state.
 */
async function failureReason(transaction, receipt, trace, decoder) {
  if (receipt?.status !== '0x0') return null;
  if (trace?.error) return reasonOfTrace(trace, decoder);

  const { from, to, input, value, gas } = transaction;
  const parent = quantity(Number(receipt.blockNumber) - 1);
  try {
    await node.call('eth_call', { from, to, input, value, gas }, parent);
  } catch (error) {
    return error.data !== null && error.data !== undefined
      ? decoder.error(error.data, { to, input })
      : error.message;
  }

  return Number(receipt.gasUsed) >= Number(gas)
    ? 'out of gas'
    : 'failed because of an earlier transaction in the same block';
}

/**
 * Calls inside a transaction that failed although the caller went on: their number, and the first
 * ones with their reasons.
 */
async function caughtFailures(trace, decoder) {
  const caught = trace ? caughtCalls(trace) : [];
  const explain = async (call) => ({ call, reason: await reasonOfTrace(call, decoder) });
  return {
    number: caught.length,
    first: await Promise.all(caught.slice(0, MOST_CAUGHT).map(explain)),
  };
}

/** The transfers of a transaction. */
function transfersOf(transaction, receipt, trace, cosmos) {
  const transfers = [
    ...(trace ? coinTransfers(trace) : []),
    ...tokenTransfers(receipt?.logs ?? []),
  ];

  // Without a trace, the transaction's own value is the only one that is known.
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

/** Whether an address has code, as far as the node says. */
function hasCode(address) {
  return contractAt(address).then(
    ({ code }) => code !== '0x',
    () => false,
  );
}

/** What the node has about a transaction; `receipt` is null while it is pending. */
async function readExecution(transaction, receipt, cosmos) {
  const [traced, block, cosmosFound] = await Promise.all([
    receipt ? traceTransaction(transaction.hash) : null,
    receipt ? node.call('eth_getBlockByHash', receipt.blockHash, false).catch(() => null) : null,
    cosmos ? cosmosTransaction(transaction.hash).catch(() => null) : null,
  ]);
  return { traced, trace: traced?.trace ?? null, block, cosmosFound };
}

/** Everything about a transaction that its view shows; `receipt` is null while it is pending. */
export async function transactionDetails(transaction, receipt) {
  const { to } = transaction;
  const cosmos = isCosmos(transaction);
  const execution = await readExecution(transaction, receipt, cosmos);
  const { trace } = execution;

  const logs = receipt?.logs ?? [];
  const decoder = await decoderFor([
    to,
    receipt?.contractAddress,
    ...logs.map((log) => log.address),
    ...addressesIn(trace),
  ]);
  const known = to && !cosmos ? decoder.call(to, transaction.input) : null;
  const transfers = transfersOf(transaction, receipt, trace, cosmos);

  const [tokens, reason, caught, isContract] = await Promise.all([
    tokensOf([...transfers, ...tokensNamed(transaction, logs, known, decoder)]),
    failureReason(transaction, receipt, trace, decoder),
    caughtFailures(cosmos ? null : trace, decoder),
    to ? hasCode(to) : false,
  ]);
  return {
    transaction,
    receipt,
    cosmos,
    ...execution,
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
