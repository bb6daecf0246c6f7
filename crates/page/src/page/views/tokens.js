// All tokens: those of the network, and any other that the index knows.

import { symbolOf, tokenLink } from '../lib/cells.js';
import { card, h, heading } from '../lib/dom.js';
import { compact, count, usd } from '../lib/format.js';
import { ask, gap, indexed, WITHOUT_INDEX } from '../lib/index.js';
import { addressLink, exactAmount } from '../lib/links.js';
import { pagedList } from '../lib/lists.js';
import { network, read, tokenAt } from '../lib/network.js';
import { listOf } from '../lib/pages.js';
import { setPlace } from '../lib/place.js';
import { prices } from '../lib/prices.js';
import { priceOf, worthOf } from '../lib/worth.js';
import { sections } from './sections.js';

/** How long nothing is typed before the list is loaded, in milliseconds. */
const TYPING_PAUSE = 250;
const KINDS = ['', 'ERC-20', 'ERC-721', 'ERC-1155'];

function row(token) {
  const decimals = Number(token.decimals ?? 0);
  const supply = token.total_supply === null ? null : BigInt(token.total_supply);
  const price = priceOf(token.address_hash);
  const worth = supply === null ? null : worthOf(supply, decimals, token.address_hash);
  return {
    key: `${token.address_hash}/${supply}/${token.holders_count}/${price}`,
    token,
    decimals,
    supply,
    price,
    worth,
    holders: token.holders_count,
  };
}

/** The number of holders; on phones, where it has no heading, with its unit. */
function holders(one) {
  if (one.holders === null) return '–';
  const number = Number(one.holders);
  return [count(number), h('span.unit', number === 1 ? ' holder' : ' holders')];
}

const COLUMNS = [
  {
    title: 'Token',
    phone: 'line-1',
    cell: (one) => [
      tokenLink(one.token, one.token.name ?? symbolOf(one.token)),
      ' ',
      one.token.name && h('span.soft.clip', { title: one.token.symbol }, one.token.symbol),
    ],
    csv: (one) => symbolOf(one.token),
  },
  {
    title: 'Type',
    phone: 'line-2',
    cell: (one) => h('span.tag', one.token.type),
    csv: (one) => one.token.type,
  },
  {
    title: 'Price',
    phone: 'line-1.end',
    number: true,
    cell: (one) => (one.price === null ? '–' : usd(one.price)),
    csv: (one) => one.price ?? '',
  },
  {
    title: 'Total supply',
    number: true,
    cell: (one) => (one.supply === null ? '–' : exactAmount(one.supply, one.decimals, 9)),
    csv: (one) => one.supply ?? '',
  },
  {
    title: 'Value of the supply',
    number: true,
    cell: (one) => (one.worth === null ? '–' : `$${compact(one.worth)}`),
    csv: (one) => one.worth ?? '',
  },
  {
    title: 'Holders',
    phone: 'line-2',
    number: true,
    cell: holders,
    csv: (one) => one.holders ?? '',
  },
  {
    title: 'Contract',
    phone: 'line-2.end',
    cell: (one) => addressLink(one.token.address_hash, { plain: true }),
    csv: (one) => one.token.address_hash,
  },
];

/** The row of a token of the network, from its contract if the index does not have it. */
async function networkRow(token, on) {
  const found = on ? await ask(`tokens/${token.address}`).catch(() => null) : null;
  if (found) return row(found);

  const supply = await read('Token', token.address, 'totalSupply').catch(() => null);
  return row({
    address_hash: token.address,
    name: null,
    symbol: token.symbol,
    decimals: token.decimals,
    type: 'ERC-20',
    total_supply: supply === null ? null : String(supply),
    holders_count: null,
  });
}

/** The network's tokens in the network's order, and receipt tokens after them. */
function networkRows(on) {
  const all = [...network.tokens, ...(network.receipts ?? [])];
  return Promise.all(all.map((token) => networkRow(token, on)));
}

function networkTokens(signal, on) {
  const list = pagedList({
    signal,
    label: 'Tokens of the network',
    columns: COLUMNS,
    load: async () => ({ rows: await networkRows(on), next: null }),
    live: true,
    pace: 10_000,
    size: network.tokens.length,
    brief: true,
  });
  if (!prices.now.size)
    prices.addEventListener('prices', () => list.reload(), { signal, once: true });
  return list;
}

/**
 * The next tokens that are not the network's own, which are listed above; `filter()` returns the
 * parameters of the request.
 */
async function otherPage(cursor, filter) {
  const rows = [];
  let next = cursor;
  do {
    const page = await listOf('tokens', next, filter());
    rows.push(...page.rows.filter((token) => !tokenAt(token.address_hash)).map(row));
    next = page.next;
  } while (next && !rows.length);
  return { rows, next };
}

/** The fields of the filter: `values()` is what is in them, which `changed` is told of. */
function filterFields(query, changed) {
  const words = h('input', {
    type: 'search',
    value: query.get('q') ?? '',
    placeholder: 'Name or symbol',
    'aria-label': 'Name or symbol',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const kind = h(
    'select',
    { 'aria-label': 'Type' },
    KINDS.map((value) =>
      h('option', { value, selected: value === (query.get('type') ?? '') }, value || 'All types'),
    ),
  );
  words.addEventListener('input', changed);
  kind.addEventListener('change', changed);
  return {
    controls: [words, kind],
    values: () => ({ q: words.value.trim(), type: kind.value }),
  };
}

function otherTokens(signal, query) {
  let timer = null;
  const { controls, values } = filterFields(query, () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (signal.aborted) return;
      setPlace(values());
      list.reload();
    }, TYPING_PAUSE);
  });
  const list = pagedList({
    signal,
    label: 'Other tokens',
    columns: COLUMNS,
    load: (cursor) => otherPage(cursor, values),
    empty: 'No other tokens',
    live: true,
    pace: 5_000,
    csv: 'tokens',
    controls,
  });
  return list;
}

export default async function view({ signal, query }) {
  const on = await indexed();
  if (network.addresses) prices.follow();
  const isNetwork = network.tokens.length > 0;
  const missing = on ? await gap() : null;

  return [
    heading('Tokens'),
    sections('tokens'),
    !on && h('p.note', `${WITHOUT_INDEX}only the network’s own tokens are listed.`),
    missing && h('p.note', missing),
    isNetwork && card('Tokens of the network', networkTokens(signal, on)),
    on && card(isNetwork ? 'Other tokens' : null, otherTokens(signal, query)),
  ];
}
