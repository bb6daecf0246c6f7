// One account or contract: addresses, balances and its whole history in tabs.

import { forms, parseAddress } from '../lib/address.js';
import { card, copyButton, facts, h, heading, setText } from '../lib/dom.js';
import { ROWS, WITHOUT_INDEX, addressTransactions, ask, contractLogs, createdContracts, indexed, internalTransactions, learnedName, listOf, priceUpdates, searchRows, tokenTransfers } from '../lib/explorer.js';
import { amount, count, shorten, toUnits, usd } from '../lib/format.js';
import { addressLink, argumentsOf, coins, transactionLink } from '../lib/links.js';
import { blockCell, hashLink, idLink, internalColumns, pagedList, party, recipient, setQuery, symbolOf, tabList, timeCell, tokenLink, transactionColumns, transferColumns } from '../lib/lists.js';
import { explainLog, nameOf, network, read } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { prices } from '../lib/prices.js';
import { wallets } from '../lib/wallet.js';
import { worthOf } from '../lib/worth.js';
import { CONTRACT_TABS, contractCard } from './contract.js';
import { SEARCHED, recentTransfers } from './transfers.js';

/** Pages of the index that one search for failed transactions reads. */
const SEARCH_PAGES = 10;

function copyable(text, label) {
  return h('span.copyline', h('span.mono', text), copyButton(text, label));
}

/** The address that an account delegates its code to (EIP-7702), or null. */
function delegate(code) {
  return code.startsWith('0xef0100') && code.length === 48 ? `0x${code.slice(8)}` : null;
}

async function cosmos(address) {
  if (!network.addresses) return null;
  const response = await fetch(`cosmos/auth/v1beta1/accounts/${forms(address, network.prefix).account}`);
  return response.ok ? (await response.json()).account : null;
}

function transactionTab(address, on) {
  return (signal) => {
    let list = null;
    const side = h('select', ['All', 'Sent', 'Received'].map((name, at) => h('option', { value: ['', 'from', 'to'][at] }, name)));
    const failed = h('input', { type: 'checkbox' });
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
    const controls = [h('label.check', h('span.hidden', 'Direction'), side), h('label.check', failed, 'Failed only')];
    for (const control of [side, failed]) control.addEventListener('change', () => list.reload());
    list = pagedList({ signal, label: 'Transactions', columns: transactionColumns({ here: address, fee: true }), load, empty: 'No transactions', live: true, csv: `transactions-${address}`, controls });
    return list;
  };
}

/** Transactions of an address in the newest blocks, without the index. */
async function recentTransactions(address, side, failed, cursor, signal) {
  const wanted = address.toLowerCase();
  const own = (one) => (side !== 'to' && one.from?.toLowerCase() === wanted) || (side !== 'from' && one.to?.toLowerCase() === wanted);
  const accepts = (one) => own(one) && (!failed || one.ok !== true);
  const page = await searchRows({ accepts, keeps: failed ? (row) => row.ok === false : null, before: cursor, signal });
  return { ...page, note: `Blocks ${count(page.from)} to ${count(page.to)} searched` };
}

const HOLDING_COLUMNS = [
  { title: 'Token', cell: (row) => [tokenLink(row.token, row.token.name || symbolOf(row.token)), row.id !== null && [' ', idLink(row.token, row.id)]], csv: (row) => symbolOf(row.token) },
  { title: 'Type', cell: (row) => h('span.tag', row.token.type), csv: (row) => row.token.type },
  { title: 'Balance', number: true, cell: (row) => h('span', { title: toUnits(row.value, row.decimals) }, `${amount(row.value, row.decimals, 10)} ${symbolOf(row.token)}`), csv: (row) => toUnits(row.value, row.decimals) },
  { title: 'Value', number: true, cell: (row) => (row.worth === null ? '–' : usd(row.worth)), csv: (row) => row.worth ?? '' },
  { title: 'Contract', cell: (row) => addressLink(row.token.address_hash, { plain: true }), csv: (row) => row.token.address_hash },
  { title: 'Token ID', csv: (row) => row.id ?? '' },
];

function holding(token, value, id) {
  const decimals = Number(token.decimals ?? 0);
  const worth = worthOf(value, decimals, token.address_hash);
  return { key: `${token.address_hash}/${id ?? ''}/${value}/${worth}`, token, value, id, decimals, worth };
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
        const balances = await Promise.all(all.map((token) => read('Token', token.address, 'balanceOf', address).catch(() => 0n)));
        rows = all.map((token, at) => holding({ address_hash: token.address, symbol: token.symbol, name: null, type: 'ERC-20', decimals: token.decimals }, balances[at], null));
      }
      rows = rows.filter((row) => row.value > 0n).sort((a, b) => (b.worth ?? -1) - (a.worth ?? -1));
      const total = rows.reduce((sum, row) => sum + (row.worth ?? 0), 0);
      return { rows, next: null, note: total ? `Total value ${usd(total)}` : '' };
    };
    const list = pagedList({ signal, label: 'Token holdings', columns: HOLDING_COLUMNS, load, empty: 'No tokens', live: true, csv: `tokens-${address}` });
    // Values appear as soon as there are prices.
    if (network.addresses && !prices.now.size) prices.addEventListener('prices', () => list.reload(), { signal, once: true });
    return list;
  };
}

function nftTab(address) {
  const columns = [
    { title: 'Token', cell: (row) => tokenLink(row.token, row.token.name || symbolOf(row.token)), csv: (row) => symbolOf(row.token) },
    { title: 'ID', cell: (row) => idLink(row.token, row.id), csv: (row) => row.id },
    { title: 'Contract', cell: (row) => addressLink(row.token.address_hash, { plain: true }), csv: (row) => row.token.address_hash },
  ];
  const load = async (cursor) => {
    const page = await listOf(`addresses/${address}/nft`, cursor);
    return { ...page, rows: page.rows.map((item) => ({ ...item, key: `${item.token.address_hash}/${item.id}` })) };
  };
  return (signal) => pagedList({ signal, label: 'Non-fungible tokens', columns, load, empty: 'No ERC-721 tokens', live: true, csv: `nft-${address}` });
}

function createdTab(address, isContract) {
  const columns = [
    { title: 'Contract', cell: (row) => recipient({ ...row, to: row.created }), csv: (row) => row.created },
    { title: 'Transaction hash', cell: (row) => hashLink(row.hash), csv: (row) => row.hash },
    { title: 'Block', cell: (row) => blockCell(row.block), csv: (row) => row.block },
    { title: 'Age', time: true, cell: (row) => timeCell(row.time), csv: (row) => new Date(row.time * 1_000).toISOString() },
  ];
  const load = (cursor) => createdContracts(address, isContract, cursor);
  return (signal) => pagedList({ signal, label: 'Contracts created', columns, load, empty: 'No contracts created', live: true, csv: `contracts-${address}` });
}

const EVENT_COLUMNS = [
  { title: 'Event', cell: (row) => h('span.tag.accent.clip', { title: row.signature }, row.name), csv: (row) => row.name },
  { title: 'Transaction hash', cell: (row) => hashLink(row.hash), csv: (row) => row.hash },
  { title: 'Block', cell: (row) => blockCell(row.block), csv: (row) => row.block },
  { title: 'Age', time: true, cell: (row) => timeCell(row.time), csv: (row) => (row.time ? new Date(row.time * 1_000).toISOString() : '') },
  { title: 'Arguments', cell: (row) => row.body, csv: (row) => row.text },
];

/** A log with its event's arguments. */
async function eventRow(row) {
  const known = await explainLog(row.log);
  const { decoded } = row;
  if (known) {
    const text = known.fragment.inputs.map((input, at) => `${input.name}=${known.values[at]}`).join(' ');
    return { ...row, name: known.fragment.name, signature: '', text, body: h('details', h('summary.clip.long', text || 'None'), argumentsOf(known, row.log.address)) };
  }
  if (decoded) {
    const text = decoded.parameters.map(({ name, value }) => `${name}=${value}`).join(' ');
    const rows = decoded.parameters.map(({ name, value }) => h('tr', h('td', name), h('td.mono', String(value))));
    return { ...row, name: decoded.method_call.split('(')[0], signature: decoded.method_call, text, body: h('details', h('summary.clip.long', text || 'None'), h('table.arguments', h('tbody', rows))) };
  }
  const raw = [...row.log.topics.map((one, at) => [`topic ${at}`, one]), ['data', shorten(row.log.data, 130, 10)]];
  const rows = raw.map(([name, text]) => h('tr', h('td', name), h('td.mono', text)));
  const first = row.log.topics[0] ?? 'anonymous';
  return { ...row, name: shorten(first, 10, 0), signature: first, text: row.log.data, body: h('details', h('summary', `${row.log.topics.length} topics, ${count(row.log.data.length / 2 - 1)} bytes`), h('table.arguments', h('tbody', rows))) };
}

function eventTab(address, on) {
  const recent = async (cursor) => {
    const fromBlock = `0x${Math.max(0, Number(node.head?.number ?? 0) - SEARCHED).toString(16)}`;
    const logs = (await node.call('eth_getLogs', { address, fromBlock })).toReversed();
    const start = cursor ?? 0;
    const rows = logs.slice(start, start + ROWS).map((log) => ({ hash: log.transactionHash, block: Number(log.blockNumber), index: Number(log.logIndex), time: log.blockTimestamp ? Number(log.blockTimestamp) : null, log, decoded: null }));
    return { rows, next: start + ROWS < logs.length ? start + ROWS : null };
  };
  const load = async (cursor) => {
    const page = await (on ? contractLogs(address, cursor) : recent(cursor));
    return { ...page, rows: await Promise.all(page.rows.map(eventRow)) };
  };
  return (signal) => pagedList({ signal, label: 'Events', columns: EVENT_COLUMNS, load, empty: 'No events', live: true, csv: `events-${address}` });
}

function contractTab(address, code) {
  return async (signal) => [
    await contractCard(address, signal),
    h('details', h('summary', `Code (${count(code.length / 2 - 1)} bytes)`), h('div.code', h('pre', { tabindex: '0' }, code), copyButton(code, 'Copy code'))),
  ];
}

/** A count for a tab's title: the counters of the index stop at 51. */
function counted(number) {
  return number === undefined ? '' : ` (${number > 50 ? '50+' : number})`;
}

async function tabsOf(address, { on, isContract, code, counters }) {
  const created = on && { id: 'created', title: 'Contracts created', make: createdTab(address, isContract) };
  return [
    { id: 'transactions', title: `Transactions${counted(counters?.transactions_count)}`, make: transactionTab(address, on) },
    {
      id: 'transfers',
      title: `Token transfers${counted(counters?.token_transfers_count)}`,
      make: (signal) => pagedList({
        signal,
        label: 'Token transfers',
        columns: transferColumns({ here: address }),
        load: on ? (cursor) => tokenTransfers(`addresses/${address}/token-transfers`, cursor) : (cursor) => recentTransfers({ account: address }, cursor),
        empty: on ? 'No token transfers' : `No token transfers in the last ${count(SEARCHED)} blocks`,
        live: true,
        csv: `token-transfers-${address}`,
      }),
    },
    on && {
      id: 'internal',
      title: `Internal transactions${counted(counters?.internal_transactions_count)}`,
      make: (signal) => pagedList({
        signal,
        label: 'Internal transactions',
        columns: internalColumns(address),
        load: (cursor) => internalTransactions(`addresses/${address}/internal-transactions`, cursor),
        empty: 'No internal transactions',
        live: true,
        csv: `internal-transactions-${address}`,
      }),
    },
    { id: 'tokens', title: `Tokens${counted(counters?.token_balances_count)}`, make: holdingTab(address, on) },
    on && { id: 'nft', title: 'NFTs', make: nftTab(address) },
    created,
    isContract && { id: 'contract', title: 'Contract', make: contractTab(address, code) },
    isContract && { id: 'events', title: `Events${counted(counters?.logs_count)}`, make: eventTab(address, on) },
  ].filter(Boolean);
}

export default async function view({ signal, rest: [text = ''], query }) {
  const address = parseAddress(text, network.prefix);
  const all = forms(address, network.prefix);
  if (network.addresses) prices.follow();
  const on = await indexed();
  const [code, account, about, counters, tabCounters, sender] = await Promise.all([
    node.call('eth_getCode', address, 'latest'),
    cosmos(address).catch(() => null),
    on ? ask(`addresses/${address}`).catch(() => null) : null,
    on ? ask(`addresses/${address}/counters`).catch(() => null) : null,
    on ? ask(`addresses/${address}/tabs-counters`).catch(() => null) : null,
    priceUpdates(),
  ]);
  const target = delegate(code);
  const isContract = code !== '0x' && !target;
  const isUpdater = network.addresses && sender(address, network.addresses.oracle);
  const held = wallets.held.indexOf(address);
  const name = nameOf(address) ?? about?.name ?? learnedName(address) ?? (isUpdater ? 'Price updater' : held >= 0 ? `Account ${held}` : null);
  const kind = target ? 'Delegated account' : isContract ? 'Contract' : 'Account';
  const moving = { balance: h('strong'), nonce: h('span') };
  const base = account?.base_account ?? account;
  whenever(node, 'head', signal, async () => {
    const found = await Promise.all([node.call('eth_getBalance', address, 'latest'), node.call('eth_getTransactionCount', address, 'latest')]).catch(() => null);
    if (!found || signal.aborted) return;
    setText(moving.balance, coins(found[0], 24));
    setText(moving.nonce, count(Number(found[1])));
  }, 2_000);
  const tags = [
    name && !name.startsWith(kind) && h('span.tag', kind),
    held >= 0 && h('span.tag', 'Key held by the node'),
    about?.is_verified && h('span.tag.good', 'Source known'),
    about?.token && h('a.tag.accent', { href: `#/token/${address}` }, `${about.token.type} token`),
    about?.creation_status === 'selfdestructed' && h('span.tag.bad', 'Destroyed'),
  ];
  const asked = query?.get('tab') ?? 'transactions';
  // Links to the functions of a contract name the tab inside of it.
  const selected = isContract && CONTRACT_TABS.includes(asked) && asked !== 'events' ? 'contract' : asked;
  return [
    heading(name ?? kind, tags),
    !on && h('p.note', `${WITHOUT_INDEX}transactions are searched in recent blocks, token transfers and events in the last ${count(SEARCHED)}. Internal transactions and created contracts are not listed.`),
    card(null, facts([
      ['Address', copyable(all.hex, 'Copy address')],
      network.addresses && ['Cosmos address', copyable(all.account, 'Copy Cosmos address')],
      ['Balance', moving.balance],
      ['Nonce', moving.nonce],
      about?.token && ['Token', h('a', { href: `#/token/${address}` }, `${about.token.name ?? 'Unnamed token'} (${symbolOf(about.token)})`)],
      about?.creator_address_hash && ['Created by', party(about.creator_address_hash), h('span.soft', ' in transaction '), transactionLink(about.creation_transaction_hash)],
      counters && ['Transactions', count(Number(counters.transactions_count)), h('span.soft', ` · ${count(Number(counters.token_transfers_count))} token transfers`)],
      base?.account_number !== undefined && ['Account number', base.account_number],
      base?.pub_key?.key && ['Public key', copyable(base.pub_key.key, 'Copy public key')],
      target && ['Delegated to', addressLink(target, { full: true })],
    ]), network.addresses && !isContract && h('details', h('summary', 'Validator addresses'), facts([
      ['Validator operator', copyable(all.operator, 'Copy address')],
      ['Validator consensus', copyable(all.consensus, 'Copy address')],
    ]))),
    tabList({
      label: 'Histories',
      signal,
      selected,
      tabs: await tabsOf(address, { on, isContract, code, counters: tabCounters }),
      chosen: (tab) => setQuery(`address/${address}`, { tab: tab === 'transactions' ? null : tab }),
    }),
  ];
}
