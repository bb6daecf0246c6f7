// Transfers in a transaction: of the native coin, and of ERC-20, ERC-721 and ERC-1155 tokens.

import { decodeLog, fragment } from './abi.js';
import { checksum } from './address.js';
import { nameOf } from './network.js';
import { tokenInfo } from './tokens.js';

const ZERO = `0x${'0'.repeat(40)}`;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
const EVENTS = {
  fungible: fragment('event Transfer(address indexed from, address indexed to, uint256 value)'),
  unique: fragment('event Transfer(address indexed from, address indexed to, uint256 indexed id)'),
  single: fragment(
    'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  ),
  batch: fragment(
    'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  ),
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
    const batch = { ...about, kind: 'ERC-1155', from, to };
    return ids.map((id, at) => ({ ...batch, id, value: values[at] ?? 0n }));
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
    const moves =
      !['DELEGATECALL', 'STATICCALL', 'CALLCODE'].includes(call.type) &&
      BigInt(call.value ?? 0) > 0n &&
      call.to;
    if (moves)
      found.push({
        kind: outermost ? 'native' : 'internal',
        token: null,
        from: checksum(call.from),
        to: checksum(call.to),
        value: BigInt(call.value),
      });
    call.calls?.forEach((one) => visit(one, false));
  };
  visit(trace, true);
  return found;
}

/** The tokens of transfers by lower-case address, the first 60. */
export async function tokensOf(transfers) {
  const wanted = [
    ...new Set(transfers.map((one) => one.token?.toLowerCase()).filter(Boolean)),
  ].slice(0, 60);
  return new Map(
    await Promise.all(wanted.map(async (address) => [address, await tokenInfo(address)])),
  );
}

/** The name of a token in a list: its symbol, its contract's name, or null. */
export function symbolOf(tokens, address) {
  return tokens.get(address.toLowerCase())?.symbol ?? nameOf(address);
}

export { ZERO };
