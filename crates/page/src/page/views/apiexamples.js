// The examples of the node's documents, with things of this chain instead of those of theirs.

import { network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { textOf } from '../lib/reference.js';

/** The contract of the documents' examples, which exists on their chain only. */
const EXAMPLE_CONTRACT = '0x5fbdb2315678afecb367f032d93f642f64180aa3';
const TOTAL_SUPPLY = '0x18160ddd';
/** Recent blocks in which a transaction is searched. */
const SEARCHED_BLOCKS = 32;
/** Blocks before the newest in which the example of a filter searches events. */
const FILTERED_BLOCKS = 9;

/** The hash of a recent transaction. */
async function newestTransaction() {
  const known = node.headers
    .slice(-SEARCHED_BLOCKS)
    .map((header) => header.number)
    .reverse();
  // The first header may not have arrived yet.
  const numbers = known.length ? known : ['latest'];
  const blocks = await Promise.all(
    numbers.map((number) => node.call('eth_getBlockByNumber', number, false).catch(() => null)),
  );
  return blocks.flatMap((block) => block?.transactions?.at(-1) ?? [])[0] ?? null;
}

/** A filter of the oracle's recent events. */
function priceFilter() {
  const from = Math.max(0, Number(node.head.number) - FILTERED_BLOCKS);
  return {
    address: network.addresses.oracle,
    fromBlock: `0x${from.toString(16)}`,
    toBlock: 'latest',
  };
}

/** An example that names the contract of the documents, with a token instead. */
function tokenExample(operation, { name, example }) {
  const token = network.tokens?.[0]?.address;
  const text = textOf(example);
  const namesContract = text.toLowerCase().includes(EXAMPLE_CONTRACT);
  if (operation.kind !== 'rpc' || !token || !namesContract) return null;

  if (name === 'transaction' && !operation.changes)
    return textOf({ to: token, data: TOTAL_SUPPLY });
  if (name === 'filter' && operation.id === 'eth_getLogs' && network.addresses && node.head)
    return textOf(priceFilter());
  return text.replace(new RegExp(EXAMPLE_CONTRACT, 'gi'), token);
}

async function localExample(operation, parameter) {
  const { name } = parameter;
  if (name === 'block hash' && node.head) return node.head.hash;

  const isTransactionHash =
    name === 'transaction hash' || (name === 'hash' && operation.path.includes('/t'));
  const hash = isTransactionHash ? await newestTransaction() : null;
  if (hash) return operation.path.startsWith('/cosmos/') ? hash.slice(2).toUpperCase() : hash;

  return tokenExample(operation, parameter);
}

/** The examples of this chain, as texts by the names of the parameters. */
export async function localExamples(operation) {
  const found = new Map();
  for (const parameter of operation.parameters) {
    const value = await localExample(operation, parameter);
    if (value !== null) found.set(parameter.name, value);
  }
  return found;
}
