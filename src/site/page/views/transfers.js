// Token transfers from and to an account.

import { decodeLog, topic } from '../lib/abi.js';
import { h, table } from '../lib/dom.js';
import { amount, count } from '../lib/format.js';
import { addressLink, blockLink, transactionLink } from '../lib/links.js';
import { member, tokenAt } from '../lib/network.js';
import { node } from '../lib/node.js';

/** Number of blocks searched and of transfers shown. */
const SEARCHED = 10_000;
const SHOWN = 25;

const transfer = () => member('Token', 'event', 'Transfer');

function row(log, address) {
  const { from, to, value } = decodeLog(transfer(), log);
  const token = tokenAt(log.address);
  const out = from.toLowerCase() === address;
  return [
    transactionLink(log.transactionHash),
    blockLink(log.blockNumber),
    h(out ? 'span.tag' : 'span.tag.good', out ? 'Out' : 'In'),
    addressLink(out ? to : from),
    token ? `${amount(value, token.decimals, 9)} ${token.symbol}` : h('span', { title: 'Unknown token: amount in its smallest units' }, count(value)),
    addressLink(log.address),
  ];
}

/** A table of the newest transfers. */
export async function transfers(account) {
  const address = account.toLowerCase();
  const padded = `0x${address.slice(2).padStart(64, '0')}`;
  const fromBlock = `0x${Math.max(0, Number(node.head?.number ?? 0) - SEARCHED).toString(16)}`;
  const ask = (...topics) => node.call('eth_getLogs', { fromBlock, topics: [topic(transfer()), ...topics] });
  const found = (await Promise.all([ask(padded), ask(null, padded)])).flat();
  // A transfer to the sender itself is found twice; an ERC-721 transfer has a fourth topic.
  const own = new Map(found.filter((log) => log.topics.length === 3).map((log) => [`${log.blockHash}/${log.logIndex}`, log]));
  const newest = [...own.values()].sort((a, b) => Number(b.blockNumber) - Number(a.blockNumber) || Number(b.logIndex) - Number(a.logIndex));
  const rows = newest.slice(0, SHOWN).map((log) => row(log, address));
  return table(['Transaction hash', 'Block', 'Direction', 'Counterparty', '-Amount', 'Token'], rows, `No token transfers in the last ${count(SEARCHED)} blocks`);
}
