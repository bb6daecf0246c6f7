// What the compiler wrote of contracts: sources, source maps and the layout of the storage, from
// the Sourcify API.

import { delegateOf } from './address.js';
import { network } from './network.js';
import { node } from './node.js';
import { CodeLines, SourceFile } from './sourcemap.js';

/** How long a lookup may take, in milliseconds, and the most characters of a response. */
const LOOKUP_TIMEOUT = 10_000;
const LONGEST_RESPONSE = 24_000_000;
/**
 * The most characters of the responses about all contracts of one execution: each may have a source
 * as long as is allowed.
 */
const MOST_CHARACTERS = 32_000_000;
/** Maximum number of contracts looked up for one execution, and of those at the same time. */
const MOST_CONTRACTS = 60;
const LOOKUPS_AT_ONCE = 6;

const FIELDS = [
  'sources',
  'sourceIds',
  'storageLayout',
  'compilation.name',
  'runtimeBytecode.sourceMap',
  'runtimeBytecode.onchainBytecode',
  'creationBytecode.sourceMap',
];

/** Reads responses until they have as many characters as are left of a limit that they share. */
class Responses {
  #left = MOST_CHARACTERS;

  /** The value of a response, or null if it is too long. */
  async json(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parts = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return JSON.parse(parts.join(''));
      parts.push(value);
      size += value.length;
      this.#left -= value.length;
      if (size > LONGEST_RESPONSE || this.#left < 0) {
        await reader.cancel();
        return null;
      }
    }
  }

  get isFull() {
    return this.#left < 0;
  }
}

/**
 * The account whose code runs at an address: that of a delegation (EIP-7702), or the address
 * itself.
 */
async function codeHolder(address) {
  const code = await node.call('eth_getCode', address, 'latest');
  return delegateOf(code) ?? address;
}

async function lookUp(address, { responses, replaced }) {
  const holder = await codeHolder(address);
  if (responses.isFull || replaced.has(address) || replaced.has(holder)) return null;
  const withTimeout = () => ({ signal: AbortSignal.timeout(LOOKUP_TIMEOUT) });
  // Asked first, since browsers report the 404 of an unknown source as an error of the page.
  const known = await fetch(`api/v2/addresses/${holder}`, withTimeout());
  if (!known.ok || !(await known.json()).is_verified) return null;
  const response = await fetch(
    `sourcify/v2/contract/${network.chainId}/${holder}?fields=${FIELDS.join()}`,
    withTimeout(),
  );
  return response.ok ? responses.json(response) : null;
}

/** Source files, each once however many contracts were compiled from it. */
class SourceFiles {
  #byPath = new Map();

  get(path, text) {
    const known = this.#byPath.get(path) ?? [];
    const same = known.find((file) => file.text === text);
    if (same) return same;
    const file = new SourceFile(path, text);
    this.#byPath.set(path, [...known, file]);
    return file;
  }

  /** Those of a contract by their numbers in source maps. */
  of({ sources, sourceIds }) {
    const found = new Map();
    for (const [path, { id }] of Object.entries(sourceIds ?? {})) {
      const content = sources?.[path]?.content;
      if (typeof content === 'string') found.set(Number(id), this.get(path, content));
    }
    return found;
  }
}

/**
 * What is known of a contract: `{ name, files, layout, runtime, creationLines(code) }`, with the
 * lines of its runtime code, or null.
 */
async function readInfo(address, files, limits) {
  const found = await lookUp(address, limits);
  if (!found) return null;
  const own = files.of(found);
  const creationMap = found.creationBytecode?.sourceMap ?? '';
  const { sourceMap, onchainBytecode } = found.runtimeBytecode ?? {};
  const linesOf = (code, map) => (own.size && map && code ? new CodeLines(code, map, own) : null);
  return {
    name: found.compilation?.name ?? null,
    files: [...own.values()],
    layout: found.storageLayout ?? null,
    runtime: linesOf(onchainBytecode, sourceMap),
    creationLines: (code) => linesOf(code, creationMap),
  };
}

/**
 * What the compiler wrote of the contracts in frames: maps of the lines of each frame, and of
 * contracts by address. Those in `replaced` run another code than the one that the chain has, so
 * their sources are not used.
 */
export async function debugInfo(frames, replaced) {
  const addresses = [...new Set(frames.map(({ code }) => code).filter(Boolean))].slice(
    0,
    MOST_CONTRACTS,
  );
  const contracts = new Map();
  const files = new SourceFiles();
  const limits = { responses: new Responses(), replaced };
  const rest = [...addresses];
  const work = async () => {
    for (let address = rest.shift(); address; address = rest.shift()) {
      // A contract whose source cannot be read is one without a source.
      const info = await readInfo(address, files, limits).catch(() => null);
      if (info) contracts.set(address, info);
    }
  };
  await Promise.all(Array.from({ length: LOOKUPS_AT_ONCE }, work));

  const lines = new Map();
  for (const frame of frames) {
    const info = contracts.get(frame.code);
    const own = frame.isCreation ? info?.creationLines(frame.call.input) : info?.runtime;
    if (own) lines.set(frame, own);
  }
  return { contracts, lines };
}
