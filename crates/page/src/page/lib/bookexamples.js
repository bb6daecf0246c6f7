// The examples of the book, for the node that serves it: its URLs, chain ids, contracts and
// accounts in place of those that the book is written with.

import { fromBech32, ROLES, toBech32 } from './bech32.js';
import { toBytes, toHex } from './bytes.js';

/** What the book is written with: a development node with the default settings. */
export const WRITTEN = {
  chainId: '125',
  cosmosChainId: 'hyperpax_125-1',
  prefix: 'pax',
  contracts: {
    oracle: '0x6e5da6d7a89c6B7cB0e5c64fcf326292F76A0352',
    vault: '0x49B0f9a0554da1A7243A9C8ac5B45245A66D90ff',
    lendingPool: '0xa0fE00Da13cD944F2e41531E1E23aCcF12deAE4a',
    lendingLens: '0x1af89f34B483F71A360932E4f44b8E1A35711531',
  },
  accounts: [
    '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  ],
};

/** The beginnings of URLs that the book is written with. */
export const WRITTEN_URL = /^(https?|wss?):\/\/localhost:8545(?!\d)/;
/** URLs and hosts; `127.0.0.1:8545` without a scheme is the address that a listener is given. */
const PLACE =
  /\b(https?|wss?):\/\/(?:localhost|127\.0\.0\.1):8545(?!\d)|(?<![\w./+-]|:\/\/)localhost:8545(?!\d)/g;
/** The chain id, where the text says that it is one. */
const CHAIN_ID =
  /(?<=\bchainId"?: "?|--chain(?:-id)? |\bchain = |\/(?:verify|contract)\/)125\b|\b125(?=: \{)/g;

/** Addresses in bech32: of accounts, and those of validators, whose prefix is longer. */
const BECH32 = new RegExp(
  `\\b${WRITTEN.prefix}(${Object.values(ROLES).join('|')})1[02-9ac-hj-np-z]{38,}\\b`,
  'g',
);
/** The prefix, where the text says that it is one. */
const PREFIX = new RegExp(
  `(?<=\\b(?:prefix|bech32_?prefix\\w*)"?: ['"])${WRITTEN.prefix}(?=\\w*['"])`,
  'gi',
);

function places(text, root) {
  const { protocol, host, pathname } = new URL(root);
  const path = pathname.replace(/\/$/, '');
  const isSecure = protocol === 'https:';
  return [...text.matchAll(PLACE)].map((match) => {
    const [found, scheme] = match;
    if (!scheme) return [match.index, found, `${isSecure ? 'https://' : ''}${host}${path}`];
    const plain = scheme.startsWith('ws') ? 'ws' : 'http';
    return [match.index, found, `${plain}${isSecure ? 's' : ''}://${host}${path}`];
  });
}

function words(text, written, own) {
  if (!own) return [];
  const found = [];
  const all = text.toLowerCase();
  const wanted = written.toLowerCase();
  for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, at + wanted.length)) {
    const shown = text.slice(at, at + wanted.length);
    found.push([at, shown, shown === wanted ? own.toLowerCase() : own]);
  }
  return found;
}

/**
 * Addresses in bech32 of the accounts and contracts of the node; those of others keep their bytes
 * and get the node's prefix.
 */
function bech32Addresses(text, { prefix = WRITTEN.prefix, accounts, contracts }) {
  const own = new Map(
    WRITTEN.accounts.map((address, at) => [address.toLowerCase(), accounts?.[at]]),
  );
  for (const [name, address] of Object.entries(WRITTEN.contracts))
    own.set(address.toLowerCase(), contracts?.[name]);

  return [...text.matchAll(BECH32)].flatMap((match) => {
    const [written, role] = match;
    let bytes;
    try {
      ({ bytes } = fromBech32(written));
    } catch {
      return [];
    }
    const address = own.get(toHex(bytes));
    return [[match.index, written, toBech32(prefix + role, address ? toBytes(address) : bytes)]];
  });
}

/**
 * What of an example is different on the node: `[position, text, replacement]`, in the order of the
 * positions. `node` has `root`, the URL of its page, and as far as they are known `chainId`,
 * `cosmosChainId`, `prefix` (of addresses in bech32), `contracts` (null without any) and
 * `accounts`.
 */
export function replacements(text, node) {
  const found = places(text, node.root);
  if (node.chainId)
    found.push(
      ...[...text.matchAll(CHAIN_ID)].map((match) => [match.index, match[0], node.chainId]),
    );
  found.push(...words(text, WRITTEN.cosmosChainId, node.cosmosChainId));
  for (const [name, address] of Object.entries(WRITTEN.contracts))
    found.push(...words(text, address, node.contracts?.[name]));

  if (node.prefix)
    found.push(...[...text.matchAll(PREFIX)].map((match) => [match.index, match[0], node.prefix]));
  found.push(...bech32Addresses(text, node));
  WRITTEN.accounts.forEach((address, at) =>
    found.push(...words(text, address, node.accounts?.[at])),
  );
  return found.sort(([one], [other]) => one - other);
}

/** A text after `replacements`; `from` is where it begins in the text that they are of. */
export function replaced(text, found, from = 0) {
  return found.reduceRight(
    (own, [at, written, replacement]) =>
      own.slice(0, at - from) + replacement + own.slice(at - from + written.length),
    text,
  );
}

async function request(root, method) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] });
  const response = await fetch(new URL('rpc', root), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { result } = await response.json();
  if (result === undefined) throw new Error(`${method} has no result`);
  return result;
}

/**
 * The node whose page is at `root`, for `replacements`. What it does not answer is undefined;
 * `contracts` is null if it has none.
 */
export async function describeNode(root) {
  const [chainId, accounts, network] = await Promise.allSettled([
    request(root, 'eth_chainId'),
    request(root, 'eth_accounts'),
    fetch(new URL('api/network', root)).then((response) => (response.ok ? response.json() : null)),
  ]);
  return {
    root,
    chainId: chainId.value && String(Number(chainId.value)),
    accounts: Array.isArray(accounts.value) ? accounts.value : undefined,
    cosmosChainId: network.value?.cosmosChainId,
    prefix: network.value?.bech32Prefix,
    contracts: network.value,
  };
}
