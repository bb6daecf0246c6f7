// The lending pool: markets with their rates, positions at risk, and the position of the active
// account.

import { card, failure, h, heading, replace, setText, toast } from '../lib/dom.js';
import { amount, compact, percent, span } from '../lib/format.js';
import { account, collateral, pools, score, scoreHistory, yearly } from '../lib/lens.js';
import { logo } from '../lib/logos.js';
import { market } from '../lib/market.js';
import { compactMoney, valueUsd } from '../lib/money.js';
import { callData, network, read } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { reasonOf } from '../lib/reasons.js';
import { wallets } from '../lib/wallet.js';
import { activityCard } from './activity.js';
import { actionsCard } from './borrow.js';
import { riskCard } from './riskcard.js';
import { poolCard } from './pooldetail.js';
import { positionCard } from './position.js';
import { scoreCard, scoreChart } from './score.js';
import { haltTag, nameElement } from './tokenpicker.js';

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

/** A short amount, such as 10.31 or 3.50M. */
function tokens(value, decimals) {
  const number = Number(value) / 10 ** decimals;
  return number < 1_000 ? amount(value, decimals, 6) : compact(number);
}

/** What the account has of a market's asset, and the buttons that open the form for it. */
function ownCell(pool, { account, balances }, choose) {
  const decimals = Number(pool.decimals);
  const own = account?.positions.find((one) => one.asset === pool.asset);
  const line = (name, value) =>
    value > 0n && h('span', h('span.soft', `${name} `), tokens(value, decimals));
  const act = (action, text) =>
    h(
      'button.link-button',
      {
        type: 'button',
        'aria-label': `${text} ${pool.symbol}`,
        onclick: () => choose(pool.symbol, action),
      },
      text,
    );
  return h(
    'td.own.line-1.end',
    h(
      'span.stacked',
      line('Wallet', balances.get(pool.asset) ?? 0n),
      line('Supplied', own?.supplied ?? 0n),
      line('Borrowed', own?.debt ?? 0n),
      h('span.row.nowrap', act('deposit', 'Supply'), act('borrow', 'Borrow')),
    ),
  );
}

/** The name of a figure, where the table has no head. */
const onPhones = (name) => h('span.unit.soft', `${name} `);

function poolRow(pool, state, choose) {
  const { chosen } = state;
  const band = Number(state.account?.band ?? 0);
  const used = Number(pool.utilisation) / 1e27;
  const decimals = Number(pool.decimals);
  const token = network.tokens.find((one) => one.symbol === pool.symbol);
  const name = h(
    'button.link-button.token-link',
    { type: 'button', onclick: () => choose(pool.symbol, null) },
    logo(pool.symbol, 'large'),
    h(
      'span.token-name',
      h(
        'span.row.nowrap',
        h('strong', pool.symbol),
        pool.paused && h('span.tag.bad', 'Paused'),
        token && haltTag(token),
      ),
      nameElement(pool.symbol),
    ),
  );
  const stacked = (value) =>
    h(
      'td.number',
      h(
        'span.stacked',
        h(
          'span',
          { title: `${amount(value, decimals, 12)} ${pool.symbol}` },
          tokens(value, decimals),
        ),
        h('span.soft', compactMoney(valueUsd(value, pool.price, decimals))),
      ),
    );
  const row = h(
    'tr',
    h('td.line-1', name),
    stacked(pool.totalSupplied),
    h('td.number.up.line-2', onPhones('Supply'), percent(yearly(pool.supplyRate))),
    stacked(pool.totalDebt),
    h('td.number.line-2', onPhones('Borrow'), percent(yearly(pool.borrowRates[band]))),
    h('td.number.soft.line-2.end', onPhones('Utilisation'), percent(used, 1)),
    ownCell(pool, state, choose),
  );
  row.classList.toggle('chosen', pool.symbol === chosen);
  return row;
}

/** The tiles of the pool's totals. */
function summary() {
  const names = ['Total supplied', 'Total borrowed', 'Available liquidity', 'Utilisation'];
  const values = names.map(() => h('strong', '–'));
  const element = h(
    'div.tiles',
    names.map((name, at) => h('div.tile', h('span', name), values[at])),
  );
  const update = (all) => {
    const sum = (of) =>
      all.reduce((total, pool) => total + valueUsd(of(pool), pool.price, pool.decimals), 0n);
    const [supplied, borrowed, cash] = [
      sum((pool) => pool.totalSupplied),
      sum((pool) => pool.totalDebt),
      sum((pool) => pool.cash),
    ];
    const used = borrowed + cash > 0n ? Number(borrowed) / Number(borrowed + cash) : 0;
    [compactMoney(supplied), compactMoney(borrowed), compactMoney(cash), percent(used)].forEach(
      (text, at) => setText(values[at], text),
    );
  };
  return { element, update };
}

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

export default function view({ signal, query }) {
  market.follow(signal);
  const state = {
    pools: [],
    account: null,
    balances: new Map(),
    chosen: query.get('asset') ?? 'USDC',
    open: false,
    scored: '',
  };
  const body = h('tbody', h('tr', h('td.empty', { colspan: 7 }, 'Loading…')));
  const totals = summary();
  const position = h('div.first');
  const explained = h('div');
  const problem = h('div');
  const detail = poolCard(signal);
  const activity = activityCard(signal);
  const line = scoreChart();
  const acted = () => {
    activity.refresh({ soon: true });
    risk.draw();
    draw();
  };
  const risk = riskCard(signal, () => state.pools, acted);
  for (const one of [risk, activity]) one.element.classList.add('late');
  const actions = actionsCard(signal, acted);
  actions.element.classList.add('first');
  const chosenPool = () => state.pools.find((one) => one.symbol === state.chosen) ?? state.pools[0];
  const choose = (symbol, action) => {
    state.chosen = symbol;
    actions.choose(symbol, action);
    drawPools();
    // In one column, the form is far from the markets.
    if (action) actions.focus();
    if (action || matchMedia(NARROW).matches)
      actions.element.scrollIntoView({ block: action ? 'nearest' : 'center' });
  };

  function drawPools() {
    const buttons = () => [...body.querySelectorAll('button')];
    const focused = buttons().indexOf(document.activeElement);
    replace(
      body,
      state.pools.map((pool) =>
        poolRow(pool, state, (symbol, action) => choose(symbol, action ?? undefined)),
      ),
    );
    // Redrawing the table must not take the focus away from the button that has it.
    if (focused >= 0) buttons()[focused]?.focus();
    const pool = chosenPool();
    if (pool) detail.choose(pool);
  }

  async function drawScore(who, points) {
    if (!points) return replace(explained);
    // Redrawn when what it shows changes, and not while a control in it has the focus.
    const now = [
      who,
      state.chosen,
      ...SHOWN_OF_SCORE.map((name) =>
        name.endsWith('Seconds') ? span(Number(points[name])) : points[name],
      ),
    ].join();
    if (
      state.scored === now ||
      (explained.contains(document.activeElement) && state.scored.startsWith(who))
    )
      return;
    state.scored = now;
    replace(
      explained,
      scoreCard(points, chosenPool(), line.element, state.open, (open) => (state.open = open)),
    );
    const history = await scoreHistory(who).catch(() => []);
    if (!signal.aborted && who === wallets.current?.address)
      line.update(history, Number(points.score), Number(node.head?.timestamp ?? 0) * 1_000);
  }

  async function draw() {
    const who = wallets.current?.address;
    try {
      const [all, balances, mine, enabled, points] = await Promise.all([
        pools(),
        balancesOf(who),
        ...(who ? [account(who), collateral(who), score(who)] : [null, null, null]),
      ]);
      if (signal.aborted || who !== wallets.current?.address) return;
      Object.assign(state, { pools: all, account: mine, balances });
      drawPools();
      totals.update(all);
      if (!position.contains(document.activeElement))
        replace(position, positionCard(mine, enabled, setCollateral, choose));
      await drawScore(who, points);
      actions.update(all, mine, points);
      activity.refresh();
      replace(problem);
    } catch (error) {
      if (!signal.aborted) replace(problem, failure(error));
    }
  }

  async function setCollateral(asset, symbol, enabled) {
    try {
      const receipt = await wallets.send({
        to: network.addresses.lendingPool,
        data: callData('LendingPool', 'setCollateral', asset, enabled),
      });
      toast(`${symbol} is ${enabled ? 'collateral' : 'no longer collateral'}`, 'good', {
        href: `#/tx/${receipt.transactionHash}`,
        text: 'View transaction',
      });
      document.activeElement?.blur();
      draw();
    } catch (error) {
      toast(reasonOf(error), 'error');
    }
  }

  wallets.addEventListener('change', draw, { signal });
  whenever(node, 'head', signal, draw, 2_000);
  const head = [
    'Asset',
    '-Total supplied',
    '-Supply APY',
    '-Total borrowed',
    '-Borrow APY',
    '-Utilisation',
    '-Your balance',
  ].map((name) =>
    h(name.startsWith('-') ? 'th.number' : 'th', { scope: 'col' }, name.replace(/^-/, '')),
  );
  return [
    heading('Lending'),
    problem,
    totals.element,
    h(
      'div.grid.main-side',
      h(
        'div.stack',
        card(
          'Markets',
          h(
            'div.scroll',
            { tabindex: '0', role: 'group', 'aria-label': 'Markets' },
            h('table.markets.rows', h('thead', h('tr', head)), body),
          ),
        ),
        detail.element,
        risk.element,
        activity.element,
      ),
      h('div.stack', position, actions.element, explained),
    ),
  ];
}
