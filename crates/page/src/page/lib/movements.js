// Transfers in a transaction: of the native coin, and of ERC-20, ERC-721 and ERC-1155 tokens.

import { decode, decodeLog, fragment, selector } from './abi.js';
import { checksum } from './address.js';
import { abiOf, contractAt } from './contracts.js';
import { nameOf, tokenAt } from './network.js';
import { node } from './node.js';

const ZERO = `0x${'0'.repeat(40)}`;
/** Maximum number of tokens remembered. */
const REMEMBERED = 500;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
const EVENTS = {
  fungible: fragment('event Transfer(address indexed from, address indexed to, uint256 value)'),
  unique: fragment('event Transfer(address indexed from, address indexed to, uint256 indexed id)'),
  single: fragment('event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)'),
  batch: fragment('event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)'),
};

function ofLog(log) {
  const about = { token: checksum(log.address) };
  const [event] = log.topics;
  if (event === TRANSFER && log.topics.length === 3) {
    const { from, to, value } = decodeLog(EVENTS.fungible, log);
    return [{ ...about, kind: 'ERC-20', from, to, value }];
  }
  if (event === TRANSFER && log.topics.length === 4) {
    const { from, to, id } = decodeLog(EVENTS.unique, log);
    return [{ ...about, kind: 'ERC-721', from, to, id, value: 1n }];
  }
  if (event === SINGLE) {
    const { from, to, id, value } = decodeLog(EVENTS.single, log);
    return [{ ...about, kind: 'ERC-1155', from, to, id, value }];
  }
  if (event === BATCH) {
    const { from, to, ids, values } = decodeLog(EVENTS.batch, log);
    return ids.map((id, at) => ({ ...about, kind: 'ERC-1155', from, to, id, value: values[at] ?? 0n }));
  }
  return [];
}

/** The transfers of tokens that logs record: `{ kind, token, from, to, value, id }`. */
export function tokenTransfers(logs) {
  return logs.flatMap((log) => {
    try {
      return ofLog(log);
    } catch {
      return [];
    }
  });
}

/** The transfers of the native coin in a call tree, without those that were reverted. */
export function coinTransfers(trace) {
  const found = [];
  const visit = (call, outermost) => {
    if (call.error) return;
    const moves = !['DELEGATECALL', 'STATICCALL', 'CALLCODE'].includes(call.type) && BigInt(call.value ?? 0) > 0n && call.to;
    if (moves) found.push({ kind: outermost ? 'native' : 'internal', token: null, from: checksum(call.from), to: checksum(call.to), value: BigInt(call.value) });
    call.calls?.forEach((one) => visit(one, false));
  };
  visit(trace, true);
  return found;
}

function textOf(output) {
  try {
    return decode([{ type: 'string', name: '' }], output)[0];
  } catch {
    // Some old tokens have a bytes32.
    const bytes = output.slice(2, 66).replace(/(00)+$/, '');
    return bytes ? decodeURIComponent(bytes.replace(/../g, '%$&')) : null;
  }
}

const read = (to, text) => node.call('eth_call', { to, data: selector(fragment(text)) }, 'latest');

/** Whether a contract may have a function without arguments, so that no call is made that is known to revert. */
async function functionTest(address) {
  const contract = await contractAt(address).catch(() => null);
  if (!contract) return () => true;
  if (contract.code === '0x') return () => false;
  const abi = await abiOf(contract);
  // A contract that the page has a name for, but no ABI, is one of the well-known ones, none of which is a token.
  if (!abi) return () => nameOf(address) === null;
  if (contract.proxy && !abi.implementation.length) return () => true;
  return (name) => [...abi.own, ...abi.implementation].some((one) => one.type === 'function' && one.name === name && !one.inputs.length);
}

async function describe(address) {
  const has = await functionTest(address);
  const [symbol, decimals] = await Promise.all([
    has('symbol') ? read(address, 'symbol()').then(textOf).catch(() => null) : null,
    has('decimals') ? read(address, 'decimals()').then((output) => Number(decode([{ type: 'uint8', name: '' }], output)[0])).catch(() => null) : null,
  ]);
  // A symbol is text from anybody.
  const shown = symbol && /^[\x20-\x7e]{1,24}$/.test(symbol) ? symbol : null;
  return { address, symbol: shown, decimals: decimals !== null && decimals <= 77 ? decimals : null };
}

const described = new Map();
node.addEventListener('restart', () => described.clear());

/** A token's `{ address, symbol, decimals }`; symbol and decimals are null if the contract does not report them. */
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

/** The tokens of transfers by lower-case address, the first 60. */
export async function tokensOf(transfers) {
  const wanted = [...new Set(transfers.map((one) => one.token?.toLowerCase()).filter(Boolean))].slice(0, 60);
  return new Map(await Promise.all(wanted.map(async (address) => [address, await tokenInfo(address)])));
}

/** The name of a token in a list: its symbol, its contract's name, or null. */
export function symbolOf(tokens, address) {
  return tokens.get(address.toLowerCase())?.symbol ?? nameOf(address);
}

export { ZERO };
