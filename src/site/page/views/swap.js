// The swap form.

import { card, facts, failure, h, icon, replace, setText, toast } from '../lib/dom.js';
import { amount, fromUnits, percent, toUnits, usd } from '../lib/format.js';
import { callData, network, read } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { prices } from '../lib/prices.js';
import { wallets } from '../lib/wallet.js';

/** Reasons for which the vault rejects a swap, by quote status. */
const REFUSALS = [
  null,
  'Trading is paused.',
  'Choose two different tokens.',
  'One of the tokens is not supported by the vault.',
  null,
  'The amount is too large.',
  'The oracle price is stale.',
  'The output after the fee would be zero.',
  null,
  'Insufficient liquidity for this trade.',
  'Price impact too high: a swap may take at most 10% of the reserve. Try a smaller amount.',
  'Recent swaps have used up the price impact limit. Try a smaller amount, or try again later.',
  'One of the tokens is halted: its price is catching up with its source. Try again in a few seconds.',
];

/** Approves a spender for an amount of a token, unless its allowance already suffices. */
export async function approve(token, spender, value) {
  const allowed = await read('Token', token.address, 'allowance', wallets.current.address, spender);
  if (allowed >= value) return;
  toast(`Approving ${token.symbol}…`);
  await wallets.send({ to: token.address, data: callData('Token', 'approve', spender, value) });
}

function side(name, input) {
  const select = h('select', { 'aria-label': `Token to ${name === 'Pay' ? 'pay with' : 'receive'}` }, network.tokens.map((token) => h('option', { value: token.symbol }, token.symbol)));
  const balance = h('button.link-button', { type: 'button', title: 'Use full balance' });
  const worth = h('span');
  return { select, balance, worth, element: h('div.swap-side', h('div.what', h('span', name), balance), input, select, h('div.below', worth)) };
}

/** The card, and `buy(token)`, which selects the token to receive. */
export function swapCard(signal, from, to) {
  const input = h('input', { inputmode: 'decimal', placeholder: '0', autocomplete: 'off', 'aria-label': 'Amount to pay' });
  const output = h('output', { 'aria-label': 'Amount to receive' }, '0');
  const [pay, get] = [side('Pay', input), side('Receive', output)];
  const turn = h('button.swap-turn', { type: 'button', 'aria-label': 'Switch tokens', title: 'Switch tokens' }, icon('swap'));
  const slippage = h('select', { 'aria-label': 'Slippage tolerance' }, ['0.1', '0.5', '1', '3'].map((value) => h('option', { value, selected: value === '0.5' }, `${value}%`)));
  const details = h('div');
  const problem = h('div', { 'aria-live': 'polite' });
  const submit = h('button.primary.wide', { type: 'submit' }, 'Swap');
  const form = h('form.stack', pay.element, turn, get.element, details, problem, submit);
  const state = { from, to, quote: null, balance: null, busy: false };
  [pay.select.value, get.select.value] = [from.symbol, to.symbol];

  const typed = () => {
    try {
      return input.value.trim() ? fromUnits(input.value, state.from.decimals) : 0n;
    } catch (error) {
      return error;
    }
  };
  const dollars = (value, token) => {
    const price = prices.of(token.address)?.price;
    return price ? usd((Number(value) / 10 ** token.decimals) * price) : '';
  };

  let turnOf = 0;
  async function draw() {
    if (state.busy) return;
    const mine = ++turnOf;
    const value = typed();
    const who = wallets.current?.address;
    const { from: tokenIn, to: tokenOut } = state;
    const { vault } = network.addresses;
    try {
      const [quote, balance, other, allowed] = await Promise.all([
        typeof value === 'bigint' && value > 0n ? read('Vault', vault, 'quoteSwap', tokenIn.address, tokenOut.address, value) : null,
        who ? read('Token', tokenIn.address, 'balanceOf', who) : null,
        who ? read('Token', tokenOut.address, 'balanceOf', who) : null,
        who ? read('Token', tokenIn.address, 'allowance', who, vault) : null,
      ]);
      if (mine !== turnOf || signal.aborted || state.busy) return;
      show({ value, quote, balance, other, allowed });
    } catch (error) {
      if (mine === turnOf && !signal.aborted) replace(problem, failure(error));
    }
  }

  function show({ value, quote, balance, other, allowed }) {
    const { from: tokenIn, to: tokenOut } = state;
    Object.assign(state, { quote, balance });
    setText(pay.balance, balance === null ? '' : `Balance ${amount(balance, tokenIn.decimals, 7)}`);
    setText(get.balance, other === null ? '' : `Balance ${amount(other, tokenOut.decimals, 7)}`);
    const ok = quote?.status === 0n;
    setText(output, ok ? amount(quote.amountOut, tokenOut.decimals, 9) : '0');
    setText(pay.worth, typeof value === 'bigint' && value > 0n ? dollars(value, tokenIn) : ' ');
    setText(get.worth, ok ? dollars(quote.amountOut, tokenOut) : ' ');
    const least = ok ? minimum(quote.amountOut) : 0n;
    const rate = ok ? (Number(quote.amountOut) / 10 ** tokenOut.decimals) / (Number(value) / 10 ** tokenIn.decimals) : 0;
    replace(details, ok && facts([
      ['Rate', `1 ${tokenIn.symbol} = ${rate >= 1 ? rate.toLocaleString('en', { maximumFractionDigits: 4 }) : rate.toPrecision(5)} ${tokenOut.symbol}`],
      ['Fee (0.30%)', `${amount(quote.fee, tokenOut.decimals, 7)} ${tokenOut.symbol}`],
      ['Price impact', h(quote.impactBps > 500n ? 'span.warn' : 'span', { title: 'Share of the output reserve' }, percent(Number(quote.impactBps) / 10_000))],
      ['Minimum received', h('span.row', `${amount(least, tokenOut.decimals, 9)} ${tokenOut.symbol}`)],
    ]));
    const wrong = value instanceof Error ? value.message : quote && !ok ? (REFUSALS[Number(quote.status)] ?? null) : null;
    replace(problem, wrong && h('p.failure', wrong));
    const short = balance !== null && typeof value === 'bigint' && value > balance;
    const needsApproval = allowed !== null && typeof value === 'bigint' && value > allowed;
    submit.disabled = !ok || short || !wallets.current;
    setText(submit, !wallets.current ? 'Choose an account' : short ? `Insufficient ${tokenIn.symbol} balance` : !ok ? 'Enter an amount' : needsApproval ? `Approve ${tokenIn.symbol} and swap` : 'Swap');
  }

  const minimum = (out) => (out * BigInt(10_000 - Math.round(Number(slippage.value) * 100))) / 10_000n;

  function choose(change) {
    const before = { from: state.from, to: state.to };
    Object.assign(state, change);
    // Choosing the token of the other side switches the two.
    if (state.from === state.to) Object.assign(state, change.from ? { to: before.from } : { from: before.to });
    [pay.select.value, get.select.value] = [state.from.symbol, state.to.symbol];
    draw();
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const value = typed();
    if (state.busy || typeof value !== 'bigint' || state.quote?.status !== 0n) return;
    const { from: tokenIn, to: tokenOut, quote } = state;
    const { vault } = network.addresses;
    state.busy = submit.disabled = true;
    setText(submit, 'Swapping…');
    try {
      await approve(tokenIn, vault, value);
      const data = callData('Vault', 'swapExactTokensForTokens', tokenIn.address, tokenOut.address, value, minimum(quote.amountOut));
      const receipt = await wallets.send({ to: vault, data });
      toast(`Swapped ${amount(value, tokenIn.decimals)} ${tokenIn.symbol} for ${tokenOut.symbol}`, 'good', { href: `#/tx/${receipt.transactionHash}`, text: 'View transaction' });
      input.value = '';
    } catch (error) {
      toast(error.message ?? 'The wallet rejected the request', 'error');
      replace(problem, failure(error));
    }
    state.busy = false;
    draw();
  });
  input.addEventListener('input', draw);
  slippage.addEventListener('change', draw);
  turn.addEventListener('click', () => choose({ from: state.to, to: state.from }));
  const token = (select) => network.tokens.find((one) => one.symbol === select.value);
  pay.select.addEventListener('change', () => choose({ from: token(pay.select) }));
  get.select.addEventListener('change', () => choose({ to: token(get.select) }));
  pay.balance.addEventListener('click', () => {
    if (state.balance === null) return;
    input.value = toUnits(state.balance, state.from.decimals);
    draw();
  });
  wallets.addEventListener('change', draw, { signal });
  whenever(node, 'head', signal, draw, 1_000);
  const settings = h('div.row', { style: { flexWrap: 'nowrap' } }, h('span.soft', { style: { whiteSpace: 'nowrap' } }, 'Slippage tolerance'), slippage);
  return { element: card(h('span.spread', 'Swap', settings), form), buy: (wanted) => choose({ to: wanted }) };
}
