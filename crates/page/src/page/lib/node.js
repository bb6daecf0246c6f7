// The JSON-RPC client of the node that serves this page, and its subscription to new blocks.

import { Socket } from './socket.js';

/** A JSON-RPC error response. */
export class RpcError extends Error {
  constructor({ code, message, data }) {
    const detail = typeof data === 'string' && !data.startsWith('0x') ? data : '';
    super(detail ? `${message}: ${detail}` : message);
    this.code = code;
    this.data = typeof data === 'string' && data.startsWith('0x') ? data : null;
  }
}

/** Number of headers kept. */
const REMEMBERED = 180;
/**
 * Differences of clocks that are not shown, in seconds: clocks are never exact, and blocks in quick
 * succession are ahead.
 */
const CLOCK_TOLERANCE = 60;
/** Least time between two reads of the clock, in milliseconds. */
const CLOCK_PACE = 250;
/** Maximum number of requests in a batch. */
const MAX_BATCH = 100;

/**
 * Requests of the same turn of the event loop are sent as one batch. Events: `head` (the headers
 * have changed), `status` (connected or disconnected), `restart` (the node serves a different
 * chain).
 */
class NodeClient extends EventTarget {
  #queue = [];
  #next = 1;
  #absent = new Map();
  #clockTimer = null;
  /** The newest headers, oldest first. */
  headers = [];
  connected = false;
  genesis = null;
  /** Seconds by which the chain's clock is ahead of the browser's. */
  clockOffset = 0;

  /** Calls a method and resolves to its result. */
  call(method, ...params) {
    return new Promise((resolve, reject) => {
      this.#queue.push({ id: this.#next++, method, params, resolve, reject });
      if (this.#queue.length === 1) queueMicrotask(() => this.#flush());
    });
  }

  #flush() {
    const all = this.#queue.splice(0);
    for (let at = 0; at < all.length; at += MAX_BATCH) this.#send(all.slice(at, at + MAX_BATCH));
  }

  async #send(batch) {
    const wire = batch.map(({ id, method, params }) => ({ jsonrpc: '2.0', id, method, params }));
    let answers;
    try {
      const body = JSON.stringify(wire.length === 1 ? wire[0] : wire);
      const response = await fetch('rpc', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      if (!response.ok) throw new Error(`the node responded with status ${response.status}`);
      answers = [await response.json()].flat();
    } catch (error) {
      const reason = error instanceof TypeError ? new Error('the node is not responding') : error;
      return batch.forEach((request) => request.reject(reason));
    }

    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    for (const request of batch) {
      const answer = byId.get(request.id) ?? answers.find((one) => one.id === null);
      if (answer?.error) request.reject(new RpcError(answer.error));
      else if (answer && 'result' in answer) request.resolve(answer.result);
      else request.reject(new Error('the node sent no response to the request'));
    }
  }

  /**
   * Whether the node supports a method. Probes with parameters that every method rejects, so that
   * it has no effect.
   */
  has(method) {
    if (!this.#absent.has(method)) {
      const asked = this.call(method, ...Array(16).fill('?')).then(
        () => true,
        (error) => {
          if (!(error instanceof RpcError)) this.#absent.delete(method);
          return error instanceof RpcError && error.code !== -32601;
        },
      );
      this.#absent.set(method, asked);
    }
    return this.#absent.get(method);
  }

  /** The newest header. */
  get head() {
    return this.headers.at(-1) ?? null;
  }

  /** The time on the chain's clock, a Unix time in seconds. */
  get now() {
    return Math.max(Date.now() / 1_000 + this.clockOffset, Number(this.head?.timestamp ?? 0));
  }

  /** Loads the newest headers again, after a change that removed blocks. */
  refresh() {
    return this.#catchUp(new Set(this.headers));
  }

  /** Subscribes to new blocks for the lifetime of the page. */
  follow() {
    const url = new URL('rpc', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    this.socket = new Socket(url, {
      opened: async (socket) => {
        // It may be another process, with other methods.
        this.#absent.clear();
        const old = new Set(this.headers);
        socket.send(
          JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }),
        );
        await this.#catchUp(old);
        this.#status(true);
      },
      message: (text) => {
        const { method, params } = JSON.parse(text);
        if (method === 'eth_subscription') this.#add(params.result);
      },
      closed: () => this.#status(false),
    });
  }

  #status(connected) {
    if (this.connected === connected) return;
    this.connected = connected;
    this.dispatchEvent(new Event('status'));
  }

  /**
   * Loads the newest headers. The `old` ones, from before the connection, may be of blocks that no
   * longer exist.
   */
  async #catchUp(old) {
    const [number, first] = await Promise.all([
      this.call('eth_blockNumber'),
      this.call('eth_getBlockByNumber', '0x0', false),
      this.#readClock(),
    ]);
    if (this.genesis && first && this.genesis !== first.hash) {
      this.headers = [];
      this.dispatchEvent(new Event('restart'));
    }

    this.genesis = first?.hash ?? null;
    const newest = Number(number);
    const from = Math.max(0, newest - REMEMBERED + 1);
    const wanted = Array.from(
      { length: newest - from + 1 },
      (_, at) => `0x${(from + at).toString(16)}`,
    );

    const blocks = await Promise.all(
      wanted.map((at) => this.call('eth_getBlockByNumber', at, false).catch(() => null)),
    );
    const later = this.headers.filter(
      (header) => !old.has(header) && Number(header.number) > newest,
    );
    this.headers = [...blocks.filter(Boolean), ...later].slice(-REMEMBERED);
    this.dispatchEvent(new Event('head'));
  }

  /** Reads the chain's clock, which gives the next block its time. */
  async #readClock() {
    const next = await this.call('eth_getBlockByNumber', 'pending', false).catch(() => null);
    if (!next) return;
    const offset = Number(next.timestamp) - Date.now() / 1_000;
    this.clockOffset = Math.abs(offset) < CLOCK_TOLERANCE ? 0 : offset;
  }

  #add(header) {
    const number = Number(header.number);
    // The clock was changed, or the header is late because the browser slept.
    if (
      Math.abs(Number(header.timestamp) - Date.now() / 1_000 - this.clockOffset) > CLOCK_TOLERANCE
    ) {
      this.#clockTimer ??= setTimeout(() => {
        this.#clockTimer = null;
        this.#readClock().then(() => this.dispatchEvent(new Event('head')));
      }, CLOCK_PACE);
    }

    // After a revert the chain continues at a lower number, which replaces the headers from there
    // on.
    while (this.headers.length && Number(this.headers.at(-1).number) >= number) this.headers.pop();
    this.headers.push(header);
    if (this.headers.length > REMEMBERED) this.headers.shift();
    this.dispatchEvent(new Event('head'));
  }
}

export const node = new NodeClient();

/**
 * Calls back immediately and after each event, at most once in `least` milliseconds, until the
 * signal aborts.
 */
export function whenever(target, event, signal, callback, least = 200) {
  let timer = null;
  let last = 0;
  const run = () => {
    [timer, last] = [null, performance.now()];
    if (!signal.aborted) callback();
  };
  const ask = () => {
    if (timer === null) timer = setTimeout(run, Math.max(0, last + least - performance.now()));
  };
  target.addEventListener(event, ask, { signal });
  signal.addEventListener('abort', () => clearTimeout(timer));
  run();
}

/** Calls back at an interval, in milliseconds, until the signal aborts. */
export function repeat(interval, signal, callback) {
  const timer = setInterval(callback, interval);
  signal.addEventListener('abort', () => clearInterval(timer));
}
