// Swaps at the vault: quotes, what decides about one, its transactions and its outcome.

import { decodeLog, topic } from './abi.js';
import { approval } from './flow.js';
import { amount } from './format.js';
import { market } from './market.js';
import { callData, member, network, read } from './network.js';
import { node } from './node.js';
import { wallets } from './wallet.js';

/** Most quotes for one exact output. */
const MOST_QUOTES = 4;

/** The vault's quote for an input. */
function quoteSwap(tokenIn, tokenOut, value) {
  const { vault } = network.addresses;
  return read('Vault', vault, 'quoteSwap', tokenIn.address, tokenOut.address, value);
}

/**
 * The least input whose output is at least `wanted`, nearly: the rate hardly depends on the amount.
 * 0 if there is none.
 */
export async function inputFor(tokenIn, tokenOut, wanted) {
  if (wanted === 0n) return 0n;
  const priceIn = market.of(tokenIn)?.price ?? 0n;
  const priceOut = market.of(tokenOut)?.price ?? 0n;
  if (priceIn === 0n) return 0n;

  const unitIn = 10n ** BigInt(tokenIn.decimals);
  const unitOut = 10n ** BigInt(tokenOut.decimals);
  let value = (wanted * priceOut * unitIn) / (priceIn * unitOut) + 1n;
  for (let attempt = 0; attempt < MOST_QUOTES; attempt++) {
    const { status, amountOut } = await quoteSwap(tokenIn, tokenOut, value);
    // The form says why there is no quote for the input.
    if (status !== 0n || amountOut === 0n || amountOut >= wanted) return value;
    value = (value * wanted) / amountOut + 1n;
  }
  return value;
}

/**
 * What decides about a swap of an amount, or of what is no amount: the vault's quote for it, the
 * account's balances and allowance, the name of a wallet on another network, and the price of gas.
 */
export async function readSwap(tokenIn, tokenOut, value) {
  const owner = wallets.current?.address;
  const { vault } = network.addresses;

  const [quote, balanceIn, balanceOut, allowed, elsewhere, gasPrice] = await Promise.all([
    typeof value === 'bigint' && value > 0n ? quoteSwap(tokenIn, tokenOut, value) : null,
    owner ? read('Token', tokenIn.address, 'balanceOf', owner) : null,
    owner ? read('Token', tokenOut.address, 'balanceOf', owner) : null,
    owner ? read('Token', tokenIn.address, 'allowance', owner, vault) : null,
    wallets.elsewhere(),
    node.call('eth_gasPrice').then(BigInt),
  ]);
  return {
    tokenIn,
    tokenOut,
    value,
    quote,
    balance: balanceIn,
    balanceOut,
    allowed,
    elsewhere,
    gasPrice,
  };
}

/** The transactions of a swap: an approval, if the vault needs one, and the swap itself. */
export async function swapSteps({ tokenIn, tokenOut, value, minimum }, account) {
  const { vault } = network.addresses;
  const data = callData(
    'Vault',
    'swapExactTokensForTokens',
    tokenIn.address,
    tokenOut.address,
    value,
    minimum,
  );
  const approving = await approval(tokenIn, account.address, vault, value);
  const swapping = {
    name: `Swap ${tokenIn.symbol} for ${tokenOut.symbol}`,
    transaction: { to: vault, data },
  };
  return [approving, swapping].filter(Boolean);
}

/** What a swap's receipt says was received, or null. */
function amountReceived(receipt) {
  const swapped = member('Vault', 'event', 'Swap');
  const log = receipt.logs.find((one) => one.topics[0] === topic(swapped));
  return log ? decodeLog(swapped, log).amountOut : null;
}

/** What a swap did, as a sentence. */
export function outcomeText({ tokenIn, tokenOut, value }, receipt) {
  const received = amountReceived(receipt);
  const out = received === null ? '' : `${amount(received, tokenOut.decimals, 8)} `;
  return `Swapped ${amount(value, tokenIn.decimals)} ${tokenIn.symbol} for ${out}${tokenOut.symbol}`;
}
