// Recent token transfers by their logs, for nodes without the index of addresses.

import { decodeLog, topic } from '../lib/abi.js';
import { member, tokenAt } from '../lib/network.js';
import { node } from '../lib/node.js';

/** Number of blocks searched. */
export const SEARCHED = 10_000;
const PAGE = 50;

function row(log, event, times) {
  const { from, to, value } = decodeLog(event, log);
  const token = tokenAt(log.address);
  const [nobody, block] = [/^0x0{40}$/, Number(log.blockNumber)];
  return {
    hash: log.transactionHash,
    log: Number(log.logIndex),
    block,
    time: log.blockTimestamp ? Number(log.blockTimestamp) : (times.get(block) ?? null),
    from,
    to,
    token: { address_hash: log.address, symbol: token?.symbol ?? null, name: null, decimals: token?.decimals ?? 0 },
    value,
    id: null,
    kind: nobody.test(from) ? 'Mint' : nobody.test(to) ? 'Burn' : 'Transfer',
  };
}

/** Pages of the transfers of ERC-20 tokens from and to an account, or of a token, in the newest blocks. */
export async function recentTransfers({ account = null, token = null }, cursor) {
  const event = member('Token', 'event', 'Transfer');
  const head = Number(node.head?.number ?? (await node.call('eth_blockNumber')));
  const fromBlock = `0x${Math.max(0, head - SEARCHED).toString(16)}`;
  const ask = (...topics) => node.call('eth_getLogs', { fromBlock, ...(token && { address: token }), topics: [topic(event), ...topics] });
  const padded = account && `0x${account.toLowerCase().slice(2).padStart(64, '0')}`;
  const found = (await Promise.all(account ? [ask(padded), ask(null, padded)] : [ask()])).flat();
  // A transfer to the sender itself is found twice; an ERC-721 transfer has a fourth topic.
  const own = new Map(found.filter((log) => log.topics.length === 3).map((log) => [`${log.blockHash}/${log.logIndex}`, log]));
  const newest = [...own.values()].sort((a, b) => Number(b.blockNumber) - Number(a.blockNumber) || Number(b.logIndex) - Number(a.logIndex));
  const start = cursor ?? 0;
  const page = newest.slice(start, start + PAGE);
  const times = new Map(node.headers.map((header) => [Number(header.number), Number(header.timestamp)]));
  return { rows: page.map((log) => row(log, event, times)), next: start + PAGE < newest.length ? start + PAGE : null };
}
