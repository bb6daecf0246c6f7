// The events of a contract: filtered by event and indexed arguments, back to the first block, and
// live.

import { signature, typeName } from '../lib/abi.js';
import { argumentName, formatArgument, parseArgument } from '../lib/arguments.js';
import { moment } from '../lib/clock.js';
import { decoderFor } from '../lib/decoder.js';
import { field, h, replace, setText, toast } from '../lib/dom.js';
import { count, counted, shorten } from '../lib/format.js';
import { argumentOf, blockLink, transactionLink } from '../lib/links.js';
import { followLogs, isFilterable, LogPages, topicsOf } from '../lib/logs.js';
import { network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { setPlace } from '../lib/place.js';

/** Maximum number of events kept on the page, and of those that arrive while it is paused. */
const MAX_EVENTS = 1_000;
const MOST_WAITING = 500;

const keyOf = (log) => `${log.blockHash}/${log.logIndex}`;

/** A field of a CSV file; texts that a spreadsheet would take for a formula are marked as text. */
function csvField(value) {
  const text = String(value ?? '');
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Events as CSV, with a column for each argument if they are all of one event. */
export function csvOf(logs, decoder, event) {
  const names = event ? event.inputs.map(argumentName) : ['arguments', 'topics', 'data'];
  const rows = logs.map((log) => {
    const known = decoder.log(log);
    const texts =
      known?.fragment.inputs.map((input, at) =>
        isHash(input) ? known.values[at] : formatArgument(known.values[at], input),
      ) ?? [];
    const own = event
      ? event.inputs.map((_, at) => texts[at])
      : [
          known
            ? JSON.stringify(
                Object.fromEntries(
                  known.fragment.inputs.map((input, at) => [argumentName(input, at), texts[at]]),
                ),
              )
            : '',
          log.topics.join(' '),
          log.data,
        ];
    return [
      Number(log.blockNumber),
      log.blockTimestamp ? new Date(Number(log.blockTimestamp) * 1_000).toISOString() : '',
      log.transactionHash,
      Number(log.logIndex),
      log.address,
      known?.fragment.name ?? '',
      ...own,
    ];
  });
  return `${[['block', 'time', 'transaction', 'log_index', 'address', 'event', ...names], ...rows]
    .map((row) => row.map(csvField).join(','))
    .join('\n')}\n`;
}

/** Indexed arguments of dynamic types are in the log as a hash only. */
const isHash = (input) =>
  input.indexed && (input.components || /\]$|^string$|^bytes$/.test(input.type));

function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function shownArguments(known, address) {
  return h(
    'div.event-args',
    known.fragment.inputs.map((input, at) =>
      h(
        'span',
        h('span.soft', `${argumentName(input, at)}: `),
        isHash(input)
          ? h('span.mono', shorten(String(known.values[at]), 12, 6))
          : argumentOf(known, at, address),
      ),
    ),
  );
}

function row(log, decoder) {
  const known = decoder.log(log);
  return h(
    'tr',
    h(
      'td.line-1',
      h(
        known ? 'span.tag.accent.clip' : 'span.tag',
        known?.fragment.name ?? shorten(log.topics[0] ?? 'anonymous', 10, 4),
      ),
    ),
    h('td.line-1', transactionLink(log.transactionHash)),
    h('td', blockLink(log.blockNumber)),
    h('td.line-1.end', log.blockTimestamp ? moment(log.blockTimestamp) : '–'),
    h(
      'td.line-2.whole',
      known ? shownArguments(known, log.address) : h('span.mono.soft', shorten(log.data, 40, 8)),
    ),
  );
}

/** The viewer. `fragments` are the contract's ABI; a link can name the `event`. */
export function eventsViewer(address, fragments, outer, query = new URLSearchParams()) {
  const events = [
    ...new Map(
      fragments.filter((one) => one.type === 'event').map((one) => [signature(one), one]),
    ).values(),
  ].sort((a, b) => a.name.localeCompare(b.name));
  const choice = h(
    'select',
    h('option', { value: '' }, 'All events'),
    events.map((one, at) =>
      h('option', { value: at }, `${one.name}(${one.inputs.map(typeName).join(', ')})`),
    ),
  );
  const filters = h('div.toolbar');
  const body = h('tbody');
  const status = h('p.soft', { role: 'status' });
  const older = h('button', { type: 'button' }, 'Load older events');
  const pause = h('button', { type: 'button', 'aria-pressed': 'false' }, 'Pause');
  const csv = h('button', { type: 'button' }, 'Export CSV');
  const failed = h('div');
  let [shown, waiting, pages, inputs, decoder, leaving] = [
    [],
    [],
    null,
    [],
    null,
    new AbortController(),
  ];
  outer?.addEventListener('abort', () => leaving.abort());
  const chosen = () => events[choice.value] ?? null;
  const asked = query.get('event');
  const named = events.findIndex((one) => signature(one) === asked || one.name === asked);
  if (named >= 0) choice.value = String(named);

  function drawFilters() {
    inputs = (chosen()?.inputs ?? []).map((input, at) =>
      isFilterable(input)
        ? h('input', {
            placeholder: `any ${typeName(input)}`,
            'data-at': at,
            autocomplete: 'off',
            spellcheck: 'false',
          })
        : null,
    );
    const list = inputs
      .map((input, at) => input && field(argumentName(chosen().inputs[at], at), input))
      .filter(Boolean);
    replace(filters, list, list.length > 0 && h('button', { type: 'submit' }, 'Filter'));
  }

  function drawStatus() {
    older.hidden = pages.done;
    csv.disabled = !shown.length;
    const reached = pages.done ? 'since the first block' : `since block ${count(pages.before)}`;
    setText(
      status,
      `${counted(shown.length, 'event')} ${reached}${waiting.length ? `, ${count(waiting.length)} new while paused` : ''}`,
    );
    if (!shown.length)
      replace(
        body,
        h(
          'tr',
          h('td.empty', { colspan: 5 }, pages.done ? 'No events' : 'No events in these blocks'),
        ),
      );
  }

  const add = (logs, first) => {
    const known = new Set(shown.map(keyOf));
    const fresh = logs.filter((log) => !known.has(keyOf(log)));
    if (!fresh.length) return;
    if (!shown.length) replace(body);
    const rows = fresh.map((log) => row(log, decoder));
    if (first) {
      body.prepend(...rows);
      shown.unshift(...fresh);
    } else {
      body.append(...rows);
      shown.push(...fresh);
    }
    while (shown.length > MAX_EVENTS) {
      shown.pop();
      body.lastElementChild.remove();
    }
  };

  function arrived(log) {
    const paused = pause.getAttribute('aria-pressed') === 'true';
    if (log.removed) {
      // A reorganisation: the block of the log no longer exists.
      const at = shown.findIndex((one) => keyOf(one) === keyOf(log));
      if (at >= 0) {
        shown.splice(at, 1);
        body.children[at].remove();
      }
      waiting = waiting.filter((one) => keyOf(one) !== keyOf(log));
    } else if (paused) {
      waiting = [log, ...waiting].slice(0, MOST_WAITING);
    } else {
      add([log], true);
    }
    drawStatus();
  }

  async function more() {
    older.disabled = true;
    const current = pages;
    try {
      const logs = await current.next();
      if (current !== pages) return;
      add(logs, false);
      replace(failed);
    } catch (error) {
      if (current === pages) replace(failed, h('div.failure', { role: 'alert' }, error.message));
    }
    older.disabled = false;
    drawStatus();
  }

  async function restart() {
    leaving.abort();
    leaving = new AbortController();
    let topics;
    try {
      const event = chosen();
      topics = topicsOf(
        event,
        inputs.map((input, at) =>
          input?.value.trim()
            ? parseArgument(event.inputs[at], input.value, at, network.prefix)
            : undefined,
        ),
      );
    } catch (error) {
      return replace(failed, h('div.failure', { role: 'alert' }, error.message));
    }
    replace(failed);
    const filter = { address, ...(topics.length && { topics }) };
    [shown, waiting] = [[], []];
    replace(body);
    const { signal } = leaving;
    decoder ??= await decoderFor([address]);
    const head = Number(await node.call('eth_blockNumber').catch(() => node.head?.number ?? 0));
    if (signal.aborted) return;
    pages = new LogPages(filter, head + 1);
    followLogs(filter, signal, arrived, (on) => live.classList.toggle('lost', !on));
    await more();
  }

  const live = h('span.status.lost', h('span.dot', { 'aria-hidden': 'true' }), 'Live');
  pause.addEventListener('click', () => {
    const on = pause.getAttribute('aria-pressed') !== 'true';
    pause.setAttribute('aria-pressed', String(on));
    setText(pause, on ? 'Resume' : 'Pause');
    if (on) return;
    add(waiting, true);
    waiting = [];
    drawStatus();
  });
  older.addEventListener('click', more);
  csv.addEventListener('click', () => {
    save(`events-${address.slice(0, 10)}.csv`, csvOf(shown, decoder, chosen()));
    toast(`${counted(shown.length, 'event')} saved`, 'good');
  });
  choice.addEventListener('change', () => {
    setPlace({ event: chosen() && signature(chosen()) });
    drawFilters();
    restart();
  });
  const form = h(
    'form.stack',
    h('div.toolbar', field('Event', choice), h('div.row', live, pause, csv)),
    filters,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    restart();
  });
  drawFilters();
  restart();
  const head = h(
    'thead',
    h(
      'tr',
      ['Event', 'Transaction hash', 'Block', 'Age', 'Arguments'].map((name) =>
        h('th', { scope: 'col' }, name),
      ),
    ),
  );
  return h(
    'div.stack',
    form,
    failed,
    h(
      'div.list',
      h(
        'div.scroll',
        { tabindex: '0', role: 'group', 'aria-label': 'Events' },
        h('table.rows', head, body),
      ),
    ),
    h('div.row', older, status),
  );
}
