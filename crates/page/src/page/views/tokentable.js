// The table of the exchange's tokens, with live prices.

import { sparkline } from '../lib/chart.js';
import { card, h, replace, setText } from '../lib/dom.js';
import { usd } from '../lib/format.js';
import { liveTable } from '../lib/livetable.js';
import { market } from '../lib/market.js';
import { compactDollars } from '../lib/money.js';
import { network } from '../lib/network.js';
import { repeat, whenever } from '../lib/node.js';
import { prices } from '../lib/prices.js';
import { change } from './pricechart.js';
import { tokenButton } from './tokenbutton.js';
import { haltTag } from './tokenpicker.js';

/** How often figures of 24 hours are refreshed, in milliseconds. */
const PACE = 30_000;
/** Values of a small chart. */
const LINE = 48;
const COLUMNS = ['Token', '-Price', '-24h change', 'Last 24h', '-24h volume', '-Liquidity'];

/** The row of a token. */
class TokenRow {
  #tag = h('span');
  #price = h('td.number.line-1.end', '–');
  #change = h('td.number.line-2', '–');
  #volume = h('span', '–');
  #liquidity = h('td.number.soft', '–');
  #line = h('td.line.line-2.end');
  /** The prices of the small chart before the present one, or null. */
  #series = null;

  constructor(token, choose) {
    this.token = token;
    this.element = h(
      'tr',
      h('td.line-1', tokenButton(token.symbol, this.#tag, choose)),
      this.#price,
      this.#change,
      this.#line,
      h('td.number.soft.line-2', h('span.unit', 'Volume '), this.#volume),
      this.#liquidity,
    );
  }

  drawPrice() {
    const now = prices.of(this.token.address);
    if (!now) return;
    this.#setPrice(usd(now.price));

    const before = this.#change.textContent;
    replace(this.#change, change(now.change24h));
    // The colour of the line is that of the change.
    if (this.#change.textContent[0] !== before[0]) this.#drawLine();
  }

  /** Shows a price, marked as fresh if there was another. */
  #setPrice(text) {
    const before = this.#price.textContent;
    if (before === text) return;
    this.#price.textContent = text;
    if (before === '–') return;
    this.#price.classList.remove('fresh');
    requestAnimationFrame(() => this.#price.classList.add('fresh'));
  }

  drawTag() {
    replace(this.#tag, haltTag(this.token));
  }

  async loadLine(signal) {
    const series = await prices.history(this.token.address, '24h', LINE).catch(() => null);
    if (signal.aborted) return;
    this.#series = series?.map((point) => point.price) ?? null;
    this.#drawLine();
  }

  #drawLine() {
    const now = prices.of(this.token.address);
    if (!now || !(this.#series?.length > 1)) return;
    replace(
      this.#line,
      sparkline(
        [...this.#series, now.price],
        `${this.token.symbol} in the last 24 hours`,
        Number(now.change24h.toFixed(2)) >= 0 ? 'up' : 'down',
      ),
    );
  }

  setFigures(figures) {
    setText(this.#volume, figures ? compactDollars(figures.volume24h) : '–');
    setText(this.#liquidity, figures ? compactDollars(figures.liquidity) : '–');
  }
}

/**
 * The card with the table: `{ element, mark(token), figures(options) }`, where `mark` highlights a
 * row, and `figures` reads those of 24 hours again. `choose(token)` is called for the button of a
 * row.
 */
export function tokenTable(signal, choose) {
  const rows = network.tokens.map((token) => new TokenRow(token, () => choose(token)));

  async function drawLines() {
    for (const row of rows) {
      await row.loadLine(signal);
      if (signal.aborted) return;
    }
  }

  async function figures(options) {
    const found = await market.figures(options).catch(() => null);
    if (signal.aborted || !found) return;
    for (const row of rows) row.setFigures(found.get(row.token.address.toLowerCase()));
  }

  function mark(token) {
    for (const row of rows) row.element.classList.toggle('chosen', row.token === token);
  }

  const drawPrices = () => rows.forEach((row) => row.drawPrice());
  const drawTags = () => rows.forEach((row) => row.drawTag());
  whenever(prices, 'prices', signal, drawPrices, 50);
  whenever(market, 'market', signal, drawTags);
  drawLines();
  figures();
  repeat(PACE, signal, figures);

  const body = h(
    'tbody',
    rows.map((row) => row.element),
  );
  const element = card('Tokens', liveTable('table.tokens.rows', 'Tokens', COLUMNS, body));
  element.classList.add('late');
  return { element, mark, figures };
}
