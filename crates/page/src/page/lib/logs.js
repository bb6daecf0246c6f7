// The logs of a contract: backwards in bounded windows, and live.

import { encode, topic } from './abi.js';
import { toBytes, utf8 } from './bytes.js';
import { keccak256 } from '../vendor/ethers.js';
import { node } from './node.js';

/** Blocks in a window: the first one, and the bounds within which the size adapts. */
const FIRST_WINDOW = 2_000;
const LEAST_WINDOW = 1;
const MOST_WINDOW = 64_000;
/** Maximum number of requests for one page. */
const MOST_REQUESTS = 24;
const PAGE = 25;
const RECONNECT_MS = 1_000;

const hex = (number) => `0x${number.toString(16)}`;

/**
 * Whether logs can be filtered by an indexed argument. Of lists and tuples they have only a hash.
 */
export function isFilterable(input) {
  return Boolean(input.indexed) && !input.components && !input.type.endsWith(']');
}

/** The topic that an indexed argument has. */
export function topicOf(input, value) {
  if (input.type === 'string') return keccak256(utf8(value));
  if (input.type === 'bytes') return keccak256(toBytes(value));
  return encode([{ ...input, indexed: undefined }], [value]);
}

/**
 * The topics of an event whose indexed arguments have the given values; undefined ones match
 * anything.
 */
export function topicsOf(event, values) {
  if (!event) return [];
  const indexed = event.inputs
    .map((input, at) => [input, values[at]])
    .filter(([input]) => input.indexed);
  const topics = [
    topic(event),
    ...indexed.map(([input, value]) => (value === undefined ? null : topicOf(input, value))),
  ];
  while (topics.at(-1) === null) topics.pop();
  return topics;
}

/** Logs of one filter, the newest first, in pages. */
export class LogPages {
  #window = FIRST_WINDOW;

  /** `before` is the number of the block after the newest one to search. */
  constructor(filter, before) {
    this.filter = filter;
    this.before = before;
  }

  /** Whether the search has reached the first block. */
  get done() {
    return this.before <= 0;
  }

  /** The next page; it may be short, or empty, if many blocks without such logs were searched. */
  async next() {
    const found = [];
    for (let request = 0; request < MOST_REQUESTS && found.length < PAGE && !this.done; request++) {
      const from = Math.max(0, this.before - this.#window);
      let logs;
      try {
        logs = await this.#read(from);
      } catch (error) {
        // Nodes limit the blocks or the logs of a request; only a window of one block cannot be
        // made smaller.
        if (error.code === undefined || this.#window === LEAST_WINDOW) throw error;
        this.#window = Math.max(LEAST_WINDOW, Math.floor(this.#window / 8));
        continue;
      }

      found.push(...logs.reverse());
      this.before = from;
      this.#adaptWindow(logs.length);
    }
    return found;
  }

  /** The logs from a block to the last page. */
  #read(from) {
    return node.call('eth_getLogs', {
      ...this.filter,
      fromBlock: hex(from),
      toBlock: hex(this.before - 1),
    });
  }

  /** Reads fewer blocks at once after many logs, and more after none. */
  #adaptWindow(logs) {
    if (logs > 4 * PAGE) this.#window = Math.max(LEAST_WINDOW, this.#window >> 2);
    else if (logs === 0) this.#window = Math.min(MOST_WINDOW, this.#window * 4);
  }
}

/**
 * Calls back with each new log of a filter, until the signal aborts; `status(connected)` follows
 * the connection.
 */
export function followLogs(filter, signal, added, status) {
  const request = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['logs', filter] };
  let socket;
  let timer;

  const open = () => {
    const url = new URL('rpc', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    socket = new WebSocket(url);
    socket.addEventListener('open', () => socket.send(JSON.stringify(request)));
    socket.addEventListener('message', ({ data }) => {
      const { id, method, params } = JSON.parse(data);
      if (id === 1) status(true);
      if (method === 'eth_subscription') added(params.result);
    });
    socket.addEventListener('close', () => {
      status(false);
      if (!signal.aborted) timer = setTimeout(open, RECONNECT_MS);
    });
  };

  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    socket.close();
  });
  open();
}
