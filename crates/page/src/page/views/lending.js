// The lending pool: markets with their rates, positions at risk, and the position of the active account.

import { card, failure, h, heading, replace, setText, toast } from '../lib/dom.js';
import { amount, compact, percent, span } from '../lib/format.js';
import { account, collateral, pools, score, scoreHistory, yearly } from '../lib/lens.js';
import { logo } from '../lib/logos.js';
import { market } from '../lib/market.js';
import { compactMoney, valueUsd } from '../lib/money.js';
import { callData, network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { reasonOf } from '../lib/reasons.js';
import { wallets } from '../lib/wallet.js';
import { activityCard } from './activity.js';
import { actionsCard } from './borrow.js';
import { riskCard } from './liquidation.js';
import { poolCard } from './pooldetail.js';
import { positionCard } from './position.js';
import { scoreCard, scoreChart } from './score.js';
import { haltTag, nameElement } from './tokenpicker.js';

function meter(share) {
  const bar = h('i');
  bar.style.width = `${Math.min(100, Math.max(0, share * 100))}%`;
  return h('div.meter', { role: 'img', 'aria-label': percent(share, 0) }, bar);
}

/** The parts of a score that are shown. */
const SHOWN_OF_SCORE = ['score', 'band', 'late', 'depositPoints', 'paymentPoints', 'healthPoints', 'historyPoints', 'penaltyPoints', 'overduePoints', 'onTimePayments', 'depositSeconds', 'healthySeconds'];
/** Where the form stands above the markets; as in the stylesheet. */
const NARROW = '(max-width: 62rem)';

/** A short amount, such as 10.31 or 3.50M. */
function tokens(value, decimals) {
  const number = Number(value) / 10 ** decimals;
  return number < 1_000 ? amount(value, decimals, 6) : compact(number);
}

function poolRow(pool, band, chosen, choose) {
  const used = Number(pool.utilisation) / 1e27;
  const decimals = Number(pool.decimals);
  const token = network.tokens.find((one) => one.symbol === pool.symbol);
  const name = h('button.link-button.token-link', { type: 'button', onclick: () => choose(pool.symbol) }, logo(pool.symbol, 'large'), h('span.token-name', h('span.row.nowrap', h('strong', pool.symbol), pool.paused && h('span.tag.bad', 'Paused'), token && haltTag(token)), nameElement(pool.symbol)));
  const stacked = (value) => h('td.number', h('span.stacked', h('span', { title: `${amount(value, decimals, 12)} ${pool.symbol}` }, tokens(value, decimals)), h('span.soft', compactMoney(valueUsd(value, pool.price, decimals)))));
  const row = h('tr',
    h('td', name),
    stacked(pool.totalSupplied),
    h('td.number.up', percent(yearly(pool.supplyRate))),
    stacked(pool.totalDebt),
    h('td.number', percent(yearly(pool.borrowRates[band]))),
    h('td', h('div.measured', meter(used), h('span.soft', percent(used, 1)))));
  row.classList.toggle('chosen', pool.symbol === chosen);
  return row;
}

/** The tiles of the pool's totals. */
function summary() {
  const names = ['Total supplied', 'Total borrowed', 'Available liquidity', 'Utilisation'];
  const values = names.map(() => h('strong', '–'));
  const element = h('div.tiles', names.map((name, at) => h('div.tile', h('span', name), values[at])));
  const update = (all) => {
    const sum = (of) => all.reduce((total, pool) => total + valueUsd(of(pool), pool.price, pool.decimals), 0n);
    const [supplied, borrowed, cash] = [sum((pool) => pool.totalSupplied), sum((pool) => pool.totalDebt), sum((pool) => pool.cash)];
    const used = borrowed + cash > 0n ? Number(borrowed) / Number(borrowed + cash) : 0;
    [compactMoney(supplied), compactMoney(borrowed), compactMoney(cash), percent(used)].forEach((text, at) => setText(values[at], text));
  };
  return { element, update };
}

export default function view({ signal, query }) {
  market.follow(signal);
  const state = { pools: [], account: null, chosen: query.get('asset') ?? 'USDC', open: false, scored: '' };
  const body = h('tbody', h('tr', h('td.empty', { colspan: 6 }, 'Loading…')));
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
    if (action || matchMedia(NARROW).matches) actions.element.scrollIntoView({ block: action ? 'nearest' : 'center' });
  };

  function drawPools() {
    const focused = document.activeElement?.closest?.('tr')?.rowIndex;
    const inside = body.contains(document.activeElement);
    replace(body, state.pools.map((pool) => poolRow(pool, Number(state.account?.band ?? 0), state.chosen, (symbol) => choose(symbol))));
    // Redrawing the table must not take the focus away from the button that has it.
    if (inside) body.rows[focused - 1]?.querySelector('button')?.focus();
    const pool = chosenPool();
    if (pool) detail.choose(pool);
  }

  async function drawScore(who, points) {
    if (!points) return replace(explained);
    // Redrawn when what it shows changes, and not while a control in it has the focus.
    const now = [who, state.chosen, ...SHOWN_OF_SCORE.map((name) => (name.endsWith('Seconds') ? span(Number(points[name])) : points[name]))].join();
    if (state.scored === now || (explained.contains(document.activeElement) && state.scored.startsWith(who))) return;
    state.scored = now;
    replace(explained, scoreCard(points, chosenPool(), line.element, state.open, (open) => (state.open = open)));
    const history = await scoreHistory(who).catch(() => []);
    if (!signal.aborted && who === wallets.current?.address) line.update(history, Number(points.score), Number(node.head?.timestamp ?? 0) * 1_000);
  }

  async function draw() {
    const who = wallets.current?.address;
    try {
      const [all, mine, enabled, points] = await Promise.all([pools(), ...(who ? [account(who), collateral(who), score(who)] : [null, null, null])]);
      if (signal.aborted || who !== wallets.current?.address) return;
      Object.assign(state, { pools: all, account: mine });
      drawPools();
      totals.update(all);
      if (!position.contains(document.activeElement)) replace(position, positionCard(mine, enabled, setCollateral, choose));
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
      const receipt = await wallets.send({ to: network.addresses.lendingPool, data: callData('LendingPool', 'setCollateral', asset, enabled) });
      toast(`${symbol} is ${enabled ? 'collateral' : 'no longer collateral'}`, 'good', { href: `#/tx/${receipt.transactionHash}`, text: 'View transaction' });
      document.activeElement?.blur();
      draw();
    } catch (error) {
      toast(reasonOf(error), 'error');
    }
  }

  wallets.addEventListener('change', draw, { signal });
  whenever(node, 'head', signal, draw, 2_000);
  const head = ['Asset', '-Total supplied', '-Supply APY', '-Total borrowed', '-Borrow APY', 'Utilisation'].map((name) => h(name.startsWith('-') ? 'th.number' : 'th', { scope: 'col' }, name.replace(/^-/, '')));
  return [
    heading('Lending'),
    problem,
    totals.element,
    h('div.grid.main-side',
      h('div.stack', card('Markets', h('div.scroll', { tabindex: '0', role: 'group', 'aria-label': 'Markets' }, h('table.markets', h('thead', h('tr', head)), body))), detail.element, risk.element, activity.element),
      h('div.stack', position, actions.element, explained)),
  ];
}
