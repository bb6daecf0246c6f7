// The lending pool: markets with their rates, positions at risk, and the position of the active
// account.

import { card, failure, h, heading, replace, toast } from '../lib/dom.js';
import { span } from '../lib/format.js';
import { account, collateral, pools, score, scoreHistory } from '../lib/lens.js';
import { viewTransaction } from '../lib/links.js';
import { liveTable, loadingBody } from '../lib/livetable.js';
import { market } from '../lib/market.js';
import { callData, network, read } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { reasonOf } from '../lib/reasons.js';
import { wallets } from '../lib/wallet.js';
import { activityCard } from './activity.js';
import { actionsCard } from './borrow.js';
import { COLUMNS, marketRow, totalTiles } from './lendingmarkets.js';
import { poolCard } from './pooldetail.js';
import { positionCard } from './position.js';
import { riskCard } from './riskcard.js';
import { scoreCard, scoreChart } from './score.js';

/** The parts of a score that are shown. */
const SHOWN_OF_SCORE = [
  'score',
  'band',
  'late',
  'depositPoints',
  'paymentPoints',
  'healthPoints',
  'historyPoints',
  'penaltyPoints',
  'overduePoints',
  'onTimePayments',
  'depositSeconds',
  'healthySeconds',
];
/** Where the form stands above the markets; as in the stylesheet. */
const NARROW = '(max-width: 62rem)';

/** The balances of an account in all assets, by address; none without an account. */
async function balancesOf(who) {
  if (!who) return new Map();
  return new Map(
    await Promise.all(
      network.tokens.map(async ({ address }) => [
        address,
        await read('Token', address, 'balanceOf', who),
      ]),
    ),
  );
}

/** Switches the use of an asset as collateral. Returns whether it succeeded. */
async function setCollateral(asset, symbol, enabled) {
  try {
    const receipt = await wallets.send({
      to: network.addresses.lendingPool,
      data: callData('LendingPool', 'setCollateral', asset, enabled),
    });
    toast(
      `${symbol} is ${enabled ? 'collateral' : 'no longer collateral'}`,
      'good',
      viewTransaction(receipt.transactionHash),
    );
    return true;
  } catch (error) {
    toast(reasonOf(error), 'error');
    return false;
  }
}

/** The credit score of the active account, with its history. */
class ScoreSection {
  #signal;
  #chart = scoreChart();
  #isOpen = false;
  /** What the card shows, as a text that begins with the account. */
  #shown = '';
  element = h('div');

  constructor(signal) {
    this.#signal = signal;
  }

  /** Shows the `points` of an account, or nothing without them. `pool` is the chosen market. */
  async update(who, points, pool) {
    if (!points) return replace(this.element);

    // Redrawn when what it shows changes, and not while a control in it has the focus.
    const parts = SHOWN_OF_SCORE.map((name) =>
      name.endsWith('Seconds') ? span(Number(points[name])) : points[name],
    );
    const now = [who, pool?.symbol, ...parts].join();
    const isUsed = this.element.contains(document.activeElement) && this.#shown.startsWith(who);
    if (this.#shown === now || isUsed) return;

    this.#shown = now;
    const toggle = (isOpen) => (this.#isOpen = isOpen);
    replace(this.element, scoreCard(points, pool, this.#chart.element, this.#isOpen, toggle));
    const history = await scoreHistory(who).catch(() => []);
    if (this.#signal.aborted || who !== wallets.current?.address) return;
    this.#chart.update(history, Number(points.score), Number(node.head?.timestamp ?? 0) * 1_000);
  }
}

/** The cards, and what they show: the markets, and the position of the active account. */
class LendingView {
  #signal;
  #pools = [];
  #account = null;
  #balances = new Map();
  /** The symbol of the chosen market. */
  #chosen;

  #rows = loadingBody(COLUMNS);
  #totals = totalTiles();
  #position = h('div.first');
  #problem = h('div');

  constructor(signal, chosen) {
    this.#signal = signal;
    this.#chosen = chosen;
    this.detail = poolCard(signal);
    this.activity = activityCard(signal);
    this.score = new ScoreSection(signal);
    this.risk = riskCard(
      signal,
      () => this.#pools,
      () => this.#acted(),
    );
    this.actions = actionsCard(signal, () => this.#acted());
    for (const one of [this.risk, this.activity]) one.element.classList.add('late');
    this.actions.element.classList.add('first');
  }

  get elements() {
    const markets = card(
      'Markets',
      liveTable('table.markets.rows', 'Markets', COLUMNS, this.#rows),
    );
    return [
      heading('Lending'),
      this.#problem,
      this.#totals.element,
      h(
        'div.grid.main-side',
        h('div.stack', markets, this.detail.element, this.risk.element, this.activity.element),
        h('div.stack', this.#position, this.actions.element, this.score.element),
      ),
    ];
  }

  /** The data of the chosen market. */
  get #pool() {
    return this.#pools.find((one) => one.symbol === this.#chosen) ?? this.#pools[0];
  }

  /** Chooses a market, and an action in the form if one is given. */
  #choose(symbol, action) {
    this.#chosen = symbol;
    this.actions.choose(symbol, action);
    this.#drawMarkets();

    // In one column, the form is far from the markets.
    if (action) this.actions.focus();
    if (action || matchMedia(NARROW).matches)
      this.actions.element.scrollIntoView({ block: action ? 'nearest' : 'center' });
  }

  /** Shows what an action of the account has changed. */
  #acted() {
    this.activity.refresh({ soon: true });
    this.risk.draw();
    this.draw();
  }

  /** Reads the pool and the account, and shows them unless the account has changed meanwhile. */
  async draw() {
    const who = wallets.current?.address;
    try {
      const [all, balances, mine, enabled, points] = await Promise.all([
        pools(),
        balancesOf(who),
        ...(who ? [account(who), collateral(who), score(who)] : [null, null, null]),
      ]);
      if (this.#signal.aborted || who !== wallets.current?.address) return;

      this.#pools = all;
      this.#account = mine;
      this.#balances = balances;
      this.#drawMarkets();
      this.#totals.update(all);
      this.#drawPosition(enabled);
      await this.score.update(who, points, this.#pool);
      this.actions.update(all, mine, points);
      this.activity.refresh();
      replace(this.#problem);
    } catch (error) {
      if (!this.#signal.aborted) replace(this.#problem, failure(error));
    }
  }

  #drawMarkets() {
    const buttons = () => [...this.#rows.querySelectorAll('button')];
    const focused = buttons().indexOf(document.activeElement);
    replace(
      this.#rows,
      this.#pools.map((pool) => this.#row(pool)),
    );
    // Redrawing the table must not take the focus away from the button that has it.
    if (focused >= 0) buttons()[focused]?.focus();
    if (this.#pool) this.detail.choose(this.#pool);
  }

  #row(pool) {
    const row = marketRow(pool, this.#account, this.#balances, (symbol, action) =>
      this.#choose(symbol, action),
    );
    row.classList.toggle('chosen', pool.symbol === this.#chosen);
    return row;
  }

  /** Shows the position, in which the assets that are `enabled` are collateral. */
  #drawPosition(enabled) {
    if (this.#position.contains(document.activeElement)) return;
    const set = async (...choice) => {
      if (!(await setCollateral(...choice))) return;
      document.activeElement?.blur();
      this.draw();
    };
    const act = (symbol, action) => this.#choose(symbol, action);
    replace(this.#position, positionCard(this.#account, enabled, set, act));
  }
}

export default function view({ signal, query }) {
  market.follow(signal);
  const lending = new LendingView(signal, query.get('asset') ?? 'USDC');
  const draw = () => lending.draw();
  wallets.addEventListener('change', draw, { signal });
  whenever(node, 'head', signal, draw, 2_000);
  return lending.elements;
}
