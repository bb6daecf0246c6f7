// What a simulation did, beside what the transaction did of which it is a change.

import { decoderFor } from '../lib/decoder.js';
import { card, h } from '../lib/dom.js';
import { addressesIn } from '../lib/execution.js';
import { reasonOfOutcome } from '../lib/failures.js';
import { count } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { coinTransfers, tokensOf, tokenTransfers } from '../lib/movements.js';
import { callTree, resultsOf } from './calltree.js';
import { eventList, hexBlock, movementAmount } from './parts.js';
import { addressesInLogs, stateChanges } from './statechanges.js';

/** Most transfers, and names of events, that are listed. */
const MOST_TRANSFERS = 20;
const MOST_NAMES = 8;

/** The transfers of an outcome; those of coins are known from its trace only. */
function transfersOf({ trace, logs }) {
  return [...(trace ? coinTransfers(trace) : []), ...tokenTransfers(logs)];
}

function transferList(transfers, tokens) {
  const rest = transfers.length - MOST_TRANSFERS;
  return h(
    'ul.plain.moves',
    transfers
      .slice(0, MOST_TRANSFERS)
      .map((one) =>
        h(
          'li',
          movementAmount(one, tokens),
          h('span.soft', ' from '),
          addressLink(one.from),
          h('span.soft', ' to '),
          addressLink(one.to),
        ),
      ),
    rest > 0 && h('li.soft', `and ${count(rest)} more`),
  );
}

/** What a successful call returned. */
function returnedValues({ output }, call, decoder) {
  if (output === null) return h('span.soft', 'Unknown');

  const known = call.to ? decoder.call(call.to, call.data) : null;
  const values = known && decoder.result(known.fragment, output);
  if (values) return resultsOf(known.fragment, values, call.to);
  return output === '0x' ? h('span.soft', 'Nothing') : hexBlock(output);
}

/** The number of events and their names. */
function eventNames(logs, decoder) {
  if (!logs.length) return 'None';
  const names = logs.map((log) => decoder.log(log)?.fragment.name ?? 'unknown');
  return `${count(names.length)}: ${[...new Set(names)].slice(0, MOST_NAMES).join(', ')}`;
}

/**
 * The rows of the comparison: name, the cell of an outcome, a text by which two outcomes are
 * compared, and a number whose difference is shown.
 */
async function comparedRows(outcome, call, decoder, tokens) {
  if (!outcome) return null;
  const { status, output, gasUsed, logs } = outcome;
  const none = () => h('span.soft', '–');
  const transfers = transfersOf(outcome);

  return [
    {
      name: 'Status',
      cell: h(status ? 'span.tag.good' : 'span.tag.bad', status ? 'Success' : 'Failed'),
      text: String(status),
    },
    {
      name: 'Reason',
      cell: status ? none() : await reasonOfOutcome(outcome, decoder, call),
      text: `${status}${output}`,
    },
    {
      name: 'Returned',
      cell: status ? returnedValues(outcome, call, decoder) : none(),
      text: status ? output : '',
    },
    {
      name: 'Gas used',
      cell: count(Number(gasUsed)),
      text: String(gasUsed),
      number: Number(gasUsed),
    },
    {
      name: 'Events',
      cell: eventNames(logs, decoder),
      text: JSON.stringify(logs.map(({ address, topics, data }) => [address, topics, data])),
    },
    {
      name: 'Transfers',
      cell: transfers.length ? transferList(transfers, tokens) : 'None',
      text: JSON.stringify(transfers.map((one) => Object.values(one).map(String))),
    },
  ];
}

/** A row of the table; `then` is that of the transaction, if there is one. */
function comparedRow(now, then) {
  const isChanged = then && then.text !== now.text;
  const difference = isChanged && now.number !== undefined ? now.number - then.number : 0;
  const sign = difference > 0 ? '+' : '−';
  return h(
    isChanged ? 'tr.changed' : 'tr',
    h('td', now.name),
    then && h('td', then.cell),
    h(
      'td',
      now.cell,
      difference !== 0 && h('span.soft', ` (${sign}${count(Math.abs(difference))})`),
      isChanged && h('span.hidden', ' (changed)'),
    ),
  );
}

/** The table of both outcomes; `then` is null without a transaction. */
function resultCard(now, then) {
  const isSame = then && now.every(({ text }, at) => then[at].text === text);
  const head = h(
    'tr',
    h('td'),
    then && h('th', { scope: 'col' }, 'Original'),
    h('th', { scope: 'col' }, 'Simulated'),
  );
  const rows = now.map((row, at) => comparedRow(row, then?.[at]));
  return card(
    'Result',
    isSame && h('p.note', 'The simulation did exactly what the transaction did.'),
    h(
      'div.scroll',
      { tabindex: '0', role: 'group', 'aria-label': 'Result' },
      h('table.compare', h('thead', head), h('tbody', rows)),
    ),
  );
}

/** A part of the simulation, beside that of the transaction if there is one. */
function besideCard(title, outcome, past, make) {
  if (!past) return card(title, make(outcome));
  return card(
    title,
    h(
      'div.grid.two',
      h('div.stack', h('h3', 'Original'), make(past)),
      h('div.stack', h('h3', 'Simulated'), make(outcome)),
    ),
  );
}

/** The state that a simulation changed. */
function diffCard({ diff, logs, trace }, call) {
  const keys = [call.from, call.to, ...addressesInLogs(logs), ...addressesIn(trace)];
  return card('State changes of the simulation', stateChanges(diff, keys.filter(Boolean)));
}

/** The decoder of all that two executions called and logged; `past` may be null. */
function decoderOf(outcome, past, recipients) {
  const logs = [...outcome.logs, ...(past?.logs ?? [])];
  return decoderFor([
    ...recipients,
    ...logs.map((log) => log.address),
    ...addressesIn(outcome.trace),
    ...addressesIn(past?.trace),
  ]);
}

/**
 * The cards of a simulation's outcome; `original` is the transaction of which it is a change, with
 * its own outcome, or null.
 */
export async function comparison(outcome, original, call) {
  const past = original?.outcome ?? null;
  const decoder = await decoderOf(outcome, past, [call.to, original?.transaction.to]);
  const tokens = await tokensOf([outcome, past].filter(Boolean).flatMap(transfersOf));

  const before = original && { to: original.transaction.to, data: original.transaction.input };
  const [now, then] = await Promise.all([
    comparedRows(outcome, call, decoder, tokens),
    comparedRows(past, before, decoder, tokens),
  ]);

  const tree = (one) => {
    if (!one.trace) return h('p.soft', 'The node does not trace calls.');
    const other = one === outcome ? (past?.trace ?? null) : null;
    return callTree(one.trace, decoder, { other }).element;
  };
  return [
    resultCard(now, then),
    besideCard('Events', outcome, past, (one) => eventList(one.logs, decoder)),
    besideCard('Call tree', outcome, past, tree),
    outcome.diff && diffCard(outcome, call),
  ];
}
