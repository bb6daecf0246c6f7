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

function copyable(text, label) {
  return h('span.copyline', h('span.mono', text), copyButton(text, label));
}

async function cosmos(address) {
  if (!network.addresses) return null;
  const response = await fetch(
    `cosmos/auth/v1beta1/accounts/${forms(address, network.prefix).account}`,
  );
  return response.ok ? (await response.json()).account : null;
}

export default async function view({ signal, rest: [text = ''], query }) {
  const address = parseAddress(text, network.prefix);
  const all = forms(address, network.prefix);
  if (network.addresses) prices.follow();
  const on = await indexed();
  const [code, account, about, counters, tabCounters, sender, missing] = await Promise.all([
    node.call('eth_getCode', address, 'latest'),
    cosmos(address).catch(() => null),
    on ? ask(`addresses/${address}`).catch(() => null) : null,
    on ? ask(`addresses/${address}/counters`).catch(() => null) : null,
    on ? ask(`addresses/${address}/tabs-counters`).catch(() => null) : null,
    priceUpdates(),
    on ? gap() : null,
  ]);
  if (about?.token) learnToken(about.token);
  const target = delegateOf(code);
  const isContract = code !== '0x' && !target;
  const isUpdater = network.addresses && sender(address, network.addresses.oracle);
  const held = wallets.held.indexOf(address);
  const ownName =
    nameOf(address) ??
    about?.name ??
    learnedName(address) ??
    (isUpdater ? 'Price updater' : accountName(address));
  const kind = target ? 'Delegated account' : isContract ? 'Contract' : 'Account';
  const name = labelOf(address) ?? ownName;
  const proxy = isContract
    ? await contractAt(address).then(
        (contract) => contract.proxy,
        () => null,
      )
    : null;
  const { token } = about ?? {};
  const tokenCounters = token ? await ask(`tokens/${address}/counters`).catch(() => null) : null;
  const moving = { balance: h('strong'), nonce: h('span') };
  const base = account?.base_account ?? account;
  whenever(
    node,
    'head',
    signal,
    async () => {
      const found = await Promise.all([
        node.call('eth_getBalance', address, 'latest'),
        node.call('eth_getTransactionCount', address, 'latest'),
      ]).catch(() => null);
      if (!found || signal.aborted) return;
      setText(moving.balance, coins(found[0], 24));
      setText(moving.nonce, count(Number(found[1])));
    },
    2_000,
  );
  const tags = [
    name && !name.startsWith(kind) && h('span.tag', kind),
    held >= 0 && h('span.tag', 'Key held by the node'),
    about?.is_verified && h('span.tag.good', 'Verified source'),
    about?.token && h('a.tag.accent', { href: `#/token/${address}` }, `${about.token.type} token`),
    about?.creation_status === 'selfdestructed' && h('span.tag.bad', 'Destroyed'),
  ];
  const asked = query?.get('tab') ?? 'transactions';
  // Links to the functions of a contract name the tab inside of it.
  const selected =
    isContract && CONTRACT_TABS.includes(asked) && asked !== 'events' ? 'contract' : asked;
  const title = heading(
    name ?? kind,
    tags,
    h('a.button', { href: `#/transact?tab=send&to=${address}` }, 'Send to this address'),
  );
  return [
    title,
    !on &&
      h(
        'p.note',
        `${WITHOUT_INDEX}transactions are searched in recent blocks, token transfers and events in the last ${count(SEARCHED)}. Internal transactions and created contracts are not listed.`,
      ),
    missing && h('p.note', missing),
    card(
      null,
      facts([
        ['Address', copyable(all.hex, 'Copy address')],
        network.addresses && ['Cosmos address', copyable(all.account, 'Copy Cosmos address')],
        [
          'Label',
          labelEditor(address, (label) =>
            setText(title.querySelector('h1'), label ?? ownName ?? kind),
          ),
        ],
        ['Balance', moving.balance],
        ['Nonce', moving.nonce],
        proxy && [proxy.kind, 'Implementation ', addressLink(proxy.implementation, { full: true })],
        token && [
          'Token',
          h(
            'a',
            { href: `#/token/${address}` },
            `${token.name ?? 'Unnamed token'} (${symbolOf(token)})`,
          ),
          token.type === 'ERC-20' &&
            token.total_supply !== null && [
              h('span.soft', ' · supply '),
              exactAmount(BigInt(token.total_supply), Number(token.decimals ?? 0), 9),
            ],
          h('span.soft', ` · ${counted(Number(token.holders_count ?? 0), 'holder')}`),
          tokenCounters && [
            h('span.soft', ' · '),
            h(
              'a',
              { href: `#/token/${address}` },
              counted(Number(tokenCounters.transfers_count), 'transfer'),
            ),
          ],
        ],
        about?.creator_address_hash && [
          'Created by',
          party(about.creator_address_hash),
          h('span.soft', ' in transaction '),
          transactionLink(about.creation_transaction_hash),
        ],
        counters && [
          'Transactions',
          count(Number(counters.transactions_count)),
          h('span.soft', ` · ${counted(Number(counters.token_transfers_count), 'token transfer')}`),
        ],
        base?.account_number !== undefined && ['Account number', base.account_number],
        base?.pub_key?.key && ['Public key', copyable(base.pub_key.key, 'Copy public key')],
        target && ['Delegated to', addressLink(target, { full: true })],
      ]),
      network.addresses &&
        !isContract &&
        h(
          'details',
          h('summary', 'Validator addresses'),
          facts([
            ['Validator operator', copyable(all.operator, 'Copy address')],
            ['Validator consensus', copyable(all.consensus, 'Copy address')],
          ]),
        ),
    ),
    tabList({
      label: 'Histories',
      signal,
      selected,
      tabs: tabsOf(address, { on, isContract, counters: tabCounters }),
      chosen: (tab) => setPlace({ tab: tab === 'transactions' ? null : tab }, `address/${address}`),
    }),
  ];
}
