// WebSockets live: the price socket, subscriptions of JSON-RPC, and CometBFT's events.

import { card, h, replace, setText } from '../lib/dom.js';
import { codeBlock } from '../lib/json.js';
import { socketCode } from '../lib/snippets.js';
import { MessageList } from './apimessages.js';
import { streamsAt } from './apistreams.js';

/** The code with which a socket is closed that has done what it was for. */
const NORMAL_CLOSURE = 1000;

/** The link to a socket's page; `parameters` are of a query. */
function linkOf(operation, parameters) {
  return `#/api/${encodeURIComponent(operation.id)}?${new URLSearchParams(parameters)}`;
}

/** The absolute URL of a socket's path. */
function socketUrl(path) {
  const url = new URL(path.replace(/^\//, ''), document.baseURI.split('#')[0]);
  url.protocol = url.protocol.replace('http', 'ws');
  return url;
}

/** The buttons that choose a stream, or nothing if the socket has one only. */
function streamTabs(operation, chosen) {
  const streams = streamsAt(operation.path);
  const tab = (stream) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String(stream === chosen),
        onclick: () => (location.hash = linkOf(operation, { stream: stream.key })),
      },
      stream.name,
    );
  return (
    streams.length > 1 &&
    h(
      'div.field',
      h('span', 'Stream'),
      h('div.tabs', { role: 'group', 'aria-label': 'Stream' }, streams.map(tab)),
    )
  );
}

/** A connection with the form that opens it, the messages, and the code. */
class LiveSocket {
  #operation;
  #stream;
  #url;
  #messages;
  /** The open or opening socket, or null. */
  #socket = null;

  #state = h('span.tag', { role: 'status' }, 'Not connected');
  #problem = h('div');
  #code = h('div');
  #connect = h('button.primary', { type: 'submit' }, 'Connect');
  #send = h(
    'button',
    { type: 'button', disabled: true, onclick: () => this.#transmit() },
    'Send message',
  );
  #input;

  constructor({ operation, stream, query, signal }) {
    this.#operation = operation;
    this.#stream = stream;
    this.#url = socketUrl(operation.path);
    this.#messages = new MessageList(this.#state, signal);
    this.#input = h('textarea', {
      id: 'message',
      rows: '3',
      spellcheck: 'false',
      value: query.get('message') ?? stream.message,
      placeholder: 'Nothing needs to be sent',
    });
    this.#input.addEventListener('input', () => this.#update());

    signal.addEventListener('abort', () => this.#release());
    this.#drawCode();
    this.elements = [
      card('Connection', this.#form(), this.#problem),
      this.#messages.element,
      card('Code', this.#code),
    ];
  }

  #form() {
    const form = h(
      'form.stack',
      streamTabs(this.#operation, this.#stream),
      h(
        'label.field',
        h('span', 'Message to send'),
        this.#input,
        h('small', 'Sent when the connection opens. Change it and send it again at any time.'),
      ),
      h('div.row', this.#connect, this.#send),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#socket) this.#close();
      else this.#open();
    });
    return form;
  }

  get #text() {
    return this.#input.value.trim();
  }

  get #isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Follows the input with the link and the code. */
  #update() {
    this.#drawSend();
    const { value } = this.#input;
    const parameters = { stream: this.#stream.key };
    if (value !== this.#stream.message) parameters.message = value;
    history.replaceState(history.state, '', linkOf(this.#operation, parameters));
    this.#drawCode();
  }

  #drawCode() {
    const text = socketCode(this.#url.href, this.#text);
    const names = { label: 'Copy as JavaScript', name: 'The WebSocket in JavaScript' };
    replace(this.#code, codeBlock(text, names));
  }

  #drawSend() {
    this.#send.disabled = !(this.#isOpen && this.#text);
  }

  /** Shows the state of the connection in a word; `kind` is its class. */
  #drawState(word, kind) {
    setText(this.#state, word);
    this.#state.className = `tag${kind ? ` ${kind}` : ''}`;
    setText(this.#connect, this.#socket ? 'Disconnect' : 'Connect');
    this.#drawSend();
    this.#messages.setConnected(this.#socket !== null);
  }

  #transmit() {
    const text = this.#text;
    if (!text || !this.#isOpen) return;
    this.#socket.send(text);
    this.#messages.add(text, true);
  }

  #open() {
    replace(this.#problem);
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    this.#drawState('Connecting…');
    this.#messages.expect();

    socket.addEventListener('open', () => {
      this.#drawState('Connected', 'good');
      this.#transmit();
    });
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket === socket) this.#messages.add(typeof data === 'string' ? data : '(binary)');
    });
    socket.addEventListener('close', (event) => {
      if (this.#socket === socket) this.#lose(event);
    });
  }

  /** The other side or the network has ended the connection. */
  #lose({ code, reason, wasClean }) {
    this.#socket = null;
    this.#drawState('Disconnected', 'bad');
    if (wasClean) return;
    replace(
      this.#problem,
      h(
        'div.failure',
        { role: 'alert' },
        `The connection was lost (code ${code})${reason ? `: ${reason}` : ''}. Connect again to continue.`,
      ),
    );
  }

  #close() {
    this.#release();
    this.#drawState('Disconnected');
  }

  /** Closes the socket, whose later events are those of no connection any more. */
  #release() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(NORMAL_CLOSURE);
  }
}

/** The cards of a socket, given the stream and the message in the link. */
export default function liveSocket({ operation, stream, query, signal }) {
  return new LiveSocket({ operation, stream, query, signal }).elements;
}
