// Figures of a swap.

/** Basis points in 100 %. */
const WHOLE = 10_000n;

/** The minimum output at a slippage tolerance in per cent. */
export function minimumOutput(amountOut, slippage) {
  return (amountOut * (WHOLE - BigInt(Math.round(slippage * 100)))) / WHOLE;
}

/** A rate with about five significant digits. */
export function rateText(rate) {
  if (!Number.isFinite(rate) || rate <= 0) return '–';
  return rate >= 1
    ? rate.toLocaleString('en', { maximumFractionDigits: rate >= 1_000 ? 2 : 4 })
    : rate.toLocaleString('en', { maximumSignificantDigits: 5, maximumFractionDigits: 18 });
}

/** A slippage tolerance in per cent from text: between 0 and 50, with at most two decimals. */
export function parseSlippage(text) {
  const number = Number(text.trim().replace(',', '.').replace(/%$/, ''));
  if (!text.trim() || !(number >= 0) || number > 50 || Math.round(number * 100) / 100 !== number)
    throw new Error('Enter a slippage tolerance between 0 and 50%, with at most two decimals.');
  return number;
}
