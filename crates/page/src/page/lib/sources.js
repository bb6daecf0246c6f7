// Contracts whose sources the node knows, from compiler artifacts or by verification: their names and ABIs, for the search.

import { fragmentsOf } from './contracts.js';
import { ask, indexed, learn } from './index.js';
import { network } from './network.js';
import { node } from './node.js';

/** Maximum number of pages of transactions that created contracts, and of calls between contracts, that are read. */
const MOST_PAGES = 6;
/** Maximum number of ABIs. Of contracts with the same name the newest counts. */
const MOST_SOURCES = 100;
/** How long a list of created contracts holds, in milliseconds: sources are verified later, too. */
const LIFETIME = 15_000;
/** How long a search waits for ABIs, in milliseconds: the node reads each from the compiler's output, which may be long. */
const LONGEST_WAIT = 1_000;

/** Sources by name: `{ address, name, fragments }`, where `name` is that in the source; tokens have another one. */
const sources = new Map();
let [reading, readAt] = [null, 0];

node.addEventListener('restart', () => {
  sources.clear();
  reading = null;
});

/** The newest contracts of a list of the index that were created and have a known source. */
async function createdIn(path, parameters) {
  const found = [];
  let cursor = {};
  for (let pages = 0; cursor && pages < MOST_PAGES; pages++) {
    const { items, next_page_params: next } = await ask(path, { ...parameters, ...cursor });
    found.push(...items.map(({ created_contract: created }) => created).filter((created) => created?.is_verified));
    cursor = next;
  }
  return found;
}

async function sourceOf(address) {
  const response = await fetch(`sourcify/v2/contract/${network.chainId}/${address}?fields=abi,compilation.name`);
  if (!response.ok) return null;
  const { abi, compilation } = await response.json();
  return { address, name: String(compilation?.name ?? ''), fragments: fragmentsOf(Array.isArray(abi) ? abi : []) };
}

async function read(isCurrent) {
  const lists = [createdIn('transactions', { type: 'contract_creation' }), createdIn('internal-transactions')];
  const created = (await Promise.all(lists)).flat();
  created.forEach(learn);

  // One after another, so that a search does not keep the node from other work.
  const newest = new Map(created.toReversed().map(({ hash, name }) => [name, hash]));
  for (const [name, hash] of newest) {
    if (sources.get(name)?.address === hash) continue;
    if (!isCurrent() || sources.size >= MOST_SOURCES) return;
    const source = await sourceOf(hash);
    if (source && isCurrent()) sources.set(name, source);
  }
}

/**
 * The known sources of contracts that were created on this chain, as far as they have been read. The names of all these
 * contracts are learned at the same time.
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
