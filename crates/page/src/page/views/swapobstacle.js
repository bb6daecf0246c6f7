// Why a swap is not possible, and what its button does instead.

import { market } from '../lib/market.js';
import { wallets } from '../lib/wallet.js';
import { withoutAccount } from './start.js';

/**
 * Why the vault rejects a swap, by quote status: the label of the button, and a sentence if the
 * label does not say it all.
 */
const REFUSALS = [
  null,
  ['Trading is paused'],
  ['Choose two different tokens'],
  ['Token not listed', 'The vault does not list one of the tokens.'],
  ['Enter an amount'],
  ['Amount too large'],
  ['Price is stale', 'The price of one of the tokens is stale.'],
  ['Amount too small', 'The amount is too small: nothing would be left after the fee.'],
  null,
  [
    'Insufficient liquidity',
    'The vault holds too little of the token to receive. Try a smaller amount.',
  ],
  [
    'Share of the reserve too large',
    'A swap may take at most 10% of the reserve. Try a smaller amount, or several swaps.',
  ],
  [
    'Share of the reserve too large',
    'Recent swaps have used up the limit of this hour. Try a smaller amount, or later.',
  ],
  [
    'Token is halted',
    'One of the tokens is halted: its price has not reached that of its source yet.',
  ],
];

/** The first reason for which the market does not trade the tokens, or null. */
function marketObstacle(tokens) {
  if (market.paused)
    return { label: 'Trading is paused', text: 'The owner of the vault has paused trading.' };

  for (const token of tokens) {
    const found = market.obstacle(token);
    if (found) return { label: `${token.symbol} is ${found.kind.toLowerCase()}`, text: found.text };
  }
  return null;
}

/** The first reason for which the active account cannot act on this network, or null. */
function accountObstacle(elsewhere) {
  if (!wallets.current) return withoutAccount();

  if (elsewhere)
    return {
      label: 'Switch network',
      text: `${elsewhere} is on another network.`,
      act: () => wallets.switchNetwork(),
    };
  return null;
}

/** The first reason for which this amount cannot be swapped, or null. */
function amountObstacle({ tokenIn, value, quote, balance }) {
  if (value instanceof Error) return { label: 'Enter a valid amount', text: value.message };
  if (value === 0n) return { label: 'Enter an amount' };
  if (balance !== null && value > balance)
    return { label: `Insufficient ${tokenIn.symbol} balance` };

  const refusal = quote && REFUSALS[Number(quote.status)];
  return refusal ? { label: refusal[0], text: refusal[1] } : null;
}

/**
 * The first reason for which a swap is not possible now: the button's label, a sentence, and what
 * the button does instead; null if it is possible.
 */
export function swapObstacle(swap) {
  return (
    marketObstacle([swap.tokenIn, swap.tokenOut]) ??
    accountObstacle(swap.elsewhere) ??
    amountObstacle(swap)
  );
}
