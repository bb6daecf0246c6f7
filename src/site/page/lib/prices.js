// Live prices, from the price WebSocket, and what they were.

import { Socket } from './socket.js';

/** How long past prices are kept, in milliseconds. */
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
    // It is full, or switched off: the next one asks again.
  }
}

/** Events: `prices`, when some have changed. */
class Prices extends EventTarget {
  /** By lower-case address: price, change24h (per cent), timestamp (ms). */
  now = new Map();
  #series = new Map();
  #socket = null;

  /** Begins to listen, once somebody wants to know. */
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
   * Past prices, `{ timestamp, price }`, oldest first. Kept for a while, over reloads of the page as well: the interface limits
   * how often one may ask.
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

  /** Forgets what another chain's prices were. */
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

/** Candles of so many milliseconds, at full multiples of them. */
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
