// Contracts by address: their ABIs (the network's own, verified, saved in this browser), and what a
// proxy delegates to.

import { addressIn, checksum, delegateOf } from './address.js';
import { contractAbi } from './knownabis.js';
import { network } from './network.js';
import { node } from './node.js';
import { parseInterface } from './signature.js';

/**
 * Maximum number of contracts remembered, and for how long, in milliseconds: proxies are upgraded,
 * sources are verified.
 */
const REMEMBERED = 300;
const LIFETIME = 30_000;
/**
 * How long a lookup in the explorer API may take, in milliseconds; it waits while the index catches
 * up.
 */
const LOOKUP_TIMEOUT_MS = 3_000;
const SAVED = 'tetrad.contract-abis';
/** Maximum number of saved ABIs, and of characters in one. */
export const MOST_SAVED = 50;
const LONGEST_SAVED = 400_000;

const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11';

/**
 * Storage slots of proxies: `keccak256("eip1967.proxy.implementation") - 1` and its siblings, and
 * EIP-1822's `keccak256("PROXIABLE")`.
 */
export const SLOTS = {
  implementation: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
  beacon: '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50',
  admin: '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103',
  proxiable: '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7',
};
/** Runtime code of minimal proxies: EIP-1167 and EIP-7511. */
const CLONES = [
  /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3/,
  /^0x365f5f375f5f365f73([0-9a-f]{40})5af43d5f5f3e5f3d91602a57fd5bf3/,
];

/**
 * What a contract with this code delegates its calls to: `{ kind, implementation, beacon, admin }`,
 * or null.
 */
async function proxyOf(address, code) {
  const delegate = delegateOf(code);
  if (delegate) return { kind: 'Delegated account (EIP-7702)', implementation: checksum(delegate) };
  for (const clone of CLONES) {
    const match = clone.exec(code);
    if (match)
      return { kind: 'Minimal proxy (EIP-1167)', implementation: checksum(`0x${match[1]}`) };
  }

  const slot = (at) => node.call('eth_getStorageAt', address, at, 'latest').then(addressIn);
  const [implementation, beacon, admin, proxiable] = await Promise.all([
    slot(SLOTS.implementation),
    slot(SLOTS.beacon),
    slot(SLOTS.admin),
    slot(SLOTS.proxiable),
  ]);

  if (implementation) return { kind: 'Proxy (EIP-1967)', implementation, admin };
  if (beacon) {
    const behind = await node
      .call('eth_call', { to: beacon, data: '0x5c60da1b' }, 'latest')
      .then(addressIn, () => null);
    return behind && { kind: 'Beacon proxy (EIP-1967)', implementation: behind, beacon, admin };
  }
  return proxiable && { kind: 'Proxy (EIP-1822)', implementation: proxiable };
}

/**
 * The name that the ABI of one of the network's own contracts has, by its address in lower case;
 * null for other contracts.
 */
export function ownContract(address) {
  if (address === MULTICALL) return 'Multicall3';
  const { addresses } = network;
  if (!addresses) return null;
  const is = (other) => other?.toLowerCase() === address;
  const among = (map) => Object.values(map ?? {}).some(is);
  if (is(addresses.vault)) return 'Vault';
  if (is(addresses.oracle)) return 'PriceOracle';
  if (is(addresses.lendingPool)) return 'LendingPool';
  if (is(addresses.lendingLens)) return 'LendingLens';
  return among(addresses.tokens) ? 'Token' : among(addresses.pTokens) ? 'PToken' : null;
}

function savedAbis() {
  try {
    const found = JSON.parse(localStorage.getItem(SAVED) ?? '{}');
    return found && typeof found === 'object' && !Array.isArray(found) ? found : {};
  } catch {
    return {};
  }
}

const savedKey = (address) => `${network.chainId}/${address.toLowerCase()}`;

/** The text of the ABI saved in this browser for a contract, or null. */
export function savedAbi(address) {
  const text = savedAbis()[savedKey(address)];
  return typeof text === 'string' ? text : null;
}

/** The ABIs saved in this browser for contracts of this chain: `[address, text]`. */
export function savedContracts() {
  const prefix = savedKey('');
  return Object.entries(savedAbis())
    .filter(([key, text]) => key.startsWith(prefix) && typeof text === 'string')
    .map(([key, text]) => [key.slice(prefix.length), text]);
}

/** Saves an ABI for a contract in this browser and returns its number of entries. */
export function saveAbi(address, text) {
  if (text.length > LONGEST_SAVED)
    throw new Error(`the ABI is longer than ${LONGEST_SAVED / 1_000} KB`);
  let found;
  try {
    found = parseInterface(text);
  } catch (error) {
    throw error instanceof SyntaxError ? new Error(`not valid JSON: ${error.message}`) : error;
  }
  if (!found.length) throw new Error('the ABI has no function, event or error');
  const others = Object.entries(savedAbis())
    .filter(([key]) => key !== savedKey(address))
    .slice(1 - MOST_SAVED);
  localStorage.setItem(
    SAVED,
    JSON.stringify(Object.fromEntries([...others, [savedKey(address), text]])),
  );
  contracts.delete(address.toLowerCase());
  return found.length;
}

/** Removes the ABI saved for a contract. */
export function removeAbi(address) {
  const all = savedAbis();
  delete all[savedKey(address)];
  localStorage.setItem(SAVED, JSON.stringify(all));
  contracts.delete(address.toLowerCase());
}

/**
 * The fragments of a JSON ABI that the page can encode and decode; entries of unknown types are
 * left out.
 */
export function fragmentsOf(abi) {
  return abi.flatMap((entry) => {
    try {
      return parseInterface(JSON.stringify([entry]));
    } catch {
      return [];
    }
  });
}

let explorerAbsent = false;

async function verifiedAbi(address) {
  if (explorerAbsent) return null;
  const given = () => ({ signal: AbortSignal.timeout(LOOKUP_TIMEOUT_MS) });
  const response = await fetch(`api?module=contract&action=getabi&address=${address}`, given());
  if (response.status === 404) explorerAbsent = true;
  if (!response.ok) return null;
  const { status, result } = await response.json();
  if (status !== '1') return null;
  const named = await fetch(`api/v2/addresses/${address}`, given()).then(
    (answer) => (answer.ok ? answer.json() : null),
    () => null,
  );
  return { abi: fragmentsOf(JSON.parse(result)), name: named?.name ?? null };
}

async function identify(address) {
  const code = await node.call('eth_getCode', address, 'latest');
  const found = {
    address: checksum(address),
    code,
    name: null,
    abi: null,
    origin: null,
    proxy: null,
  };
  if (code === '0x') return found;

  const own = ownContract(address);
  const saved = savedAbi(address);
  if (saved) {
    try {
      Object.assign(found, { abi: parseInterface(saved), origin: 'saved' });
    } catch {
      removeAbi(address);
    }
  } else if (own && contractAbi(own)) {
    return Object.assign(found, { abi: contractAbi(own), name: own, origin: 'network' });
  }

  const [proxy, verified] = await Promise.all([
    proxyOf(address, code),
    verifiedAbi(address).catch(() => null),
  ]);
  found.proxy = proxy;
  if (verified) {
    found.name = verified.name;
    if (!found.abi) Object.assign(found, { abi: verified.abi, origin: 'verified' });
    if (found.name && !network.names.has(address)) network.names.set(address, found.name);
  }
  return found;
}

/** The contract at each address, as promises with the time of the lookup. */
const contracts = new Map();
node.addEventListener('restart', () => {
  contracts.clear();
  explorerAbsent = false;
});

/** Looks a contract up again when it is needed next, after something about it has changed. */
export function forgetContract(address) {
  contracts.delete(address.toLowerCase());
}

/**
 * The contract at an address: `code` (`0x` without one), `name`, `abi` (fragments, or null),
 * `origin` of the ABI (`network`, `verified`, `saved` or null) and `proxy` (with the
 * `implementation` it delegates to, or null).
 */
export function contractAt(address) {
  const key = address.toLowerCase();
  const known = contracts.get(key);
  if (known && Date.now() - known.since < LIFETIME) return known.contract;
  contracts.delete(key);
  if (contracts.size >= REMEMBERED) contracts.delete(contracts.keys().next().value);
  const contract = identify(key);
  contracts.set(key, { contract, since: Date.now() });
  contract.catch(() => contracts.delete(key));
  return contract;
}

/**
 * The ABI of a contract with that of its implementation, each function once: `{ own, implementation
 * }`, or null without either.
 */
export async function abiOf(contract) {
  const behind = contract.proxy
    ? await contractAt(contract.proxy.implementation).catch(() => null)
    : null;
  if (!contract.abi && !behind?.abi) return null;
  return { own: contract.abi ?? [], implementation: behind?.abi ?? [] };
}
