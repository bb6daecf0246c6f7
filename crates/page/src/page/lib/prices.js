// Live prices from the price WebSocket, and past prices from REST.

import { Socket } from './socket.js';

/** How long past prices are cached, in milliseconds. */
const KEPT = 120_000;

/** Requests the exchange's REST API and returns the `data` of its answer. */
export async function ask(path) {
  const response = await fetch(path);
  const body = await response.json();
  if (!response.ok)
    throw new Error(
      response.status === 429
        ? 'too many requests: the exchange limits each client; try again in a minute'
        : (body.message ?? `status ${response.status}`),
    );
  return body.data;
}

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
  /**
   * Current prices by lower-case address: price (US dollars), change24h (per cent), timestamp (ms).
   */
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
   * Past prices, `{ timestamp, price }`, oldest first. Cached, also across page reloads, because
   * the REST API has a rate limit.
   */
  history(address, period, limit) {
    const key = `tetrad.${address.toLowerCase()}/${period}/${limit}`;
    const kept = this.#series.get(key) ?? stored(key);
    if (kept && kept.until > Date.now()) return kept.series;

    const series = this.#ask(address.toLowerCase(), period, limit);
    const until = Date.now() + KEPT;
    this.#series.set(key, { series, until });
    series.then(
      (found) => store(key, { series: found, until }),
      () => this.#series.delete(key),
    );
    return series;
  }

  /** Clears the prices of a previous chain. */
  forget() {
    this.now.clear();
    this.#series.clear();
    for (const key of Object.keys(sessionStorage))
      if (key.startsWith('tetrad.0x')) sessionStorage.removeItem(key);
  }

  async #ask(address, period, limit) {
    const { prices: found } = await ask(
      `api/prices/${address}/history?period=${period}&limit=${limit}`,
    );
    return found.toSorted((a, b) => a.timestamp - b.timestamp);
  }
}

export const prices = new Prices();

/** Candles, oldest first, joined to a width of `width` milliseconds, at multiples of it. */
export function joinCandles(found, width) {
  const joined = [];
  for (const { timestamp, open, high, low, close, volume = 0 } of found) {
    const time = Math.floor(timestamp / width) * width;
    const last = joined.at(-1);
    if (last?.time === time) {
      Object.assign(last, {
        high: Math.max(last.high, high),
        low: Math.min(last.low, low),
        close,
        volume: last.volume + volume,
      });
    } else {
      // Without a gap to the candle before.
      const start = last?.close ?? open;
      joined.push({
        time,
        open: start,
        high: Math.max(start, high),
        low: Math.min(start, low),
        close,
        volume,
      });
    }
  }
  return joined;
}

/**
 * The candles with the current price at a time: it moves the last candle, or begins the next one.
 */
export function withPrice(series, { timestamp, price }, width) {
  const last = series.at(-1);
  if (!last || timestamp < last.time) return series;
  const candle = { timestamp, open: last.close, high: price, low: price, close: price };
  return [
    ...series.slice(0, -1),
    ...joinCandles([{ ...last, timestamp: last.time }, candle], width),
  ];
}
