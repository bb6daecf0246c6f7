// The response of an operation, as the console shows it.

import { announce, h, replace } from '../lib/dom.js';
import { codeBlock, pretty } from '../lib/json.js';
import { MAX_RESPONSE_BYTES } from '../lib/operationrequest.js';

function duration(ms) {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function size(bytes) {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000
    ? `${(bytes / 1_000).toFixed(1)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The error in a response of JSON-RPC, or null. */
function rpcError(text) {
  try {
    return JSON.parse(text).error ?? null;
  } catch {
    return null;
  }
}

function errorBox({ message, data }) {
  // Data in hex are what a contract reverted with, which the message has in words.
  const details = typeof data === 'string' && !data.startsWith('0x') ? `: ${data}` : '';
  return h('div.failure', h('strong', message ?? 'Error'), details);
}

/** The response, and its outcome in a few words. */
export class ResponseCard {
  #isRpc;
  #summary = h('div.outcome');
  #content;

  constructor(operation) {
    this.#isRpc = operation.kind === 'rpc';
    this.#content = h(
      'div.stack',
      h(
        'p.soft',
        operation.changes
          ? 'This operation changes the state of the node.'
          : 'The response appears here.',
      ),
    );
    this.element = h(
      'section.card',
      h('div.spread', h('h2', 'Response'), this.#summary),
      this.#content,
    );
  }

  showWaiting() {
    replace(this.#summary, h('span.tag', 'Waiting…'));
  }

  /** Shows why there is no response. */
  showFailure(error) {
    const isCancelled = error.name === 'AbortError';
    replace(this.#summary, h('span.tag.bad', isCancelled ? 'Cancelled' : 'No response'));
    replace(
      this.#content,
      h(
        'div.failure',
        { role: 'alert' },
        isCancelled ? 'The request was cancelled.' : `The node did not respond: ${error.message}`,
      ),
    );
  }

  /** Shows a response that took a time in milliseconds. */
  show({ status, statusText, text, bytes, cut }, took) {
    const error = this.#isRpc && !cut ? rpcError(text) : null;
    const isGood = status >= 200 && status < 400 && !error;
    const outcome = error ? `Error ${error.code}` : `${status} ${statusText}`.trim();
    replace(
      this.#summary,
      h(`span.tag.${isGood ? 'good' : 'bad'}`, outcome),
      h('span.soft', duration(took)),
      h('span.soft', size(bytes)),
    );

    const limit = size(MAX_RESPONSE_BYTES);
    replace(
      this.#content,
      error && errorBox(error),
      cut && h('p.note', `The response is longer than ${limit}; this is its beginning.`),
      text === ''
        ? h('p.soft', 'The response has no body.')
        : codeBlock(pretty(text), { coloured: true, label: 'Copy response', name: 'Response' }),
    );
    announce(`${outcome}, ${duration(took)}, ${size(bytes)}`);
  }
}
