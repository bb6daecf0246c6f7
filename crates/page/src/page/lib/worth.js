// Values of amounts of tokens in dollars.

import { network } from './network.js';
import { prices } from './prices.js';

/**
 * The network's token whose price counts for a token: itself, or what a receipt token stands for.
 */
function pricedToken(address) {
  const wanted = address.toLowerCase();
  const same = (token) => token.address.toLowerCase() === wanted;
  const receipt = (network.receipts ?? []).findIndex(same);
  return receipt >= 0 ? network.tokens[receipt] : (network.tokens.find(same) ?? null);
}

/** The price of a token in dollars, or null. */
export function priceOf(address) {
  const asset = pricedToken(address);
  return (asset && prices.of(asset.address)?.price) ?? null;
}

/** The value of an amount of a token in dollars, or null. */
export function worthOf(value, decimals, address) {
  const price = priceOf(address);
  return price === null ? null : (Number(value) / 10 ** decimals) * price;
}
