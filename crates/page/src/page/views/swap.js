// The swap form.

import { announce, card, h, icon, replace, setContent, setText, toast } from '../lib/dom.js';
import { flow } from '../lib/flow.js';
import { amount, toUnits } from '../lib/format.js';
import { outcomeNote, viewTransaction } from '../lib/links.js';
import { market } from '../lib/market.js';
import { node, whenever } from '../lib/node.js';
import { setPlace } from '../lib/place.js';
import { reasonOf } from '../lib/reasons.js';
import { inputFor, outcomeText, readSwap, swapSteps } from '../lib/swaps.js';
import { minimumOutput } from '../lib/trading.js';
import { wallets } from '../lib/wallet.js';
import { quoteDetails, worth } from './quotedetails.js';
import { slippageControl } from './slippage.js';
import { swapObstacle } from './swapobstacle.js';
import { SwapSide } from './swapside.js';

class SwapForm {
  #signal;
  #tokens;
  /** Whether the amount to receive was typed, and the one to pay follows from it. */
  #exactOutput = false;
  /** The quote for the amounts in the form, and the balance of the token to pay with. */
  #quote = null;
  #balance = null;
  /** Why a swap is not possible, and why the last one failed. */
  #obstacle = null;
  #failed = null;
  #busy = false;
  /** The number of the newest drawing; what an earlier one has read is out of date. */
  #turn = 0;

  #max = h(
    'button.link-button',
    { type: 'button', hidden: true, 'aria-label': 'Max balance' },
    'Max',
  );
  #pay = new SwapSide(
    'Pay',
    { amount: 'Amount to pay', token: 'Token to pay with' },
    (token) => this.#choose({ tokenIn: token }),
    this.#max,
  );
  #receive = new SwapSide(
    'Receive',
    { amount: 'Amount to receive', token: 'Token to receive' },
    (token) => this.#choose({ tokenOut: token }),
  );
  #switch = h(
    'button.swap-turn',
    { type: 'button', 'aria-label': 'Switch tokens', title: 'Switch tokens' },
    icon('swap'),
  );
  #slippage = slippageControl(() => this.#draw());
  #details = quoteDetails(() => this.#slippage.value());
  #problem = h('div', { 'aria-live': 'polite' });
  #submit = h('button.primary.wide', { type: 'submit' }, 'Swap');
  #steps = flow();
  #outcome = h('div');

  constructor(signal, tokenIn, tokenOut) {
    this.#signal = signal;
    this.#setTokens({ tokenIn, tokenOut });
    const form = h(
      'form.stack',
      this.#pay.element,
      this.#switch,
      this.#receive.element,
      this.#details.element,
      this.#problem,
      this.#submit,
      this.#steps.element,
      this.#outcome,
    );
    this.#listenTo(form);
    this.#follow();
    this.card = card(h('span.spread', 'Swap', this.#slippage.element), form);
    this.card.classList.add('swap');
  }

  #listenTo(form) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#run();
    });
    this.#pay.input.addEventListener('input', () => this.#typed(false));
    this.#receive.input.addEventListener('input', () => this.#typed(true));
    this.#switch.addEventListener('click', () => {
      const { tokenIn, tokenOut } = this.#tokens;
      this.#choose({ tokenIn: tokenOut, tokenOut: tokenIn });
    });
    this.#max.addEventListener('click', () => this.#payAll());
  }

  /** Draws again with each block, and when the account or what can be traded changes. */
  #follow() {
    const signal = this.#signal;
    wallets.addEventListener(
      'change',
      () => {
        this.#failed = null;
        this.#draw();
      },
      { signal },
    );
    market.addEventListener('market', () => this.#draw(), { signal });
    whenever(node, 'head', signal, () => this.#draw(), 1_000);
  }

  /** Selects the token to receive. */
  buy(token) {
    this.#choose({ tokenOut: token });
  }

  #choose(chosen) {
    const before = this.#tokens;
    const after = { ...before, ...chosen };
    // Choosing the token of the other side switches the two.
    const isSame = after.tokenIn === after.tokenOut;
    this.#setTokens(isSame ? { tokenIn: before.tokenOut, tokenOut: before.tokenIn } : after);
    setPlace({ from: this.#tokens.tokenIn.symbol, to: this.#tokens.tokenOut.symbol });

    this.#forgetQuote();
    if (!this.#busy) this.#clearOutcome();
    this.#draw();
  }

  #setTokens(tokens) {
    this.#tokens = tokens;
    this.#pay.token = tokens.tokenIn;
    this.#receive.token = tokens.tokenOut;
  }

  #typed(exactOutput) {
    this.#exactOutput = exactOutput;
    this.#forgetQuote();
    if (!this.#busy) this.#clearOutcome();
    this.#draw();
  }

  #payAll() {
    if (this.#balance === null) return;
    this.#pay.input.value = toUnits(this.#balance, this.#tokens.tokenIn.decimals);
    this.#exactOutput = false;
    this.#forgetQuote();
    this.#draw();
  }

  /**
   * The quote was that of other amounts or tokens: until there is another, nothing can be
   * submitted.
   */
  #forgetQuote() {
    this.#quote = null;
    this.#failed = null;
    if (!this.#busy) this.#submit.disabled = true;
  }

  #clearOutcome() {
    this.#steps.clear();
    replace(this.#outcome);
  }

  /** The amount to pay, or what is wrong with the amount that was typed. */
  #amountIn() {
    const wanted = this.#exactOutput ? this.#receive.amount : 0n;
    return wanted instanceof Error ? wanted : this.#pay.amount;
  }

  /** Reads what decides about the swap, and shows it. */
  async #draw() {
    if (this.#busy) return;
    const turn = ++this.#turn;
    const isLate = () => turn !== this.#turn || this.#signal.aborted;

    if (this.#exactOutput) {
      const needed = await this.#neededInput();
      if (isLate() || this.#busy) return;
      this.#pay.input.value = needed ? toUnits(needed, this.#tokens.tokenIn.decimals) : '';
    }

    try {
      const { tokenIn, tokenOut } = this.#tokens;
      const swap = await readSwap(tokenIn, tokenOut, this.#amountIn());
      if (isLate() || this.#busy) return;
      this.#show(swap);
    } catch (error) {
      if (!isLate()) replace(this.#problem, h('p.failure', reasonOf(error)));
    }
  }

  /** The input for the exact output in the form; 0 without one. */
  async #neededInput() {
    const { tokenIn, tokenOut } = this.#tokens;
    const wanted = this.#receive.amount;
    if (typeof wanted !== 'bigint') return 0n;
    return inputFor(tokenIn, tokenOut, wanted).catch(() => 0n);
  }

  #show(swap) {
    this.#quote = swap.quote;
    this.#balance = swap.balance;
    this.#obstacle = swapObstacle(swap);
    const isQuoted = swap.quote?.status === 0n;

    this.#showSides(swap, isQuoted);
    this.#details.draw(isQuoted ? swap : null);
    this.#showProblem();
    this.#showSubmit(swap, isQuoted);
  }

  #showSides({ tokenIn, tokenOut, value, quote, balance, balanceOut }, isQuoted) {
    // A token that was halted in the meantime has a tag.
    this.#setTokens({ tokenIn, tokenOut });
    this.#pay.showBalance(balance);
    this.#receive.showBalance(balanceOut);
    this.#max.hidden = !balance;

    if (!this.#exactOutput)
      this.#receive.input.value = isQuoted ? amount(quote.amountOut, tokenOut.decimals, 9) : '';
    this.#pay.showWorth(typeof value === 'bigint' ? worth(value, tokenIn) : 0);
    this.#receive.showWorth(isQuoted ? worth(quote.amountOut, tokenOut) : 0);
  }

  #showProblem() {
    const text = this.#obstacle ? this.#obstacle.text : this.#failed;
    const link = this.#obstacle?.link ?? null;
    setContent(this.#problem, text && h('p.failure', { role: 'alert' }, text, link));
  }

  #showSubmit({ tokenIn, value, allowed }, isQuoted) {
    const isApproving = allowed !== null && value > allowed;
    const label = isApproving ? `Approve ${tokenIn.symbol} and swap` : 'Swap';
    setText(this.#submit, this.#obstacle?.label ?? label);

    const isPossible = this.#obstacle ? this.#obstacle.act : isQuoted;
    this.#submit.disabled = this.#busy || !isPossible;
  }

  /** Swaps, or does what the button is for instead. */
  async #run() {
    if (this.#busy || this.#submit.disabled) return;
    const value = this.#amountIn();
    const instead = this.#obstacle?.act;
    const isQuoted = typeof value === 'bigint' && this.#quote?.status === 0n;
    if (!instead && !isQuoted) return;

    this.#busy = true;
    this.#submit.disabled = true;
    this.#failed = null;
    replace(this.#outcome);
    replace(this.#problem);
    try {
      await (instead ? instead() : this.#swap(value));
    } catch (error) {
      this.#failed = reasonOf(error);
      if (this.#signal.aborted) toast(this.#failed, 'error');
    }
    this.#busy = false;
    this.#draw();
  }

  async #swap(value) {
    setText(this.#submit, 'Swapping…');
    // Other tokens may be chosen, or another account, while the transactions wait.
    const account = wallets.current;
    const minimum = minimumOutput(this.#quote.amountOut, this.#slippage.value());
    const swap = { ...this.#tokens, value, minimum };

    const receipt = await this.#steps.run(await swapSteps(swap, account), account);
    this.#showOutcome(outcomeText(swap, receipt), receipt.transactionHash);
  }

  #showOutcome(text, hash) {
    if (this.#signal.aborted) return toast(text, 'good', viewTransaction(hash));

    announce(text);
    this.#steps.clear();
    replace(this.#outcome, outcomeNote(text, hash));
    this.#pay.input.value = '';
    this.#receive.input.value = '';
    this.#exactOutput = false;
  }
}

/** The card, and `buy(token)`, which selects the token to receive. */
export function swapCard(signal, from, to) {
  const form = new SwapForm(signal, from, to);
  return { element: form.card, buy: (token) => form.buy(token) };
}
