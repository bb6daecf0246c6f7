// The user's own names of addresses, kept in this browser, for each chain.

import { nameOf, network } from './network.js';

const SAVED = 'tetrad.labels';
/** Maximum number of labels, and of characters in one. */
const MOST_SAVED = 500;
export const LONGEST_LABEL = 40;

/** The labels of all chains by `chainId/address`; null until they are read. */
let saved = null;
addEventListener('storage', ({ key }) => {
  if (key === SAVED || key === null) saved = null;
});

function all() {
  if (saved) return saved;
  saved = new Map();
  try {
    for (const [key, label] of Object.entries(JSON.parse(localStorage.getItem(SAVED) ?? '{}'))) {
      if (typeof label === 'string' && label && label.length <= LONGEST_LABEL)
        saved.set(key, label);
    }
  } catch {
    // Storage may be disabled, or hold something else.
  }
  return saved;
}

const keyOf = (address) => `${network.chainId}/${address.toLowerCase()}`;

/** The user's label of an address, or null. */
export function labelOf(address) {
  return address ? (all().get(keyOf(address)) ?? null) : null;
}

/**
 * Saves a label of an address; an empty one removes it. Returns the label as it was saved, or null.
 */
export function saveLabel(address, text) {
  const label = text.trim().replace(/\s+/g, ' ');
  if (label.length > LONGEST_LABEL)
    throw new Error(`a label has at most ${LONGEST_LABEL} characters`);
  const labels = new Map(all());
  labels.delete(keyOf(address));
  if (label) labels.set(keyOf(address), label);
  if (labels.size > MOST_SAVED)
    throw new Error(`this browser keeps at most ${MOST_SAVED} labels; remove one first`);
  localStorage.setItem(SAVED, JSON.stringify(Object.fromEntries(labels)));
  saved = labels;
  return label || null;
}

/** The labels of this chain: `[address, label]`. */
export function labels() {
  const prefix = `${network.chainId}/`;
  return [...all()]
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, label]) => [key.slice(prefix.length), label]);
}

/**
 * The name under which an address is shown: the user's label, or that of a contract of the network;
 * null without either.
 */
export function displayName(address) {
  return labelOf(address) ?? nameOf(address);
}
