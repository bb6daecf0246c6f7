// Functions and events by their name, selector or topic, for the search.

import { isView, selector, signature, topic } from './abi.js';
import { MOST_SAVED, ownContract, savedContracts } from './contracts.js';
import { shorten } from './format.js';
import { displayName } from './labels.js';
import { contractAbi, MOST_PASTED, pastedInterfaces } from './knownabis.js';
import { network } from './network.js';
import { parseInterface } from './signature.js';

/**
 * Maximum number of ABI entries that are looked at: ABIs in this browser are the user's, and may be
 * long.
 */
const MOST_ENTRIES = 20_000;

/** Maximum number of ABIs that stay parsed: every letter of a search looks at all of them. */
const MOST_PARSED = MOST_SAVED + MOST_PASTED;

/** The fragments of ABIs by their text. */
const remembered = new Map();

function parse(text) {
  try {
    return parseInterface(text);
  } catch {
    return [];
  }
}

function parsed(text) {
  const known = remembered.get(text);
  if (known) return known;
  if (remembered.size >= MOST_PARSED) remembered.delete(remembered.keys().next().value);
  const fragments = parse(text);
  remembered.set(text, fragments);
  return fragments;
}

/**
 * Contracts with a known ABI: `[address, what it is, fragments]`; the address is null for an ABI
 * that belongs to none.
 */
function* contracts(sources) {
  const seen = new Set();
  for (const address of network.names.keys()) {
    const name = ownContract(address);
    // Tokens have the same functions.
    if (!name || seen.has(name)) continue;
    seen.add(name);
    yield [address, displayName(address) ?? name, contractAbi(name) ?? []];
  }
  for (const [address, text] of savedContracts())
    yield [address, displayName(address) ?? shorten(address, 8, 6), parsed(text)];
  for (const text of pastedInterfaces()) yield [null, 'a saved ABI', parsed(text)];
  for (const { address, name, fragments } of sources)
    yield [address, displayName(address) ?? name, fragments];
}

/** The place of a function or event on the page of its contract. */
function placeOf(address, one) {
  if (!address) return '#/interfaces';
  if (one.type === 'event')
    return `#/contract/${address}?tab=events&event=${encodeURIComponent(signature(one))}`;
  return `#/contract/${address}?tab=${isView(one) ? 'read' : 'write'}&function=${one.name}`;
}

function result(address, where, one, how) {
  const isEvent = one.type === 'event';
  const id = isEvent ? shorten(topic(one), 10, 4) : selector(one);
  return {
    kind: isEvent ? 'Event' : 'Method',
    title: shorten(signature(one), 48, 8),
    detail: `${id} of ${where}`,
    href: placeOf(address, one),
    how,
  };
}

/**
 * The functions and events for which `accepts(fragment)` is not null, as results of the search with
 * what it returned as `how`. `sources` are those that the node knows.
 */
export function members(sources, accepts) {
  const found = [];
  let looked = 0;
  for (const [address, where, fragments] of contracts(sources)) {
    for (const one of fragments) {
      if (++looked > MOST_ENTRIES) return found;
      const how = one.type === 'function' || one.type === 'event' ? accepts(one) : null;
      if (how !== null) found.push(result(address, where, one, how));
    }
  }
  return found;
}

/** The functions with a selector. */
export function functionsBySelector(sources, wanted) {
  return members(sources, (one) =>
    one.type === 'function' && selector(one) === wanted ? 0 : null,
  );
}

/** The events with a topic. */
export function eventsByTopic(sources, wanted) {
  return members(sources, (one) => (one.type === 'event' && topic(one) === wanted ? 0 : null));
}
