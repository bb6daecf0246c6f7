// The events of a contract: filtered by event and indexed arguments, back to the first block, and
// live.

import { signature, typeName } from '../lib/abi.js';
import { argumentName, parseArgument } from '../lib/arguments.js';
import { decoderFor } from '../lib/decoder.js';
import { field, h, replace, setText, toast } from '../lib/dom.js';
import { count, counted } from '../lib/format.js';
import { liveTable } from '../lib/livetable.js';
import { followLogs, isFilterable, LogPages, topicsOf } from '../lib/logs.js';
import { network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { setPlace } from '../lib/place.js';
import { csvOf, eventRow } from './eventrows.js';

/** Maximum number of events kept on the page, and of those that arrive while it is paused. */
const MAX_EVENTS = 1_000;
const MOST_WAITING = 500;
const COLUMNS = ['Event', 'Transaction hash', 'Block', 'Age', 'Arguments'];

const keyOf = (log) => `${log.blockHash}/${log.logIndex}`;

function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The events of an ABI by name, each once. */
function eventsOf(fragments) {
  const events = fragments.filter((one) => one.type === 'event');
  const distinct = new Map(events.map((one) => [signature(one), one]));
  return [...distinct.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** The field for an indexed argument, or null for one by which logs cannot be filtered. */
function argumentInput(input, at) {
  if (!isFilterable(input)) return null;
  return h('input', {
    placeholder: `any ${typeName(input)}`,
    'data-at': at,
    autocomplete: 'off',
    spellcheck: 'false',
  });
}

/** The choice of an event, with fields for its indexed arguments. */
class EventFilter {
  #events;
  #inputs = [];
  fields = h('div.toolbar');

  /** `named` is the name or the signature of the event that is chosen at first, or null. */
  constructor(events, named) {
    this.#events = events;
    this.choice = h(
      'select',
      h('option', { value: '' }, 'All events'),
      events.map((one, at) =>
        h('option', { value: at }, `${one.name}(${one.inputs.map(typeName).join(', ')})`),
      ),
    );
    const first = events.findIndex((one) => signature(one) === named || one.name === named);
    if (first >= 0) this.choice.value = String(first);
    this.drawFields();
  }

  /** The chosen event; null if all are. */
  get event() {
    return this.#events[this.choice.value] ?? null;
  }

  drawFields() {
    const inputs = this.event?.inputs ?? [];
    this.#inputs = inputs.map(argumentInput);
    const list = this.#inputs
      .map((input, at) => input && field(argumentName(inputs[at], at), input))
      .filter(Boolean);
    replace(this.fields, list, list.length > 0 && h('button', { type: 'submit' }, 'Filter'));
  }

  /** The topics of the logs to show. Throws an error that names the argument. */
  topics() {
    const { event } = this;
    const values = this.#inputs.map((input, at) =>
      input?.value.trim()
        ? parseArgument(event.inputs[at], input.value, at, network.prefix)
        : undefined,
    );
    return topicsOf(event, values);
  }
}

/** The logs that are shown, the newest first, and their rows. */
class ShownLogs {
  logs = [];
  body = h('tbody');
  /** Decodes the logs; set before there are any. */
  decoder = null;

  clear() {
    this.logs = [];
    replace(this.body);
  }

  /** Adds logs that are not shown yet, before or after the others. */
  add(logs, first) {
    const known = new Set(this.logs.map(keyOf));
    const fresh = logs.filter((log) => !known.has(keyOf(log)));
    if (!fresh.length) return;

    // The line that there are none.
    if (!this.logs.length) replace(this.body);
    const rows = fresh.map((log) => eventRow(log, this.decoder));
    if (first) {
      this.body.prepend(...rows);
      this.logs.unshift(...fresh);
    } else {
      this.body.append(...rows);
      this.logs.push(...fresh);
    }

    while (this.logs.length > MAX_EVENTS) {
      this.logs.pop();
      this.body.lastElementChild.remove();
    }
  }

  remove(log) {
    const at = this.logs.findIndex((one) => keyOf(one) === keyOf(log));
    if (at < 0) return;
    this.logs.splice(at, 1);
    this.body.children[at].remove();
  }

  showEmpty(text) {
    replace(this.body, h('tr', h('td.empty', { colspan: COLUMNS.length }, text)));
  }
}

/** The filter, the logs and the controls. */
class EventsViewer {
  #address;
  #filter;
  #shown = new ShownLogs();
  /** Logs that arrived while the viewer was paused. */
  #waiting = [];
  /** Earlier logs of the filter; null until the first are loaded. */
  #pages = null;
  /** Ends what was begun for the filter before. */
  #leaving = new AbortController();

  #live = h('span.status.lost', h('span.dot', { 'aria-hidden': 'true' }), 'Live');
  #pause = h('button', { type: 'button', 'aria-pressed': 'false' }, 'Pause');
  #csv = h('button', { type: 'button' }, 'Export CSV');
  #older = h('button', { type: 'button' }, 'Load older events');
  #status = h('p.soft', { role: 'status' });
  #failed = h('div');

  constructor(address, filter, outer) {
    this.#address = address;
    this.#filter = filter;
    outer?.addEventListener('abort', () => this.#leaving.abort());

    this.#pause.addEventListener('click', () => this.#setPaused(!this.#isPaused));
    this.#older.addEventListener('click', () => this.#loadOlder());
    this.#csv.addEventListener('click', () => this.#export());
    filter.choice.addEventListener('change', () => {
      setPlace({ event: filter.event && signature(filter.event) });
      filter.drawFields();
      this.restart();
    });
    this.#build();
  }

  #build() {
    const controls = h('div.row', this.#live, this.#pause, this.#csv);
    const form = h(
      'form.stack',
      h('div.toolbar', field('Event', this.#filter.choice), controls),
      this.#filter.fields,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.restart();
    });
    this.element = h(
      'div.stack',
      form,
      this.#failed,
      h('div.list', liveTable('table.rows', 'Events', COLUMNS, this.#shown.body)),
      h('div.row', this.#older, this.#status),
    );
  }

  /** Shows the logs of the filter from the newest block on. */
  async restart() {
    this.#leaving.abort();
    this.#leaving = new AbortController();
    let topics;
    try {
      topics = this.#filter.topics();
    } catch (error) {
      return this.#showFailure(error);
    }
    replace(this.#failed);
    this.#shown.clear();
    this.#waiting = [];

    const { signal } = this.#leaving;
    this.#shown.decoder ??= await decoderFor([this.#address]);
    const head = Number(await node.call('eth_blockNumber').catch(() => node.head?.number ?? 0));
    if (signal.aborted) return;

    const filter = { address: this.#address, ...(topics.length && { topics }) };
    this.#pages = new LogPages(filter, head + 1);
    followLogs(
      filter,
      signal,
      (log) => this.#arrived(log),
      (isLive) => this.#live.classList.toggle('lost', !isLive),
    );
    await this.#loadOlder();
  }

  async #loadOlder() {
    this.#older.disabled = true;
    const pages = this.#pages;
    try {
      const logs = await pages.next();
      if (pages !== this.#pages) return;
      this.#shown.add(logs, false);
      replace(this.#failed);
    } catch (error) {
      if (pages === this.#pages) this.#showFailure(error);
    }
    this.#older.disabled = false;
    this.#drawStatus();
  }

  #arrived(log) {
    if (log.removed) {
      // A reorganisation: the block of the log no longer exists.
      this.#shown.remove(log);
      this.#waiting = this.#waiting.filter((one) => keyOf(one) !== keyOf(log));
    } else if (this.#isPaused) {
      this.#waiting = [log, ...this.#waiting].slice(0, MOST_WAITING);
    } else {
      this.#shown.add([log], true);
    }
    this.#drawStatus();
  }

  get #isPaused() {
    return this.#pause.getAttribute('aria-pressed') === 'true';
  }

  #setPaused(isPaused) {
    this.#pause.setAttribute('aria-pressed', String(isPaused));
    setText(this.#pause, isPaused ? 'Resume' : 'Pause');
    if (isPaused) return;
    this.#shown.add(this.#waiting, true);
    this.#waiting = [];
    this.#drawStatus();
  }

  #export() {
    const { logs, decoder } = this.#shown;
    save(`events-${this.#address.slice(0, 10)}.csv`, csvOf(logs, decoder, this.#filter.event));
    toast(`${counted(logs.length, 'event')} saved`, 'good');
  }

  #drawStatus() {
    const { logs } = this.#shown;
    const { done, before } = this.#pages;
    this.#older.hidden = done;
    this.#csv.disabled = !logs.length;

    const reached = done ? 'since the first block' : `since block ${count(before)}`;
    const waiting = this.#waiting.length ? `, ${count(this.#waiting.length)} new while paused` : '';
    setText(this.#status, `${counted(logs.length, 'event')} ${reached}${waiting}`);
    if (!logs.length) this.#shown.showEmpty(done ? 'No events' : 'No events in these blocks');
  }

  #showFailure(error) {
    replace(this.#failed, h('div.failure', { role: 'alert' }, error.message));
  }
}

/** The viewer. `fragments` are the contract's ABI; a link can name the `event`. */
export function eventsViewer(address, fragments, outer, query = new URLSearchParams()) {
  const filter = new EventFilter(eventsOf(fragments), query.get('event'));
  const viewer = new EventsViewer(address, filter, outer);
  viewer.restart();
  return viewer.element;
}
