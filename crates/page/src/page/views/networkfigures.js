// The figures of the newest blocks: tiles and charts.

import { chart } from '../lib/chart.js';
import { age, moment } from '../lib/clock.js';
import { h, replace, setText } from '../lib/dom.js';
import { count, fee, percent, span } from '../lib/format.js';
import { node } from '../lib/node.js';

/** Number of blocks in the charts. */
const SHOWN = 90;

function tile(name) {
  const value = h('strong', '–');
  const below = h('small');
  return { element: h('div.tile', h('span', name), value, below), value, below };
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

/** The gas that a block used, in per cent of its limit. */
function gasShare(header) {
  return (100 * Number(header.gasUsed)) / Number(header.gasLimit);
}

/** A point of a chart, named after its block. */
function point(header, y) {
  const short = `Block ${count(Number(header.number))}`;
  return { y, short, label: `${short} · ${age(header.timestamp)}` };
}

/** The mean of intervals as a text. */
function meanText(gaps) {
  if (!gaps.length) return '–';
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  return mean < 100 ? `${mean.toFixed(1)} s` : span(mean);
}

function gasChart() {
  return chart({
    title: 'Gas used per block',
    kind: 'bars',
    zero: true,
    format: (value) => percent(value / 100, 1),
    mark: (value) => `${Number(value.toPrecision(3))}%`,
  });
}

function feeChart() {
  return chart({
    title: 'Base fee per gas',
    zero: true,
    format: (value) => fee(Math.round(value)),
    mark: feeMark,
  });
}

function paceChart() {
  return chart({
    title: 'Time between blocks',
    kind: 'bars',
    zero: true,
    format: span,
    mark: (value, most) => (most < 120 ? `${Number(value.toPrecision(3))} s` : span(value)),
  });
}

/** The tiles and charts, which `update` draws for the node's headers. */
export class NetworkFigures {
  #tiles = {
    block: tile('Block'),
    pace: tile('Block time'),
    fee: tile('Base fee'),
    gas: tile('Gas used'),
    pending: tile('Pending'),
  };
  #charts = { gas: gasChart(), fee: feeChart(), pace: paceChart() };

  get tiles() {
    return Object.values(this.#tiles).map((one) => one.element);
  }

  get charts() {
    return Object.values(this.#charts);
  }

  /** Shows the number of pending transactions, which headers do not say. */
  setPending(number) {
    setText(this.#tiles.pending.value, count(number));
    setText(this.#tiles.pending.below, number === 1 ? 'transaction' : 'transactions');
  }

  update() {
    const headers = node.headers.slice(-SHOWN);
    const gaps = intervals(headers);
    this.#updateCharts(headers, gaps);
    this.#updateTiles(node.head, gaps);
  }

  #updateCharts(headers, gaps) {
    const { gas, fee, pace } = this.#charts;
    gas.update(headers.map((header) => point(header, gasShare(header))));
    fee.update(headers.map((header) => point(header, Number(header.baseFeePerGas ?? 0))));
    pace.update(gaps.map((y, at) => point(headers[at + 1], y)));
  }

  #updateTiles(head, gaps) {
    const tiles = this.#tiles;
    setText(tiles.block.value, count(Number(head.number)));
    replace(tiles.block.below, moment(head.timestamp));

    setText(tiles.pace.value, meanText(gaps));
    setText(
      tiles.pace.below,
      gaps.length === 1 ? 'last block' : `average of ${gaps.length} blocks`,
    );

    setText(tiles.fee.value, fee(head.baseFeePerGas ?? 0));
    setText(tiles.fee.below, 'per gas');

    setText(tiles.gas.value, percent(gasShare(head) / 100, 1));
    setText(tiles.gas.below, `of ${count(Number(head.gasLimit))}`);
  }
}
