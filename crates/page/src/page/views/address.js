// One account or contract: addresses, balances and its whole history in tabs.

import { accountName } from '../lib/accountnames.js';
import { delegateOf, forms, parseAddress } from '../lib/address.js';
import { party, symbolOf } from '../lib/cells.js';
import { contractAt } from '../lib/contracts.js';
import { card, copyButton, facts, h, heading, setText } from '../lib/dom.js';
import { count, counted } from '../lib/format.js';
import { ask, gap, indexed, learnToken, learnedName, WITHOUT_INDEX } from '../lib/index.js';
import { addressLink, coins, exactAmount, transactionLink } from '../lib/links.js';
import { labelOf } from '../lib/labels.js';
import { nameOf, network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { setPlace } from '../lib/place.js';
import { prices } from '../lib/prices.js';
import { priceUpdates } from '../lib/scan.js';
import { tabList } from '../lib/tabs.js';
import { wallets } from '../lib/wallet.js';
import { CONTRACT_TABS } from './contract.js';
import { labelEditor } from './label.js';
import { SEARCHED } from './transfers.js';
import { tabsOf } from './addresstabs.js';

/** The least time between two requests of the balance and the nonce, in milliseconds. */
const FIGURES_PACE = 2_000;

function copyable(text, label) {
  return h('span.copyline', h('span.mono', text), copyButton(text, label));
}

/** The account as the Cosmos interface has it, or null. */
async function cosmosAccount(address) {
  if (!network.addresses) return null;
  const response = await fetch(
    `cosmos/auth/v1beta1/accounts/${forms(address, network.prefix).account}`,
  );
  return response.ok ? (await response.json()).account : null;
}

/** What a proxy forwards to, or null for another contract. */
async function proxyAt(address) {
  return contractAt(address).then(
    (contract) => contract.proxy,
    () => null,
  );
}

/** What the node, and its index if it `hasIndex`, know of an address. */
async function describe(address, hasIndex) {
  const [code, account, about, counters, tabCounters, isPriceUpdate, missing] = await Promise.all([
    node.call('eth_getCode', address, 'latest'),
    cosmosAccount(address).catch(() => null),
    hasIndex ? ask(`addresses/${address}`).catch(() => null) : null,
    hasIndex ? ask(`addresses/${address}/counters`).catch(() => null) : null,
    hasIndex ? ask(`addresses/${address}/tabs-counters`).catch(() => null) : null,
    priceUpdates(),
    hasIndex ? gap() : null,
  ]);
  const token = about?.token ?? null;
  if (token) learnToken(token);

  const delegate = delegateOf(code);
  const isContract = code !== '0x' && !delegate;
  const isUpdater = network.addresses && isPriceUpdate(address, network.addresses.oracle);
  const kind = delegate ? 'Delegated account' : isContract ? 'Contract' : 'Account';
  const name =
    nameOf(address) ??
    about?.name ??
    learnedName(address) ??
    (isUpdater ? 'Price updater' : accountName(address));

  const proxy = isContract ? await proxyAt(address) : null;
  const tokenCounters = token ? await ask(`tokens/${address}/counters`).catch(() => null) : null;
  return {
    address,
    kind,
    name,
    isContract,
    delegate,
    proxy,
    // The network's own type of account wraps that of Cosmos.
    account: account?.base_account ?? account,
    about,
    counters,
    tabCounters,
    token,
    tokenCounters,
    missing,
  };
}

/** The elements of the balance and the nonce, which follow the head. */
function liveFigures(address, signal) {
  const balance = h('strong');
  const nonce = h('span');
  const draw = async () => {
    const found = await Promise.all([
      node.call('eth_getBalance', address, 'latest'),
      node.call('eth_getTransactionCount', address, 'latest'),
    ]).catch(() => null);
    if (!found || signal.aborted) return;
    setText(balance, coins(found[0], 24));
    setText(nonce, count(Number(found[1])));
  };
  whenever(node, 'head', signal, draw, FIGURES_PACE);
  return { balance, nonce };
}

function titleOf({ address, kind, name, about }) {
  const shown = labelOf(address) ?? name;
  const tags = [
    shown && !shown.startsWith(kind) && h('span.tag', kind),
    wallets.held.includes(address) && h('span.tag', 'Key held by the node'),
    about?.is_verified && h('span.tag.good', 'Verified source'),
    about?.token && h('a.tag.accent', { href: `#/token/${address}` }, `${about.token.type} token`),
    about?.creation_status === 'selfdestructed' && h('span.tag.bad', 'Destroyed'),
  ];
  return heading(
    shown ?? kind,
    tags,
    h('a.button', { href: `#/transact?tab=send&to=${address}` }, 'Send to this address'),
  );
}

function tokenFact({ address, token, tokenCounters }) {
  const href = `#/token/${address}`;
  const supply = token.type === 'ERC-20' &&
    token.total_supply !== null && [
      h('span.soft', ' · supply '),
      exactAmount(BigInt(token.total_supply), Number(token.decimals ?? 0), 9),
    ];
  const transfers = tokenCounters && [
    h('span.soft', ' · '),
    h('a', { href }, counted(Number(tokenCounters.transfers_count), 'transfer')),
  ];
  return [
    'Token',
    h('a', { href }, `${token.name ?? 'Unnamed token'} (${symbolOf(token)})`),
    supply,
    h('span.soft', ` · ${counted(Number(token.holders_count ?? 0), 'holder')}`),
    transfers,
  ];
}

function creationFact(about) {
  return [
    'Created by',
    party(about.creator_address_hash),
    h('span.soft', ' in transaction '),
    transactionLink(about.creation_transaction_hash),
  ];
}

function countersFact(counters) {
  const transfers = counted(Number(counters.token_transfers_count), 'token transfer');
  return [
    'Transactions',
    count(Number(counters.transactions_count)),
    h('span.soft', ` · ${transfers}`),
  ];
}

/** The card of an address in all its forms; `title` is the heading, which has the label as well. */
function factsCard(described, title, signal) {
  const { address, kind, name, isContract, delegate, proxy, account, about, counters } = described;
  const all = forms(address, network.prefix);
  const { balance, nonce } = liveFigures(address, signal);
  const label = labelEditor(address, (text) =>
    setText(title.querySelector('h1'), text ?? name ?? kind),
  );

  return card(
    null,
    facts([
      ['Address', copyable(all.hex, 'Copy address')],
      network.addresses && ['Cosmos address', copyable(all.account, 'Copy Cosmos address')],
      ['Label', label],
      ['Balance', balance],
      ['Nonce', nonce],
      proxy && [proxy.kind, 'Implementation ', addressLink(proxy.implementation, { full: true })],
      described.token && tokenFact(described),
      about?.creator_address_hash && creationFact(about),
      counters && countersFact(counters),
      account?.account_number !== undefined && ['Account number', account.account_number],
      account?.pub_key?.key && ['Public key', copyable(account.pub_key.key, 'Copy public key')],
      delegate && ['Delegated to', addressLink(delegate, { full: true })],
    ]),
    network.addresses && !isContract && validatorAddresses(all),
  );
}

function validatorAddresses(all) {
  return h(
    'details',
    h('summary', 'Validator addresses'),
    facts([
      ['Validator operator', copyable(all.operator, 'Copy address')],
      ['Validator consensus', copyable(all.consensus, 'Copy address')],
    ]),
  );
}

function histories({ address, isContract, tabCounters }, hasIndex, query, signal) {
  const asked = query?.get('tab') ?? 'transactions';
  // Links to the functions of a contract name the tab inside of it.
  const isInContract = isContract && CONTRACT_TABS.includes(asked) && asked !== 'events';
  return tabList({
    label: 'Histories',
    signal,
    selected: isInContract ? 'contract' : asked,
    tabs: tabsOf(address, { on: hasIndex, isContract, counters: tabCounters }),
    chosen: (tab) => setPlace({ tab: tab === 'transactions' ? null : tab }, `address/${address}`),
  });
}

export default async function view({ signal, rest: [text = ''], query }) {
  const address = parseAddress(text, network.prefix);
  if (network.addresses) prices.follow();

  const hasIndex = await indexed();
  const described = await describe(address, hasIndex);
  const title = titleOf(described);
  return [
    title,
    !hasIndex &&
      h(
        'p.note',
        `${WITHOUT_INDEX}transactions are searched in recent blocks, token transfers and events in the last ${count(SEARCHED)}. Internal transactions and created contracts are not listed.`,
      ),
    described.missing && h('p.note', described.missing),
    factsCard(described, title, signal),
    histories(described, hasIndex, query, signal),
  ];
}
