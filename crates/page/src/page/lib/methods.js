// Functions by their name or selector, for the search.

import { selector, signature } from './abi.js';
import { ownContract, savedContracts } from './contracts.js';
import { shorten } from './format.js';
import { displayName } from './labels.js';
import { contractAbi, network, pastedInterfaces } from './network.js';
import { parseInterface } from './signature.js';

/** Maximum number of ABI entries that are looked at: ABIs in this browser are the user's, and may be long. */
const MOST_ENTRIES = 20_000;

/** Maximum number of ABIs that stay parsed: every letter of a search looks at all of them. */
const MOST_PARSED = 70;

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

/** Contracts with a known ABI: `[address, what it is, fragments]`; the address is null for an ABI that belongs to none. */
function* contracts() {
  const seen = new Set();
  for (const address of network.names.keys()) {
    const name = ownContract(address);
    // Tokens have the same functions.
    if (!name || seen.has(name)) continue;
    seen.add(name);
    yield [address, displayName(address) ?? name, contractAbi(name) ?? []];
  }
  for (const [address, text] of savedContracts()) yield [address, displayName(address) ?? shorten(address, 8, 6), parsed(text)];
  for (const text of pastedInterfaces()) yield [null, 'a saved ABI', parsed(text)];
}

/** The functions for which `accepts(fragment)` is not null, as results of the search with what it returned as `how`. */
export function methods(accepts) {
  const found = [];
  let looked = 0;
  for (const [address, where, fragments] of contracts()) {
    for (const one of fragments) {
      if (++looked > MOST_ENTRIES) return found;
      const how = one.type === 'function' ? accepts(one) : null;
      if (how === null) continue;
      const tab = /^(view|pure)$/.test(one.stateMutability) ? 'read' : 'write';
      const href = address ? `#/contract/${address}?tab=${tab}&function=${one.name}` : '#/interfaces';
      found.push({ kind: 'Method', title: shorten(signature(one), 48, 8), detail: `${selector(one)} of ${where}`, href, how });
    }
  }
  return found;
}

/** The functions with a selector. */
export function methodsBySelector(wanted) {
  return methods((one) => (selector(one) === wanted ? 0 : null));
}
