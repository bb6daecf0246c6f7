// The network: chain ID, native coin, tokens and contracts; and reads of contracts.

import { decode, encodeCall } from './abi.js';
import { member, setContractAbis } from './knownabis.js';
import { node } from './node.js';

export {
  explainLog,
  forgetInterfaces,
  member,
  pastedInterfaces,
  pasteInterface,
} from './knownabis.js';

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

/** Contracts with the same address on every chain, by lower-case address. */
const COMMON_CONTRACTS = [
  ['0xca11bde05977b3631167028862be2a173976ca11', 'Multicall3'],
  ['0x4e59b44847b379578588920ca78fbf26c0b4956c', 'Deployment proxy'],
  ['0x914d7fec6aac8cd542e72bca78b30650d45643d7', 'Safe singleton factory'],
  ['0xba5ed099633d3b313e4d5f7bdc1305d3c28ba5ed', 'CreateX'],
  ['0x000000000022d473030f116ddee9f6b43ac78ba3', 'Permit2'],
  ['0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789', 'EntryPoint 0.6'],
  ['0x0000000071727de22e5e9d8baf0edac6f37da032', 'EntryPoint 0.7'],
  ['0x4337084d9e255ff0702461cf8895ce9e3b5ff108', 'EntryPoint 0.8'],
  ['0x0000000000000000000000000000000000000400', 'bech32 precompile'],
];

/** The names of the network's contracts, by lower-case address. */
function contractNames({ oracle, vault, lendingPool, lendingLens }, tokens, receipts) {
  return new Map(
    [
      [oracle, 'Price oracle'],
      [vault, 'Exchange vault'],
      [lendingPool, 'Lending pool'],
      [lendingLens, 'Lending lens'],
      ...COMMON_CONTRACTS,
      ...tokens.map(({ address, symbol }) => [address, `${symbol} token`]),
      ...receipts.map(({ address, symbol }) => [address, `${symbol} receipt token`]),
    ].map(([address, name]) => [address.toLowerCase(), name]),
  );
}

/** Tokens given by symbol and address. */
function describeAll(addresses, kind) {
  return Promise.all(
    Object.entries(addresses).map(([symbol, address]) => describe(address, symbol, kind)),
  );
}

/** What the page knows of a chain with the network's contracts. */
async function describeNetwork(info) {
  const [tokens, receipts] = await Promise.all([
    describeAll(info.tokens, 'token'),
    describeAll(info.pTokens, 'receipt'),
  ]);
  for (const receipt of receipts) receipt.symbol = `p${receipt.symbol}`;

  const known = [...network.tokens, ...(network.receipts ?? [])];
  return {
    cosmosChainId: info.cosmosChainId,
    prefix: info.bech32Prefix,
    coin: info.nativeCoin.symbol,
    addresses: info,
    tokens: keep(known, tokens),
    receipts: keep(known, receipts),
    names: contractNames(info, tokens, receipts),
  };
}

/**
 * Loads the chain ID, the addresses and the tokens from the node. What views read changes at once,
 * when all of it is there.
 */
export async function load() {
  const [chainId, client, response, abis] = await Promise.all([
    node.call('eth_chainId'),
    node.call('web3_clientVersion'),
    fetch('api/network'),
    fetch('site/interfaces.json'),
  ]);
  setContractAbis(await abis.json());

  const described = response.ok ? await describeNetwork(await response.json()) : {};
  Object.assign(network, {
    chainId: Number(chainId),
    client,
    addresses: null,
    tokens: [],
    receipts: [],
    names: new Map(),
    ...described,
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
