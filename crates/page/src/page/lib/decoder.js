// Decodes calls, events and errors with the ABIs of the contracts concerned.

import { decode, decodeCall, decodeLog, selector, topic } from './abi.js';
import { abiOf, contractAt } from './contracts.js';
import { interfaces } from './knownabis.js';
import { explainRevert } from './reverts.js';
import { standards } from './standards.js';
import { isTokenAbi, tokenInfo } from './tokens.js';

/** Maximum number of contracts looked up for one transaction. */
const MAX_LOOKUPS = 60;

function attempt(fragment, run) {
  if (!fragment) return null;
  try {
    return { fragment, values: run(fragment) };
  } catch {
    return null;
  }
}

const eventKey = (event) =>
  `${topic(event)}/${event.inputs.filter((input) => input.indexed).length}`;

function indexed(fragments) {
  const found = { functions: new Map(), events: new Map(), errors: new Map() };
  for (const one of fragments) {
    if (one.type === 'event') found.events.set(eventKey(one), one);
    else if (one.type === 'function') found.functions.set(selector(one), one);
    else if (one.type === 'error') found.errors.set(selector(one), one);
  }
  return found;
}

let standard = null;

/** The interfaces of standards, indexed once. */
function standardInterfaces() {
  standard ??= indexed(standards());
  return standard;
}

/**
 * Decodes calls, events and errors of the contracts that it was made for; others with the ABIs
 * known for any address, and with those of standards.
 */
export class Decoder {
  #known = new Map();
  #standard = standardInterfaces();
  #errors = new Map(this.#standard.errors);

  /** Adds a contract's ABI. */
  add(address, fragments) {
    const found = indexed(fragments);
    this.#known.set(address.toLowerCase(), found);
    for (const [id, error] of found.errors) this.#errors.set(id, error);
  }

  /** Decodes call data: `{ fragment, values }`, or null. */
  call(address, data) {
    if (!data || data.length < 10) return null;
    const id = data.slice(0, 10);
    const run = (fragment) => decodeCall(fragment, data);
    return (
      attempt(this.#known.get(address?.toLowerCase())?.functions.get(id), run) ??
      attempt(interfaces().functions.get(id), run) ??
      attempt(this.#standard.functions.get(id), run)
    );
  }

  /** Decodes what a call returned, or returns null. */
  result(fragment, output) {
    if (!fragment.outputs.length || !output || output === '0x') return null;
    return attempt(fragment, () => decode(fragment.outputs, output))?.values ?? null;
  }

  /** Decodes a log, or returns null. */
  log(log) {
    if (!log.topics.length) return null;
    const key = `${log.topics[0]}/${log.topics.length - 1}`;
    const run = (event) => decodeLog(event, log);
    return (
      attempt(this.#known.get(log.address.toLowerCase())?.events.get(key), run) ??
      attempt(interfaces().events.get(key), run) ??
      attempt(this.#standard.events.get(key), run)
    );
  }

  /**
   * The error in revert data, as text. With the call that reverted, `{ to, input }`, amounts are in
   * units where they are known.
   */
  error(data, { to = null, input = null } = {}) {
    const called = to ? this.call(to, input)?.values : null;
    return explainRevert(data, { also: this.#errors, contract: to, called: called ?? {} });
  }
}

/** A decoder for the contracts at the addresses, the first 60 of them. */
export async function decoderFor(addresses) {
  const decoder = new Decoder();
  const wanted = [...new Set(addresses.filter(Boolean).map((one) => one.toLowerCase()))].slice(
    0,
    MAX_LOOKUPS,
  );
  await Promise.all(
    wanted.map(async (address) => {
      const abi = await contractAt(address)
        .then(abiOf)
        .catch(() => null);
      if (!abi) return;
      const fragments = [...abi.implementation, ...abi.own];
      decoder.add(address, fragments);
      // The decimals of its amounts.
      if (isTokenAbi(fragments)) await tokenInfo(address).catch(() => null);
    }),
  );
  return decoder;
}
