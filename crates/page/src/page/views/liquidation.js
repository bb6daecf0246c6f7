// The form that liquidates a position.

import { announce, h, replace, setContent, setText, toast } from '../lib/dom.js';
import { approval, flow } from '../lib/flow.js';
import { amount, amountProblem, fromUnits, toUnits } from '../lib/format.js';
import { account as readAccount, ENDLESS, quoteLiquidation } from '../lib/lens.js';
import { addressLink, outcomeNote, viewTransaction } from '../lib/links.js';
import { withInterest } from '../lib/loans.js';
import { money, valueUsd } from '../lib/money.js';
import { callData, network, read, tokenAt } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { reasonOf } from '../lib/reasons.js';
import { wallets } from '../lib/wallet.js';
import { liquidationFacts, obstacle } from './liquidationterms.js';

/** Least time between two reads of the position, in milliseconds. */
const PACE = 1_000;
const NOTHING = { repaid: 0n, received: 0n };

/** Offers positions in a select, the most valuable first, and keeps the one that is chosen. */
function offer(select, positions, usdOf) {
  const sorted = positions.toSorted((a, b) => (usdOf(b) > usdOf(a) ? 1 : -1));
  const wanted = sorted.map((one) => `${one.asset}${one.symbol}`).join();
  if (select.dataset.of === wanted) return;

  const before = select.value;
  select.dataset.of = wanted;
  replace(
    select,
    sorted.map((one) => h('option', { value: one.asset }, `${one.symbol} · ${money(usdOf(one))}`)),
  );
  if (sorted.some((one) => one.asset === before)) select.value = before;
}

/** The dialog with the form for the position of one borrower. */
class LiquidationDialog {
  #borrower;
  #pools;
  #done;
  #leaving = new AbortController();
  #signal = this.#leaving.signal;

  /** The borrower's account and the liquidator's balance of the debt's token, as last read. */
  #account = null;
  #balance = null;
  /** Whether as much as possible is repaid; typing an amount ends it. */
  #repaysAll = true;

  /** The number of the newest reading, whose predecessors may end after it. */
  #turn = 0;
  #isBusy = false;
  #isFinished = false;
  /** Why the last attempt failed, or null. */
  #failure = null;

  #debt = h('select', { 'aria-label': 'Debt to repay' });
  #collateral = h('select', { 'aria-label': 'Collateral to receive' });
  #input = h('input', {
    inputmode: 'decimal',
    autocomplete: 'off',
    'aria-label': 'Amount to repay',
  });
  #most = h('button.link-button', { type: 'button', 'aria-label': 'Max amount' }, 'Max');
  #worth = h('span');
  #balanceText = h('span');
  #receipts = h('input', { type: 'checkbox' });
  #receiptsText = h('span');
  #details = h('div');
  #problem = h('div', { 'aria-live': 'polite' });
  #submit = h('button.primary.wide', { type: 'submit' }, 'Liquidate');
  #steps = flow();
  #outcome = h('div');
  #close = h('button.quiet', { type: 'button', 'aria-label': 'Close' }, '✕');
  #form;
  #dialog;

  constructor(borrower, pools, done) {
    this.#borrower = borrower;
    this.#pools = pools;
    this.#done = done;
    this.#build();
    this.#listen();
  }

  open() {
    document.body.append(this.#dialog);
    this.#dialog.showModal();
    whenever(node, 'head', this.#signal, () => this.#draw(), PACE);
  }

  #build() {
    this.#form = h(
      'form.stack',
      h(
        'div.grid.pair',
        h('label.field', h('span', 'Debt to repay'), this.#debt),
        h('label.field', h('span', 'Collateral to receive'), this.#collateral),
      ),
      h(
        'div.swap-side',
        h('div.what', h('span', 'You repay')),
        this.#input,
        h('span'),
        h('div.below', this.#worth, this.#balanceText, this.#most),
      ),
      h('label.check', this.#receipts, this.#receiptsText),
      this.#details,
      this.#problem,
      this.#submit,
      this.#steps.element,
      this.#outcome,
    );
    this.#dialog = h(
      'dialog.picker.wide',
      { 'aria-label': 'Liquidate position' },
      h('div.spread', h('h2', 'Liquidate position'), this.#close),
      h(
        'p.soft',
        'Borrower ',
        addressLink(this.#borrower),
        '. You repay part of the debt and receive collateral that is worth more.',
      ),
      this.#form,
    );
  }

  #listen() {
    const changed = () => {
      this.#failure = null;
      this.#draw();
    };
    const repayAll = () => {
      this.#repaysAll = true;
      changed();
    };
    this.#input.addEventListener('input', () => {
      this.#repaysAll = false;
      changed();
    });
    this.#debt.addEventListener('change', repayAll);
    this.#collateral.addEventListener('change', repayAll);
    this.#most.addEventListener('click', () => {
      this.#most.focus();
      repayAll();
    });
    this.#receipts.addEventListener('change', changed);

    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (!this.#isBusy && !this.#submit.disabled) this.#attempt();
    });
    this.#close.addEventListener('click', () => this.#dialog.close());
    this.#dialog.addEventListener('close', () => {
      this.#leaving.abort();
      this.#dialog.remove();
    });
    window.addEventListener('hashchange', () => this.#dialog.close(), { signal: this.#signal });
  }

  /** The positions that are chosen in the form. */
  #chosen() {
    const positions = this.#account?.positions ?? [];
    return {
      owed: positions.find((one) => one.asset === this.#debt.value),
      seized: positions.find((one) => one.asset === this.#collateral.value),
    };
  }

  /** The typed amount, or an error that says what is wrong with it. */
  #typed(owed) {
    if (!this.#input.value.trim()) return 0n;
    try {
      return fromUnits(this.#input.value, Number(owed.decimals));
    } catch (error) {
      return new Error(amountProblem(error, owed));
    }
  }

  /** Reads the position, and shows it unless something newer happened meanwhile. */
  async #draw() {
    if (this.#isBusy || this.#isFinished) return;
    const turn = ++this.#turn;
    const isLate = () => turn !== this.#turn || this.#signal.aborted;
    try {
      this.#account = await readAccount(this.#borrower);
      if (isLate()) return;
      this.#offerPositions();
      const terms = await this.#readTerms();
      if (isLate() || this.#isBusy) return;
      this.#show(terms);
    } catch (error) {
      if (!isLate()) replace(this.#problem, h('p.failure', reasonOf(error)));
    }
  }

  #offerPositions() {
    const { positions } = this.#account;
    offer(
      this.#debt,
      positions.filter((one) => one.debt > 0n),
      (one) => one.debtUsd,
    );
    offer(
      this.#collateral,
      positions.filter((one) => one.supplied > 0n && one.liquidationThresholdBps > 0n),
      (one) => one.suppliedUsd,
    );
  }

  /** Reads what the chain says of the chosen positions and the amount. */
  async #readTerms() {
    const { owed, seized } = this.#chosen();
    const quoteOf = (value) =>
      owed && seized ? quoteLiquidation(this.#borrower, owed.asset, seized.asset, value) : NOTHING;

    const largest = await quoteOf(ENDLESS);
    if (owed && this.#repaysAll && document.activeElement !== this.#input)
      this.#input.value = toUnits(largest.repaid, Number(owed.decimals));

    const value = owed ? this.#typed(owed) : 0n;
    const [quote, balance] = await Promise.all([
      typeof value === 'bigint' && value > 0n ? quoteOf(value) : NOTHING,
      owed && wallets.current
        ? read('Token', owed.asset, 'balanceOf', wallets.current.address)
        : null,
    ]);
    return { owed, seized, value, largest, quote, balance };
  }

  #show(reading) {
    const { owed, seized, quote, balance } = reading;
    const terms = {
      ...reading,
      account: this.#account,
      pool: seized && this.#pools().find((one) => one.asset === seized.asset),
      receipts: this.#receipts.checked,
    };
    this.#balance = balance;
    this.#showTexts(terms);

    const isQuoted = owed && seized && quote.repaid > 0n;
    replace(this.#details, isQuoted && liquidationFacts(terms));

    const blocked = obstacle(terms);
    const text = blocked ? blocked.text : this.#failure;
    setContent(this.#problem, text && h('p.failure', text));
    setText(this.#submit, blocked?.label ?? 'Liquidate');
    this.#submit.disabled = Boolean(blocked);
  }

  /** Shows what the amount is worth, the balance, and what can be received. */
  #showTexts({ owed, seized, value, balance }) {
    setText(
      this.#balanceText,
      owed && balance !== null
        ? `Balance ${amount(balance, Number(owed.decimals), 7)} ${owed.symbol}`
        : '',
    );
    setText(
      this.#receiptsText,
      seized
        ? `Receive p${seized.symbol}, the claim on the collateral, instead of ${seized.symbol}`
        : '',
    );
    setText(
      this.#worth,
      owed && typeof value === 'bigint'
        ? money(valueUsd(value, owed.price, owed.decimals))
        : '$0.00',
    );
  }

  async #attempt() {
    this.#isBusy = true;
    this.#failure = null;
    this.#submit.disabled = true;
    replace(this.#problem);
    setText(this.#submit, 'Liquidating…');
    try {
      await this.#liquidate();
    } catch (error) {
      this.#failure = reasonOf(error);
    }
    this.#isBusy = false;
    this.#draw();
  }

  async #liquidate() {
    const account = wallets.current;
    const { owed, seized } = this.#chosen();
    const value = this.#typed(owed);
    const spent = this.#spendable(value);

    const approving = await approval(
      tokenAt(owed.asset) ?? { address: owed.asset, symbol: owed.symbol },
      account.address,
      network.addresses.lendingPool,
      spent,
    );
    const liquidating = { name: 'Liquidate', transaction: this.#transaction(owed, seized, spent) };
    const receipt = await this.#steps.run([approving, liquidating].filter(Boolean), account);

    this.#isFinished = true;
    this.#showReceipt(
      `Repaid ${amount(value, Number(owed.decimals))} ${owed.symbol} and received ${seized.symbol}`,
      receipt,
    );
    this.#done();
  }

  /**
   * What the pool may take for an amount. It takes at most what can be repaid, which grows with the
   * interest until the transaction is mined.
   */
  #spendable(value) {
    const offered = this.#repaysAll ? withInterest(value) : value;
    return this.#balance !== null && offered > this.#balance ? value : offered;
  }

  #transaction(owed, seized, spent) {
    return {
      to: network.addresses.lendingPool,
      data: callData(
        'LendingPool',
        'liquidate',
        this.#borrower,
        owed.asset,
        seized.asset,
        spent,
        this.#receipts.checked,
      ),
    };
  }

  #showReceipt(text, receipt) {
    const hash = receipt.transactionHash;
    announce(text);
    if (this.#signal.aborted) toast(text, 'good', viewTransaction(hash));
    this.#steps.clear();
    replace(this.#details);
    replace(this.#outcome, outcomeNote(text, hash, { onclick: () => this.#dialog.close() }));
    setText(this.#submit, 'Liquidated');
  }
}

/**
 * Opens the form for a borrower; `pools()` returns the pools' data, `done` is called after a
 * liquidation.
 */
export function openLiquidation(borrower, pools, done) {
  new LiquidationDialog(borrower, pools, done).open();
}
