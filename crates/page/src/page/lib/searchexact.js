// Results of hashes, numbers and addresses, whole or in part.

import { checksum, parseAddress } from './address.js';
import { count } from './format.js';
import { ask, indexed } from './index.js';
import { displayName, labels } from './labels.js';
import { eventsByTopic, functionsBySelector } from './methods.js';
import { network, tokenAt } from './network.js';
import { node } from './node.js';
import {
  addressResult,
  blockResult,
  SHOWN,
  SHOWN_MEMBERS,
  tokenResult,
  transactionResult,
} from './searchresults.js';
import { knownSources } from './sources.js';
import { wallets } from './wallet.js';

/** Hex digits from which on the beginning of an address or hash is searched. */
const MIN_PART = 3;
/** Hex digits of the selector of a function. */
const SELECTOR = 8;
/**
 * Hex digits up to which a term may be the number of a block: more, even zeros, are the beginning
 * of an address or hash.
 */
const MAX_NUMBER = 12;

/** A result for each address and transaction, by lower-case hex; the first of several counts. */
class KnownResults {
  byHex = new Map();

  add(hex, result) {
    const key = hex.toLowerCase();
    if (!this.byHex.has(key)) this.byHex.set(key, result);
  }

  addAddress(hex, kind, title) {
    this.add(hex, addressResult(kind, hex, title));
  }

  addTransaction({ hash, from, to }) {
    this.add(hash, transactionResult(hash, hash));
    for (const party of [from, to]) {
      const hex = party?.hash ?? party;
      if (hex) this.addAddress(checksum(hex), 'Address');
    }
  }
}

/**
 * Addresses and transactions that the page knows or that are recent: a result for each, by
 * lower-case hex.
 */
async function knownResults() {
  const known = new KnownResults();
  for (const [hex, label] of labels()) known.addAddress(checksum(hex), 'Label', label);
  wallets.held.forEach((hex, at) => known.addAddress(hex, 'Account', `Account ${at}`));
  for (const hex of [...wallets.impersonated, wallets.current?.address].filter(Boolean))
    known.addAddress(hex, 'Account');
  for (const [hex, name] of network.names) {
    const token = tokenAt(hex);
    if (token) known.add(hex, tokenResult(token));
    else known.addAddress(checksum(hex), 'Contract', name);
  }
  for (const transaction of await recentTransactions()) known.addTransaction(transaction);
  return known.byHex;
}

/** The recent transactions of the index, or those of the newest block; none after a failure. */
async function recentTransactions() {
  const isIndexed = await indexed();
  try {
    if (isIndexed) return (await ask('transactions')).items;
    return (await node.call('eth_getBlockByNumber', 'latest', true)).transactions;
  } catch {
    return [];
  }
}

/**
 * Results of hex that is no whole address or hash: the number of a block, or the beginning of what
 * is known. In the short form, with an ellipsis, `end` are the digits after it; otherwise it is
 * undefined.
 */
async function ofPart(text, start, end, head) {
  const isShortForm = end !== undefined;
  const found = [];
  if (!isShortForm && start.length === SELECTOR) {
    const functions = functionsBySelector(await knownSources(), `0x${start}`);
    found.push(...functions.slice(0, SHOWN_MEMBERS));
  }
  if (!isShortForm && start && start.length <= MAX_NUMBER) {
    const number = BigInt(`0x${start}`);
    if (number <= head) found.push(blockResult(number));
  }
  if (start.length >= MIN_PART) {
    for (const [hex, result] of await knownResults())
      if (hex.startsWith(`0x${start}`) && hex.endsWith(end ?? '')) found.push(result);
  }
  if (found.length) return { found: found.slice(0, SHOWN) };

  if (isShortForm)
    return {
      reason: `No known account, contract or recent transaction is ${text}. Paste the whole address or hash.`,
    };
  return { reason: `An address has 40 hex digits and a hash 64; this has ${start.length}.` };
}

function ofNumber(number, head) {
  if (number <= head) return { found: [blockResult(number)] };
  return {
    reason: `Block ${count(number)} does not exist yet; the latest block is ${count(head)}.`,
  };
}

/** The transaction or the block with a hash, or the events whose topic it is. */
async function ofHash(hash) {
  const [transaction, block] = await Promise.all([
    node.call('eth_getTransactionByHash', hash),
    node.call('eth_getBlockByHash', hash, false),
  ]);
  if (transaction) {
    const { blockNumber } = transaction;
    const place = blockNumber === null ? 'Pending' : `In block ${count(Number(blockNumber))}`;
    return { found: [transactionResult(hash, place)] };
  }
  if (block) return { found: [{ ...blockResult(Number(block.number)), detail: hash }] };

  const events = eventsByTopic(await knownSources(), hash).slice(0, SHOWN_MEMBERS);
  return events.length
    ? { found: events }
    : { reason: 'No block or transaction has this hash, and no known event this topic.' };
}

/** An address in any format; a reason if the term looks like one, but is none. */
function ofAddress(text) {
  const looksLikeOne = /^0x/i.test(text) || new RegExp(`^${network.prefix}[a-z]*1`, 'i').test(text);
  try {
    const address = parseAddress(text, network.prefix);
    const token = tokenAt(address);
    const result = addressResult('Address', address, displayName(address));
    return { found: token ? [result, tokenResult(token)] : [result] };
  } catch (error) {
    return looksLikeOne
      ? { reason: `${error.message[0].toUpperCase()}${error.message.slice(1)}.` }
      : {};
  }
}

/**
 * Results of hashes, numbers and addresses, and the reason if there is none although the term is
 * one of them.
 */
export async function exact(text) {
  const head = Number(node.head?.number ?? 0);
  if (/^\d[\d,_]*$/.test(text)) return ofNumber(BigInt(text.replace(/[,_]/g, '')), head);
  if (/^0x[0-9a-f]{64}$/i.test(text)) return ofHash(text.toLowerCase());

  const part = /^0x([0-9a-f]*)(?:(?:…|\.{2,3})([0-9a-f]*))?$/i.exec(text);
  if (part && (part[2] !== undefined || part[1].length !== 40))
    return ofPart(text, part[1].toLowerCase(), part[2]?.toLowerCase(), head);
  return ofAddress(text);
}
