// What a transaction did, in a sentence.

import { h } from './dom.js';
import { ofEvents, ofPrices, tokenAmount } from './eventsummary.js';
import { count, shorten } from './format.js';
import { addressLink, coins } from './links.js';
import { symbolOf, ZERO } from './movements.js';
import { nameOf } from './network.js';

/** Allowances from here on are meant to have no limit. */
const UNLIMITED = 1n << 255n;
/** Number of events that a sentence names. */
const MOST_EVENTS = 3;

/** The name and number of a non-fungible token, and how many of it. */
function item({ kind, token, value, id }, tokens) {
  const times = kind === 'ERC-1155' ? `${count(value)} × ` : '';
  const name = symbolOf(tokens, token) ?? shorten(token);
  return h('strong', `${times}${name} #${shorten(id.toString(), 12, 6)}`);
}

function ofTransfer(transfer, tokens) {
  const { kind, token, value, from, to } = transfer;
  const what = kind === 'ERC-20' ? tokenAmount(token, value, tokens) : item(transfer, tokens);
  if (from === ZERO) return ['Minted ', what, ' to ', addressLink(to)];
  if (to === ZERO) return ['Burned ', what, ' of ', addressLink(from)];
  return [addressLink(from), ' sent ', what, ' to ', addressLink(to)];
}

/** How a failed transaction ended. */
function ending(reason) {
  if (reason === 'out of gas') return ' ran out of gas';
  if (/^(reverted|failed) /.test(reason ?? '')) return ` ${reason}`;
  return [' was reverted: ', reason ?? 'for an unknown reason'];
}

function ofFailure({ to }, known, reason) {
  let what = ['the deployment of a contract'];
  if (known) what = [h('strong', known.fragment.name), ' on ', addressLink(to)];
  else if (to) what = ['the call of ', addressLink(to)];
  return [h('strong', 'Failed: '), what, ending(reason)];
}

function ofDeployment({ from }, receipt) {
  return [
    addressLink(from),
    receipt ? ' deployed the contract ' : ' deploys a contract',
    receipt && addressLink(receipt.contractAddress),
  ];
}

/** The sentences for the first events, and the number of the others. */
function joined(events) {
  const more = events.length - MOST_EVENTS;
  return [
    ...events.slice(0, MOST_EVENTS).flatMap((event, at) => (at ? ['; ', event] : [event])),
    ...(more > 0 ? [` and ${more} more`] : []),
  ];
}

/** Whether a call sets an allowance of a token, which emits an event. */
function isApproval(known, logs) {
  return (
    known?.fragment.name === 'approve' &&
    known.values.length === 2 &&
    typeof known.values[1] === 'bigint' &&
    logs.length > 0
  );
}

function ofApproval(token, [spender, value], tokens) {
  const symbol = symbolOf(tokens, token);
  if (value === 0n)
    return [
      'Revoked the allowance of ',
      addressLink(spender),
      ' for ',
      h('strong', symbol ?? shorten(token)),
    ];
  const sum =
    value >= UNLIMITED
      ? h('strong', `unlimited ${symbol ?? 'tokens'}`)
      : tokenAmount(token, value, tokens);
  return ['Approved ', addressLink(spender), ' to spend ', sum];
}

/** A transaction without call data. */
function ofCoins({ from, to, value }, receipt) {
  if (BigInt(value) === 0n && nameOf(to)) return [addressLink(from), ' called ', addressLink(to)];
  const verb = receipt ? ' sent ' : ' sends ';
  return [addressLink(from), verb, h('strong', coins(value, 18)), ' to ', addressLink(to)];
}

function ofCall({ from, to, value, input }, receipt, known, transfers) {
  const action = known ? h('strong', known.fragment.name) : h('strong.mono', input.slice(0, 10));
  return [
    addressLink(from),
    receipt ? ' called ' : ' calls ',
    action,
    ' on ',
    addressLink(to),
    BigInt(value) > 0n && [' with ', h('strong', coins(value, 18))],
    transfers.length > 1 && `, which made ${count(transfers.length)} token transfers`,
  ];
}

/**
 * The sentence as a list of texts and elements. `failure` is the decoded reason of a failed
 * transaction.
 */
export function summary({
  transaction,
  receipt,
  known,
  logs,
  decoder,
  transfers,
  tokens,
  failure,
}) {
  if (receipt?.status === '0x0') return ofFailure(transaction, known, failure);
  if (!transaction.to) return ofDeployment(transaction, receipt);

  const events = ofEvents(logs, decoder, tokens);
  if (events.length) return joined(events);
  const prices = ofPrices(logs, decoder);
  if (prices) return prices;

  if (isApproval(known, logs)) return ofApproval(transaction.to, known.values, tokens);
  const moved = transfers.filter((one) => one.token);
  if (moved.length === 1) return ofTransfer(moved[0], tokens);
  if (transaction.input === '0x') return ofCoins(transaction, receipt);
  return ofCall(transaction, receipt, known, moved);
}
