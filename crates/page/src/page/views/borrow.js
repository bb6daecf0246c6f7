// The form that supplies, withdraws, borrows and repays.

import { announce, card, h, replace, setContent, setText, toast } from '../lib/dom.js';
import { approval, flow } from '../lib/flow.js';
import { amount, toUnits } from '../lib/format.js';
import { ENDLESS, limits, refusedCollateral } from '../lib/lens.js';
import { outcomeNote, viewTransaction } from '../lib/links.js';
import { largest, refusal, withInterest } from '../lib/loans.js';
import { market } from '../lib/market.js';
import { callData, network, read } from '../lib/network.js';
import { placed, setPlace } from '../lib/place.js';
import { reasonOf } from '../lib/reasons.js';
import { wallets } from '../lib/wallet.js';
import { AmountField } from './amountfield.js';
import { loanDetails } from './loandetails.js';
import { withoutAccount } from './start.js';

const ACTIONS = {
  deposit: { name: 'Supply', past: 'Supplied', limit: 'Wallet balance' },
  withdraw: { name: 'Withdraw', past: 'Withdrew', limit: 'Available' },
  borrow: { name: 'Borrow', past: 'Borrowed', limit: 'Available' },
  repay: { name: 'Repay', past: 'Repaid', limit: 'Debt' },
};

/** The action that a link names, or the first. */
function placedAction() {
  const action = placed('action') ?? '';
  return Object.hasOwn(ACTIONS, action) ? action : 'deposit';
}

/** What the rules of an action with a token depend on, or null before it is known. */
function situationOf(symbol, known) {
  const { account, points, pools, balance } = known;
  const at = pools.findIndex((pool) => pool.symbol === symbol);
  if (at < 0 || !account) return null;

  return {
    account,
    points,
    pools,
    pool: pools[at],
    balance,
    limits: known.limits,
    halted: known.limits?.priceHalted ?? false,
    // The refused assets are a bit for each pool.
    refused: ((known.refused >> BigInt(at)) & 1n) === 1n,
  };
}

/** The amount that goes with the name of an action's limit. */
function availableFor(action, situation) {
  if (action === 'deposit') return situation.balance;
  if (action !== 'repay') return largest(situation, action).value;

  const { account, pool } = situation;
  return account.positions.find((one) => one.symbol === pool.symbol)?.debt ?? 0n;
}

/** What the lending pool takes from the wallet, or null for an action that gives. */
function spentBy(action, value, isWhole) {
  if (action === 'deposit') return value;
  if (action !== 'repay') return null;
  return isWhole ? withInterest(value) : value;
}

function actionButton(action, onclick) {
  return h(
    'button',
    { type: 'button', 'data-action': action, 'aria-pressed': 'false', onclick },
    ACTIONS[action].name,
  );
}

class ActionForm {
  #signal;
  #done;

  #action = placedAction();
  #symbol = placed('asset') ?? 'USDC';
  /** What the chain says of the asset and the account. */
  #known = { pools: [], account: null, points: null, balance: 0n, limits: null, refused: 0n };
  /** The name of a wallet that is on another network. */
  #elsewhere = null;
  /** The largest amount was chosen, and stands for all that there is. */
  #isAll = false;
  #isBusy = false;
  /** Why the last transaction failed. */
  #failed = null;
  /** Why nothing can be sent now; see `#obstacle`. */
  #blocked = null;

  #amount = new AmountField({
    pick: (token) => this.#pick({ symbol: token.symbol }),
    fill: () => this.#fillLargest(),
  });
  #tabs = h(
    'div.tabs',
    { role: 'group', 'aria-label': 'Action' },
    Object.keys(ACTIONS).map((action) => actionButton(action, () => this.#pick({ action }))),
  );
  #details = h('div');
  #problem = h('div', { 'aria-live': 'polite' });
  #submit = h('button.primary.wide', { type: 'submit' }, 'Supply');
  #steps = flow();
  #outcome = h('div');

  constructor(signal, done) {
    this.#signal = signal;
    this.#done = done;
    this.element = h(
      'form.stack',
      this.#tabs,
      this.#amount.element,
      this.#details,
      this.#problem,
      this.#submit,
      this.#steps.element,
      this.#outcome,
    );

    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#run();
    });
    this.#amount.input.addEventListener('input', () => this.#retype());
    market.addEventListener('market', () => this.#draw(), { signal });
    wallets.addEventListener('change', () => this.#refresh(), { signal });
    this.#change({});
  }

  choose(symbol, action = this.#action) {
    this.#pick({ symbol, action });
  }

  focus() {
    this.#amount.input.focus({ preventScroll: true });
  }

  update(pools, account, points) {
    Object.assign(this.#known, { pools, account, points });
    // With the largest amount chosen, it follows the interest.
    this.#refresh();
  }

  #token() {
    return network.tokens.find((one) => one.symbol === this.#symbol) ?? network.tokens[0];
  }

  #situation() {
    return situationOf(this.#symbol, this.#known);
  }

  #typed() {
    return this.#amount.valueOf(this.#token());
  }

  /** The action with its asset, as the button says it. */
  #label() {
    return `${ACTIONS[this.#action].name} ${this.#symbol}`;
  }

  /** Selects another asset or action, also in the address. */
  #pick(change) {
    this.#change(change);
    setPlace({ asset: this.#symbol, action: this.#action });
  }

  #change({ symbol = this.#symbol, action = this.#action }) {
    if (this.#isBusy) return;
    this.#symbol = symbol;
    this.#action = action;
    this.#isAll = false;
    this.#failed = null;

    this.#amount.input.value = '';
    this.#clearOutcome();
    this.#draw();
    this.#refresh();
  }

  #retype() {
    this.#isAll = false;
    this.#failed = null;
    if (!this.#isBusy) this.#clearOutcome();
    this.#draw();
  }

  #fillLargest() {
    const situation = this.#situation();
    if (!situation) return;
    const { value } = largest(situation, this.#action);
    this.#amount.input.value = toUnits(value, this.#token().decimals);
    this.#isAll = true;
    this.#failed = null;
    this.#clearOutcome();
    this.#draw();
  }

  #clearOutcome() {
    this.#steps.clear();
    replace(this.#outcome);
  }

  /** Reads what depends on the asset and the active account. */
  async #refresh() {
    const who = wallets.current?.address;
    const symbol = this.#symbol;
    const { address } = this.#token();

    const [balance, found, refused, elsewhere] = await Promise.all([
      who ? read('Token', address, 'balanceOf', who).catch(() => 0n) : 0n,
      limits(address),
      who ? refusedCollateral(who) : 0n,
      wallets.elsewhere(),
    ]);
    const isLate = symbol !== this.#symbol || who !== wallets.current?.address;
    if (this.#signal.aborted || isLate) return;

    Object.assign(this.#known, { balance, limits: found, refused });
    this.#elsewhere = elsewhere;
    this.#draw();
  }

  /**
   * The first reason for which the action is not possible now: the button's label, a sentence, and
   * what the button does instead.
   */
  #obstacle(situation, value) {
    if (!wallets.current) return withoutAccount();
    if (this.#elsewhere)
      return {
        label: 'Switch network',
        text: `${this.#elsewhere} is on another network.`,
        act: () => wallets.switchNetwork(),
      };

    const label = this.#label();
    if (!situation) return { label };
    if (value instanceof Error) return { label: 'Enter a valid amount', text: value.message };
    if (value === 0n) return { label: 'Enter an amount' };

    // All of a balance or debt can be moved, whatever it grows to.
    const isWhole =
      this.#isAll &&
      ['withdraw', 'repay'].includes(this.#action) &&
      largest(situation, this.#action).whole;
    const text = isWhole ? null : refusal(situation, this.#action, value);
    return text ? { label, text } : null;
  }

  #draw() {
    const situation = this.#situation();
    const value = this.#typed();
    const valid = typeof value === 'bigint' ? value : 0n;

    for (const tab of this.#tabs.children)
      tab.setAttribute('aria-pressed', String(tab.dataset.action === this.#action));
    this.#drawAmount(situation, valid);
    replace(
      this.#details,
      wallets.current && situation ? loanDetails(situation, this.#action, valid) : [],
    );
    // The button and the message are those of the transaction while it is sent.
    if (!this.#isBusy) this.#drawSubmit(situation, value);
  }

  #drawAmount(situation, value) {
    const token = this.#token();
    const { limit } = ACTIONS[this.#action];
    const available =
      situation && wallets.current
        ? `${limit} ${amount(availableFor(this.#action, situation), token.decimals, 7)}`
        : null;
    this.#amount.draw({ token, available, pool: situation?.pool, value });
  }

  #drawSubmit(situation, value) {
    const blocked = this.#obstacle(situation, value);
    this.#blocked = blocked;

    const text = blocked ? blocked.text : this.#failed;
    const link = blocked?.link ?? null;
    setContent(this.#problem, text && h('p.failure', text, link));
    setText(this.#submit, blocked?.label ?? this.#label());
    this.#submit.disabled = Boolean(blocked && !blocked.act);
  }

  /** Does what the button says. */
  async #run() {
    if (this.#isBusy || this.#submit.disabled) return;
    const situation = this.#situation();
    const value = this.#typed();
    const instead = this.#blocked?.act;
    if (!instead && (this.#blocked || !situation)) return;

    this.#isBusy = true;
    this.#failed = null;
    this.#submit.disabled = true;
    replace(this.#outcome);
    replace(this.#problem);
    try {
      if (instead) await instead();
      else {
        setText(this.#submit, 'Sending…');
        await this.#send(situation, value);
      }
    } catch (error) {
      this.#failed = reasonOf(error);
      if (this.#signal.aborted) toast(this.#failed, 'error');
    }
    this.#isBusy = false;

    await this.#refresh();
    this.#done();
  }

  async #send(situation, value) {
    // Another account, asset or action may be chosen while the transactions wait.
    const account = wallets.current;
    const action = this.#action;
    const token = this.#token();
    const { name, past } = ACTIONS[action];
    const step = `${name} ${this.#symbol}`;
    const text = `${past} ${amount(value, token.decimals)} ${this.#symbol}`;

    const { lendingPool } = network.addresses;
    const isWhole = this.#isAll && largest(situation, action).whole;
    const spent = spentBy(action, value, isWhole);
    const approving =
      spent === null ? null : await approval(token, account.address, lendingPool, spent);

    // The largest number stands for the whole balance or debt at execution, including interest.
    const asked = isWhole ? ENDLESS : value;
    const transaction = {
      to: lendingPool,
      data: callData('LendingPool', action, token.address, asked),
    };
    const steps = [approving, { name: step, transaction }].filter(Boolean);
    const receipt = await this.#steps.run(steps, account);
    this.#showSent(text, receipt);
  }

  #showSent(text, receipt) {
    const hash = receipt.transactionHash;
    if (this.#signal.aborted) return toast(text, 'good', viewTransaction(hash));

    announce(text);
    this.#steps.clear();
    replace(this.#outcome, outcomeNote(text, hash));
    this.#amount.input.value = '';
    this.#isAll = false;
  }
}

/**
 * The card; `update(pools, account, points)` passes new data, `choose(symbol, action)` selects the
 * asset, and the action if it is given, `focus()` the amount.
 */
export function actionsCard(signal, done) {
  const form = new ActionForm(signal, done);
  const element = card('Manage position', form.element);
  element.classList.add('manage');
  return {
    element,
    choose: (symbol, action) => form.choose(symbol, action),
    focus: () => form.focus(),
    update: (pools, account, points) => form.update(pools, account, points),
  };
}
