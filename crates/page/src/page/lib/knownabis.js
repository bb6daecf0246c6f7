// Known ABIs: those of the network's contracts, and those saved in this browser.
//
// Four-byte selectors may collide; those of the network's own contracts take precedence.

import { decodeCall, decodeLog, fragment, selector, topic } from './abi.js';
import { parseInterface } from './signature.js';

const PASTED = 'tetrad.interfaces';

/**
 * The functions, events and errors of the network's contracts, by the contract's name. Set when
 * the network is loaded.
 */
const contracts = new Map();
/** All known functions, events and errors; null until they are needed. */
let registry = null;

/** Sets the network's contracts: their members as text, by the contract's name. */
export function setContractAbis(abis) {
  for (const [contract, lines] of Object.entries(abis))
    contracts.set(contract, lines.map(fragment));
  registry = null;
}

/** A function, event or error of a contract: `member('Token', 'event', 'Transfer')`. */
export function member(contract, type, name) {
  const found = contracts.get(contract)?.find((one) => one.type === type && one.name === name);
  if (!found) throw new Error(`the contract ${contract} has no ${type} ${name}`);
  return found;
}

/**
 * The functions, events and errors of one of the network's contracts, by the contract's name, or
 * null.
 */
export function contractAbi(contract) {
  return contracts.get(contract) ?? null;
}

function remember(found, fragments) {
  for (const one of fragments) {
    if (one.type === 'event') {
      const key = `${topic(one)}/${one.inputs.filter((input) => input.indexed).length}`;
      if (!found.events.has(key)) found.events.set(key, one);
    } else if (one.type === 'function' || one.type === 'error') {
      const kind = one.type === 'function' ? found.functions : found.errors;
      if (!kind.has(selector(one))) kind.set(selector(one), one);
    }
  }
}

function loadRegistry() {
  const found = { functions: new Map(), events: new Map(), errors: new Map() };
  remember(found, ['error Error(string reason)', 'error Panic(uint256 code)'].map(fragment));
  for (const members of contracts.values()) remember(found, members);
  for (const text of pastedInterfaces()) remember(found, parseInterface(text));
  return found;
}

/** All known functions, events and errors, by selector or topic. */
export function interfaces() {
  registry ??= loadRegistry();
  return registry;
}

/** Maximum number of ABIs without an address that are saved in this browser. */
export const MOST_PASTED = 20;

/** The ABIs saved in this browser. */
export function pastedInterfaces() {
  try {
    const list = JSON.parse(localStorage.getItem(PASTED) ?? '[]');
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

/** Saves an ABI in this browser and returns its number of entries. */
export function pasteInterface(text) {
  const found = parseInterface(text);
  if (!found.length) throw new Error('the ABI has no function, event or error');
  localStorage.setItem(
    PASTED,
    JSON.stringify([...new Set([...pastedInterfaces(), text])].slice(-MOST_PASTED)),
  );
  registry = null;
  return found.length;
}

/** Removes the saved ABIs. */
export function forgetInterfaces() {
  localStorage.removeItem(PASTED);
  registry = null;
}

function attempt(known, run) {
  if (!known) return null;
  try {
    return { fragment: known, values: run(known) };
  } catch {
    return null;
  }
}

/** Decodes call data with the known ABIs, or returns null. */
export async function explainCall(data) {
  if (!data || data.length < 10) return null;
  return attempt(interfaces().functions.get(data.slice(0, 10)), (known) => decodeCall(known, data));
}

/** Decodes a log with the known ABIs, or returns null. */
export async function explainLog(log) {
  if (!log.topics.length) return null;
  return attempt(interfaces().events.get(`${log.topics[0]}/${log.topics.length - 1}`), (known) =>
    decodeLog(known, log),
  );
}
