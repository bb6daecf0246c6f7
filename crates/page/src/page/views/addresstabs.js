// The tabs of an address: its histories, holdings, contract and events.

import { blockCell, hashLink, recipient } from '../lib/cells.js';
import { timeCell } from '../lib/clock.js';
import { internalColumns, transactionColumns, transferColumns } from '../lib/columns.js';
import { h } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { pagedList } from '../lib/lists.js';
import {
  addressTransactions,
  createdContracts,
  internalTransactions,
  tokenTransfers,
} from '../lib/pages.js';
import { placed, setPlace } from '../lib/place.js';
import { ROWS, searchRows } from '../lib/scan.js';
import { eventTab } from './addressevents.js';
import { holdingTab, nftTab } from './addressholdings.js';
import { contractCard } from './contract.js';
import { SEARCHED, recentTransfers } from './transfers.js';

/** Pages of the index that one search for failed transactions reads. */
const SEARCH_PAGES = 10;

/** The directions by their names in links. */
const SIDES = { '': 'All', from: 'Sent', to: 'Received' };

const hasFailed = (row) => row.ok === false;

/** The controls of the list of transactions, whose state is in the link. */
class TransactionFilter {
  #side = h(
    'select',
    Object.entries(SIDES).map(([value, name]) =>
      h('option', { value, selected: (placed('side') ?? '') === value }, name),
    ),
  );
  #failed = h('input', { type: 'checkbox', checked: placed('failed') === '1' });

  constructor(changed) {
    for (const control of [this.#side, this.#failed]) {
      control.addEventListener('change', () => {
        setPlace({ side: this.side, failed: this.onlyFailed });
        changed();
      });
    }
    this.elements = [
      h('label.toggle', h('span.hidden', 'Direction'), this.#side),
      h('label.toggle', this.#failed, 'Failed only'),
    ];
  }

  get side() {
    return this.#side.value;
  }

  get onlyFailed() {
    return this.#failed.checked;
  }
}

/** Transactions of the index, of which several pages are read to find failed ones. */
async function indexedTransactions(address, filter, cursor) {
  const rows = [];
  let next = cursor;
  for (let pages = 0; pages < SEARCH_PAGES; pages++) {
    const page = await addressTransactions(address, next, filter.side);
    rows.push(...(filter.onlyFailed ? page.rows.filter(hasFailed) : page.rows));
    next = page.next;
    if (!next || rows.length >= ROWS) break;
  }
  return { rows, next, paused: next !== null && rows.length === 0 };
}

/** Transactions of an address in the newest blocks, without the index. */
async function recentTransactions(address, { side, onlyFailed }, cursor, signal) {
  const wanted = address.toLowerCase();
  const isOwn = (one) =>
    (side !== 'to' && one.from?.toLowerCase() === wanted) ||
    (side !== 'from' && one.to?.toLowerCase() === wanted);
  const page = await searchRows({
    accepts: (one) => isOwn(one) && (!onlyFailed || one.ok !== true),
    outcome: onlyFailed,
    keeps: onlyFailed ? hasFailed : null,
    before: cursor,
    signal,
  });
  return { ...page, note: `Blocks ${count(page.from)} to ${count(page.to)} searched` };
}

function transactionTab(address, hasIndex) {
  return (signal) => {
    const filter = new TransactionFilter(() => list.reload());
    const list = pagedList({
      signal,
      label: 'Transactions',
      columns: transactionColumns({ here: address, fee: true }),
      load: (cursor) =>
        hasIndex
          ? indexedTransactions(address, filter, cursor)
          : recentTransactions(address, filter, cursor, signal),
      empty: 'No transactions',
      live: true,
      csv: `transactions-${address}`,
      controls: filter.elements,
    });
    return list;
  };
}

function transferTab(address, hasIndex) {
  return (signal) =>
    pagedList({
      signal,
      label: 'Token transfers',
      columns: transferColumns({ here: address }),
      load: hasIndex
        ? (cursor) => tokenTransfers(`addresses/${address}/token-transfers`, cursor)
        : (cursor) => recentTransfers({ account: address }, cursor),
      empty: hasIndex
        ? 'No token transfers'
        : `No token transfers in the last ${count(SEARCHED)} blocks`,
      live: true,
      csv: `token-transfers-${address}`,
    });
}

function internalTab(address) {
  return (signal) =>
    pagedList({
      signal,
      label: 'Internal transactions',
      columns: internalColumns(address),
      load: (cursor) => internalTransactions(`addresses/${address}/internal-transactions`, cursor),
      empty: 'No internal transactions',
      live: true,
      csv: `internal-transactions-${address}`,
    });
}

const CREATED_COLUMNS = [
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

function createdTab(address, isContract) {
  return (signal) =>
    pagedList({
      signal,
      label: 'Contracts created',
      columns: CREATED_COLUMNS,
      load: (cursor) => createdContracts(address, isContract, cursor),
      empty: 'No contracts created',
      live: true,
      csv: `contracts-${address}`,
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
  const all = [
    {
      id: 'transactions',
      title: `Transactions${counted(counters?.transactions_count)}`,
      make: transactionTab(address, on),
    },
    {
      id: 'transfers',
      title: `Token transfers${counted(counters?.token_transfers_count)}`,
      make: transferTab(address, on),
    },
    on && {
      id: 'internal',
      title: `Internal transactions${counted(counters?.internal_transactions_count)}`,
      make: internalTab(address),
    },
    {
      id: 'tokens',
      title: `Tokens${counted(counters?.token_balances_count)}`,
      make: holdingTab(address, on),
    },
    on && { id: 'nft', title: 'NFTs', make: nftTab(address) },
    on && { id: 'created', title: 'Contracts created', make: createdTab(address, isContract) },
    isContract && { id: 'contract', title: 'Contract', make: contractTab(address) },
    isContract && {
      id: 'events',
      title: `Events${counted(counters?.logs_count)}`,
      make: eventTab(address, on),
    },
  ];
  return all.filter(Boolean);
}
