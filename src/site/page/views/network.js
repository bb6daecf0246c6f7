// The state of the network, live, and how to connect to it.

import { chart } from '../lib/chart.js';
import { card, copyButton, facts, h, heading, icon, replace, setText, table, toast } from '../lib/dom.js';
import { ago, count, fee, percent, span } from '../lib/format.js';
import { addressLink, blockLink, transactionLink } from '../lib/links.js';
import { network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { networkForKeplr, wallets } from '../lib/wallet.js';
import { connect } from './connect.js';

/** Number of blocks in the charts. */
const SHOWN = 90;

function tile(name) {
  const [value, below] = [h('strong', '–'), h('small')];
  return { element: h('div.tile', h('span', name), value, below), value, below };
}

function addToWallet() {
  const button = h('button', { type: 'button' }, icon('accounts'), 'Add to wallet');
  button.addEventListener('click', async () => {
    const [wallet] = wallets.injected.values();
    if (!wallet) return toast('No browser wallet found. Add the network manually with the details below.');
    try {
      await wallets.addNetwork(wallet.provider);
      toast(`${wallet.name} is connected to this network`, 'good');
    } catch (error) {
      toast(error.message ?? 'The wallet rejected the request', 'error');
    }
  });
  return button;
}

function addToKeplr() {
  const button = h('button', { type: 'button' }, icon('accounts'), 'Add to Keplr');
  button.addEventListener('click', async () => {
    if (!window.keplr?.experimentalSuggestChain) return toast('Keplr not found. Install its browser extension, or use the document at /api/network.');
    try {
      await window.keplr.experimentalSuggestChain(networkForKeplr());
      toast('This network is in Keplr', 'good');
    } catch (error) {
      toast(error.message ?? 'Keplr rejected the request', 'error');
    }
  });
  return button;
}

/** Seconds between consecutive blocks, from their timestamps. */
function intervals(headers) {
  return headers.slice(1).map((header, at) => Number(header.timestamp) - Number(headers[at].timestamp));
}

export default function view({ signal }) {
  const tiles = { block: tile('Block'), pace: tile('Block time'), fee: tile('Base fee'), gas: tile('Gas used'), pending: tile('Pending') };
  const charts = {
    gas: chart({ title: 'Gas used', kind: 'bars', zero: true, format: (value) => `${value.toFixed(value < 10 ? 1 : 0)}%` }),
    fee: chart({ title: 'Base fee', format: (value) => fee(Math.round(value)) }),
    pace: chart({ title: 'Block time', kind: 'bars', zero: true, format: (value) => `${Number(value.toFixed(1))} s` }),
  };
  const blocks = h('div');
  const waiting = h('div');

  const nodes = h('div');
  const cluster = card('Nodes', nodes);
  cluster.hidden = true;

  /** Shows the nodes of the cluster. Returns whether there is one. */
  async function drawNodes() {
    const state = await fetch('/health', { signal }).then((answer) => answer.json()).catch(() => null);
    if (signal.aborted || !state?.nodes) return false;
    const end = Math.max(...state.nodes.map((one) => one.height));
    const rows = state.nodes.map((one) => [
      one.node === state.node ? h('strong', one.node) : one.node,
      one.role,
      count(one.epoch),
      count(one.height),
      count(end - one.height),
      count(one.block),
      one.version,
    ]);
    replace(nodes, table(['Node', 'Role', '-Epoch', '-Log entries', '-Behind', '-Block', 'Version'], rows));
    cluster.hidden = false;
    return true;
  }

  async function drawPending() {
    const block = await node.call('eth_getBlockByNumber', 'pending', true).catch(() => null);
    if (signal.aborted || !block) return;
    // Transactions of the pending block, unless that block has been mined in the meantime.
    const found = Number(block.number) > Number(node.head?.number ?? -1) ? block.transactions : [];
    setText(tiles.pending.value, count(found.length));
    setText(tiles.pending.below, found.length === 1 ? 'transaction' : 'transactions');
    const rows = found.slice(0, 8).map((one) => [transactionLink(one.hash), addressLink(one.from), addressLink(one.to), count(Number(one.nonce))]);
    replace(waiting, table(['Transaction hash', 'From', 'To', '-Nonce'], rows, 'No pending transactions'));
  }

  whenever(node, 'head', signal, () => {
    const headers = node.headers.slice(-SHOWN);
    const head = node.head;
    if (!head) return;
    const share = (header) => (100 * Number(header.gasUsed)) / Number(header.gasLimit);
    const label = (header) => `Block ${count(Number(header.number))}`;
    charts.gas.update(headers.map((header) => ({ y: share(header), label: label(header) })));
    charts.fee.update(headers.map((header) => ({ y: Number(header.baseFeePerGas ?? 0), label: label(header) })));
    const gaps = intervals(headers);
    charts.pace.update(gaps.map((y, at) => ({ y, label: label(headers[at + 1]) })));
    setText(tiles.block.value, count(Number(head.number)));
    setText(tiles.block.below, ago(Number(head.timestamp)));
    const mean = gaps.length ? gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length : null;
    setText(tiles.pace.value, mean === null ? '–' : mean < 100 ? `${mean.toFixed(1)} s` : span(mean));
    setText(tiles.pace.below, gaps.length === 1 ? 'last block' : `average of ${gaps.length} blocks`);
    setText(tiles.fee.value, fee(head.baseFeePerGas ?? 0));
    setText(tiles.fee.below, 'per gas');
    setText(tiles.gas.value, percent(share(head) / 100, 1));
    setText(tiles.gas.below, `of ${count(Number(head.gasLimit))}`);
    const rows = node.headers.slice(-8).reverse().map((header) => [blockLink(header.number), ago(Number(header.timestamp)), count(Number(header.gasUsed)), fee(header.baseFeePerGas ?? 0)]);
    replace(blocks, table(['Block', 'Age', '-Gas used', '-Base fee'], rows));
  }, 250);
  whenever(node, 'head', signal, drawPending, 1_000);
  // A new pending transaction raises no event here, so the pool is polled.
  const timer = setInterval(drawPending, 3_000);
  signal.addEventListener('abort', () => clearInterval(timer));
  drawNodes().then((found) => {
    if (!found) return;
    const announced = setInterval(drawNodes, 1_000);
    signal.addEventListener('abort', () => clearInterval(announced));
  });

  return [
    heading(network.cosmosChainId || `Chain ${network.chainId}`, addToWallet(), network.addresses && addToKeplr()),
    h('div.tiles', Object.values(tiles).map((one) => one.element)),
    cluster,
    h('div.grid.three', Object.values(charts).map((one) => card(null, one))),
    h('div.grid.two',
      card(h('span.spread', 'Latest blocks', h('a', { href: '#/explorer' }, 'View all')), blocks),
      card('Pending transactions', waiting)),
    connect(),
    network.addresses && addresses(),
  ];
}

function addresses() {
  const { oracle, vault, lendingPool, lendingLens } = network.addresses;
  const plain = (address) => addressLink(address, { full: true, plain: true });
  const rows = network.tokens.map((token, at) => [
    h('strong', token.symbol),
    token.decimals,
    h('span', addressLink(token.address, { plain: true }), copyButton(token.address, `Copy ${token.symbol} address`)),
    h('span', addressLink(network.receipts[at].address, { plain: true }), copyButton(network.receipts[at].address, `Copy ${network.receipts[at].symbol} address`)),
  ]);
  return h('div.grid.two',
    card('Contracts', facts([['Exchange vault', plain(vault)], ['Price oracle', plain(oracle)], ['Lending pool', plain(lendingPool)], ['Lending lens', plain(lendingLens)]]),
      h('p.soft', 'Contracts with published addresses on the live network have the same addresses here.')),
    card('Tokens', table(['Token', '-Decimals', 'Address', 'Receipt token'], rows)));
}
