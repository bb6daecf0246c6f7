// What a transaction did, or why it failed.

import { h } from '../lib/dom.js';
import { failedPath } from '../lib/execution.js';
import { count, counted } from '../lib/format.js';
import { addressLink, coins } from '../lib/links.js';
import { summary } from '../lib/summary.js';
import { callName, knownCall } from './calltree.js';

/** A call as its contract and its function. */
function callTitle(call, decoder) {
  return [
    call.to && [addressLink(call.to), '.'],
    h('strong', callName(call, knownCall(call, decoder))),
  ];
}

/** Where a failure began, if that was in a call inside the transaction. */
function origin(trace, decoder) {
  const path = trace ? failedPath(trace) : [];
  const call = path.at(-1);
  if (path.length < 2 || !call.to) return null;
  return [', in ', callTitle(call, decoder)];
}

/** What a Cosmos transaction transferred; null if nothing. */
function cosmosSentence(transfers) {
  if (!transfers.length) return null;
  const [{ from, to, value }] = transfers;
  return h(
    'p.happened',
    addressLink(from),
    ' sent ',
    h('strong', coins(value, 18)),
    ' to ',
    addressLink(to),
    transfers.length > 1 && ` and made ${transfers.length - 1} more transfers`,
  );
}

/** What a transaction did, as a sentence, or why it failed. */
export function outcomeSentence(details) {
  const { receipt, cosmos, transfers, trace, decoder } = details;
  if (cosmos) return cosmosSentence(transfers);

  const sentence = summary({ ...details, failure: details.reason });
  return receipt?.status === '0x0'
    ? h('p.failure', sentence, origin(trace, decoder))
    : h('p.happened', sentence);
}

/**
 * Calls inside a successful transaction that failed, which its outcome does not show; null without
 * any.
 */
export function caughtNote({ transaction, caught, decoder }) {
  if (!caught.number) return null;

  const number = counted(caught.number, 'inner call failed', 'inner calls failed');
  const rest = caught.number - caught.first.length;
  return h(
    'div.note.caught',
    h(
      'p',
      `${number}, and the caller went on. `,
      h('a', { href: `#/tx/${transaction.hash}?tab=calls` }, 'Show the calls'),
    ),
    h(
      'ul.plain',
      caught.first.map(({ call, reason }) => h('li', callTitle(call, decoder), ': ', reason)),
    ),
    rest > 0 && h('p', `and ${count(rest)} more`),
  );
}
