// What a simulation starts from, and what it runs on: the parameters of its link, the transaction
// in it, state overrides, and the place in the chain.

import { quantity } from './actions.js';
import { parseAddress } from './address.js';
import { ZERO } from './movements.js';
import { network } from './network.js';
import { node } from './node.js';
import { wallets } from './wallet.js';

/**
 * A transaction with its receipt, which is null while it is pending; null without a hash. Throws if
 * there is no such transaction.
 */
export async function minedTransaction(hash) {
  if (!hash) return null;

  if (!/^0x[0-9a-f]{64}$/i.test(hash))
    throw new Error(`not a transaction hash: ${hash.slice(0, 80)}`);

  const [transaction, receipt] = await Promise.all([
    node.call('eth_getTransactionByHash', hash),
    node.call('eth_getTransactionReceipt', hash),
  ]);
  if (!transaction) throw new Error(`transaction ${hash} not found`);
  return { transaction, receipt };
}

/** The fields' first contents: the link's, else the transaction's. */
export function startingFrom(query, original) {
  const { transaction, receipt } = original ?? {};
  const pick = (name, otherwise) => query.get(name) ?? otherwise;

  return {
    from: pick('from', transaction?.from ?? wallets.current?.address ?? ZERO),
    to: pick('to', transaction?.to ?? '').replace(/^none$/, ''),
    value: pick('value', transaction ? BigInt(transaction.value).toString() : '0'),
    data: pick('data', transaction?.input ?? '0x'),
    gas: pick('gas', transaction ? Number(transaction.gas).toString() : ''),
    block: pick('block', receipt ? 'position' : 'latest'),
    overrides: pick('overrides', ''),
  };
}

/** An account's overrides, whose numbers may be decimal, which is easier to write than hex. */
function accountOverrides(account) {
  const number = (name) =>
    account[name] !== undefined && /^\d+$/.test(String(account[name]))
      ? { [name]: quantity(account[name]) }
      : {};
  return { ...account, ...number('balance'), ...number('nonce') };
}

/** State overrides from JSON text, or null without any. */
export function parseOverrides(text) {
  if (!text.trim()) return null;

  let given;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new Error(`state overrides: not valid JSON: ${error.message}`);
  }
  if (!given || typeof given !== 'object' || Array.isArray(given))
    throw new Error('state overrides: expected a JSON object of accounts by address');

  const accounts = Object.entries(given).map(([address, account]) => {
    if (!account || typeof account !== 'object')
      throw new Error(`state overrides: expected an object for ${address}`);
    return [parseAddress(address, network.prefix), accountOverrides(account)];
  });
  return Object.fromEntries(accounts);
}

/** Which block and position a choice of the block field means. */
export function placeOf(block, original) {
  const number = original?.receipt ? Number(original.receipt.blockNumber) : null;
  if (block === 'position' && number !== null)
    return { at: quantity(number), index: Number(original.receipt.transactionIndex) };
  if (block === 'before' && number !== null) return { at: quantity(Math.max(0, number - 1)) };
  if (block === 'latest') return { at: 'latest' };
  if (!/^\d{1,15}$/.test(block)) throw new Error('block: expected a block number');
  return { at: quantity(block) };
}
