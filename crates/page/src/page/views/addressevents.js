// The tab of the events of a contract.

import { blockCell, hashLink } from '../lib/cells.js';
import { timeCell } from '../lib/clock.js';
import { h } from '../lib/dom.js';
import { count, shorten } from '../lib/format.js';
import { argumentOf, argumentsOf } from '../lib/links.js';
import { pagedList } from '../lib/lists.js';
import { explainLog } from '../lib/network.js';
import { node } from '../lib/node.js';
import { contractLogs } from '../lib/pages.js';
import { ROWS } from '../lib/scan.js';
import { SEARCHED } from './transfers.js';

const EVENT_COLUMNS = [
  {
    title: 'Event',
    phone: 'line-1',
    cell: (row) => h('span.tag.accent.clip', { title: row.signature }, row.name),
    csv: (row) => row.name,
  },
  {
    title: 'Transaction hash',
    phone: 'line-1',
    cell: (row) => hashLink(row.hash),
    csv: (row) => row.hash,
  },
  { title: 'Block', cell: (row) => blockCell(row.block), csv: (row) => row.block },
  {
    title: 'Age',
    time: true,
    phone: 'line-1.end',
    cell: (row) => timeCell(row.time),
    csv: (row) => (row.time ? new Date(row.time * 1_000).toISOString() : ''),
  },
  { title: 'Arguments', phone: 'line-2.whole', cell: (row) => row.body, csv: (row) => row.text },
];

/** A table of names and values, from pairs of a name and a cell. */
function pairsTable(pairs) {
  const rows = pairs.map(([name, text]) => h('tr', h('td', name), h('td.mono', text)));
  return h('table.arguments', h('tbody', rows));
}

function argumentDetails(line, content) {
  return h('details', h('summary.clip.long', line || 'None'), content);
}

/** What is shown of an event whose ABI the page has. */
function knownEvent(known, log) {
  const { name, inputs } = known.fragment;
  const line = inputs
    .map((input, at) => `${input.name}: ${argumentOf(known, at, log.address).textContent}`)
    .join(', ');
  return {
    name,
    signature: '',
    text: inputs.map((input, at) => `${input.name}=${known.values[at]}`).join(' '),
    body: argumentDetails(line, argumentsOf(known, log.address)),
  };
}

/** What is shown of an event that the index has decoded. */
function decodedEvent({ method_call: signature, parameters }) {
  const text = parameters.map(({ name, value }) => `${name}=${value}`).join(' ');
  const pairs = parameters.map(({ name, value }) => [name, String(value)]);
  return {
    name: signature.split('(')[0],
    signature,
    text,
    body: argumentDetails(text, pairsTable(pairs)),
  };
}

/** What is shown of an event that nobody knows: its topics and data. */
function rawEvent({ topics, data }) {
  const signature = topics[0] ?? 'anonymous';
  const pairs = [
    ...topics.map((topic, at) => [`topic ${at}`, topic]),
    ['data', shorten(data, 130, 10)],
  ];
  return {
    name: shorten(signature, 10, 0),
    signature,
    text: data,
    body: h(
      'details',
      h('summary', `${topics.length} topics, ${count(data.length / 2 - 1)} bytes`),
      pairsTable(pairs),
    ),
  };
}

/** A log with its event's arguments. */
async function eventRow(row) {
  const known = await explainLog(row.log);
  if (known) return { ...row, ...knownEvent(known, row.log) };
  return { ...row, ...(row.decoded ? decodedEvent(row.decoded) : rawEvent(row.log)) };
}

/** The logs of recent blocks, without the index; the cursor is the number of those before. */
async function recentLogs(address, cursor) {
  const fromBlock = `0x${Math.max(0, Number(node.head?.number ?? 0) - SEARCHED).toString(16)}`;
  const logs = (await node.call('eth_getLogs', { address, fromBlock })).toReversed();

  const start = cursor ?? 0;
  const end = start + ROWS;
  const rows = logs.slice(start, end).map((log) => ({
    hash: log.transactionHash,
    block: Number(log.blockNumber),
    index: Number(log.logIndex),
    time: log.blockTimestamp ? Number(log.blockTimestamp) : null,
    log,
    decoded: null,
  }));
  return { rows, next: end < logs.length ? end : null };
}

export function eventTab(address, hasIndex) {
  const load = async (cursor) => {
    const page = await (hasIndex ? contractLogs(address, cursor) : recentLogs(address, cursor));
    return { ...page, rows: await Promise.all(page.rows.map(eventRow)) };
  };
  return (signal) =>
    pagedList({
      signal,
      label: 'Events',
      columns: EVENT_COLUMNS,
      load,
      empty: 'No events',
      live: true,
      csv: `events-${address}`,
    });
}
