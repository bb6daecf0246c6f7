// The swap form.

import { decodeLog, topic } from '../lib/abi.js';
import { announce, card, h, icon, replace, setContent, setText, toast } from '../lib/dom.js';
import { approval, flow } from '../lib/flow.js';
import { amount, amountProblem, fromUnits, toUnits } from '../lib/format.js';
import { market } from '../lib/market.js';
import { dollars } from '../lib/money.js';
import { callData, member, network, read } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { setPlace } from '../lib/place.js';
import { reasonOf } from '../lib/reasons.js';
import { minimumOutput } from '../lib/trading.js';
import { wallets } from '../lib/wallet.js';
import { quoteDetails, worth } from './quotedetails.js';
import { slippageControl } from './slippage.js';
import { withoutAccount } from './start.js';
import { tokenButton } from './tokenpicker.js';

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
/** Most quotes for one exact output. */
const MOST_QUOTES = 4;

/**
 * The least input whose output is at least `wanted`, nearly: the rate hardly depends on the amount.
 * 0 if there is none.
 */
async function inputFor(from, to, wanted) {
  if (wanted === 0n) return 0n;
  const quote = (value) =>
    read('Vault', network.addresses.vault, 'quoteSwap', from.address, to.address, value);
  const [own, other] = [market.of(from)?.price ?? 0n, market.of(to)?.price ?? 0n];
  if (own === 0n) return 0n;
  let value =
    (wanted * other * 10n ** BigInt(from.decimals)) / (own * 10n ** BigInt(to.decimals)) + 1n;
  for (let attempt = 0; attempt < MOST_QUOTES; attempt++) {
    const { status, amountOut } = await quote(value);
    // The form says why there is no quote for the input.
    if (status !== 0n || amountOut === 0n || amountOut >= wanted) return value;
    value = (value * wanted) / amountOut + 1n;
  }
  return value;
}

/** The amount in a field, 0 if it is empty, or the error that says what is wrong with it. */
function parse(field, token) {
  if (!field.value.trim()) return 0n;
  try {
    return fromUnits(field.value, token.decimals);
  } catch (error) {
    return new Error(amountProblem(error, token));
  }
}

/**
 * The first reason for which a swap is not possible now: the button's label, a sentence, and what
 * the button does instead.
 */
function obstacle({ from, to }, { value, quote, balance, elsewhere }) {
  if (market.paused)
    return { label: 'Trading is paused', text: 'The owner of the vault has paused trading.' };
  for (const token of [from, to]) {
    const found = market.obstacle(token);
    if (found) return { label: `${token.symbol} is ${found.kind.toLowerCase()}`, text: found.text };
  }
  if (!wallets.current) return withoutAccount();
  if (elsewhere)
    return {
      label: 'Switch network',
      text: `${elsewhere} is on another network.`,
      act: () => wallets.switchNetwork(),
    };
  if (value instanceof Error) return { label: 'Enter a valid amount', text: value.message };
  if (value === 0n) return { label: 'Enter an amount' };
  if (balance !== null && value > balance) return { label: `Insufficient ${from.symbol} balance` };
  const refusal = quote && REFUSALS[Number(quote.status)];
  return refusal ? { label: refusal[0], text: refusal[1] } : null;
}

/** What a swap's receipt says was received, or null. */
function amountReceived(receipt) {
  const swapped = member('Vault', 'event', 'Swap');
  const log = receipt.logs.find((one) => one.topics[0] === topic(swapped));
  return log ? decodeLog(swapped, log).amountOut : null;
}

function side(name, field, chosen) {
  const { button, set } = tokenButton(
    name === 'Pay' ? 'Token to pay with' : 'Token to receive',
    chosen,
  );
  const balance = h('span');
  const inDollars = h('span');
  const below = h('div.below', inDollars, balance);
  return {
    button,
    set,
    balance,
    inDollars,
    element: h('div.swap-side', h('div.what', h('span', name)), field, button, below),
  };
}

/** The card, and `buy(token)`, which selects the token to receive. */
export function swapCard(signal, from, to) {
  const input = h('input', {
    inputmode: 'decimal',
    placeholder: '0',
    autocomplete: 'off',
    'aria-label': 'Amount to pay',
  });
  const output = h('input', {
    inputmode: 'decimal',
    placeholder: '0',
    autocomplete: 'off',
    'aria-label': 'Amount to receive',
  });
  const pay = side('Pay', input, (token) => choose({ from: token }));
  const get = side('Receive', output, (token) => choose({ to: token }));
  const most = h(
    'button.link-button',
    { type: 'button', hidden: true, 'aria-label': 'Max balance' },
    'Max',
  );
  pay.element.querySelector('.below').append(most);
  const turn = h(
    'button.swap-turn',
    { type: 'button', 'aria-label': 'Switch tokens', title: 'Switch tokens' },
    icon('swap'),
  );
  const slippage = slippageControl(() => draw());
  const details = quoteDetails(() => slippage.value());
  const problem = h('div', { 'aria-live': 'polite' });
  const submit = h('button.primary.wide', { type: 'submit' }, 'Swap');
  const steps = flow();
  const outcome = h('div');
  const form = h(
    'form.stack',
    pay.element,
    turn,
    get.element,
    details.element,
    problem,
    submit,
    steps.element,
    outcome,
  );
  const state = {
    from,
    to,
    quote: null,
    balance: null,
    busy: false,
    failed: null,
    exactOutput: false,
  };
  pay.set(from);
  get.set(to);

  const typed = () => {
    const wanted = state.exactOutput ? parse(output, state.to) : 0n;
    return wanted instanceof Error ? wanted : parse(input, state.from);
  };

  let turnOf = 0;
  async function draw() {
    if (state.busy) return;
    const mine = ++turnOf;
    if (state.exactOutput) {
      const wanted = parse(output, state.to);
      const needed =
        typeof wanted === 'bigint'
          ? await inputFor(state.from, state.to, wanted).catch(() => 0n)
          : 0n;
      if (mine !== turnOf || signal.aborted || state.busy) return;
      input.value = needed ? toUnits(needed, state.from.decimals) : '';
    }
    const value = typed();
    const who = wallets.current?.address;
    const { from: tokenIn, to: tokenOut } = state;
    const { vault } = network.addresses;
    try {
      const [quote, balance, other, allowed, elsewhere, gasPrice] = await Promise.all([
        typeof value === 'bigint' && value > 0n
          ? read('Vault', vault, 'quoteSwap', tokenIn.address, tokenOut.address, value)
          : null,
        who ? read('Token', tokenIn.address, 'balanceOf', who) : null,
        who ? read('Token', tokenOut.address, 'balanceOf', who) : null,
        who ? read('Token', tokenIn.address, 'allowance', who, vault) : null,
        wallets.elsewhere(),
        node.call('eth_gasPrice').then(BigInt),
      ]);
      if (mine !== turnOf || signal.aborted || state.busy) return;
      show({ value, quote, balance, other, allowed, elsewhere, gasPrice });
    } catch (error) {
      if (mine === turnOf && !signal.aborted) replace(problem, h('p.failure', reasonOf(error)));
    }
  }

  function show(now) {
    const { value, quote, balance, other, allowed } = now;
    const { from: tokenIn, to: tokenOut } = state;
    Object.assign(state, { quote, balance });
    pay.set(tokenIn);
    get.set(tokenOut);
    setText(pay.balance, balance === null ? '' : `Balance ${amount(balance, tokenIn.decimals, 7)}`);
    setText(get.balance, other === null ? '' : `Balance ${amount(other, tokenOut.decimals, 7)}`);
    most.hidden = !balance;
    const ok = quote?.status === 0n;
    if (!state.exactOutput) output.value = ok ? amount(quote.amountOut, tokenOut.decimals, 9) : '';
    const [paid, received] = [
      typeof value === 'bigint' ? worth(value, tokenIn) : 0,
      ok ? worth(quote.amountOut, tokenOut) : 0,
    ];
    setText(pay.inDollars, dollars(paid));
    setText(get.inDollars, dollars(received));
    state.blocked = obstacle(state, now);
    details.draw(ok ? { ...now, tokenIn, tokenOut } : null);
    const text = state.blocked ? state.blocked.text : state.failed;
    const link = state.blocked?.link ?? null;
    setContent(problem, text && h('p.failure', { role: 'alert' }, text, link));
    const label =
      state.blocked?.label ??
      (allowed !== null && value > allowed ? `Approve ${tokenIn.symbol} and swap` : 'Swap');
    setText(submit, label);
    submit.disabled = state.busy || (state.blocked ? !state.blocked.act : !ok);
  }

  /**
   * The quote was that of other amounts or tokens: until there is another, nothing can be
   * submitted.
   */
  function forgetQuote(set) {
    Object.assign(state, set, { failed: null, quote: null });
    if (!state.busy) submit.disabled = true;
  }

  function choose(set) {
    const before = { from: state.from, to: state.to };
    forgetQuote(set);
    // Choosing the token of the other side switches the two.
    if (state.from === state.to)
      Object.assign(state, set.from ? { to: before.from } : { from: before.to });
    pay.set(state.from);
    get.set(state.to);
    setPlace({ from: state.from.symbol, to: state.to.symbol });
    if (!state.busy) clearOutcome();
    draw();
  }

  function clearOutcome() {
    steps.clear();
    replace(outcome);
  }

  async function swap(value) {
    const account = wallets.current;
    const { from: tokenIn, to: tokenOut, quote } = state;
    const { vault } = network.addresses;
    const data = callData(
      'Vault',
      'swapExactTokensForTokens',
      tokenIn.address,
      tokenOut.address,
      value,
      minimumOutput(quote.amountOut, slippage.value()),
    );
    const approving = await approval(tokenIn, account.address, vault, value);
    const receipt = await steps.run(
      [
        approving,
        { name: `Swap ${tokenIn.symbol} for ${tokenOut.symbol}`, transaction: { to: vault, data } },
      ].filter(Boolean),
      account,
    );
    const out = amountReceived(receipt);
    const text = `Swapped ${amount(value, tokenIn.decimals)} ${tokenIn.symbol} for ${out === null ? '' : `${amount(out, tokenOut.decimals, 8)} `}${tokenOut.symbol}`;
    const link = { href: `#/tx/${receipt.transactionHash}`, text: 'View transaction' };
    if (signal.aborted) return toast(text, 'good', link);
    announce(text);
    steps.clear();
    replace(
      outcome,
      h('p.note.good', { role: 'status' }, text, ' ', h('a', { href: link.href }, link.text)),
    );
    input.value = output.value = '';
    state.exactOutput = false;
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (state.busy || submit.disabled) return;
    const value = typed();
    const instead = state.blocked?.act;
    if (!instead && (typeof value !== 'bigint' || state.quote?.status !== 0n)) return;
    state.busy = submit.disabled = true;
    state.failed = null;
    replace(outcome);
    replace(problem);
    try {
      if (instead) await instead();
      else {
        setText(submit, 'Swapping…');
        await swap(value);
      }
    } catch (error) {
      state.failed = reasonOf(error);
      if (signal.aborted) toast(state.failed, 'error');
    }
    state.busy = false;
    draw();
  });
  for (const field of [input, output]) {
    field.addEventListener('input', () => {
      forgetQuote({ exactOutput: field === output });
      if (!state.busy) clearOutcome();
      draw();
    });
  }
  turn.addEventListener('click', () => choose({ from: state.to, to: state.from }));
  most.addEventListener('click', () => {
    if (state.balance === null) return;
    input.value = toUnits(state.balance, state.from.decimals);
    forgetQuote({ exactOutput: false });
    draw();
  });
  wallets.addEventListener(
    'change',
    () => {
      state.failed = null;
      draw();
    },
    { signal },
  );
  market.addEventListener('market', draw, { signal });
  whenever(node, 'head', signal, draw, 1_000);
  const element = card(h('span.spread', 'Swap', slippage.element), form);
  element.classList.add('swap');
  return { element, buy: (wanted) => choose({ to: wanted }) };
}
