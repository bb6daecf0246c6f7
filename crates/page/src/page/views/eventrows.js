// Event logs as rows: of the table, and of a CSV file.

import { argumentName, formatArgument } from '../lib/arguments.js';
import { moment } from '../lib/clock.js';
import { h } from '../lib/dom.js';
import { shorten } from '../lib/format.js';
import { argumentOf, blockLink, transactionLink } from '../lib/links.js';

const CSV_COLUMNS = ['block', 'time', 'transaction', 'log_index', 'address', 'event'];

/** Indexed arguments of dynamic types are in the log as a hash only. */
const isHash = (input) =>
  input.indexed && (input.components || /\]$|^string$|^bytes$/.test(input.type));

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

/** The row of a log in the table. */
export function eventRow(log, decoder) {
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

/** A field of a CSV file; texts that a spreadsheet would take for a formula are marked as text. */
function csvField(value) {
  const text = String(value ?? '');
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The arguments of a decoded log as texts; none of a log that is not decoded. */
function argumentTexts(known) {
  if (!known) return [];
  return known.fragment.inputs.map((input, at) =>
    isHash(input) ? known.values[at] : formatArgument(known.values[at], input),
  );
}

/** The arguments of any event in one field, as JSON. */
function argumentsJson(known, texts) {
  if (!known) return '';
  return JSON.stringify(
    Object.fromEntries(
      known.fragment.inputs.map((input, at) => [argumentName(input, at), texts[at]]),
    ),
  );
}

function csvRow(log, decoder, event) {
  const known = decoder.log(log);
  const texts = argumentTexts(known);
  const own = event
    ? event.inputs.map((_, at) => texts[at])
    : [argumentsJson(known, texts), log.topics.join(' '), log.data];
  return [
    Number(log.blockNumber),
    log.blockTimestamp ? new Date(Number(log.blockTimestamp) * 1_000).toISOString() : '',
    log.transactionHash,
    Number(log.logIndex),
    log.address,
    known?.fragment.name ?? '',
    ...own,
  ];
}

/** Events as CSV, with a column for each argument if they are all of one event. */
export function csvOf(logs, decoder, event) {
  const names = event ? event.inputs.map(argumentName) : ['arguments', 'topics', 'data'];
  const rows = logs.map((log) => csvRow(log, decoder, event));
  const lines = [[...CSV_COLUMNS, ...names], ...rows].map((row) => row.map(csvField).join(','));
  return `${lines.join('\n')}\n`;
}
