// Recent token transfers by their logs, for nodes without the index of addresses.

import { decode, decodeLog, topic } from '../lib/abi.js';
import { probe } from '../lib/execution.js';
import { member, tokenAt } from '../lib/network.js';
import { node } from '../lib/node.js';

/** Number of blocks searched. */
export const SEARCHED = 10_000;
const PAGE = 50;

const SELECTORS = {
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  decimals: '0x313ce567',
  totalSupply: '0x18160ddd',
};

/** A token as its contract describes it; null if it does not. */
async function describe(address) {
  const [name, symbol, decimals, supply] = await Promise.all(
    Object.entries(SELECTORS).map(async ([, data], at) => {
      try {
        const type = ['string', 'string', 'uint8', 'uint256'][at];
        const output = await probe(address, data);
        return output && decode([{ type, name: '' }], output)[0];
      } catch {
        return null;
      }
    }),
  );
  if (supply === null && symbol === null) return null;
  return {
    address_hash: address,
    name,
    symbol,
    decimals: decimals === null ? null : String(decimals),
    type: 'ERC-20',
    total_supply: supply === null ? null : String(supply),
    holders_count: null,
  };
}

const descriptions = new Map();
node.addEventListener('restart', () => descriptions.clear());

/** The description of a token by its contract, asked once; null if there is none. */
export function described(address) {
  const key = address.toLowerCase();
  if (!descriptions.has(key)) {
    descriptions.set(
      key,
      describe(address).then((found) => {
        // The supply changes, and a contract may be deployed later.
        setTimeout(() => descriptions.delete(key), 2_000);
        return found;
      }),
    );
  }
  return descriptions.get(key);
}

async function row(log, event, times) {
  const { from, to, value } = decodeLog(event, log);
  const known = tokenAt(log.address);
  const token = known ?? (await described(log.address));
  const nobody = /^0x0{40}$/;
  const block = Number(log.blockNumber);
  return {
    hash: log.transactionHash,
    log: Number(log.logIndex),
    block,
    time: log.blockTimestamp ? Number(log.blockTimestamp) : (times.get(block) ?? null),
    from,
    to,
    token: {
      address_hash: log.address,
      symbol: token?.symbol ?? null,
      name: token?.name ?? null,
      decimals: token?.decimals ?? 0,
    },
    value,
    id: null,
    kind: nobody.test(from) ? 'Mint' : nobody.test(to) ? 'Burn' : 'Transfer',
  };
}

/**
 * Pages of the transfers of ERC-20 tokens from and to an account, or of a token, in the newest
 * blocks.
 */
export async function recentTransfers({ account = null, token = null }, cursor) {
  const event = member('Token', 'event', 'Transfer');
  const head = Number(node.head?.number ?? (await node.call('eth_blockNumber')));
  const fromBlock = `0x${Math.max(0, head - SEARCHED).toString(16)}`;
  const ask = (...topics) =>
    node.call('eth_getLogs', {
      fromBlock,
      ...(token && { address: token }),
      topics: [topic(event), ...topics],
    });
  const padded = account && `0x${account.toLowerCase().slice(2).padStart(64, '0')}`;
  const found = (await Promise.all(account ? [ask(padded), ask(null, padded)] : [ask()])).flat();
  // A transfer to the sender itself is found twice; an ERC-721 transfer has a fourth topic.
  const own = new Map(
    found
      .filter((log) => log.topics.length === 3)
      .map((log) => [`${log.blockHash}/${log.logIndex}`, log]),
  );
  const newest = [...own.values()].sort(
    (a, b) =>
      Number(b.blockNumber) - Number(a.blockNumber) || Number(b.logIndex) - Number(a.logIndex),
  );
  const start = cursor ?? 0;
  const page = newest.slice(start, start + PAGE);
  const times = new Map(
    node.headers.map((header) => [Number(header.number), Number(header.timestamp)]),
  );
  return {
    rows: await Promise.all(page.map((log) => row(log, event, times))),
    next: start + PAGE < newest.length ? start + PAGE : null,
  };
}
