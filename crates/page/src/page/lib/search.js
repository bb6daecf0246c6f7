// What a search term may mean.

import { signature } from './abi.js';
import { checksum, parseAddress } from './address.js';
import { count, shorten } from './format.js';
import { ask, indexed, learn, learnedNames } from './index.js';
import { displayName, labels } from './labels.js';
import { eventsByTopic, functionsBySelector, members } from './methods.js';
import { nameOf, network, tokenAt } from './network.js';
import { node } from './node.js';
import { knownSources } from './sources.js';
import { wallets } from './wallet.js';

/** Number of shown results. */
const SHOWN = 10;
/** Hex digits from which on the beginning of an address or hash is searched. */
const MIN_PART = 3;
/** Least time between two requests for recent names, in milliseconds. */
const LEARN_PACE = 5_000;
/**
 * Hex digits of the selector of a function, and the number of functions and events among the
 * results.
 */
const SELECTOR = 8;
const SHOWN_MEMBERS = 4;
/** Letters from which on functions and events are searched. */
const MIN_MEMBER = 3;
/**
 * Hex digits up to which a term may be the number of a block: more, even zeros, are the beginning
 * of an address or hash.
 */
const MAX_NUMBER = 12;
const TAGS = {
  latest: 'The newest block',
  pending: 'The next block',
  finalized: 'The newest final block',
  safe: 'The newest safe block',
  earliest: 'The first block',
};

/** A text that may be pasted with quotes, spaces or without its 0x. */
function tidy(text) {
  const bare = text.trim().replace(/^["'`]+|["'`,;]+$/g, '');
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(bare) && /[a-f]/i.test(bare) ? `0x${bare}` : bare;
}

const block = (number) => ({
  kind: 'Block',
  title: `Block ${count(Number(number))}`,
  detail: '',
  href: `#/block/${number}`,
});

/**
 * Addresses and transactions that the page knows or that are recent: a result for each, by
 * lower-case hex.
 */
async function known() {
  const all = new Map();
  const add = (hex, result) =>
    hex && !all.has(hex.toLowerCase()) && all.set(hex.toLowerCase(), result);
  const address = (hex, kind, title) =>
    add(hex, { kind, title: title ?? shorten(hex, 12, 10), detail: hex, href: `#/address/${hex}` });
  for (const [hex, label] of labels()) address(checksum(hex), 'Label', label);
  wallets.held.forEach((hex, at) => address(hex, 'Account', `Account ${at}`));
  for (const hex of [...wallets.impersonated, wallets.current?.address].filter(Boolean))
    address(hex, 'Account');
  for (const [hex, name] of network.names) {
    const token = tokenAt(hex);
    if (token) add(hex, tokenResult(token));
    else address(checksum(hex), 'Contract', name);
  }
  const recent = (await indexed())
    ? await ask('transactions').then(
        ({ items }) => items,
        () => [],
      )
    : await latestTransactions();
  for (const { hash, from, to } of recent) {
    add(hash, {
      kind: 'Transaction',
      title: shorten(hash, 18, 10),
      detail: hash,
      href: `#/tx/${hash}`,
    });
    for (const party of [from, to]) {
      const hex = party?.hash ?? party;
      if (hex) address(checksum(hex), 'Address');
    }
  }
  return all;
}

/** The transactions of the newest block. */
function latestTransactions() {
  return node.call('eth_getBlockByNumber', 'latest', true).then(
    (found) => found.transactions,
    () => [],
  );
}

/**
 * Results of hex that is no whole address or hash: the number of a block, or the beginning of what
 * is known. In the short form, with an ellipsis, `end` are the digits after it; otherwise it is
 * undefined.
 */
async function ofPart(text, start, end, head) {
  const isShortForm = end !== undefined;
  const found =
    !isShortForm && start.length === SELECTOR
      ? functionsBySelector(await knownSources(), `0x${start}`).slice(0, SHOWN_MEMBERS)
      : [];
  if (!isShortForm && start && start.length <= MAX_NUMBER) {
    const number = BigInt(`0x${start}`);
    if (number <= head) found.push(block(number));
  }
  if (start.length >= MIN_PART) {
    const matching = [...(await known())].filter(
      ([hex]) => hex.startsWith(`0x${start}`) && hex.endsWith(end ?? ''),
    );
    found.push(...matching.map(([, result]) => result));
  }
  if (found.length) return { found: found.slice(0, SHOWN) };
  if (isShortForm)
    return {
      reason: `No known account, contract or recent transaction is ${text}. Paste the whole address or hash.`,
    };
  return { reason: `An address has 40 hex digits and a hash 64; this has ${start.length}.` };
}

/**
 * Results of hashes, numbers and addresses, and the reason if there is none although the term is
 * one of them.
 */
async function exact(text) {
  const head = Number(node.head?.number ?? 0);
  if (/^\d[\d,_]*$/.test(text)) {
    const number = BigInt(text.replace(/[,_]/g, ''));
    return number <= head
      ? { found: [block(number)] }
      : {
          reason: `Block ${count(number)} does not exist yet; the latest block is ${count(head)}.`,
        };
  }
  if (/^0x[0-9a-f]{64}$/i.test(text)) {
    const hash = text.toLowerCase();
    const [transaction, found] = await Promise.all([
      node.call('eth_getTransactionByHash', hash),
      node.call('eth_getBlockByHash', hash, false),
    ]);
    if (transaction)
      return {
        found: [
          {
            kind: 'Transaction',
            title: shorten(hash, 18, 10),
            detail:
              transaction.blockNumber === null
                ? 'Pending'
                : `In block ${count(Number(transaction.blockNumber))}`,
            href: `#/tx/${hash}`,
          },
        ],
      };
    if (found) return { found: [{ ...block(Number(found.number)), detail: hash }] };
    const events = eventsByTopic(await knownSources(), hash).slice(0, SHOWN_MEMBERS);
    return events.length
      ? { found: events }
      : { reason: 'No block or transaction has this hash, and no known event this topic.' };
  }
  const part = /^0x([0-9a-f]*)(?:(?:…|\.{2,3})([0-9a-f]*))?$/i.exec(text);
  if (part && (part[2] !== undefined || part[1].length !== 40))
    return ofPart(text, part[1].toLowerCase(), part[2]?.toLowerCase(), head);
  const looksLikeOne = /^0x/i.test(text) || new RegExp(`^${network.prefix}[a-z]*1`, 'i').test(text);
  try {
    const address = parseAddress(text, network.prefix);
    const token = tokenAt(address);
    const result = {
      kind: 'Address',
      title: displayName(address) ?? shorten(address, 12, 10),
      detail: address,
      href: `#/address/${address}`,
    };
    return { found: token ? [result, tokenResult(token)] : [result] };
  } catch (error) {
    return looksLikeOne
      ? { reason: `${error.message[0].toUpperCase()}${error.message.slice(1)}.` }
      : {};
  }
}

function tokenResult(token) {
  return {
    kind: 'Token',
    title: `${token.symbol}`,
    detail: nameOf(token.address) ?? token.address,
    href: `#/token/${token.address}`,
  };
}

function contractResult(name, address) {
  return { kind: 'Contract', title: name, detail: address, href: `#/address/${address}` };
}

function labelResult(label, address) {
  return { kind: 'Label', title: label, detail: address, href: `#/address/${address}` };
}

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

/**
 * Results among names that the page knows: tokens, contracts of the network, accounts of the node,
 * blocks.
 */
function named(words) {
  const found = [];
  // There may be hundreds of names: what a result needs is computed for those that match.
  const add = (name, resultOf) => {
    const how = rank(name, words);
    if (how !== null) found.push({ ...resultOf(), how });
  };
  for (const [tag, detail] of Object.entries(TAGS))
    if (tag.startsWith(words))
      found.push({
        kind: 'Block',
        title: tag,
        detail,
        href: `#/block/${tag}`,
        how: tag === words ? 0 : 2,
      });
  for (const token of [...network.tokens, ...(network.receipts ?? [])])
    add(token.symbol, () => tokenResult(token));
  for (const [address, name] of network.names) {
    if (!tokenAt(address)) add(name, () => contractResult(name, address));
    else if (words.length > 2 && rank(name, words) !== null)
      found.push({ ...tokenResult(tokenAt(address)), how: 2 });
  }
  for (const [address, label] of labels()) add(label, () => labelResult(label, checksum(address)));
  wallets.held.forEach((address, at) =>
    add(`Account ${at}`, () => ({
      kind: 'Account',
      title: `Account ${at}`,
      detail: address,
      href: `#/address/${address}`,
    })),
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
    return how === null ? [] : [{ ...contractResult(name, address), how: how + 0.65 }];
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
    return [{ ...contractResult(name, checksum(lower)), how: how + 0.6 }];
  });
}

/** Tokens and verified contracts of the index. */
async function remote(text) {
  if (text.length < 2 || !(await indexed())) return [];
  const all = await ask('search/quick', { q: text }).catch(() => []);
  return all
    .filter(({ type }) => type === 'token' || type === 'contract')
    .map((one) => {
      const isToken = one.type === 'token';
      const name = one.name ?? shorten(one.address_hash, 12, 10);
      const title = isToken && one.symbol ? `${name} (${one.symbol})` : name;
      const how = Math.min(
        ...[one.name, one.symbol]
          .filter(Boolean)
          .map((each) => rank(each, text.toLowerCase()) ?? 4),
        4,
      );
      return {
        kind: isToken ? (one.token_type === 'ERC-20' ? 'Token' : 'NFT') : 'Contract',
        title,
        detail: one.address_hash,
        href: `#/${isToken ? 'token' : 'address'}/${one.address_hash}`,
        how: how + 0.5,
      };
    });
}

/** The results of a term, best first, and the reason if there are none. */
export async function search(given) {
  const text = tidy(given);
  if (!text) return { found: [], reason: '' };
  const { found = null, reason = null } = await exact(text);
  if (found) return { found, reason: '' };
  if (reason) return { found: [], reason };
  const words = text.toLowerCase();
  const [others, sources] = await Promise.all([remote(text), knownSources()]);
  const listed = new Set(others.map(({ detail }) => detail));
  const own = [...(await met(words)), ...sourcesNamed(sources, words)].filter(
    ({ detail }) => !listed.has(detail),
  );
  const all = [...named(words), ...others, ...own, ...membersNamed(sources, words)].sort(
    (a, b) => a.how - b.how,
  );
  const seen = new Set();
  const distinct = all.filter(
    ({ href }) => !seen.has(href.toLowerCase()) && seen.add(href.toLowerCase()),
  );
  if (distinct.length) return { found: distinct.slice(0, SHOWN), reason: '' };
  const shown = text.slice(0, 60);
  if (!(await indexed()))
    return {
      found: [],
      reason: `No token, function, event, label or contract of the network is called “${shown}”.`,
    };
  return {
    found: [],
    reason: `No token, contract, function, event, label or block is called “${shown}”. Contracts of compiler artifacts are found where they are deployed.`,
  };
}
