// Tokens as their contracts describe them.

import { decode, fragment, selector } from './abi.js';
import { abiOf, contractAt } from './contracts.js';
import { probe } from './execution.js';
import { nameOf, rememberToken, tokenAt } from './network.js';
import { node } from './node.js';

/** Maximum number of tokens remembered. */
const REMEMBERED = 500;

function textOf(output) {
  try {
    return decode([{ type: 'string', name: '' }], output)[0];
  } catch {
    // Some old tokens have a bytes32.
    const bytes = output.slice(2, 66).replace(/(00)+$/, '');
    return bytes ? decodeURIComponent(bytes.replace(/../g, '%$&')) : null;
  }
}

async function read(to, text) {
  const output = await probe(to, selector(fragment(text)));
  if (output === null) throw new Error(`${text} failed`);
  return output;
}

/**
 * Whether a contract may have a function without arguments, so that no call is made that is known
 * to revert.
 */
async function functionTest(address) {
  const contract = await contractAt(address).catch(() => null);
  if (!contract) return () => true;
  if (contract.code === '0x') return () => false;
  const abi = await abiOf(contract);
  // A contract that the page has a name for, but no ABI, is one of the well-known ones, none of
  // which is a token.
  if (!abi) return () => nameOf(address) === null;
  if (contract.proxy && !abi.implementation.length) return () => true;
  return (name) =>
    [...abi.own, ...abi.implementation].some(
      (one) => one.type === 'function' && one.name === name && !one.inputs.length,
    );
}

/** Whether an ABI is that of a token with decimals. */
export function isTokenAbi(fragments) {
  return ['symbol', 'decimals'].every((name) =>
    fragments.some((one) => one.type === 'function' && one.name === name && !one.inputs.length),
  );
}

async function describe(address) {
  const has = await functionTest(address);
  const [symbol, decimals] = await Promise.all([
    has('symbol')
      ? read(address, 'symbol()')
          .then(textOf)
          .catch(() => null)
      : null,
    has('decimals')
      ? read(address, 'decimals()')
          .then((output) => Number(decode([{ type: 'uint8', name: '' }], output)[0]))
          .catch(() => null)
      : null,
  ]);
  return rememberToken({ address, symbol, decimals });
}

const described = new Map();
node.addEventListener('restart', () => described.clear());

/**
 * A token's `{ address, symbol, decimals }`; symbol and decimals are null if the contract does not
 * report them.
 */
export function tokenInfo(address) {
  const known = tokenAt(address);
  if (known) return Promise.resolve(known);
  const key = address.toLowerCase();
  if (!described.has(key)) {
    if (described.size >= REMEMBERED) described.delete(described.keys().next().value);
    const found = describe(address);
    described.set(key, found);
    found.catch(() => described.delete(key));
  }
  return described.get(key);
}
