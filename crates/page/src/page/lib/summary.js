// What a transaction did, in a sentence.

import { h } from './dom.js';
import { amount, count, counted, shorten } from './format.js';
import { addressLink, coins } from './links.js';
import { nameOf, network } from './network.js';
import { symbolOf, ZERO } from './movements.js';

const UNLIMITED = 1n << 255n;

function token(address, value, tokens) {
  const info = tokens.get(address.toLowerCase());
  const name = symbolOf(tokens, address) ?? shorten(address, 8, 6);
  const digits =
    info?.decimals !== null && info?.decimals !== undefined
      ? amount(value, info.decimals, 9)
      : count(value);
  return h('strong', `${digits} ${info?.symbol ?? name}`);
}

const isOurs = (address, which) =>
  network.addresses?.[which]?.toLowerCase() === address?.toLowerCase();

/** Sentences for the events of the exchange and the lending pool. */
function ofEvents(logs, decoder, tokens) {
  const found = [];
  for (const log of logs) {
    const known = decoder.log(log);
    if (!known) continue;
    const {
      fragment: { name },
      values,
    } = known;
    if (isOurs(log.address, 'vault')) {
      if (name === 'Swap')
        found.push([
          'Swapped ',
          token(values.tokenIn, values.amountIn, tokens),
          ' for ',
          token(values.tokenOut, values.amountOut, tokens),
          ' on the exchange',
        ]);
      if (name === 'LiquidityAdded')
        found.push([
          'Added ',
          token(values.token, values.amount, tokens),
          ' of liquidity to the exchange',
        ]);
      if (name === 'LiquidityRemoved')
        found.push([
          'Removed ',
          token(values.token, values.amount, tokens),
          ' of liquidity from the exchange',
        ]);
    }
    if (isOurs(log.address, 'lendingPool')) {
      const past = {
        Deposit: 'Supplied ',
        Withdraw: 'Withdrew ',
        Borrow: 'Borrowed ',
        Repay: 'Repaid ',
      }[name];
      if (past)
        found.push([
          past,
          token(values.asset, values.amount, tokens),
          name === 'Withdraw'
            ? ' from the lending pool'
            : name === 'Deposit'
              ? ' to the lending pool'
              : ' on the lending pool',
        ]);
      if (name === 'CollateralSet')
        found.push([
          values.enabled ? 'Enabled ' : 'Disabled ',
          h('strong', symbolOf(tokens, values.asset) ?? shorten(values.asset)),
          ' as collateral',
        ]);
      if (name === 'Liquidation')
        found.push([
          'Liquidated ',
          addressLink(values.borrower),
          ': repaid ',
          token(values.debtAsset, values.repaid, tokens),
          ', received ',
          token(values.collateralAsset, values.seized - values.fee, tokens),
          values.inKind && ' as a supply',
          '; the treasury kept ',
          token(values.collateralAsset, values.fee, tokens),
        ]);
    }
  }
  return found;
}

function ofPrices(logs, decoder) {
  const updated = logs.filter(
    (log) => isOurs(log.address, 'oracle') && decoder.log(log)?.fragment.name === 'PriceUpdated',
  ).length;
  return updated
    ? [
        `Updated ${updated === 1 ? 'the price' : 'the prices'} of `,
        h('strong', counted(updated, 'token')),
        ' in the oracle',
      ]
    : null;
}

function ofTransfer(one, tokens) {
  const what =
    one.kind === 'ERC-20'
      ? token(one.token, one.value, tokens)
      : h(
          'strong',
          `${one.kind === 'ERC-1155' ? `${count(one.value)} × ` : ''}${symbolOf(tokens, one.token) ?? shorten(one.token)} #${shorten(one.id.toString(), 12, 6)}`,
        );
  if (one.from === ZERO) return ['Minted ', what, ' to ', addressLink(one.to)];
  if (one.to === ZERO) return ['Burned ', what, ' of ', addressLink(one.from)];
  return [addressLink(one.from), ' sent ', what, ' to ', addressLink(one.to)];
}

function ofFailure(transaction, known, reason) {
  const what = known
    ? [h('strong', known.fragment.name), ' on ', addressLink(transaction.to)]
    : transaction.to
      ? ['the call of ', addressLink(transaction.to)]
      : ['the deployment of a contract'];
  return [
    h('strong', 'Failed: '),
    what,
    reason === 'out of gas'
      ? ' ran out of gas'
      : /^(reverted|failed) /.test(reason ?? '')
        ? ` ${reason}`
        : [' was reverted: ', reason ?? 'for an unknown reason'],
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
  const { from, to, value } = transaction;
  if (receipt?.status === '0x0') return ofFailure(transaction, known, failure);
  if (!to)
    return [
      addressLink(from),
      receipt ? ' deployed the contract ' : ' deploys a contract',
      receipt && addressLink(receipt.contractAddress),
    ];
  const events = ofEvents(logs, decoder, tokens);
  if (events.length)
    return events
      .slice(0, 3)
      .flatMap((one, at) => (at ? ['; ', one] : [one]))
      .concat(events.length > 3 ? [` and ${events.length - 3} more`] : []);
  const prices = ofPrices(logs, decoder);
  if (prices) return prices;
  const values = known?.values;
  if (
    known?.fragment.name === 'approve' &&
    values.length === 2 &&
    typeof values[1] === 'bigint' &&
    logs.length
  ) {
    if (values[1] === 0n)
      return [
        'Revoked the allowance of ',
        addressLink(values[0]),
        ' for ',
        h('strong', symbolOf(tokens, to) ?? shorten(to)),
      ];
    const sum =
      values[1] >= UNLIMITED
        ? h('strong', `unlimited ${symbolOf(tokens, to) ?? 'tokens'}`)
        : token(to, values[1], tokens);
    return ['Approved ', addressLink(values[0]), ' to spend ', sum];
  }
  const moved = transfers.filter((one) => one.token);
  if (moved.length === 1) return ofTransfer(moved[0], tokens);
  if (transaction.input === '0x') {
    const verb = receipt ? ' sent ' : ' sends ';
    return BigInt(value) > 0n || !nameOf(to)
      ? [addressLink(from), verb, h('strong', coins(value, 18)), ' to ', addressLink(to)]
      : [addressLink(from), ' called ', addressLink(to)];
  }
  const action = known
    ? h('strong', known.fragment.name)
    : h('strong.mono', transaction.input.slice(0, 10));
  return [
    addressLink(from),
    receipt ? ' called ' : ' calls ',
    action,
    ' on ',
    addressLink(to),
    BigInt(value) > 0n && [' with ', h('strong', coins(value, 18))],
    moved.length > 1 && `, which made ${count(moved.length)} token transfers`,
  ];
}
