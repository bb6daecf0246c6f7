// One token: figures, transfers, holders, and the ids of a non-fungible token.

import { parseAddress } from '../lib/address.js';
import { idLink, party } from '../lib/cells.js';
import { transferColumns } from '../lib/columns.js';
import { card, facts, h, heading, replace, setText } from '../lib/dom.js';
import { compact, count, toUnits, usd } from '../lib/format.js';
import { ask, gap, indexed, WITHOUT_INDEX } from '../lib/index.js';
import { addressLink, exactAmount } from '../lib/links.js';
import { ITEMS_PACE, pagedList } from '../lib/lists.js';
import { network, tokenAt } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { NotFound } from '../lib/notfound.js';
import { listOf, tokenTransfers } from '../lib/pages.js';
import { thumbnail } from '../lib/pictures.js';
import { setPlace } from '../lib/place.js';
import { prices } from '../lib/prices.js';
import { search } from '../lib/search.js';
import { tabList } from '../lib/tabs.js';
import { priceOf, worthOf } from '../lib/worth.js';
import { itemView } from './item.js';
import { SEARCHED, described, recentTransfers } from './transfers.js';

/** A token of the index, or null. */
async function listed(address) {
  try {
    return await ask(`tokens/${address}`);
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

function shareOf(value, supply) {
  if (!supply) return '–';
  const share = Number((value * 1_000_000n) / supply) / 1_000_000;
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

function holderTab(token, address) {
  const decimals = Number(token.decimals ?? 0);
  const supply = token.total_supply && token.type === 'ERC-20' ? BigInt(token.total_supply) : null;
  const byId = token.type === 'ERC-1155';
  const columns = [
    { title: 'Rank', phone: 'line-1', cell: (row) => count(row.rank), csv: (row) => row.rank },
    {
      title: 'Holder',
      phone: 'line-1',
      cell: (row) => party(row.holder),
      csv: (row) => row.holder,
    },
    byId && {
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
      csv: (row) => Number((row.value * 1_000_000n) / (supply || 1n)) / 10_000,
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
  ].filter(Boolean);
  const load = async (cursor) => {
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
  };
  return (signal) =>
    pagedList({
      signal,
      label: 'Holders',
      columns,
      load,
      empty: 'No holders',
      live: true,
      csv: `holders-${address}`,
    });
}

/** What an item calls itself, cut to a length for lists. */
function nameIn({ metadata }) {
  return typeof metadata?.name === 'string' ? metadata.name.slice(0, 60) : '';
}

function itemTab(token, address) {
  const columns = (signal) => [
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
  const load = async (cursor) => {
    const page = await listOf(`tokens/${address}/instances`, cursor);
    return {
      ...page,
      rows: page.rows.map((item) => ({ ...item, key: `${item.id}/${item.owner?.hash}` })),
    };
  };
  return (signal) =>
    pagedList({
      signal,
      label: 'Items',
      columns: columns(signal),
      load,
      empty: 'No items',
      live: true,
      pace: ITEMS_PACE,
      csv: `items-${address}`,
    });
}

/** The address of a token, given by its address, symbol or name. */
async function resolve(text) {
  try {
    return parseAddress(text, network.prefix);
  } catch (error) {
    const { found } = await search(text);
    const link = /^#\/token\/(0x[0-9a-f]{40})$/i;
    // A part of a name is none.
    const token = found.find(({ href, how }) => link.test(href) && how < 1);
    if (token) return parseAddress(link.exec(token.href)[1], network.prefix);
    const isAddress = /^0x/i.test(text) || new RegExp(`^${network.prefix}[a-z]*1`, 'i').test(text);
    throw isAddress ? error : new NotFound('Token', `no token is called ${text.slice(0, 60)}`);
  }
}

function tile(label, ...content) {
  return h('div.tile', h('span', label), ...content);
}

export default async function view({ signal, rest: [text = '', id = null], query }) {
  const address = await resolve(text);
  const hasIndex = await indexed();
  const found = hasIndex ? await listed(address) : null;
  // A token without transfers is not in the index, such as one from before a fork.
  const on = found !== null;
  const token = found ?? (await described(address));
  if (!token) {
    const code = await node.call('eth_getCode', address, 'latest');
    throw new NotFound(
      'Token',
      code === '0x'
        ? `${address} is an account, not a token`
        : `the contract ${address} is not known as a token: it has no name, no supply and no transfers`,
    );
  }
  const missing = hasIndex ? await gap() : null;
  if (id !== null && on) return itemView(token, address, id, signal);
  if (network.addresses) prices.follow();
  const known = tokenAt(address);
  const decimals = Number(token.decimals ?? 0);
  const isFungible = token.type === 'ERC-20';
  const shown = {
    price: h('strong', '–'),
    supply: h('strong', '–'),
    value: h('small'),
    holders: h('strong', '–'),
    transfers: h('strong', '–'),
  };
  const price = () => {
    const now = priceOf(address);
    setText(shown.price, now === null ? '–' : usd(now));
    const worth =
      token.total_supply === null ? null : worthOf(BigInt(token.total_supply), decimals, address);
    setText(shown.value, worth === null ? '' : `worth $${compact(worth)}`);
  };
  let drawnSupply = null;
  const figures = async () => {
    const [now, counters] = await Promise.all([
      on ? listed(address) : described(address),
      on ? ask(`tokens/${address}/counters`) : null,
    ]).catch(() => [null, null]);
    if (!now || signal.aborted) return;
    Object.assign(token, now);
    // The exact number stays shown until there is another.
    if (token.total_supply !== null && token.total_supply !== drawnSupply) {
      drawnSupply = token.total_supply;
      replace(shown.supply, exactAmount(BigInt(drawnSupply), decimals, 9));
    }
    if (token.holders_count !== null) setText(shown.holders, count(Number(token.holders_count)));
    if (counters) setText(shown.transfers, count(Number(counters.transfers_count)));
    price();
  };
  whenever(node, 'head', signal, figures, 3_000);
  if (known) whenever(prices, 'prices', signal, price, 500);
  const columns = transferColumns({ token: false });
  const load = on
    ? (cursor) => tokenTransfers(`tokens/${address}/transfers`, cursor)
    : (cursor) => recentTransfers({ token: address }, cursor);
  const empty = on ? 'No transfers' : `No transfers in the last ${count(SEARCHED)} blocks`;
  const tabs = [
    {
      id: 'transfers',
      title: 'Transfers',
      make: () =>
        pagedList({
          signal,
          label: 'Transfers',
          columns,
          load,
          empty,
          live: true,
          csv: `transfers-${address}`,
        }),
    },
    on && { id: 'holders', title: 'Holders', make: holderTab(token, address) },
    on && !isFungible && { id: 'items', title: 'Items', make: itemTab(token, address) },
  ].filter(Boolean);
  const box = h(
    'div.tiles',
    known &&
      tile(
        'Price',
        shown.price,
        h('small', known.kind === 'receipt' ? 'of the supplied token' : 'by the oracle'),
      ),
    // A token with many items of each id has no supply as a whole.
    token.total_supply !== null && tile('Total supply', shown.supply, shown.value),
    on && tile('Holders', shown.holders),
    on && tile('Transfers', shown.transfers),
  );
  const symbol = token.symbol && token.symbol !== token.name ? ` (${token.symbol})` : '';
  const title = h('span', `${token.name ?? token.symbol ?? 'Unnamed token'}${symbol}`);
  return [
    heading(
      title,
      h('span.tag', token.type),
      known && h('span.tag.good', known.kind === 'receipt' ? 'Lending receipt' : 'Network token'),
    ),
    !hasIndex &&
      h(
        'p.note',
        `${WITHOUT_INDEX}only transfers of the last ${count(SEARCHED)} blocks are listed, and no holders.`,
      ),
    hasIndex && missing && h('p.note', missing),
    box,
    card(
      null,
      facts([
        ['Contract', addressLink(address, { full: true })],
        token.decimals !== null && isFungible && ['Decimals', token.decimals],
        known?.kind === 'token' && [
          'Trade',
          h(
            'a',
            {
              href: `#/exchange?from=${known.symbol === 'USDC' ? 'USDT' : 'USDC'}&to=${known.symbol}`,
            },
            `Buy ${known.symbol} on the exchange`,
          ),
        ],
      ]),
    ),
    tabList({
      label: 'Token',
      signal,
      selected: query?.get('tab') ?? 'transfers',
      tabs,
      chosen: (tab) => setPlace({ tab: tab === 'transfers' ? null : tab }),
    }),
  ];
}
