// One token: figures, transfers, holders, and the ids of a non-fungible token.

import { parseAddress } from '../lib/address.js';
import { card, facts, h, heading, replace, setText } from '../lib/dom.js';
import { compact, count, usd } from '../lib/format.js';
import { ask, gap, indexed, WITHOUT_INDEX } from '../lib/index.js';
import { addressLink, exactAmount } from '../lib/links.js';
import { network, tokenAt } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { NotFound } from '../lib/notfound.js';
import { setPlace } from '../lib/place.js';
import { prices } from '../lib/prices.js';
import { search } from '../lib/search.js';
import { tabList } from '../lib/tabs.js';
import { priceOf, worthOf } from '../lib/worth.js';
import { itemView } from './item.js';
import { holderTab, itemTab, transferTab } from './tokentabs.js';
import { SEARCHED, described } from './transfers.js';

/** A token of the index, or null. */
async function listed(address) {
  try {
    return await ask(`tokens/${address}`);
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
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

/** The error for an address that is no token. */
async function notFound(address) {
  const code = await node.call('eth_getCode', address, 'latest');
  return new NotFound(
    'Token',
    code === '0x'
      ? `${address} is an account, not a token`
      : `the contract ${address} is not known as a token: it has no name, no supply and no transfers`,
  );
}

function tile(label, ...content) {
  return h('div.tile', h('span', label), ...content);
}

/** The figures of a token, which follow the chain. */
class Figures {
  #token;
  #address;
  #decimals;
  #isIndexed;
  #signal;
  /** The supply that is shown. */
  #supplyDrawn = null;

  #price = h('strong', '–');
  #supply = h('strong', '–');
  #value = h('small');
  #holders = h('strong', '–');
  #transfers = h('strong', '–');

  constructor(token, address, isIndexed, signal) {
    this.#token = token;
    this.#address = address;
    this.#decimals = Number(token.decimals ?? 0);
    this.#isIndexed = isIndexed;
    this.#signal = signal;
    const known = tokenAt(address);
    whenever(node, 'head', signal, () => this.#update(), 3_000);
    if (known) whenever(prices, 'prices', signal, () => this.#drawPrice(), 500);
    this.element = this.#tiles(known);
  }

  #tiles(known) {
    const from = known?.kind === 'receipt' ? 'of the supplied token' : 'by the oracle';
    return h(
      'div.tiles',
      known && tile('Price', this.#price, h('small', from)),
      // A token with many items of each id has no supply as a whole.
      this.#token.total_supply !== null && tile('Total supply', this.#supply, this.#value),
      this.#isIndexed && tile('Holders', this.#holders),
      this.#isIndexed && tile('Transfers', this.#transfers),
    );
  }

  async #update() {
    const [now, counters] = await Promise.all([
      this.#isIndexed ? listed(this.#address) : described(this.#address),
      this.#isIndexed ? ask(`tokens/${this.#address}/counters`) : null,
    ]).catch(() => [null, null]);
    if (!now || this.#signal.aborted) return;

    Object.assign(this.#token, now);
    this.#drawSupply();
    this.#drawCounts(counters);
    this.#drawPrice();
  }

  /** The exact number, if it was asked for, stays shown until there is another. */
  #drawSupply() {
    const { total_supply: supply } = this.#token;
    if (supply === null || supply === this.#supplyDrawn) return;
    this.#supplyDrawn = supply;
    replace(this.#supply, exactAmount(BigInt(supply), this.#decimals, 9));
  }

  #drawCounts(counters) {
    const { holders_count: holders } = this.#token;
    if (holders !== null) setText(this.#holders, count(Number(holders)));
    if (counters) setText(this.#transfers, count(Number(counters.transfers_count)));
  }

  #drawPrice() {
    const now = priceOf(this.#address);
    setText(this.#price, now === null ? '–' : usd(now));

    const { total_supply: supply } = this.#token;
    const worth = supply === null ? null : worthOf(BigInt(supply), this.#decimals, this.#address);
    setText(this.#value, worth === null ? '' : `worth $${compact(worth)}`);
  }
}

function titleBar(token, known) {
  const name = token.name ?? token.symbol ?? 'Unnamed token';
  const symbol = token.symbol && token.symbol !== token.name ? ` (${token.symbol})` : '';
  return heading(
    h('span', `${name}${symbol}`),
    h('span.tag', token.type),
    known && h('span.tag.good', known.kind === 'receipt' ? 'Lending receipt' : 'Network token'),
  );
}

/** What the lists do not have, if the node has no index or a part of it only. */
async function indexNote(hasIndex) {
  if (!hasIndex)
    return h(
      'p.note',
      `${WITHOUT_INDEX}only transfers of the last ${count(SEARCHED)} blocks are listed, and no holders.`,
    );
  const missing = await gap();
  return missing && h('p.note', missing);
}

/** The link with which a token of the network is bought. */
function tradeLink({ symbol }) {
  const paid = symbol === 'USDC' ? 'USDT' : 'USDC';
  return h('a', { href: `#/exchange?from=${paid}&to=${symbol}` }, `Buy ${symbol} on the exchange`);
}

function tokenFacts(token, address, known) {
  return facts([
    ['Contract', addressLink(address, { full: true })],
    token.decimals !== null && token.type === 'ERC-20' && ['Decimals', token.decimals],
    known?.kind === 'token' && ['Trade', tradeLink(known)],
  ]);
}

function tabsOf(token, address, isIndexed) {
  return [
    { id: 'transfers', title: 'Transfers', make: transferTab(address, isIndexed) },
    isIndexed && { id: 'holders', title: 'Holders', make: holderTab(token, address) },
    isIndexed &&
      token.type !== 'ERC-20' && { id: 'items', title: 'Items', make: itemTab(token, address) },
  ].filter(Boolean);
}

export default async function view({ signal, rest: [text = '', id = null], query }) {
  const address = await resolve(text);
  const hasIndex = await indexed();
  const found = hasIndex ? await listed(address) : null;
  // A token without transfers is not in the index, such as one from before a fork.
  const isIndexed = found !== null;
  const token = found ?? (await described(address));
  if (!token) throw await notFound(address);

  const note = await indexNote(hasIndex);
  if (id !== null && isIndexed) return itemView(token, address, id, signal);

  if (network.addresses) prices.follow();
  const known = tokenAt(address);
  const figures = new Figures(token, address, isIndexed, signal);
  return [
    titleBar(token, known),
    note,
    figures.element,
    card(null, tokenFacts(token, address, known)),
    tabList({
      label: 'Token',
      signal,
      selected: query?.get('tab') ?? 'transfers',
      tabs: tabsOf(token, address, isIndexed),
      chosen: (tab) => setPlace({ tab: tab === 'transfers' ? null : tab }),
    }),
  ];
}
