// The state of the network, live, and how to connect to it.

import { card, copyButton, facts, h, heading, replace, table, toast } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { networkForKeplr } from '../lib/wallet.js';
import { connect } from './connect.js';
import { NetworkFigures } from './networkfigures.js';
import { blockTable, latestList, pendingCard } from './networklists.js';
import { clusterCard, forkCard } from './networknodes.js';
import { addToWallet, startCard } from './start.js';

function addToKeplr() {
  const button = h('button', { type: 'button' }, 'Add to Keplr');
  button.addEventListener('click', async () => {
    if (!window.keplr?.experimentalSuggestChain)
      return toast(
        'Keplr not found. Install its browser extension, or use the document at /api/network.',
      );
    try {
      await window.keplr.experimentalSuggestChain(networkForKeplr());
      toast('This network is in Keplr', 'good');
    } catch (error) {
      toast(error.message ?? 'Keplr rejected the request', 'error');
    }
  });
  return button;
}

/** The chain and the block of which this node is a fork, or null. */
async function forkedChain() {
  if (!network.development || !(await node.has('anvil_nodeInfo'))) return null;
  const { forkConfig } = (await node.call('anvil_nodeInfo').catch(() => null)) ?? {};
  return forkConfig?.forkUrl ? forkConfig : null;
}

/** What this network is: a title, and a sentence. */
async function identity() {
  const { chainId, cosmosChainId, development } = network;
  const id = h('span', 'chain ID ', h('strong', String(chainId)), ` (0x${chainId.toString(16)})`);

  const fork = await forkedChain();
  if (fork) {
    const source = `A copy of the chain at ${fork.forkUrl} as of block ${count(fork.forkBlockNumber)}, `;
    return ['Local fork', h('p.lead', source, id, '. Changes stay on this node.')];
  }

  if (!cosmosChainId)
    return ['Local test network', h('p.lead', 'An Ethereum chain from a genesis file, ', id, '.')];

  return [
    development ? 'Local test network' : 'Test network',
    h(
      'p.lead',
      'Mirrors ',
      h('strong', cosmosChainId),
      ', ',
      id,
      ': the same contracts at the same addresses, with test money. Nothing here has value.',
    ),
  ];
}

function tokenRow(token, receipt) {
  return [
    h('strong', token.symbol),
    [token.decimals, h('span.unit', ' decimals')],
    h(
      'span',
      addressLink(token.address, { plain: true }),
      copyButton(token.address, `Copy ${token.symbol} address`),
    ),
    h(
      'span',
      h('span.unit', 'Receipt token '),
      addressLink(receipt.address, { plain: true }),
      copyButton(receipt.address, `Copy ${receipt.symbol} address`),
    ),
  ];
}

/** The cards with the addresses of the network's contracts and tokens. */
function addresses() {
  const { oracle, vault, lendingPool, lendingLens } = network.addresses;
  const plain = (address) => addressLink(address, { full: true, plain: true });
  const rows = network.tokens.map((token, at) => tokenRow(token, network.receipts[at]));

  return h(
    'div.grid.two',
    card(
      'Contracts',
      facts([
        ['Exchange vault', plain(vault)],
        ['Price oracle', plain(oracle)],
        ['Lending pool', plain(lendingPool)],
        ['Lending lens', plain(lendingLens)],
      ]),
      h(
        'p.soft',
        'Contracts with published addresses on the live network have the same addresses here.',
      ),
    ),
    card(
      'Tokens',
      table(['Token', '-Decimals', 'Address', 'Receipt token'], rows, {
        lines: ['line-1', 'line-1.end', 'line-2', 'line-2'],
      }),
    ),
  );
}

/** A card with a list, and a link to all that it is the beginning of. */
function latestCard(title, href, list) {
  return card(h('span.spread', title, h('a', { href }, 'View all')), list);
}

export default async function view({ signal }) {
  const [[title, lead], start] = await Promise.all([identity(), startCard(signal)]);
  const figures = new NetworkFigures();
  const blocks = h('div');

  const draw = () => {
    if (!node.head) return;
    figures.update();
    replace(blocks, blockTable());
  };
  whenever(node, 'head', signal, draw, 250);
  const pending = pendingCard(signal, (number) => figures.setPending(number));
  const latest = latestList(signal);
  const cluster = clusterCard(signal);
  const fork = forkCard(signal);

  return [
    heading(title, addToWallet(signal), network.addresses && addToKeplr()),
    lead,
    start,
    h('div.tiles', figures.tiles),
    cluster,
    fork,
    h(
      'div.grid.three',
      figures.charts.map((one) => card(null, one)),
    ),
    h(
      'div.grid.two.latest',
      latestCard('Latest blocks', '#/explorer/blocks', blocks),
      latestCard('Latest transactions', '#/explorer', latest),
    ),
    pending,
    connect(),
    network.addresses && addresses(),
  ];
}
