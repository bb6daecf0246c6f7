// The state of the network, live, and how to connect to it.

import { chart } from '../lib/chart.js';
import { age, moment } from '../lib/clock.js';
import { card, copyButton, facts, h, heading, replace, setText, table, toast } from '../lib/dom.js';
import { count, fee, percent, span } from '../lib/format.js';
import { addressLink, blockLink, transactionLink } from '../lib/links.js';
import { network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { networkForKeplr } from '../lib/wallet.js';
import { connect } from './connect.js';
import { addToWallet, startCard } from './start.js';

/** Number of blocks in the charts. */
const SHOWN = 90;
/** Number of blocks and of transactions in the lists. */
const LISTED = 8;

function tile(name) {
  const [value, below] = [h('strong', '–'), h('small')];
  return { element: h('div.tile', h('span', name), value, below), value, below };
}

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

/** What this network is: a title, and a sentence. */
async function identity() {
  const { chainId, cosmosChainId, development } = network;
  const id = h('span', 'chain ID ', h('strong', String(chainId)), ` (0x${chainId.toString(16)})`);
  const fork =
    development && (await node.has('anvil_nodeInfo'))
      ? (await node.call('anvil_nodeInfo').catch(() => null))?.forkConfig
      : null;
  if (fork?.forkUrl) {
    return [
      'Local fork',
      h(
        'p.lead',
        `A copy of the chain at ${fork.forkUrl} as of block ${count(fork.forkBlockNumber)}, `,
        id,
        '. Changes stay on this node.',
      ),
    ];
  }
  if (!cosmosChainId)
    return ['Local test network', h('p.lead', 'An Ethereum chain from a genesis file, ', id, '.')];
  const title = development ? 'Local test network' : 'Test network';
  return [
    title,
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

/** A gas price on an axis, in the unit of the largest mark. */
function feeMark(value, most) {
  return most < 1e6
    ? `${count(Math.round(value))} wei`
    : `${Number((value / 1e9).toPrecision(3))} gwei`;
}

/** Seconds between consecutive blocks, from their timestamps. */
function intervals(headers) {
  return headers
    .slice(1)
    .map((header, at) => Number(header.timestamp) - Number(headers[at].timestamp));
}

export default async function view({ signal }) {
  const [[title, lead], start] = await Promise.all([identity(), startCard(signal)]);
  const tiles = {
    block: tile('Block'),
    pace: tile('Block time'),
    fee: tile('Base fee'),
    gas: tile('Gas used'),
    pending: tile('Pending'),
  };
  const charts = {
    gas: chart({
      title: 'Gas used per block',
      kind: 'bars',
      zero: true,
      format: (value) => percent(value / 100, 1),
      mark: (value) => `${Number(value.toPrecision(3))}%`,
    }),
    fee: chart({
      title: 'Base fee per gas',
      zero: true,
      format: (value) => fee(Math.round(value)),
      mark: feeMark,
    }),
    pace: chart({
      title: 'Time between blocks',
      kind: 'bars',
      zero: true,
      format: span,
      mark: (value, most) => (most < 120 ? `${Number(value.toPrecision(3))} s` : span(value)),
    }),
  };
  const blocks = h('div');
  const latest = h('div', h('p.soft', 'Loading…'));
  const waiting = h('div');
  const pool = card('Pending transactions', waiting);
  pool.hidden = true;

  const nodes = h('div');
  const cluster = card('Nodes', nodes);
  cluster.hidden = true;

  /** Shows the nodes of the cluster. Returns whether there is one. */
  async function drawNodes() {
    const state = await fetch('/health', { signal })
      .then((answer) => answer.json())
      .catch(() => null);
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
    replace(
      nodes,
      table(['Node', 'Role', '-Epoch', '-Log entries', '-Behind', '-Block', 'Version'], rows),
    );
    cluster.hidden = false;
    return true;
  }

  const asked = h('div');
  const forked = card(
    'Forked node',
    h('p.soft', 'What this node asked of the other one since the fork began.'),
    asked,
  );
  forked.hidden = true;

  /** Shows what was asked of the forked node. Returns whether there is one. */
  async function drawFork() {
    const stats = (await node.has('tetrad_forkStats'))
      ? await node.call('tetrad_forkStats').catch(() => null)
      : null;
    if (signal.aborted || !stats) return false;
    const { requests, retries, bytes, waitedMs, hits, misses, calls } = stats;
    const known = hits + misses > 0 ? ` (${percent(hits / (hits + misses), 1)})` : '';
    replace(
      asked,
      facts([
        ['Forked block', count(Number(stats.blockNumber))],
        ['HTTP requests', `${count(requests)}, ${count(retries)} of them again`],
        ['Received', `${(bytes / 2 ** 20).toFixed(1)} MB`],
        ['Waited', `${(waitedMs / 1_000).toFixed(1)} s`],
        ['Already known', `${count(hits)} of ${count(hits + misses)} lookups${known}`],
      ]),
      table(
        ['Method', '-Calls'],
        Object.entries(calls).map(([method, times]) => [h('code', method), count(times)]),
      ),
    );
    forked.hidden = false;
    return true;
  }

  async function drawPending() {
    const block = await node.call('eth_getBlockByNumber', 'pending', true).catch(() => null);
    if (signal.aborted || !block) return;
    // Transactions of the pending block, unless that block has been mined in the meantime.
    const found = Number(block.number) > Number(node.head?.number ?? -1) ? block.transactions : [];
    setText(tiles.pending.value, count(found.length));
    setText(tiles.pending.below, found.length === 1 ? 'transaction' : 'transactions');
    const rows = found
      .slice(0, LISTED)
      .map((one) => [
        transactionLink(one.hash),
        addressLink(one.from),
        addressLink(one.to),
        count(Number(one.nonce)),
      ]);
    pool.hidden = !rows.length;
    replace(
      waiting,
      table(['Transaction hash', 'From', 'To', '-Nonce'], rows, {
        lines: ['line-1', 'line-2', 'line-2.parties-to', ''],
      }),
    );
  }

  let readLatest = null;

  /** Shows the latest transactions. What finds them is not needed for the first paint. */
  async function drawLatest() {
    // The node may be away.
    const modules = await Promise.all([
      import('../lib/latest.js'),
      import('../lib/cells.js'),
    ]).catch(() => null);
    if (!modules) return;
    const [{ latestTransactions }, { hashLink, method, party, recipient, shortCoins }] = modules;
    readLatest ??= latestTransactions(LISTED, signal);
    const page = await readLatest().catch(() => null);
    if (signal.aborted || !page || latest.contains(document.activeElement)) return;
    const rows = page.rows.map((row) => [
      h('span.row.tight', hashLink(row.hash), row.ok === false && h('span.tag.bad', 'Failed')),
      method(row),
      row.time ? age(row.time) : '–',
      h('span.wraps', party(row.from), h('span.soft', ' → '), recipient(row)),
      shortCoins(row.value, 3),
    ]);
    const empty =
      page.from === null
        ? 'No transactions yet'
        : `No transactions since block ${count(page.from)}`;
    replace(
      latest,
      table(['Transaction hash', 'Method', 'Age', 'From → To', '-Value'], rows, {
        empty,
        lines: ['line-1', 'line-1', null, 'line-2', 'line-1.end'],
      }),
    );
  }

  whenever(
    node,
    'head',
    signal,
    () => {
      const headers = node.headers.slice(-SHOWN);
      const head = node.head;
      if (!head) return;
      const share = (header) => (100 * Number(header.gasUsed)) / Number(header.gasLimit);
      const point = (header, y) => {
        const short = `Block ${count(Number(header.number))}`;
        return { y, short, label: `${short} · ${age(header.timestamp)}` };
      };
      charts.gas.update(headers.map((header) => point(header, share(header))));
      charts.fee.update(headers.map((header) => point(header, Number(header.baseFeePerGas ?? 0))));
      const gaps = intervals(headers);
      charts.pace.update(gaps.map((y, at) => point(headers[at + 1], y)));
      setText(tiles.block.value, count(Number(head.number)));
      replace(tiles.block.below, moment(head.timestamp));
      const mean = gaps.length ? gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length : null;
      setText(
        tiles.pace.value,
        mean === null ? '–' : mean < 100 ? `${mean.toFixed(1)} s` : span(mean),
      );
      setText(
        tiles.pace.below,
        gaps.length === 1 ? 'last block' : `average of ${gaps.length} blocks`,
      );
      setText(tiles.fee.value, fee(head.baseFeePerGas ?? 0));
      setText(tiles.fee.below, 'per gas');
      setText(tiles.gas.value, percent(share(head) / 100, 1));
      setText(tiles.gas.below, `of ${count(Number(head.gasLimit))}`);
      const rows = node.headers
        .slice(-LISTED)
        .reverse()
        .map((header) => [
          blockLink(header.number),
          moment(header.timestamp),
          count(Number(header.gasUsed)),
          fee(header.baseFeePerGas ?? 0),
        ]);
      replace(blocks, table(['Block', 'Age', '-Gas used', '-Base fee'], rows));
    },
    250,
  );
  whenever(node, 'head', signal, drawPending, 1_000);
  whenever(node, 'head', signal, drawLatest, 1_500);
  // A new pending transaction raises no event here, so the pool is polled.
  const timer = setInterval(drawPending, 3_000);
  signal.addEventListener('abort', () => clearInterval(timer));
  for (const [draw, interval] of [
    [drawNodes, 1_000],
    [drawFork, 3_000],
  ]) {
    draw().then((found) => {
      if (!found) return;
      const drawn = setInterval(draw, interval);
      signal.addEventListener('abort', () => clearInterval(drawn));
    });
  }

  return [
    heading(title, addToWallet(signal), network.addresses && addToKeplr()),
    lead,
    start,
    h(
      'div.tiles',
      Object.values(tiles).map((one) => one.element),
    ),
    cluster,
    forked,
    h(
      'div.grid.three',
      Object.values(charts).map((one) => card(null, one)),
    ),
    h(
      'div.grid.two.latest',
      card(
        h('span.spread', 'Latest blocks', h('a', { href: '#/explorer/blocks' }, 'View all')),
        blocks,
      ),
      card(
        h('span.spread', 'Latest transactions', h('a', { href: '#/explorer' }, 'View all')),
        latest,
      ),
    ),
    pool,
    connect(),
    network.addresses && addresses(),
  ];
}

function addresses() {
  const { oracle, vault, lendingPool, lendingLens } = network.addresses;
  const plain = (address) => addressLink(address, { full: true, plain: true });
  const rows = network.tokens.map((token, at) => [
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
      addressLink(network.receipts[at].address, { plain: true }),
      copyButton(network.receipts[at].address, `Copy ${network.receipts[at].symbol} address`),
    ),
  ]);
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
