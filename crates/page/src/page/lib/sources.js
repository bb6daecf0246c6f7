// Contracts whose sources the node knows, from compiler artifacts or by verification: their names
// and ABIs, for the search.

import { fragmentsOf } from './contracts.js';
import { ask, indexed, learn } from './index.js';
import { network } from './network.js';
import { node } from './node.js';

/**
 * Maximum number of pages of transactions that created contracts, and of calls between contracts,
 * that are read.
 */
const MOST_PAGES = 6;
/** Maximum number of ABIs. Of contracts with the same name the newest counts. */
const MOST_SOURCES = 100;
/** How long a list of created contracts holds, in milliseconds: sources are verified later, too. */
const LIFETIME = 15_000;
/**
 * How long a search waits for ABIs, in milliseconds: the node reads each from the compiler's
 * output, which may be long.
 */
const LONGEST_WAIT = 1_000;

/**
 * Sources by name: `{ address, name, fragments, transaction }`, where `name` is that in the source
 * (tokens have another one) and `transaction` the hash of the one that created the contract.
 */
const sources = new Map();
let reading = null;
let readAt = 0;

node.addEventListener('restart', () => {
  sources.clear();
  reading = null;
});

/** The newest entries of a list of the index that created a contract whose source is known. */
async function creationsIn(path, parameters) {
  const found = [];
  let cursor = {};
  for (let pages = 0; cursor && pages < MOST_PAGES; pages++) {
    const { items, next_page_params: next } = await ask(path, { ...parameters, ...cursor });
    found.push(...items.filter(({ created_contract: created }) => created?.is_verified));
    cursor = next;
  }
  return found;
}

/**
 * The newest creation first. A call between contracts has the index of its transaction; a
 * transaction has its own position.
 */
function compareAge(one, other) {
  const index = (entry) => entry.transaction_index ?? entry.position;
  return other.block_number - one.block_number || index(other) - index(one);
}

/**
 * The newest contract of each name, newest first, for as many names as there may be sources: `{
 * address, transaction }`. After a revert, other code may be created at the same address, but in
 * another transaction.
 */
function newestByName(creations) {
  const newest = new Map();
  for (const {
    created_contract: created,
    hash,
    transaction_hash: transaction = hash,
  } of creations) {
    if (newest.size >= MOST_SOURCES) break;
    if (!newest.has(created.name)) newest.set(created.name, { address: created.hash, transaction });
  }
  return newest;
}

/**
 * Forgets the sources of contracts that are not the newest with their names, or that a revert has
 * removed.
 */
function forgetOthers(newest) {
  for (const [name, { address, transaction }] of sources) {
    const current = newest.get(name);
    if (current?.address !== address || current.transaction !== transaction) sources.delete(name);
  }
}

async function sourceOf(address) {
  const response = await fetch(
    `sourcify/v2/contract/${network.chainId}/${address}?fields=abi,compilation.name`,
  );
  if (!response.ok) return null;
  const { abi, compilation } = await response.json();
  return {
    address,
    name: String(compilation?.name ?? ''),
    fragments: fragmentsOf(Array.isArray(abi) ? abi : []),
  };
}

async function read(isCurrent) {
  const lists = [
    creationsIn('transactions', { type: 'contract_creation' }),
    creationsIn('internal-transactions'),
  ];
  const creations = (await Promise.all(lists)).flat().sort(compareAge);
  if (!isCurrent()) return;
  creations.forEach(({ created_contract: created }) => learn(created));
  const newest = newestByName(creations);
  forgetOthers(newest);

  // One after another, so that a search does not keep the node from other work.
  for (const [name, { address, transaction }] of newest) {
    if (sources.has(name)) continue;
    const source = await sourceOf(address);
    if (!isCurrent()) return;
    if (source) sources.set(name, { ...source, transaction });
  }
}

/**
 * The known sources of contracts that were created on this chain, as far as they have been read.
 * The names of all these contracts are learned at the same time.
 */
export async function knownSources() {
  if (!(await indexed())) return [];
  if (!reading || Date.now() - readAt > LIFETIME) {
    const mine = { done: null };
    mine.done = read(() => reading === mine).catch(() => {});
    [reading, readAt] = [mine, Date.now()];
  }
  let timer = null;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, LONGEST_WAIT)));
  await Promise.race([reading.done, late]);
  clearTimeout(timer);
  return [...sources.values()];
}
