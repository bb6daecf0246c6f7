// Resolves a search term and redirects to its view.

import { parseAddress } from '../lib/address.js';
import { h, heading } from '../lib/dom.js';
import { nameOf, network } from '../lib/network.js';
import { node } from '../lib/node.js';

/** The route that a search term leads to, or null. */
async function find(text) {
  if (/^\d[\d,_]*$/.test(text)) return `#/block/${text.replace(/[,_]/g, '')}`;
  if (/^0x[0-9a-f]{64}$/i.test(text)) {
    const [transaction, block] = await Promise.all([node.call('eth_getTransactionByHash', text), node.call('eth_getBlockByHash', text, false)]);
    return transaction ? `#/tx/${text}` : block ? `#/block/${text}` : null;
  }
  if (/^0x[0-9a-f]{1,16}$/i.test(text)) return `#/block/${BigInt(text)}`;
  const token = [...network.tokens, ...(network.receipts ?? [])].find((one) => one.symbol.toLowerCase() === text.toLowerCase());
  if (token) return `#/address/${token.address}`;
  for (const [address] of network.names) if (nameOf(address).toLowerCase() === text.toLowerCase()) return `#/address/${address}`;
  return `#/address/${parseAddress(text, network.prefix)}`;
}

export default async function view({ rest }) {
  const text = rest.join('/').trim();
  let reason = `no block or transaction with the hash ${text.slice(0, 80)}`;
  try {
    const found = await find(text);
    if (found) {
      location.replace(found);
      return [];
    }
  } catch (error) {
    reason = error.message;
  }
  return [
    heading('No results'),
    h('p.failure', { role: 'alert' }, reason),
    h('p.lead', 'Search by transaction hash, block hash, block number, token symbol, or address in any format: ',
      h('code', '0x…'), ', ', h('code', `${network.prefix}1…`), ', ', h('code', `${network.prefix}valoper1…`), '.'),
  ];
}
