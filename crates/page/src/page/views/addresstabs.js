// The tabs of an address: its histories, holdings, contract and events.

import { blockCell, hashLink, idLink, recipient, symbolOf, tokenLink } from '../lib/cells.js';
import { timeCell } from '../lib/clock.js';
import { internalColumns, transactionColumns, transferColumns } from '../lib/columns.js';
import { h } from '../lib/dom.js';
import { count, shorten, toUnits, usd } from '../lib/format.js';
import { ask } from '../lib/index.js';
import { addressLink, argumentOf, argumentsOf, exactAmount } from '../lib/links.js';
import { ITEMS_PACE, pagedList } from '../lib/lists.js';
import { explainLog, network, read } from '../lib/network.js';
import { node } from '../lib/node.js';
import {
  addressTransactions,
  contractLogs,
  createdContracts,
  internalTransactions,
  listOf,
  tokenTransfers,
} from '../lib/pages.js';
import { thumbnail } from '../lib/pictures.js';
import { placed, setPlace } from '../lib/place.js';
import { prices } from '../lib/prices.js';
import { ROWS, searchRows } from '../lib/scan.js';
import { worthOf } from '../lib/worth.js';
import { contractCard } from './contract.js';
import { SEARCHED, recentTransfers } from './transfers.js';

/** Pages of the index that one search for failed transactions reads. */
const SEARCH_PAGES = 10;

function transactionTab(address, on) {
  return (signal) => {
    let list = null;
    const side = h(
      'select',
      ['All', 'Sent', 'Received'].map((name, at) =>
        h(
          'option',
          {
            value: ['', 'from', 'to'][at],
            selected: (placed('side') ?? '') === ['', 'from', 'to'][at],
          },
          name,
        ),
      ),
    );
    const failed = h('input', { type: 'checkbox', checked: placed('failed') === '1' });
    const keeps = (row) => row.ok === false;
    const load = async (cursor) => {
      if (!on) return recentTransactions(address, side.value, failed.checked, cursor, signal);
      const rows = [];
      let next = cursor;
      for (let pages = 0; pages < SEARCH_PAGES; pages++) {
        const page = await addressTransactions(address, next, side.value);
        rows.push(...(failed.checked ? page.rows.filter(keeps) : page.rows));
        next = page.next;
        if (!next || rows.length >= ROWS) break;
      }
      return { rows, next, paused: next !== null && rows.length === 0 };
    };
    const controls = [
      h('label.toggle', h('span.hidden', 'Direction'), side),
      h('label.toggle', failed, 'Failed only'),
    ];
    for (const control of [side, failed]) {
      control.addEventListener('change', () => {
        setPlace({ side: side.value, failed: failed.checked });
        list.reload();
      });
    }
    list = pagedList({
      signal,
      label: 'Transactions',
      columns: transactionColumns({ here: address, fee: true }),
      load,
      empty: 'No transactions',
      live: true,
      csv: `transactions-${address}`,
      controls,
    });
    return list;
  };
}

/** Transactions of an address in the newest blocks, without the index. */
async function recentTransactions(address, side, failed, cursor, signal) {
  const wanted = address.toLowerCase();
  const own = (one) =>
    (side !== 'to' && one.from?.toLowerCase() === wanted) ||
    (side !== 'from' && one.to?.toLowerCase() === wanted);
  const accepts = (one) => own(one) && (!failed || one.ok !== true);
  const page = await searchRows({
    accepts,
    outcome: failed,
    keeps: failed ? (row) => row.ok === false : null,
    before: cursor,
    signal,
  });
  return { ...page, note: `Blocks ${count(page.from)} to ${count(page.to)} searched` };
}

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

function holdingTab(address, on) {
  return (signal) => {
    const load = async () => {
      let rows;
      if (on) {
        const all = await ask(`addresses/${address}/token-balances`);
        rows = all.map((item) => holding(item.token, BigInt(item.value), item.token_id));
      } else {
        const all = [...network.tokens, ...(network.receipts ?? [])];
        const balances = await Promise.all(
          all.map((token) => read('Token', token.address, 'balanceOf', address).catch(() => 0n)),
        );
        rows = all.map((token, at) =>
          holding(
            {
              address_hash: token.address,
              symbol: token.symbol,
              name: null,
              type: 'ERC-20',
              decimals: token.decimals,
            },
            balances[at],
            null,
          ),
        );
      }
      rows = rows.filter((row) => row.value > 0n).sort((a, b) => (b.worth ?? -1) - (a.worth ?? -1));
      const total = rows.reduce((sum, row) => sum + (row.worth ?? 0), 0);
      return { rows, next: null, note: total ? `Total value ${usd(total)}` : '' };
    };
    const list = pagedList({
      signal,
      label: 'Token holdings',
      columns: HOLDING_COLUMNS,
      load,
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

function nftTab(address) {
  const columns = (signal) => [
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
      columns: columns(signal),
      load,
      empty: 'No non-fungible tokens',
      live: true,
      pace: ITEMS_PACE,
      csv: `nft-${address}`,
    });
}

function createdTab(address, isContract) {
  const columns = [
    {
      title: 'Contract',
      phone: 'line-1',
      cell: (row) => recipient({ ...row, to: row.created }),
      csv: (row) => row.created,
    },
    {
      title: 'Transaction hash',
      phone: 'line-2',
      cell: (row) => hashLink(row.hash),
      csv: (row) => row.hash,
    },
    { title: 'Block', cell: (row) => blockCell(row.block), csv: (row) => row.block },
    {
      title: 'Age',
      time: true,
      phone: 'line-2.end',
      cell: (row) => timeCell(row.time),
      csv: (row) => new Date(row.time * 1_000).toISOString(),
    },
  ];
  const load = (cursor) => createdContracts(address, isContract, cursor);
  return (signal) =>
    pagedList({
      signal,
      label: 'Contracts created',
      columns,
      load,
      empty: 'No contracts created',
      live: true,
      csv: `contracts-${address}`,
    });
}

const EVENT_COLUMNS = [
  {
    title: 'Event',
    phone: 'line-1',
    cell: (row) => h('span.tag.accent.clip', { title: row.signature }, row.name),
    csv: (row) => row.name,
  },
  {
    title: 'Transaction hash',
    phone: 'line-1',
    cell: (row) => hashLink(row.hash),
    csv: (row) => row.hash,
  },
  { title: 'Block', cell: (row) => blockCell(row.block), csv: (row) => row.block },
  {
    title: 'Age',
    time: true,
    phone: 'line-1.end',
    cell: (row) => timeCell(row.time),
    csv: (row) => (row.time ? new Date(row.time * 1_000).toISOString() : ''),
  },
  { title: 'Arguments', phone: 'line-2.whole', cell: (row) => row.body, csv: (row) => row.text },
];

/** A log with its event's arguments. */
async function eventRow(row) {
  const known = await explainLog(row.log);
  const { decoded } = row;
  if (known) {
    const text = known.fragment.inputs
      .map((input, at) => `${input.name}=${known.values[at]}`)
      .join(' ');
    const short = known.fragment.inputs
      .map((input, at) => `${input.name}: ${argumentOf(known, at, row.log.address).textContent}`)
      .join(', ');
    return {
      ...row,
      name: known.fragment.name,
      signature: '',
      text,
      body: h(
        'details',
        h('summary.clip.long', short || 'None'),
        argumentsOf(known, row.log.address),
      ),
    };
  }
  if (decoded) {
    const text = decoded.parameters.map(({ name, value }) => `${name}=${value}`).join(' ');
    const rows = decoded.parameters.map(({ name, value }) =>
      h('tr', h('td', name), h('td.mono', String(value))),
    );
    return {
      ...row,
      name: decoded.method_call.split('(')[0],
      signature: decoded.method_call,
      text,
      body: h(
        'details',
        h('summary.clip.long', text || 'None'),
        h('table.arguments', h('tbody', rows)),
      ),
    };
  }
  const raw = [
    ...row.log.topics.map((one, at) => [`topic ${at}`, one]),
    ['data', shorten(row.log.data, 130, 10)],
  ];
  const rows = raw.map(([name, text]) => h('tr', h('td', name), h('td.mono', text)));
  const first = row.log.topics[0] ?? 'anonymous';
  return {
    ...row,
    name: shorten(first, 10, 0),
    signature: first,
    text: row.log.data,
    body: h(
      'details',
      h('summary', `${row.log.topics.length} topics, ${count(row.log.data.length / 2 - 1)} bytes`),
      h('table.arguments', h('tbody', rows)),
    ),
  };
}

function eventTab(address, on) {
  const recent = async (cursor) => {
    const fromBlock = `0x${Math.max(0, Number(node.head?.number ?? 0) - SEARCHED).toString(16)}`;
    const logs = (await node.call('eth_getLogs', { address, fromBlock })).toReversed();
    const start = cursor ?? 0;
    const rows = logs.slice(start, start + ROWS).map((log) => ({
      hash: log.transactionHash,
      block: Number(log.blockNumber),
      index: Number(log.logIndex),
      time: log.blockTimestamp ? Number(log.blockTimestamp) : null,
      log,
      decoded: null,
    }));
    return { rows, next: start + ROWS < logs.length ? start + ROWS : null };
  };
  const load = async (cursor) => {
    const page = await (on ? contractLogs(address, cursor) : recent(cursor));
    return { ...page, rows: await Promise.all(page.rows.map(eventRow)) };
  };
  return (signal) =>
    pagedList({
      signal,
      label: 'Events',
      columns: EVENT_COLUMNS,
      load,
      empty: 'No events',
      live: true,
      csv: `events-${address}`,
    });
}

function contractTab(address) {
  return (signal) => contractCard(address, signal);
}

/** A count for a tab's title: the counters of the index stop at 51. */
function counted(number) {
  return number === undefined ? '' : ` (${number > 50 ? '50+' : number})`;
}

/** The tabs of an address: `on` is whether the node has the index. */
export function tabsOf(address, { on, isContract, counters }) {
  const created = on && {
    id: 'created',
    title: 'Contracts created',
    make: createdTab(address, isContract),
  };
  return [
    {
      id: 'transactions',
      title: `Transactions${counted(counters?.transactions_count)}`,
      make: transactionTab(address, on),
    },
    {
      id: 'transfers',
      title: `Token transfers${counted(counters?.token_transfers_count)}`,
      make: (signal) =>
        pagedList({
          signal,
          label: 'Token transfers',
          columns: transferColumns({ here: address }),
          load: on
            ? (cursor) => tokenTransfers(`addresses/${address}/token-transfers`, cursor)
            : (cursor) => recentTransfers({ account: address }, cursor),
          empty: on
            ? 'No token transfers'
            : `No token transfers in the last ${count(SEARCHED)} blocks`,
          live: true,
          csv: `token-transfers-${address}`,
        }),
    },
    on && {
      id: 'internal',
      title: `Internal transactions${counted(counters?.internal_transactions_count)}`,
      make: (signal) =>
        pagedList({
          signal,
          label: 'Internal transactions',
          columns: internalColumns(address),
          load: (cursor) =>
            internalTransactions(`addresses/${address}/internal-transactions`, cursor),
          empty: 'No internal transactions',
          live: true,
          csv: `internal-transactions-${address}`,
        }),
    },
    {
      id: 'tokens',
      title: `Tokens${counted(counters?.token_balances_count)}`,
      make: holdingTab(address, on),
    },
    on && { id: 'nft', title: 'NFTs', make: nftTab(address) },
    created,
    isContract && { id: 'contract', title: 'Contract', make: contractTab(address) },
    isContract && {
      id: 'events',
      title: `Events${counted(counters?.logs_count)}`,
      make: eventTab(address, on),
    },
  ].filter(Boolean);
}
