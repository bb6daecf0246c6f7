// The lending pool: markets with their rates, and the position of the active account.

import { curve } from '../lib/chart.js';
import { card, facts, failure, h, heading, replace, toast } from '../lib/dom.js';
import { amount, percent } from '../lib/format.js';
import { account, borrowRate, collateral, pools, score, yearly } from '../lib/lens.js';
import { addressLink } from '../lib/links.js';
import { callData, network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';
import { actionsCard } from './borrow.js';
import { positionCard, scoreCard } from './position.js';

function meter(share, kind = '') {
  const bar = h('i');
  bar.style.width = `${Math.min(100, Math.max(0, share * 100))}%`;
  return h(`div.meter${kind && `.${kind}`}`, { role: 'img', 'aria-label': percent(share, 0) }, bar);
}

function poolRow(pool, chosen, choose) {
  const used = Number(pool.utilisation) / 1e27;
  const name = h('button.link-button', { type: 'button', onclick: () => choose(pool.symbol) }, pool.symbol);
  const row = h('tr',
    h('td', name, pool.paused && h('span.tag.bad', 'Paused')),
    h('td.number', amount(pool.totalSupplied, Number(pool.decimals), 7)),
    h('td.number', amount(pool.totalDebt, Number(pool.decimals), 7)),
    h('td', h('div.measured', meter(used), h('span.soft', percent(used, 1)))),
    h('td.number.up', percent(yearly(pool.supplyRate))),
    h('td.number', percent(yearly(pool.borrowRates[0]))));
  row.classList.toggle('chosen', pool.symbol === chosen);
  return row;
}

function detail(pool) {
  const { parameters } = pool;
  const share = (bps) => percent(Number(bps) / 10_000, 0);
  const used = Number(pool.utilisation) / 1e27;
  return card(h('span.spread', `${pool.symbol} interest rate model`, h('span.soft', `Current borrow APY ${percent(yearly(pool.borrowRates[0]))}`)),
    h('div.grid.two', curve((at) => borrowRate(parameters, at), used, (rate) => percent(rate, rate < 0.1 ? 1 : 0)), facts([
      ['Available liquidity', `${amount(pool.cash, Number(pool.decimals), 8)} ${pool.symbol}`],
      ['Loan-to-value (LTV)', `${share(parameters.minLtvBps)} at a score of 300, ${share(parameters.maxLtvBps)} at 850`],
      ['Liquidation threshold', share(parameters.liquidationThresholdBps)],
      ['Liquidation bonus', share(parameters.liquidationBonusBps)],
      ['Borrow APY by credit band', pool.borrowRates.map((rate) => percent(yearly(rate))).join(' · ')],
      ['Receipt token', addressLink(pool.pToken)],
    ])));
}

export default function view({ signal, query }) {
  const state = { pools: [], chosen: query.get('asset') ?? 'USDC' };
  const body = h('tbody');
  const curveBox = h('div.late');
  const position = h('div');
  const explained = h('div');
  const problem = h('div');
  const actions = actionsCard(signal, () => draw());
  const choose = (symbol) => {
    state.chosen = symbol;
    actions.choose(symbol);
    drawPools();
  };

  function drawPools() {
    replace(body, state.pools.map((pool) => poolRow(pool, state.chosen, choose)));
    const pool = state.pools.find((one) => one.symbol === state.chosen) ?? state.pools[0];
    if (pool) replace(curveBox, detail(pool));
  }

  async function draw() {
    const who = wallets.current?.address;
    try {
      const [all, mine, enabled, points] = await Promise.all([pools(), ...(who ? [account(who), collateral(who), score(who)] : [null, null, null])]);
      if (signal.aborted || who !== wallets.current?.address) return;
      state.pools = all;
      // Redrawing the table would take the focus away from the button that has it.
      if (!body.contains(document.activeElement)) drawPools();
      replace(position, positionCard(mine, enabled, setCollateral));
      replace(explained, points && scoreCard(points));
      actions.update(all, mine);
      replace(problem);
    } catch (error) {
      if (!signal.aborted) replace(problem, failure(error));
    }
  }

  async function setCollateral(asset, symbol, enabled) {
    try {
      const receipt = await wallets.send({ to: network.addresses.lendingPool, data: callData('LendingPool', 'setCollateral', asset, enabled) });
      toast(`${symbol} is ${enabled ? 'collateral' : 'no longer collateral'}`, 'good', { href: `#/tx/${receipt.transactionHash}`, text: 'View transaction' });
      draw();
    } catch (error) {
      replace(problem, failure(error));
    }
  }

  actions.choose(state.chosen);
  wallets.addEventListener('change', draw, { signal });
  whenever(node, 'head', signal, draw, 2_000);
  const head = ['Asset', '-Total supplied', '-Total borrowed', 'Utilisation', '-Supply APY', '-Borrow APY'].map((name) => h(name.startsWith('-') ? 'th.number' : 'th', { scope: 'col' }, name.replace('-', '')));
  return [
    heading('Lending'),
    problem,
    h('div.grid.main-side',
      h('div.stack', card('Pools', h('div.scroll', { tabindex: '0', role: 'group' }, h('table', h('thead', h('tr', head)), body))), curveBox),
      h('div.stack', position, actions.element, explained)),
  ];
}
