// The tabs of a token: its transfers, holders and items.

import { idLink, party } from '../lib/cells.js';
import { transferColumns } from '../lib/columns.js';
import { h } from '../lib/dom.js';
import { count, toUnits, usd } from '../lib/format.js';
import { exactAmount } from '../lib/links.js';
import { ITEMS_PACE, pagedList } from '../lib/lists.js';
import { network, tokenAt } from '../lib/network.js';
import { listOf, tokenTransfers } from '../lib/pages.js';
import { thumbnail } from '../lib/pictures.js';
import { worthOf } from '../lib/worth.js';
import { SEARCHED, recentTransfers } from './transfers.js';

/** A share of a supply in millionths. */
function millionths(value, supply) {
  return Number((value * 1_000_000n) / supply);
}

function shareOf(value, supply) {
  if (!supply) return '–';
  const share = millionths(value, supply) / 1_000_000;
  return h(
    'span.holders',
    h(
      'span.meter',
      { 'aria-hidden': 'true' },
      h('i', { style: { width: `${Math.min(100, share * 100)}%` } }),
    ),
    share > 0 && share < 0.0001 ? '< 0.01%' : `${(share * 100).toFixed(2)}%`,
  );
}

/** The columns of a token's holders; `supply` is null if balances are no shares of it. */
function holderColumns(token, address, decimals, supply) {
  const columns = [
    { title: 'Rank', phone: 'line-1', cell: (row) => count(row.rank), csv: (row) => row.rank },
    {
      title: 'Holder',
      phone: 'line-1',
      cell: (row) => party(row.holder),
      csv: (row) => row.holder,
    },
    token.type === 'ERC-1155' && {
      title: 'ID',
      phone: 'line-1',
      cell: (row) => idLink(token, row.id),
      csv: (row) => row.id,
    },
    {
      title: 'Balance',
      phone: 'line-2',
      number: true,
      cell: (row) => exactAmount(row.value, decimals, 10),
      csv: (row) => toUnits(row.value, decimals),
    },
    supply !== null && {
      title: 'Share',
      phone: 'line-1.end',
      cell: (row) => shareOf(row.value, supply),
      csv: (row) => millionths(row.value, supply || 1n) / 10_000,
    },
    network.addresses &&
      token.type === 'ERC-20' && {
        title: 'Value',
        phone: 'line-2.end',
        number: true,
        cell: (row) => (row.worth === null ? '–' : usd(row.worth)),
        csv: (row) => row.worth ?? '',
        hidden: (row) => row.worth === null && !tokenAt(address),
      },
  ];
  return columns.filter(Boolean);
}

/** A page of holders; the cursor has the number of those before it, from which ranks go on. */
async function holderPage(address, decimals, cursor) {
  const page = await listOf(`tokens/${address}/holders`, cursor?.next);
  const before = cursor?.before ?? 0;
  const rows = page.rows.map((item, at) => {
    const value = BigInt(item.value);
    return {
      key: `${item.address.hash}/${item.token_id ?? ''}/${value}`,
      rank: before + at + 1,
      holder: item.address.hash,
      value,
      id: item.token_id,
      worth: worthOf(value, decimals, address),
    };
  });
  return { rows, next: page.next && { next: page.next, before: before + rows.length } };
}

export function holderTab(token, address) {
  const decimals = Number(token.decimals ?? 0);
  const supply = token.total_supply && token.type === 'ERC-20' ? BigInt(token.total_supply) : null;
  return (signal) =>
    pagedList({
      signal,
      label: 'Holders',
      columns: holderColumns(token, address, decimals, supply),
      load: (cursor) => holderPage(address, decimals, cursor),
      empty: 'No holders',
      live: true,
      csv: `holders-${address}`,
    });
}

/** What an item calls itself, cut to a length for lists. */
function nameIn({ metadata }) {
  return typeof metadata?.name === 'string' ? metadata.name.slice(0, 60) : '';
}

function itemColumns(token, signal) {
  return [
    {
      title: 'ID',
      phone: 'line-1',
      cell: (row) => [thumbnail(row, signal), idLink(token, row.id)],
      csv: (row) => row.id,
    },
    {
      title: 'Name',
      phone: 'line-1',
      cell: (row) => nameIn(row),
      csv: nameIn,
      hidden: (row) => !nameIn(row),
    },
    {
      title: 'Owner',
      phone: 'line-1.end',
      cell: (row) => (row.owner ? party(row.owner.hash) : h('span.soft', 'Several')),
      csv: (row) => row.owner?.hash ?? '',
    },
  ];
}

async function itemPage(address, cursor) {
  const page = await listOf(`tokens/${address}/instances`, cursor);
  const rows = page.rows.map((item) => ({ ...item, key: `${item.id}/${item.owner?.hash}` }));
  return { ...page, rows };
}

export function itemTab(token, address) {
  return (signal) =>
    pagedList({
      signal,
      label: 'Items',
      columns: itemColumns(token, signal),
      load: (cursor) => itemPage(address, cursor),
      empty: 'No items',
      live: true,
      pace: ITEMS_PACE,
      csv: `items-${address}`,
    });
}

/** The transfers of a token; without the index, those of the newest blocks. */
export function transferTab(address, isIndexed) {
  const load = isIndexed
    ? (cursor) => tokenTransfers(`tokens/${address}/transfers`, cursor)
    : (cursor) => recentTransfers({ token: address }, cursor);
  return (signal) =>
    pagedList({
      signal,
      label: 'Transfers',
      columns: transferColumns({ token: false }),
      load,
      empty: isIndexed ? 'No transfers' : `No transfers in the last ${count(SEARCHED)} blocks`,
      live: true,
      csv: `transfers-${address}`,
    });
}
