// Failures in words: errors of the network's contracts, of wallets and of the node.

import { decodeCall } from './abi.js';
import { percent, sentence } from './format.js';
import { money } from './money.js';
import { interfaces } from './knownabis.js';
import { tokenAt } from './network.js';

const symbol = (address) => tokenAt(address)?.symbol ?? 'the token';
const share = (bps) => percent(Number(bps) / 10_000);

/** Sentences by the name of a contract's error; they take its arguments. */
const SENTENCES = {
  BorrowingPowerExceeded: ({ debtUsd, borrowingPowerUsd }) =>
    `This exceeds your borrowing power by ${money(debtUsd - borrowingPowerUsd, true)}.`,
  InsufficientLiquidity: () => 'There is not enough liquidity for this amount. Try a smaller one.',
  LoanTooSmall: ({ leastLoanUsd }) => `A loan must be worth at least ${money(leastLoanUsd)}.`,
  SupplyCapExceeded: () => 'This exceeds the supply cap of the asset.',
  BorrowCapExceeded: () => 'This exceeds the borrow cap of the asset.',
  AssetPaused: ({ asset }) => `Operations on ${symbol(asset)} are paused.`,
  NothingOwed: ({ asset }) => `There is no ${symbol(asset)} debt to repay.`,
  NothingSupplied: ({ asset }) => `There is no ${symbol(asset)} supply to withdraw.`,
  NotCollateral: ({ asset }) => `The borrower’s ${symbol(asset)} is not collateral.`,
  NotLiquidatable: ({ healthFactorBps }) =>
    `This position cannot be liquidated: its health factor is ${(Number(healthFactorBps) / 10_000).toFixed(2)}.`,
  AmountTooSmall: () => 'The amount is too small.',
  ZeroAmount: () => 'Enter an amount.',
  AmountTooLarge: () => 'The amount is too large.',
  ZeroOutput: () => 'The amount is too small: nothing would be left after the fee.',
  UnsupportedAsset: () => 'The lending pool does not list this asset.',
  UnsupportedToken: () => 'The vault does not list one of the tokens.',
  SameToken: () => 'Choose two different tokens.',
  StalePrice: ({ asset }) =>
    asset ? `The price of ${symbol(asset)} is stale.` : 'The price of one of the tokens is stale.',
  TokenHalted: ({ asset, token }) =>
    `${symbol(asset ?? token)} is halted: its price has not reached that of its source yet.`,
  Paused: () => 'Trading is paused.',
  InsufficientOutputAmount: () =>
    'The price has moved by more than your slippage tolerance. Try again with the new quote.',
  PriceImpactTooHigh: ({ maxImpactBps }) =>
    `A swap may take at most ${share(maxImpactBps)} of the reserve. Try a smaller amount.`,
  ImpactWindowExceeded: ({ maxImpactBps }) =>
    `All swaps of an hour together may take at most ${share(maxImpactBps)} of the reserve. Try a smaller amount, or later.`,
  ERC20InsufficientBalance: () => 'The balance is too low.',
  ERC20InsufficientAllowance: () => 'The approval is too low for this amount. Approve it again.',
};

/** Errors of EIP-1193 providers, and of JSON-RPC as wallets use it. */
const WALLET = {
  4001: 'You rejected the request in your wallet.',
  4100: 'Your wallet has not authorised this page for the account.',
  4200: 'Your wallet does not support this request.',
  4900: 'Your wallet is disconnected.',
  4901: 'Your wallet is not connected to this network.',
  [-32002]: 'Your wallet already shows a request. Answer it first.',
};

function decoded(data) {
  const known =
    typeof data === 'string' && data.length >= 10
      ? interfaces().errors.get(data.slice(0, 10))
      : null;
  if (!known) return null;
  try {
    const values = decodeCall(known, data);
    return SENTENCES[known.name]?.(values) ?? null;
  } catch {
    return null;
  }
}

/** The revert data in an error of the node or of a wallet, which nests it. */
function dataOf(error) {
  const found = [
    error?.data,
    error?.data?.data,
    error?.data?.originalError?.data,
    error?.error?.data,
  ];
  return found.find((one) => typeof one === 'string' && one.startsWith('0x'));
}

/** A failure as a sentence. */
export function reasonOf(error) {
  const known = decoded(dataOf(error)) ?? WALLET[error?.code];
  if (known) return known;
  const text = String(error?.message ?? error).trim();
  if (/insufficient funds/i.test(text))
    return 'The account has too little of the native coin to pay for gas.';
  return sentence(text);
}
