// What a quote says of a swap: rate, share of the reserve, fees and the least that is received.

import { facts, h, replace, setText } from '../lib/dom.js';
import { amount, percent } from '../lib/format.js';
import { coins } from '../lib/links.js';
import { market } from '../lib/market.js';
import { dollars, USD_DECIMALS } from '../lib/money.js';
import { minimumOutput, rateText } from '../lib/trading.js';

/** Gas of the first swap of two tokens, and of an approval before it; later swaps take less. */
const SWAP_GAS = 112_000n;
const APPROVAL_GAS = 46_000n;

/** The value of an amount in dollars; not a number without a price. */
export function worth(value, token) {
  const price = Number(market.of(token)?.price ?? 0n) / 10 ** USD_DECIMALS;
  return price ? (Number(value) / 10 ** token.decimals) * price : value ? NaN : 0;
}

/** How much of one token is one of the other. */
function rateOf({ value, quote, tokenIn, tokenOut }, isInverted) {
  const rate =
    Number(quote.amountOut) / 10 ** tokenOut.decimals / (Number(value) / 10 ** tokenIn.decimals);
  return isInverted
    ? `1 ${tokenOut.symbol} = ${rateText(1 / rate)} ${tokenIn.symbol}`
    : `1 ${tokenIn.symbol} = ${rateText(rate)} ${tokenOut.symbol}`;
}

/**
 * `{ element, draw }`; `draw` takes `{ value, quote, allowed, gasPrice, tokenIn, tokenOut }`, or
 * null without a quote. `slippage` returns the tolerance in per cent.
 */
export function quoteDetails(slippage) {
  const element = h('div');
  let shown = null;
  let isInverted = false;
  // It stays, as drawing it anew would take the focus away from it.
  const flip = h('button.link-button', {
    type: 'button',
    title: 'Show the rate the other way round',
    onclick: () => {
      isInverted = !isInverted;
      draw(shown);
    },
  });

  function draw(quoted) {
    shown = quoted;
    if (!quoted) return void replace(element);
    const { value, quote, allowed, gasPrice, tokenOut } = quoted;
    const share = Number(quote.impactBps) / 10_000;
    const gas = allowed !== null && value > allowed ? SWAP_GAS + APPROVAL_GAS : SWAP_GAS;
    const isFocused = document.activeElement === flip;

    setText(flip, rateOf(quoted, isInverted));
    replace(
      element,
      facts([
        ['Rate', flip],
        [
          'Share of the reserve',
          h(share > 0.05 ? 'span.warn' : 'span', percent(share)),
          h('span.soft', ' of at most 10%'),
        ],
        [
          'Fee (0.30%)',
          `${amount(quote.fee, tokenOut.decimals, 6)} ${tokenOut.symbol}`,
          h('span.soft', ` ${dollars(worth(quote.fee, tokenOut))}`),
        ],
        ['Network cost', `about ${coins(gasPrice * gas, 3)}`],
        [
          'Minimum received',
          `${amount(minimumOutput(quote.amountOut, slippage()), tokenOut.decimals, 9)} ${tokenOut.symbol}`,
        ],
      ]),
      h(
        'p.soft',
        'The rate is the oracle’s price less the fee, whatever the amount. Only the share of the reserve that a swap takes is limited.',
      ),
    );
    if (isFocused) flip.focus();
  }
  return { element, draw };
}
