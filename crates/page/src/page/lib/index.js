// The index of addresses: Blockscout's REST API v2.

import { nameOf, rememberToken } from './network.js';
import { node } from './node.js';

/**
 * Names of contracts that the index knows, by lower-case address. Anyone can choose the name of a
 * token.
 */
const learned = new Map();
let state = null;
let forked = null;

node.addEventListener('restart', () => {
  [state, forked] = [null, null];
  learned.clear();
  lookedUp.clear();
  methods.clear();
});
node.addEventListener('status', () => (state = null));

/**
 * Requests a route under /api/v2, whose answer `parse` reads. Errors have the response's `status`.
 */
export async function ask(path, parameters = {}, parse = JSON.parse) {
  const query = new URLSearchParams(
    Object.entries(parameters).filter(
      ([, value]) => value !== null && value !== undefined && value !== '',
    ),
  );

  let response;
  try {
    response = await fetch(`api/v2/${path}${query.size ? `?${query}` : ''}`);
  } catch {
    throw new Error('the node is not responding');
  }

  const body = await response
    .text()
    .then((text) => parse(text))
    .catch(() => null);
  if (response.ok && body !== null) return body;
  throw Object.assign(
    new Error(body?.message ?? `the node responded with status ${response.status}`),
    { status: response.status },
  );
}

/** Whether the node has the index of addresses; it has none with `--no-explorer`. */
export function indexed() {
  state ??= ask('main-page/indexing-status').then(
    () => true,
    (error) => {
      if (error.status !== 404) state = null;
      return false;
    },
  );
  return state;
}

/**
 * The block at which the node forked another chain, or null. The index and GraphQL begin after it.
 */
export function forkBlock() {
  forked ??= node.call('anvil_nodeInfo').then(
    (info) =>
      info.forkConfig?.forkBlockNumber === null || info.forkConfig?.forkBlockNumber === undefined
        ? null
        : Number(info.forkConfig.forkBlockNumber),
    () => null,
  );
  return forked;
}

/** Why the index is incomplete, as a sentence; null if it is complete. */
export async function gap() {
  const block = await forkBlock();
  return block === null
    ? null
    : `This node forked another chain at block ${block.toLocaleString('en')}. Histories, holders and tokens are those of its own blocks after it.`;
}

/** Whether histories are incomplete without the index, as a sentence. */
export const WITHOUT_INDEX =
  'This node runs without the index of addresses (--no-explorer), so histories are incomplete: ';

/** Remembers the name of a contract in a response, and returns its address. */
export function learn(param) {
  if (!param) return null;
  if (param.name) learned.set(param.hash.toLowerCase(), param.name);
  return param.hash;
}

/** Addresses whose names were looked up, with the time. */
const lookedUp = new Map();
/**
 * How long a lookup holds, in milliseconds: sources are verified later, too. And how many are
 * remembered.
 */
const LOOKUP_LIFETIME = 30_000;
const MOST_LOOKUPS = 2_000;

/** Looks up the names of contracts that the page has not met, as far as the node has an index. */
export async function learnNames(addresses) {
  if (!(await indexed())) return;
  const now = Date.now();
  const wanted = [...new Set(addresses.map((address) => address.toLowerCase()))].filter(
    (address) =>
      !learned.has(address) && !nameOf(address) && !(now - lookedUp.get(address) < LOOKUP_LIFETIME),
  );
  if (lookedUp.size + wanted.length > MOST_LOOKUPS) lookedUp.clear();
  for (const address of wanted) lookedUp.set(address, now);
  await Promise.all(wanted.map((address) => ask(`addresses/${address}`).then(learn, () => null)));
}

/** Names of methods by contract and selector, as promises with the time of the lookup. */
const methods = new Map();

/**
 * The name that the index has for the method that a transaction calls, or null. It is asked for
 * once for all calls of a method.
 */
export async function methodName({ hash, to, input }) {
  if (input.length < 10 || !(await indexed())) return null;
  const key = `${to}/${input.slice(0, 10)}`.toLowerCase();
  const known = methods.get(key);
  if (known && Date.now() - known.since < LOOKUP_LIFETIME) return known.name;
  methods.delete(key);
  if (methods.size >= MOST_LOOKUPS) methods.delete(methods.keys().next().value);
  const name = ask(`transactions/${hash}`).then(
    ({ method }) => (method?.startsWith('0x') ? null : method),
    (error) => {
      if (error.status !== 404) methods.delete(key);
      return null;
    },
  );
  methods.set(key, { name, since: Date.now() });
  return name;
}

/** The names that the index gave contracts: `[address, name]`. */
export function learnedNames() {
  return [...learned];
}

/** Remembers the symbol and decimals of a token in a response. */
export function learnToken({ address_hash: address, type, symbol, decimals }) {
  if (type === 'ERC-20' && decimals !== null)
    rememberToken({ address, symbol, decimals: Number(decimals) });
}

/** The name of a contract that the index knows, or null. */
export function learnedName(address) {
  return learned.get(address?.toLowerCase()) ?? null;
}
