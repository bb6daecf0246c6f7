// The network: chain ID, native coin, tokens and contracts; contract reads, and decoding with known
// ABIs.

import { decode, decodeCall, decodeLog, encodeCall, fragment, selector, topic } from './abi.js';
import { node } from './node.js';
import { parseInterface } from './signature.js';

/**
 * Set by `load`. On a chain without the network's contracts `tokens` is empty and `addresses` null.
 */
export const network = {
  chainId: 0,
  cosmosChainId: '',
  prefix: 'pax',
  coin: 'ETH',
  addresses: null,
  tokens: [],
  names: new Map(),
  client: '',
};

/**
 * The functions, events and errors of the network's contracts, by the contract's name. Filled by
 * `load`.
 */
const contracts = new Map();

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

/**
 * Calls a view function: `read('Vault', vault, 'reserves', token)`. A single output is not wrapped
 * in an array.
 */
export async function read(contract, to, name, ...values) {
  const called = member(contract, 'function', name);
  const output = await node.call('eth_call', { to, data: encodeCall(called, values) }, 'latest');
  if (output === '0x') throw new Error(`no contract at ${to}`);
  const decoded = decode(called.outputs, output);
  return called.outputs.length === 1 ? decoded[0] : decoded;
}

/** Call data of a contract's function. */
export function callData(contract, name, ...values) {
  return encodeCall(member(contract, 'function', name), values);
}

async function describe(address, symbol, kind) {
  const decimals = Number(await read('Token', address, 'decimals'));
  return { address, symbol, decimals, kind };
}

/**
 * Replaces each token by the known one that equals it: views compare tokens by identity, also
 * across a reconnection.
 */
function keep(known, tokens) {
  const same = (one, other) => Object.keys(other).every((name) => one[name] === other[name]);
  return tokens.map((token) => known.find((one) => same(one, token)) ?? token);
}

/**
 * Loads the chain ID, the addresses and the tokens from the node. What views read changes at once,
 * when all of it is there.
 */
export async function load() {
  const requests = [
    node.call('eth_chainId'),
    node.call('web3_clientVersion'),
    fetch('api/network'),
    fetch('site/interfaces.json'),
  ];
  const [chainId, client, response, abis] = await Promise.all(requests);
  for (const [contract, lines] of Object.entries(await abis.json()))
    contracts.set(contract, lines.map(fragment));
  registry = null;
  const names = new Map();
  const plainChain = {
    chainId: Number(chainId),
    client,
    addresses: null,
    tokens: [],
    receipts: [],
    names,
  };
  if (!response.ok) return void Object.assign(network, plainChain);
  const info = await response.json();
  const name = (address, text) => names.set(address.toLowerCase(), text);
  const { oracle, vault, lendingPool, lendingLens, tokens, pTokens } = info;
  name(oracle, 'Price oracle');
  name(vault, 'Exchange vault');
  name(lendingPool, 'Lending pool');
  name(lendingLens, 'Lending lens');
  name('0xca11bde05977b3631167028862be2a173976ca11', 'Multicall3');
  name('0x4e59b44847b379578588920ca78fbf26c0b4956c', 'Deployment proxy');
  name('0x914d7fec6aac8cd542e72bca78b30650d45643d7', 'Safe singleton factory');
  name('0xba5ed099633d3b313e4d5f7bdc1305d3c28ba5ed', 'CreateX');
  name('0x000000000022d473030f116ddee9f6b43ac78ba3', 'Permit2');
  name('0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789', 'EntryPoint 0.6');
  name('0x0000000071727de22e5e9d8baf0edac6f37da032', 'EntryPoint 0.7');
  name('0x4337084d9e255ff0702461cf8895ce9e3b5ff108', 'EntryPoint 0.8');
  name('0x0000000000000000000000000000000000000400', 'bech32 precompile');
  const described = (map, kind) =>
    Promise.all(Object.entries(map).map(([symbol, address]) => describe(address, symbol, kind)));
  const [own, receipts] = await Promise.all([
    described(tokens, 'token'),
    described(pTokens, 'receipt'),
  ]);
  for (const token of own) name(token.address, `${token.symbol} token`);
  for (const receipt of receipts) {
    receipt.symbol = `p${receipt.symbol}`;
    name(receipt.address, `${receipt.symbol} receipt token`);
  }
  const {
    cosmosChainId,
    bech32Prefix: prefix,
    nativeCoin: { symbol: coin },
  } = info;
  const known = [...network.tokens, ...(network.receipts ?? [])];
  Object.assign(network, plainChain, {
    cosmosChainId,
    prefix,
    coin,
    addresses: info,
    tokens: keep(known, own),
    receipts: keep(known, receipts),
  });
}

/** The token or receipt token at an address, or null. */
export function tokenAt(address) {
  const wanted = address?.toLowerCase();
  return (
    [...network.tokens, ...(network.receipts ?? [])].find(
      (token) => token.address.toLowerCase() === wanted,
    ) ?? null
  );
}

/** Tokens of other contracts by lower-case address, as far as the page has met them. */
const otherTokens = new Map();
const MOST_OTHER_TOKENS = 500;
node.addEventListener('restart', () => otherTokens.clear());

/**
 * Remembers a token, `{ address, symbol, decimals }`, and returns it; what its contract does not
 * report, or what could not be read, is null.
 */
export function rememberToken({ address, symbol, decimals }) {
  // A symbol is untrusted text.
  const shown = symbol && /^[\x20-\x7e]{1,24}$/.test(symbol) ? symbol : null;
  const token = {
    address,
    symbol: shown,
    decimals: decimals !== null && decimals <= 77 ? decimals : null,
  };
  if (otherTokens.size >= MOST_OTHER_TOKENS) otherTokens.delete(otherTokens.keys().next().value);
  otherTokens.set(address.toLowerCase(), token);
  return token;
}

/** The token at an address whose decimals are known, or null. */
export function measuredToken(address) {
  const token = tokenAt(address) ?? otherTokens.get(address?.toLowerCase());
  return token && token.decimals !== null ? token : null;
}

/** The name of one of the network's contracts, or null. */
export function nameOf(address) {
  return network.names.get(address?.toLowerCase()) ?? null;
}

// Known ABIs. Four-byte selectors may collide; those of the network's own contracts take
// precedence.

let registry = null;
const PASTED = 'tetrad.interfaces';

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
