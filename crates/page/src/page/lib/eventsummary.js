// Sentences for the events of the network's own contracts: the exchange, the lending pool and the
// oracle.

import { h } from './dom.js';
import { amount, count, counted, shorten } from './format.js';
import { addressLink } from './links.js';
import { symbolOf } from './movements.js';
import { network } from './network.js';

/** The amount of a token, with its symbol. */
export function tokenAmount(address, value, tokens) {
  const info = tokens.get(address.toLowerCase());
  const name = symbolOf(tokens, address) ?? shorten(address, 8, 6);
  const digits =
    info?.decimals !== null && info?.decimals !== undefined
      ? amount(value, info.decimals, 9)
      : count(value);
  return h('strong', `${digits} ${info?.symbol ?? name}`);
}

function isOurs(address, which) {
  return network.addresses?.[which]?.toLowerCase() === address?.toLowerCase();
}

/** A sentence for each event of the exchange, given its values. */
const EXCHANGE_EVENTS = new Map([
  [
    'Swap',
    ({ tokenIn, amountIn, tokenOut, amountOut }, tokens) => [
      'Swapped ',
      tokenAmount(tokenIn, amountIn, tokens),
      ' for ',
      tokenAmount(tokenOut, amountOut, tokens),
      ' on the exchange',
    ],
  ],
  [
    'LiquidityAdded',
    (values, tokens) => [
      'Added ',
      tokenAmount(values.token, values.amount, tokens),
      ' of liquidity to the exchange',
    ],
  ],
  [
    'LiquidityRemoved',
    (values, tokens) => [
      'Removed ',
      tokenAmount(values.token, values.amount, tokens),
      ' of liquidity from the exchange',
    ],
  ],
]);

/** A sentence for an event with an asset and an amount. */
function ofAmount(verb, place) {
  return (values, tokens) => [verb, tokenAmount(values.asset, values.amount, tokens), place];
}

function ofCollateral({ enabled, asset }, tokens) {
  return [
    enabled ? 'Enabled ' : 'Disabled ',
    h('strong', symbolOf(tokens, asset) ?? shorten(asset)),
    ' as collateral',
  ];
}

function ofLiquidation(values, tokens) {
  const { borrower, debtAsset, repaid, collateralAsset, seized, fee, inKind } = values;
  return [
    'Liquidated ',
    addressLink(borrower),
    ': repaid ',
    tokenAmount(debtAsset, repaid, tokens),
    ', received ',
    tokenAmount(collateralAsset, seized - fee, tokens),
    inKind && ' as a supply',
    '; the treasury kept ',
    tokenAmount(collateralAsset, fee, tokens),
  ];
}

/** A sentence for each event of the lending pool, given its values. */
const LENDING_EVENTS = new Map([
  ['Deposit', ofAmount('Supplied ', ' to the lending pool')],
  ['Withdraw', ofAmount('Withdrew ', ' from the lending pool')],
  ['Borrow', ofAmount('Borrowed ', ' on the lending pool')],
  ['Repay', ofAmount('Repaid ', ' on the lending pool')],
  ['CollateralSet', ofCollateral],
  ['Liquidation', ofLiquidation],
]);

/** The sentences for an address's events by their names. */
function sentencesOf(address) {
  if (isOurs(address, 'vault')) return EXCHANGE_EVENTS;
  if (isOurs(address, 'lendingPool')) return LENDING_EVENTS;
  return new Map();
}

/** Sentences for the events of the exchange and the lending pool. */
export function ofEvents(logs, decoder, tokens) {
  return logs.flatMap((log) => {
    const known = decoder.log(log);
    const sentence = known && sentencesOf(log.address).get(known.fragment.name);
    return sentence ? [sentence(known.values, tokens)] : [];
  });
}

/** The sentence for updated prices, or null. */
export function ofPrices(logs, decoder) {
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
