// WebSockets live: the price socket, subscriptions of JSON-RPC, and CometBFT's events.

import { card, h, replace, setText } from '../lib/dom.js';
import { codeBlock, pretty } from '../lib/json.js';
import { count, counted } from '../lib/format.js';
import { socketCode } from '../lib/snippets.js';

/** Messages that are kept; older ones are dropped. */
const KEPT = 200;

const subscribe = (...params) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params });

/** The streams by the path of their socket, with the message that starts them. */
export const STREAMS = [
  {
    key: 'prices',
    path: '/ws',
    name: 'Prices',
    about: 'All prices, then each change',
    message: '',
  },
  {
    key: 'price',
    path: '/ws',
    name: 'Prices of one token',
    about: 'Limited by a message',
    message: JSON.stringify({ type: 'subscribe', tokens: ['WETH'] }),
  },
  {
    key: 'newHeads',
    path: '/rpc',
    name: 'newHeads',
    about: 'Headers of new blocks',
    message: subscribe('newHeads'),
  },
  {
    key: 'logs',
    path: '/rpc',
    name: 'logs',
    about: 'Events, by address and topics',
    message: subscribe('logs', {}),
  },
  {
    key: 'newPendingTransactions',
    path: '/rpc',
    name: 'newPendingTransactions',
    about: 'Transactions that enter the pool',
    message: subscribe('newPendingTransactions'),
  },
  {
    key: 'comet',
    path: '/websocket',
    name: 'CometBFT events',
    about: 'New blocks, as Cosmos wallets see them',
    message: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscribe',
      params: { query: "tm.event='NewBlock'" },
    }),
  },
];

const dollars = (price) =>
  `$${Number(price).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: price < 1 ? 6 : 2 })}`;

/** A message in a line. */
function gist(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return text.slice(0, 120);
  }
  const result = value?.params?.result;
  if (result?.number && result?.hash)
    return `block ${count(Number(result.number))} · ${result.hash}`;
  if (typeof result === 'string') return `transaction ${result}`;
  if (result?.topics) return `log of ${result.address} · ${result.topics[0] ?? 'no topics'}`;
  if (value?.type) {
    const tokens =
      value.data && typeof value.data === 'object'
        ? Object.values(value.data).filter((one) => one?.symbol)
        : [];
    return tokens.length
      ? `${value.type} · ${tokens.map((one) => `${one.symbol} ${dollars(one.price)}`).join(', ')}`
      : `${value.type}${value.message ? ` · ${value.message}` : ''}`;
  }
  const height = value?.result?.data?.value?.block?.header?.height;
  if (height) return `block ${count(Number(height))}`;
  if (value?.error) return `error ${value.error.code} · ${value.error.message}`;
  return JSON.stringify(value?.result ?? value);
}

/** The stream that the link of a socket's page names, or the first. */
export function streamOf(operation, query) {
  const streams = STREAMS.filter((one) => one.path === operation.path);
  const unknown = {
    key: '',
    path: operation.path,
    name: operation.id,
    about: operation.summary.replace(/\.$/, ''),
    message: '',
  };
  return streams.find((one) => one.key === query.get('stream')) ?? streams[0] ?? unknown;
}

export default function liveSocket({ operation, stream, query, signal }) {
  const streams = STREAMS.filter((one) => one.path === operation.path);
  const url = new URL(operation.path.replace(/^\//, ''), document.baseURI.split('#')[0]);
  url.protocol = url.protocol.replace('http', 'ws');
  let socket = null;
  let paused = false;
  let received = 0;
  let held = [];
  let frame = null;

  const input = h('textarea', {
    id: 'message',
    rows: '3',
    spellcheck: 'false',
    value: query.get('message') ?? stream.message,
    placeholder: 'Nothing needs to be sent',
  });
  const state = h('span.tag', { role: 'status' }, 'Not connected');
  const total = h('span.soft');
  const list = h('ol.plain.messages', { 'aria-label': 'Messages, newest first' });
  const empty = h('p.empty', 'Messages appear here once you connect.');
  const problem = h('div');
  const connect = h('button.primary', { type: 'submit' }, 'Connect');
  const send = h(
    'button',
    { type: 'button', disabled: true, onclick: () => transmit() },
    'Send message',
  );
  const pause = h(
    'button',
    { type: 'button', disabled: true, 'aria-pressed': 'false', onclick: () => setPaused(!paused) },
    'Pause',
  );
  const clear = h('button', { type: 'button', onclick: () => empties() }, 'Clear');
  const code = h('div');

  const drawCode = () =>
    replace(
      code,
      codeBlock(socketCode(url.href, input.value.trim()), {
        label: 'Copy as JavaScript',
        name: 'The WebSocket in JavaScript',
      }),
    );
  const drawCounts = () => {
    setText(
      total,
      received
        ? `${counted(received, 'message')}${held.length ? ` · ${count(held.length)} held back` : ''}${received > KEPT ? ` · newest ${KEPT} kept` : ''}`
        : '',
    );
    empty.hidden = list.childElementCount > 0;
  };
  const entry = ({ at, text, sent }) => {
    const body = h('div');
    const box = h(
      'details',
      h(
        'summary',
        h(
          'time.soft',
          at.toLocaleTimeString('en-GB', { hour12: false }) +
            `.${String(at.getMilliseconds()).padStart(3, '0')}`,
        ),
        h('span.direction', sent ? '↑ sent' : '↓'),
        h('span.mono.gist', gist(text)),
      ),
      body,
    );
    box.addEventListener(
      'toggle',
      () =>
        box.open &&
        !body.childElementCount &&
        replace(body, codeBlock(pretty(text), { coloured: true, name: 'Message' })),
    );
    return h(`li${sent ? '.sent' : ''}`, box);
  };
  const flush = () => {
    frame = null;
    if (paused || signal.aborted) return drawCounts();
    const fresh = held.splice(0);
    list.prepend(...fresh.reverse().map(entry));
    while (list.childElementCount > KEPT) list.lastElementChild.remove();
    return drawCounts();
  };
  const add = (text, sent = false) => {
    if (!sent) received += 1;
    held.push({ at: new Date(), text, sent });
    if (held.length > KEPT) held.shift();
    // A hidden page has no frames; messages are bounded until it is shown again.
    frame ??= requestAnimationFrame(flush);
  };
  const setPaused = (value) => {
    paused = value;
    setText(pause, paused ? 'Resume' : 'Pause');
    pause.setAttribute('aria-pressed', String(paused));
    flush();
  };
  const empties = () => {
    held = [];
    received = 0;
    replace(list);
    drawCounts();
  };
  const transmit = () => {
    const text = input.value.trim();
    if (!text || socket?.readyState !== WebSocket.OPEN) return;
    socket.send(text);
    add(text, true);
  };
  const draw = (word, kind) => {
    setText(state, word);
    state.className = `tag${kind ? ` ${kind}` : ''}`;
    const open = socket !== null;
    setText(connect, open ? 'Disconnect' : 'Connect');
    send.disabled = !(socket?.readyState === WebSocket.OPEN && input.value.trim());
    pause.disabled = !open && !paused;
  };
  const open = () => {
    replace(problem);
    const own = new WebSocket(url);
    socket = own;
    draw('Connecting…');
    setText(empty, 'Waiting for the first message.');
    own.addEventListener('open', () => {
      draw('Connected', 'good');
      transmit();
    });
    own.addEventListener(
      'message',
      ({ data }) => socket === own && add(typeof data === 'string' ? data : '(binary)'),
    );
    own.addEventListener('close', ({ code: reason, reason: text, wasClean }) => {
      if (socket !== own) return;
      socket = null;
      draw('Disconnected', 'bad');
      if (!wasClean)
        replace(
          problem,
          h(
            'div.failure',
            { role: 'alert' },
            `The connection was lost (code ${reason})${text ? `: ${text}` : ''}. Connect again to continue.`,
          ),
        );
    });
  };
  const close = () => {
    const own = socket;
    socket = null;
    own?.close(1000);
    draw('Disconnected');
  };
  const form = h(
    'form.stack',
    streams.length > 1 &&
      h(
        'div.field',
        h('span', 'Stream'),
        h(
          'div.tabs',
          { role: 'group', 'aria-label': 'Stream' },
          streams.map((one) =>
            h(
              'button',
              {
                type: 'button',
                'aria-pressed': String(one === stream),
                onclick: () =>
                  (location.hash = `#/api/${encodeURIComponent(operation.id)}?stream=${one.key}`),
              },
              one.name,
            ),
          ),
        ),
      ),
    h(
      'label.field',
      h('span', 'Message to send'),
      input,
      h('small', 'Sent when the connection opens. Change it and send it again at any time.'),
    ),
    h('div.row', connect, send),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (socket) close();
    else open();
  });
  input.addEventListener('input', () => {
    send.disabled = !(socket?.readyState === WebSocket.OPEN && input.value.trim());
    const parts = new URLSearchParams({ stream: stream.key });
    if (input.value !== stream.message) parts.set('message', input.value);
    history.replaceState(history.state, '', `#/api/${encodeURIComponent(operation.id)}?${parts}`);
    drawCode();
  });
  signal.addEventListener('abort', () => {
    const own = socket;
    socket = null;
    own?.close(1000);
    if (frame !== null) cancelAnimationFrame(frame);
  });
  drawCode();
  return [
    card('Connection', form, problem),
    h(
      'section.card',
      h('div.spread', h('div.row', h('h2', 'Messages'), state, total), h('div.row', pause, clear)),
      empty,
      list,
    ),
    card('Code', code),
  ];
}
