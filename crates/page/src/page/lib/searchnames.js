// Results of names: of tokens, contracts, accounts, functions and events. `how` is how well a result
// matches: the lower, the better.

import { signature } from './abi.js';
import { checksum } from './address.js';
import { shorten } from './format.js';
import { ask, indexed, learn, learnedNames } from './index.js';
import { labels } from './labels.js';
import { members } from './methods.js';
import { network, tokenAt } from './network.js';
import { addressResult, SHOWN_MEMBERS, tokenResult } from './searchresults.js';
import { knownSources } from './sources.js';
import { wallets } from './wallet.js';

/** Least time between two requests for recent names, in milliseconds. */
const LEARN_PACE = 5_000;
/** Letters from which on functions and events are searched. */
const MIN_MEMBER = 3;
const TAGS = {
  latest: 'The newest block',
  pending: 'The next block',
  finalized: 'The newest final block',
  safe: 'The newest safe block',
  earliest: 'The first block',
};

/**
 * How well a name matches: 0 for equal, 1 for its beginning, 2 for the beginning of a word, 3 for a
 * part; null for none.
 */
function rank(name, words) {
  const lower = name.toLowerCase();
  if (lower === words) return 0;
  if (lower.startsWith(words)) return 1;
  if (lower.includes(` ${words}`)) return 2;
  return lower.includes(words) ? 3 : null;
}

/** Blocks by their tags. */
function tagged(words) {
  return Object.entries(TAGS)
    .filter(([tag]) => tag.startsWith(words))
    .map(([tag, detail]) => ({
      kind: 'Block',
      title: tag,
      detail,
      href: `#/block/${tag}`,
      how: tag === words ? 0 : 2,
    }));
}

/**
 * Results among names that the page knows: tokens, contracts of the network, accounts of the node,
 * blocks.
 */
function known(words) {
  const found = tagged(words);
  // There may be hundreds of names: what a result needs is computed for those that match.
  const add = (name, resultOf) => {
    const how = rank(name, words);
    if (how !== null) found.push({ ...resultOf(), how });
  };

  for (const token of [...network.tokens, ...(network.receipts ?? [])])
    add(token.symbol, () => tokenResult(token));
  for (const [address, name] of network.names) {
    if (!tokenAt(address)) add(name, () => addressResult('Contract', address, name));
    else if (words.length > 2 && rank(name, words) !== null)
      found.push({ ...tokenResult(tokenAt(address)), how: 2 });
  }
  for (const [address, label] of labels())
    add(label, () => addressResult('Label', checksum(address), label));
  wallets.held.forEach((address, at) =>
    add(`Account ${at}`, () => addressResult('Account', address, `Account ${at}`)),
  );
  return found.sort((a, b) => a.how - b.how);
}

/**
 * Functions and events with a name, or with the beginning of a signature such as
 * `transfer(address`.
 */
function membersNamed(sources, words) {
  if (words.length < MIN_MEMBER) return [];
  const found = members(sources, (one) => {
    const how =
      rank(one.name, words) ?? (signature(one).toLowerCase().startsWith(words) ? 1 : null);
    return how === null ? null : how + 0.7;
  });
  return found.sort((a, b) => a.how - b.how).slice(0, SHOWN_MEMBERS);
}

/** Contracts by their name in the source, which tokens do not show. */
function sourcesNamed(sources, words) {
  return sources.flatMap(({ address, name }) => {
    const how = words.length < 2 ? null : rank(name, words);
    return how === null ? [] : [{ ...addressResult('Contract', address, name), how: how + 0.65 }];
  });
}

let learnedAt = 0;

/** Remembers the names of contracts that were used lately. */
async function learnRecent() {
  if (Date.now() - learnedAt < LEARN_PACE) return;
  learnedAt = Date.now();
  const { items } = await ask('transactions');
  for (const { to, created_contract: created } of items) {
    learn(to);
    learn(created);
  }
}

/**
 * Contracts whose names the page has met, such as those of compiler artifacts, which have a name
 * wherever their code is.
 */
async function met(words) {
  if (words.length < 2 || !(await indexed())) return [];
  await learnRecent().catch(() => {});
  return learnedNames().flatMap(([lower, name]) => {
    const how = rank(name, words);
    if (how === null) return [];
    return [{ ...addressResult('Contract', checksum(lower), name), how: how + 0.6 }];
  });
}

/** How well an entry of the index matches, by its name or symbol. */
function rankEntry({ name, symbol }, words) {
  const ranks = [name, symbol].filter(Boolean).map((each) => rank(each, words) ?? 4);
  return Math.min(...ranks, 4);
}

function entryResult({ type, name, symbol, address_hash: address, token_type: standard }) {
  const isToken = type === 'token';
  const shown = name ?? shorten(address, 12, 10);
  let kind = 'Contract';
  if (isToken) kind = standard === 'ERC-20' ? 'Token' : 'NFT';
  return {
    kind,
    title: isToken && symbol ? `${shown} (${symbol})` : shown,
    detail: address,
    href: `#/${isToken ? 'token' : 'address'}/${address}`,
  };
}

/** Tokens and verified contracts of the index. */
async function remote(text) {
  if (text.length < 2 || !(await indexed())) return [];
  const all = await ask('search/quick', { q: text }).catch(() => []);
  const words = text.toLowerCase();
  return all
    .filter(({ type }) => type === 'token' || type === 'contract')
    .map((entry) => ({ ...entryResult(entry), how: rankEntry(entry, words) + 0.5 }));
}

/** The results of a name, best first: an address may have several. */
export async function named(text) {
  const words = text.toLowerCase();
  const [others, sources] = await Promise.all([remote(text), knownSources()]);

  const listed = new Set(others.map(({ detail }) => detail));
  const own = [...(await met(words)), ...sourcesNamed(sources, words)].filter(
    ({ detail }) => !listed.has(detail),
  );
  return [...known(words), ...others, ...own, ...membersNamed(sources, words)].sort(
    (a, b) => a.how - b.how,
  );
}
