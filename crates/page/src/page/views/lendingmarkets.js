// The markets of the lending pool, as tiles and as the rows of a table.

import { h, setText } from '../lib/dom.js';
import { amount, compact, percent } from '../lib/format.js';
import { yearly } from '../lib/lens.js';
import { compactMoney, valueUsd } from '../lib/money.js';
import { network } from '../lib/network.js';
import { tokenButton } from './tokenbutton.js';
import { haltTag } from './tokenpicker.js';

export const COLUMNS = [
  'Asset',
  '-Total supplied',
  '-Supply APY',
  '-Total borrowed',
  '-Borrow APY',
  '-Utilisation',
  '-Your balance',
];
const TOTALS = ['Total supplied', 'Total borrowed', 'Available liquidity', 'Utilisation'];

/** A short amount, such as 10.31 or 3.50M. */
function tokens(value, decimals) {
  const number = Number(value) / 10 ** decimals;
  return number < 1_000 ? amount(value, decimals, 6) : compact(number);
}

/** What the account has of a market's asset, and the buttons that open the form for it. */
function ownCell(pool, account, balances, choose) {
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

/** The name of a figure, on phones, where the table has no head. */
const onPhones = (name) => h('span.unit.soft', `${name} `);

/** An amount of a market's asset, and below it what it is worth. */
function totalCell(pool, value) {
  const decimals = Number(pool.decimals);
  const exact = `${amount(value, decimals, 12)} ${pool.symbol}`;
  return h(
    'td.number',
    h(
      'span.stacked',
      h('span', { title: exact }, tokens(value, decimals)),
      h('span.soft', compactMoney(valueUsd(value, pool.price, decimals))),
    ),
  );
}

/**
 * The row of a market. `choose(symbol, action)` is called with the market, and with the action of a
 * button if it is one of the account's own column.
 */
export function marketRow(pool, account, balances, choose) {
  const token = network.tokens.find((one) => one.symbol === pool.symbol);
  const tags = [pool.paused && h('span.tag.bad', 'Paused'), token && haltTag(token)];
  const band = Number(account?.band ?? 0);
  const used = Number(pool.utilisation) / 1e27;
  return h(
    'tr',
    h(
      'td.line-1',
      tokenButton(pool.symbol, tags, () => choose(pool.symbol)),
    ),
    totalCell(pool, pool.totalSupplied),
    h('td.number.up.line-2', onPhones('Supply'), percent(yearly(pool.supplyRate))),
    totalCell(pool, pool.totalDebt),
    h('td.number.line-2', onPhones('Borrow'), percent(yearly(pool.borrowRates[band]))),
    h('td.number.soft.line-2.end', onPhones('Utilisation'), percent(used, 1)),
    ownCell(pool, account, balances, choose),
  );
}

/** The totals of all markets as texts, in the order of the tiles. */
function totalTexts(pools) {
  const sum = (of) =>
    pools.reduce((total, pool) => total + valueUsd(of(pool), pool.price, pool.decimals), 0n);
  const supplied = sum((pool) => pool.totalSupplied);
  const borrowed = sum((pool) => pool.totalDebt);
  const cash = sum((pool) => pool.cash);
  const used = borrowed + cash > 0n ? Number(borrowed) / Number(borrowed + cash) : 0;
  return [compactMoney(supplied), compactMoney(borrowed), compactMoney(cash), percent(used)];
}

/** The tiles of the markets' totals: `{ element, update(pools) }`. */
export function totalTiles() {
  const values = TOTALS.map(() => h('strong', '–'));
  const element = h(
    'div.tiles',
    TOTALS.map((name, at) => h('div.tile', h('span', name), values[at])),
  );
  const update = (pools) =>
    totalTexts(pools).forEach((text, at) => {
      setText(values[at], text);
    });
  return { element, update };
}
