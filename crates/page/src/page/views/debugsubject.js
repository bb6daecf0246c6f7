// What is debugged: the transaction or the call that a link names.

import { ofCall, ofTransaction } from '../lib/debugsession.js';
import { h } from '../lib/dom.js';
import { callObject, simulationLink, stateOptions } from '../lib/execution.js';
import { transactionLink } from '../lib/links.js';
import { node } from '../lib/node.js';
import { NotFound } from '../lib/notfound.js';
import { minedTransaction, parseOverrides, placeOf, startingFrom } from '../lib/simulation.js';

async function transactionSubject(hash) {
  if (!/^0x[0-9a-f]{64}$/i.test(hash))
    throw new Error(`not a transaction hash: ${hash.slice(0, 80)}`);
  const receipt = await node.call('eth_getTransactionReceipt', hash);
  if (!receipt) throw new NotFound('Transaction', `no block has the transaction ${hash}`);

  const transaction = {
    hash,
    blockHash: receipt.blockHash,
    transactionIndex: receipt.transactionIndex,
  };
  return { ...ofTransaction(transaction), hash, about: ['Transaction ', transactionLink(hash)] };
}

async function callSubject(query) {
  const original = await minedTransaction(query.get('tx'));
  const start = startingFrom(query, original);
  const call = callObject({
    ...start,
    value: BigInt(start.value || 0),
    gas: start.gas ? BigInt(start.gas) : null,
  });

  const { at: block, index } = placeOf(start.block, original);
  // It is executed many times, each time on the same state.
  const at = block === 'latest' ? await node.call('eth_blockNumber') : block;

  const options = stateOptions({ index, overrides: parseOverrides(start.overrides) });
  const back = new URLSearchParams(query);
  ['step', 'breakpoints'].forEach((name) => back.delete(name));
  return {
    ...ofCall(call, at, options),
    hash: null,
    about: [
      'A call of ',
      h('a', { href: simulationLink(Object.fromEntries(back)) }, 'a simulation'),
      '. Nothing is sent.',
    ],
  };
}

/** What is debugged: how to run it, and what the heading says of it. */
export function subjectOf(rest, query) {
  const [hash] = rest;
  return rest.length === 1 ? callSubject(query) : transactionSubject(hash);
}
