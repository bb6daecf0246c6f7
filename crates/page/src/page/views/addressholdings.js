// The tabs of what an address holds: tokens with their values, and non-fungible tokens.

import { idLink, symbolOf, tokenLink } from '../lib/cells.js';
import { h } from '../lib/dom.js';
import { toUnits, usd } from '../lib/format.js';
import { ask } from '../lib/index.js';
import { addressLink, exactAmount } from '../lib/links.js';
import { ITEMS_PACE, pagedList } from '../lib/lists.js';
import { network, read } from '../lib/network.js';
import { listOf } from '../lib/pages.js';
import { thumbnail } from '../lib/pictures.js';
import { prices } from '../lib/prices.js';
import { worthOf } from '../lib/worth.js';

const HOLDING_COLUMNS = [
  {
    title: 'Token',
    phone: 'line-1',
    cell: (row) => [
      tokenLink(row.token, row.token.name || symbolOf(row.token)),
      row.id !== null && [' ', idLink(row.token, row.id)],
    ],
    csv: (row) => symbolOf(row.token),
  },
  { title: 'Type', cell: (row) => h('span.tag', row.token.type), csv: (row) => row.token.type },
  {
    title: 'Balance',
    phone: 'line-2',
    number: true,
    cell: (row) => [
      exactAmount(row.value, row.decimals, 10),
      ' ',
      h('span.clip.symbol', { title: symbolOf(row.token) }, symbolOf(row.token)),
    ],
    csv: (row) => toUnits(row.value, row.decimals),
  },
  {
    title: 'Value',
    phone: 'line-1.end',
    number: true,
    cell: (row) => (row.worth === null ? '–' : usd(row.worth)),
    csv: (row) => row.worth ?? '',
  },
  {
    title: 'Contract',
    phone: 'line-2.end',
    cell: (row) => addressLink(row.token.address_hash, { plain: true }),
    csv: (row) => row.token.address_hash,
  },
  { title: 'Token ID', csv: (row) => row.id ?? '' },
];

function holding(token, value, id) {
  const decimals = Number(token.decimals ?? 0);
  const worth = worthOf(value, decimals, token.address_hash);
  return {
    key: `${token.address_hash}/${id ?? ''}/${value}/${worth}`,
    token,
    value,
    id,
    decimals,
    worth,
  };
}

/** The holdings that the index has, of all tokens. */
async function indexedHoldings(address) {
  const all = await ask(`addresses/${address}/token-balances`);
  return all.map((item) => holding(item.token, BigInt(item.value), item.token_id));
}

/** The holdings of the network's tokens and of the receipts for supplies, without the index. */
async function networkHoldings(address) {
  const tokens = [...network.tokens, ...(network.receipts ?? [])];
  const balances = await Promise.all(
    tokens.map((token) => read('Token', token.address, 'balanceOf', address).catch(() => 0n)),
  );
  return tokens.map(({ address: address_hash, symbol, decimals }, at) =>
    holding({ address_hash, symbol, name: null, type: 'ERC-20', decimals }, balances[at], null),
  );
}

/** The holdings that are not empty, the most valuable first. */
async function loadHoldings(address, hasIndex) {
  const all = await (hasIndex ? indexedHoldings(address) : networkHoldings(address));
  const rows = all
    .filter((row) => row.value > 0n)
    .sort((a, b) => (b.worth ?? -1) - (a.worth ?? -1));
  const total = rows.reduce((sum, row) => sum + (row.worth ?? 0), 0);
  return { rows, next: null, note: total ? `Total value ${usd(total)}` : '' };
}

export function holdingTab(address, hasIndex) {
  return (signal) => {
    const list = pagedList({
      signal,
      label: 'Token holdings',
      columns: HOLDING_COLUMNS,
      load: () => loadHoldings(address, hasIndex),
      empty: 'No tokens',
      live: true,
      csv: `tokens-${address}`,
    });

    // Values appear as soon as there are prices.
    if (network.addresses && !prices.now.size)
      prices.addEventListener('prices', () => list.reload(), { signal, once: true });
    return list;
  };
}

/** The columns of non-fungible tokens, whose pictures are loaded until the signal aborts. */
function nftColumns(signal) {
  return [
    {
      title: 'Token',
      phone: 'line-1',
      cell: (row) => tokenLink(row.token, row.token.name || symbolOf(row.token)),
      csv: (row) => symbolOf(row.token),
    },
    {
      title: 'ID',
      phone: 'line-1.end',
      cell: (row) => [thumbnail(row, signal), idLink(row.token, row.id)],
      csv: (row) => row.id,
    },
    {
      title: 'Contract',
      phone: 'line-2',
      cell: (row) => addressLink(row.token.address_hash, { plain: true }),
      csv: (row) => row.token.address_hash,
    },
  ];
}

export function nftTab(address) {
  const load = async (cursor) => {
    const page = await listOf(`addresses/${address}/nft`, cursor);
    return {
      ...page,
      rows: page.rows.map((item) => ({ ...item, key: `${item.token.address_hash}/${item.id}` })),
    };
  };
  return (signal) =>
    pagedList({
      signal,
      label: 'Non-fungible tokens',
      columns: nftColumns(signal),
      load,
      empty: 'No non-fungible tokens',
      live: true,
      pace: ITEMS_PACE,
      csv: `nft-${address}`,
    });
}
