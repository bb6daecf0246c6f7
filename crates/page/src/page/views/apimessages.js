// The messages of a WebSocket as a list that can be paused.

import { h, replace, setText } from '../lib/dom.js';
import { count, counted } from '../lib/format.js';
import { codeBlock, pretty } from '../lib/json.js';

/** Messages that are kept; older ones are dropped. */
const KEPT = 200;

/** The most characters of a message in its line that is not JSON. */
const LONGEST_GIST = 120;

function dollars(price) {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: price < 1 ? 6 : 2 };
  return `$${Number(price).toLocaleString('en-US', digits)}`;
}

/** A message of the price socket in a line: the prices in it, or its text. */
function priceGist({ type, data, message }) {
  const all = data && typeof data === 'object' ? Object.values(data) : [];
  const tokens = all.filter((one) => one?.symbol);
  if (tokens.length) {
    const quotes = tokens.map(({ symbol, price }) => `${symbol} ${dollars(price)}`);
    return `${type} · ${quotes.join(', ')}`;
  }
  return `${type}${message ? ` · ${message}` : ''}`;
}

/** A message in a line. */
function gist(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return text.slice(0, LONGEST_GIST);
  }

  const result = value?.params?.result;
  if (result?.number && result?.hash)
    return `block ${count(Number(result.number))} · ${result.hash}`;
  if (typeof result === 'string') return `transaction ${result}`;
  if (result?.topics) return `log of ${result.address} · ${result.topics[0] ?? 'no topics'}`;
  if (value?.type) return priceGist(value);

  const height = value?.result?.data?.value?.block?.header?.height;
  if (height) return `block ${count(Number(height))}`;
  if (value?.error) return `error ${value.error.code} · ${value.error.message}`;
  return JSON.stringify(value?.result ?? value);
}

/** A time of the clock with milliseconds. */
function clockTime(at) {
  const milliseconds = String(at.getMilliseconds()).padStart(3, '0');
  return `${at.toLocaleTimeString('en-GB', { hour12: false })}.${milliseconds}`;
}

/** A message, which is formatted when it is opened. */
function entry({ at, text, sent }) {
  const body = h('div');
  const box = h(
    'details',
    h(
      'summary',
      h('time.soft', clockTime(at)),
      h('span.direction', sent ? '↑ sent' : '↓'),
      h('span.mono.gist', gist(text)),
    ),
    body,
  );
  box.addEventListener('toggle', () => {
    if (box.open && !body.childElementCount)
      replace(body, codeBlock(pretty(text), { coloured: true, name: 'Message' }));
  });
  return h(`li${sent ? '.sent' : ''}`, box);
}

/** The messages, of which those that arrive while the list is paused are held back. */
export class MessageList {
  #signal;
  #received = 0;
  /** Messages that are not in the list yet, the newest last. */
  #held = [];
  #isPaused = false;
  #frame = null;

  #list = h('ol.plain.messages', { 'aria-label': 'Messages, newest first' });
  #empty = h('p.empty', 'Messages appear here once you connect.');
  #total = h('span.soft');
  #pause = h(
    'button',
    {
      type: 'button',
      disabled: true,
      'aria-pressed': 'false',
      onclick: () => this.#setPaused(!this.#isPaused),
    },
    'Pause',
  );
  #clear = h('button', { type: 'button', onclick: () => this.#removeAll() }, 'Clear');

  /** `state` is the element that shows the state of the connection. */
  constructor(state, signal) {
    this.#signal = signal;
    this.element = h(
      'section.card',
      h(
        'div.spread',
        h('div.row', h('h2', 'Messages'), state, this.#total),
        h('div.row', this.#pause, this.#clear),
      ),
      this.#empty,
      this.#list,
    );
    signal.addEventListener('abort', () => {
      if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    });
  }

  /** Adds a message that was received, or sent. */
  add(text, sent = false) {
    if (!sent) this.#received += 1;
    this.#held.push({ at: new Date(), text, sent });
    if (this.#held.length > KEPT) this.#held.shift();

    // A hidden page has no frames; messages are bounded until it is shown again.
    this.#frame ??= requestAnimationFrame(() => this.#flush());
  }

  /** Says that a message is awaited. */
  expect() {
    setText(this.#empty, 'Waiting for the first message.');
  }

  /** A list that is paused can be resumed after the end of the connection. */
  setConnected(isConnected) {
    this.#pause.disabled = !isConnected && !this.#isPaused;
  }

  #setPaused(isPaused) {
    this.#isPaused = isPaused;
    setText(this.#pause, isPaused ? 'Resume' : 'Pause');
    this.#pause.setAttribute('aria-pressed', String(isPaused));
    this.#flush();
  }

  #removeAll() {
    this.#held = [];
    this.#received = 0;
    replace(this.#list);
    this.#drawCounts();
  }

  /** Shows the messages that are held back, unless the list is paused. */
  #flush() {
    this.#frame = null;
    if (!this.#isPaused && !this.#signal.aborted) {
      const fresh = this.#held.splice(0);
      this.#list.prepend(...fresh.reverse().map(entry));
      while (this.#list.childElementCount > KEPT) this.#list.lastElementChild.remove();
    }
    this.#drawCounts();
  }

  #drawCounts() {
    const parts = [
      counted(this.#received, 'message'),
      this.#held.length > 0 && `${count(this.#held.length)} held back`,
      this.#received > KEPT && `newest ${KEPT} kept`,
    ];
    setText(this.#total, this.#received ? parts.filter(Boolean).join(' · ') : '');
    this.#empty.hidden = this.#list.childElementCount > 0;
  }
}
