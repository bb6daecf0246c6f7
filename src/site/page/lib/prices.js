// Live prices from the price WebSocket, and past prices from REST.

import { Socket } from './socket.js';

/** How long past prices are cached, in milliseconds. */
const KEPT = 40_000;

function stored(key) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key));
    return kept && { ...kept, series: Promise.resolve(kept.series) };
  } catch {
    return null;
  }
}

function store(key, value) {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Storage is full or disabled; the next page load fetches again.
  }
}

/** Events: `prices`, when a price has changed. */
class Prices extends EventTarget {
  /** Current prices by lower-case address: price (US dollars), change24h (per cent), timestamp (ms). */
  now = new Map();
  #series = new Map();
  #socket = null;

  /** Connects to the price WebSocket on first use. */
  follow() {
    if (this.#socket) return;
    const url = new URL('ws', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    this.#socket = new Socket(url, {
      message: (text) => {
        const message = JSON.parse(text);
        if (message.type !== 'price_update') return;
        for (const [address, entry] of Object.entries(message.data)) this.now.set(address, entry);
        this.dispatchEvent(new Event('prices'));
      },
    });
  }

  of(address) {
    return this.now.get(address.toLowerCase()) ?? null;
  }

  /**
   * Past prices, `{ timestamp, price }`, oldest first. Cached, also across page reloads, because the REST API has a rate
   * limit.
   */
  history(address, period, limit) {
    const key = `tetrad.${address.toLowerCase()}/${period}/${limit}`;
    const kept = this.#series.get(key) ?? stored(key);
    if (kept && kept.until > Date.now()) return kept.series;
    const series = this.#ask(address.toLowerCase(), period, limit);
    const until = Date.now() + KEPT;
    this.#series.set(key, { series, until });
    series.then((found) => store(key, { series: found, until }), () => this.#series.delete(key));
    return series;
  }

  /** Clears the prices of a previous chain. */
  forget() {
    this.now.clear();
    this.#series.clear();
    for (const key of Object.keys(sessionStorage)) if (key.startsWith('tetrad.0x')) sessionStorage.removeItem(key);
  }

  async #ask(address, period, limit) {
    const response = await fetch(`api/prices/${address}/history?period=${period}&limit=${limit}`);
    const body = await response.json();
    if (!response.ok) throw new Error(body.message ?? `status ${response.status}`);
    return body.data.prices.toSorted((a, b) => a.timestamp - b.timestamp);
  }
}

export const prices = new Prices();

/** Candles of `width` milliseconds, aligned to multiples of it. */
export function candles(series, width) {
  const found = [];
  for (const { timestamp, price } of series) {
    const start = Math.floor(timestamp / width) * width;
    const last = found.at(-1);
    if (last?.start === start) {
      Object.assign(last, { high: Math.max(last.high, price), low: Math.min(last.low, price), close: price });
    } else {
      const open = last?.close ?? price;
      found.push({ start, open, high: Math.max(open, price), low: Math.min(open, price), close: price });
    }
  }
  return found;
}
