// Positions at risk, and the form that liquidates one.

import { parseAddress } from '../lib/address.js';
import { borrowers } from '../lib/borrowers.js';
import { announce, card, facts, h, replace, setContent, setText, toast } from '../lib/dom.js';
import { approval, flow } from '../lib/flow.js';
import { amount, amountProblem, fromUnits, percent, toUnits } from '../lib/format.js';
import { account as readAccount, ENDLESS, quoteLiquidation } from '../lib/lens.js';
import { addressLink } from '../lib/links.js';
import { afterLiquidation, RISKY } from '../lib/loans.js';
import { logo } from '../lib/logos.js';
import { money, valueUsd } from '../lib/money.js';
import { callData, network, read, tokenAt } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { reasonOf } from '../lib/reasons.js';
import { wallets } from '../lib/wallet.js';
import { beforeAfter, healthElement } from './health.js';

const LIQUIDATABLE = 10_000n;
const SHOWN = 25;
/** How often positions are read, in milliseconds. */
const PACE = 4_000;
const MARGIN = 1_000n;

/**
 * Opens the form for a borrower; `pools` are the pools' data, `done` is called after a liquidation.
 */
function openLiquidation(borrower, pools, done) {
  const leaving = new AbortController();
  const { signal } = leaving;
  const state = {
    account: null,
    quote: null,
    balance: null,
    all: true,
    busy: false,
    failed: null,
    finished: false,
  };
  const debt = h('select', { 'aria-label': 'Debt to repay' });
  const collateral = h('select', { 'aria-label': 'Collateral to receive' });
  const input = h('input', {
    inputmode: 'decimal',
    autocomplete: 'off',
    'aria-label': 'Amount to repay',
  });
  const most = h('button.link-button', { type: 'button', 'aria-label': 'Max amount' }, 'Max');
  const balance = h('span');
  const worth = h('span');
  const kind = h('input', { type: 'checkbox' });
  const kindText = h('span');
  const details = h('div');
  const problem = h('div', { 'aria-live': 'polite' });
  const submit = h('button.primary.wide', { type: 'submit' }, 'Liquidate');
  const steps = flow();
  const outcome = h('div');
  const close = h('button.quiet', { type: 'button', 'aria-label': 'Close' }, '✕');
  const form = h(
    'form.stack',
    h(
      'div.grid.pair',
      h('label.field', h('span', 'Debt to repay'), debt),
      h('label.field', h('span', 'Collateral to receive'), collateral),
    ),
    h(
      'div.swap-side',
      h('div.what', h('span', 'You repay')),
      input,
      h('span'),
      h('div.below', worth, balance, most),
    ),
    h('label.check', kind, kindText),
    details,
    problem,
    submit,
    steps.element,
    outcome,
  );
  const dialog = h(
    'dialog.picker.wide',
    { 'aria-label': 'Liquidate position' },
    h('div.spread', h('h2', 'Liquidate position'), close),
    h(
      'p.soft',
      'Borrower ',
      addressLink(borrower),
      '. You repay part of the debt and receive collateral that is worth more.',
    ),
    form,
  );

  const positions = () => state.account?.positions ?? [];
  const chosen = () => ({
    owed: positions().find((one) => one.asset === debt.value),
    seized: positions().find((one) => one.asset === collateral.value),
  });
  const typed = (owed) => {
    if (!input.value.trim()) return 0n;
    try {
      return fromUnits(input.value, Number(owed.decimals));
    } catch (error) {
      return new Error(amountProblem(error, owed));
    }
  };

  function options(select, list, value) {
    const before = select.value;
    const wanted = list.map((one) => `${one.asset}${one.symbol}`).join();
    if (select.dataset.of === wanted) return;
    select.dataset.of = wanted;
    replace(
      select,
      list.map((one) => h('option', { value: one.asset }, `${one.symbol} · ${money(value(one))}`)),
    );
    if (list.some((one) => one.asset === before)) select.value = before;
  }

  function obstacle({ owed, seized, value, largest }) {
    if (!wallets.current) return { label: 'Choose an account' };
    if (state.account.healthFactorBps >= LIQUIDATABLE)
      return {
        label: 'Liquidate',
        text: 'This position cannot be liquidated: its health factor is 1 or more.',
      };
    if (!owed || !seized)
      return { label: 'Liquidate', text: 'The borrower has no collateral to receive.' };
    for (const one of [owed, seized])
      if (!one.priceFresh)
        return {
          label: 'Liquidate',
          text: `The price of ${one.symbol} is stale. A liquidation needs fresh prices of both assets.`,
        };
    if (value instanceof Error) return { label: 'Enter a valid amount', text: value.message };
    if (value === 0n) return { label: 'Enter an amount' };
    if (value > largest.repaid)
      return {
        label: 'Liquidate',
        text: `At most ${amount(largest.repaid, Number(owed.decimals), 8)} ${owed.symbol} can be repaid at once.`,
      };
    if (state.balance !== null && value > state.balance)
      return { label: `Insufficient ${owed.symbol} balance` };
    if (state.quote.received === 0n)
      return { label: 'Liquidate', text: 'The amount is too small.' };
    const pool = pools().find((one) => one.asset === seized.asset);
    if (!kind.checked && pool && pool.cash < state.quote.received)
      return {
        label: 'Liquidate',
        text: `The pool holds too little ${seized.symbol} to pay it out. Receive p${seized.symbol} instead.`,
      };
    return null;
  }

  let turnOf = 0;
  async function draw() {
    if (state.busy || state.finished) return;
    const mine = ++turnOf;
    try {
      state.account = await readAccount(borrower);
      if (mine !== turnOf || signal.aborted) return;
      options(
        debt,
        positions()
          .filter((one) => one.debt > 0n)
          .toSorted((a, b) => (b.debtUsd > a.debtUsd ? 1 : -1)),
        (one) => one.debtUsd,
      );
      options(
        collateral,
        positions()
          .filter((one) => one.supplied > 0n && one.liquidationThresholdBps > 0n)
          .toSorted((a, b) => (b.suppliedUsd > a.suppliedUsd ? 1 : -1)),
        (one) => one.suppliedUsd,
      );
      const { owed, seized } = chosen();
      const token = owed && tokenAt(owed.asset);
      const largest =
        owed && seized
          ? await quoteLiquidation(borrower, owed.asset, seized.asset, ENDLESS)
          : { repaid: 0n, received: 0n };
      if (owed && state.all && document.activeElement !== input)
        input.value = toUnits(largest.repaid, Number(owed.decimals));
      const value = owed ? typed(owed) : 0n;
      const [quote, held] = await Promise.all([
        owed && seized && typeof value === 'bigint' && value > 0n
          ? quoteLiquidation(borrower, owed.asset, seized.asset, value)
          : { repaid: 0n, received: 0n },
        owed && wallets.current
          ? read('Token', owed.asset, 'balanceOf', wallets.current.address)
          : null,
      ]);
      if (mine !== turnOf || signal.aborted || state.busy) return;
      Object.assign(state, { quote, balance: held });
      show({ owed, seized, token, value, largest });
    } catch (error) {
      if (mine === turnOf && !signal.aborted) replace(problem, h('p.failure', reasonOf(error)));
    }
  }

  function show(now) {
    const { owed, seized, value } = now;
    const { quote } = state;
    setText(
      balance,
      owed && state.balance !== null
        ? `Balance ${amount(state.balance, Number(owed.decimals), 7)} ${owed.symbol}`
        : '',
    );
    setText(
      kindText,
      seized
        ? `Receive p${seized.symbol}, the claim on the collateral, instead of ${seized.symbol}`
        : '',
    );
    setText(
      worth,
      owed && typeof value === 'bigint'
        ? money(valueUsd(value, owed.price, owed.decimals))
        : '$0.00',
    );
    if (owed && seized && quote.repaid > 0n) {
      const pool = pools().find((one) => one.asset === seized.asset);
      const bonus = BigInt(pool?.parameters.liquidationBonusBps ?? 0);
      const [paid, got] = [
        valueUsd(quote.repaid, owed.price, owed.decimals, true),
        valueUsd(quote.received, seized.price, seized.decimals),
      ];
      // The treasury keeps a tenth of the bonus, so the borrower loses a little more than the
      // liquidator receives.
      const taken = (quote.received * (10_000n + bonus) * 10n) / (100_000n + 9n * bonus);
      const after = afterLiquidation(state.account, owed, seized, quote.repaid, taken);
      replace(
        details,
        facts([
          [
            'You repay',
            `${amount(quote.repaid, Number(owed.decimals), 8)} ${owed.symbol}`,
            h('span.soft', ` ${money(paid)}`),
          ],
          [
            'You receive',
            `${amount(quote.received, Number(seized.decimals), 8)} ${kind.checked ? 'p' : ''}${seized.symbol}`,
            h('span.soft', ` ${money(got)}`),
          ],
          [
            'Expected bonus',
            h(got > paid ? 'span.up' : 'span', money(got > paid ? got - paid : 0n)),
            h('span.soft', ` ${percent(Number(bonus) / 10_000, 1)} less the treasury’s tenth`),
          ],
          [
            'Borrower’s health factor',
            beforeAfter(healthElement(state.account.healthFactorBps), healthElement(after.health)),
          ],
        ]),
      );
    } else replace(details);
    state.blocked = obstacle(now);
    const text = state.blocked ? state.blocked.text : state.failed;
    setContent(problem, text && h('p.failure', text));
    setText(submit, state.blocked?.label ?? 'Liquidate');
    submit.disabled = Boolean(state.blocked);
  }

  async function liquidate() {
    const account = wallets.current;
    const { owed, seized } = chosen();
    const value = typed(owed);
    const { lendingPool } = network.addresses;
    // The contract takes at most what can be repaid, which grows with the interest until the
    // transaction is mined.
    const offered = state.all ? value + value / MARGIN + 1n : value;
    const spent = state.balance !== null && offered > state.balance ? value : offered;
    const approving = await approval(
      tokenAt(owed.asset) ?? { address: owed.asset, symbol: owed.symbol },
      account.address,
      lendingPool,
      spent,
    );
    const transaction = {
      to: lendingPool,
      data: callData(
        'LendingPool',
        'liquidate',
        borrower,
        owed.asset,
        seized.asset,
        spent,
        kind.checked,
      ),
    };
    const receipt = await steps.run(
      [approving, { name: 'Liquidate', transaction }].filter(Boolean),
      account,
    );
    const text = `Repaid ${amount(value, Number(owed.decimals))} ${owed.symbol} and received ${seized.symbol}`;
    const link = { href: `#/tx/${receipt.transactionHash}`, text: 'View transaction' };
    announce(text);
    if (signal.aborted) toast(text, 'good', link);
    state.finished = true;
    steps.clear();
    replace(details);
    replace(
      outcome,
      h(
        'p.note.good',
        { role: 'status' },
        text,
        ' ',
        h('a', { href: link.href, onclick: () => dialog.close() }, link.text),
      ),
    );
    setText(submit, 'Liquidated');
    done();
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (state.busy || submit.disabled) return;
    Object.assign(state, { busy: true, failed: null });
    submit.disabled = true;
    replace(problem);
    setText(submit, 'Liquidating…');
    try {
      await liquidate();
    } catch (error) {
      state.failed = reasonOf(error);
    }
    state.busy = false;
    draw();
  });
  const changed = () => {
    state.failed = null;
    draw();
  };
  input.addEventListener('input', () => {
    state.all = false;
    changed();
  });
  for (const select of [debt, collateral])
    select.addEventListener('change', () => {
      state.all = true;
      changed();
    });
  most.addEventListener('click', () => {
    state.all = true;
    most.focus();
    changed();
  });
  kind.addEventListener('change', changed);
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    leaving.abort();
    dialog.remove();
  });
  window.addEventListener('hashchange', () => dialog.close(), { signal });
  document.body.append(dialog);
  dialog.showModal();
  whenever(node, 'head', signal, draw, 1_000);
}

/** How many of the borrowers are healthy, in a sentence. */
function healthText(healthy, all) {
  const verb = all === 1 ? 'The only borrower has' : `All ${all} borrowers have`;
  if (healthy === all) return `${verb} a health factor of 1.5 or more.`;
  if (healthy === 0) return `${verb} a health factor below 1.5.`;
  return `${healthy} of ${all} borrowers ${healthy === 1 ? 'has' : 'have'} a health factor of 1.5 or more.`;
}

/**
 * The card with the positions at risk; `pools()` returns the pools' data, `done` is called after a
 * liquidation.
 */
export function riskCard(signal, pools, done) {
  const body = h('tbody', h('tr', h('td.empty', { colspan: 5 }, 'Loading…')));
  const tag = h('span');
  const note = h('p.soft');
  /** Accounts that the visitor asked for, which are listed whatever their health. */
  const wanted = new Set();
  const who = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x… or ${network.prefix}1…`,
    'aria-label': 'Account to check',
  });
  const wrong = h('p.down', { 'aria-live': 'polite' });
  const lookup = h('form.row.nowrap', who, h('button', { type: 'submit' }, 'Check account'));
  lookup.addEventListener('submit', (event) => {
    event.preventDefault();
    setText(wrong, '');
    try {
      wanted.add(parseAddress(who.value, network.prefix));
      who.value = '';
      draw();
    } catch (error) {
      setText(wrong, reasonOf(error));
    }
  });
  const logos = (account, of) =>
    h(
      'span.traded',
      account.positions.filter(of).map((one) => logo(one.symbol, 'small')),
    );

  function row({ user, account }) {
    const below = account.healthFactorBps < LIQUIDATABLE;
    const act = below
      ? h(
          'button.small',
          {
            type: 'button',
            'aria-label': `Liquidate ${user}`,
            onclick: () => openLiquidation(user, pools, done),
          },
          'Liquidate',
        )
      : h('span.soft', account.debtUsd > 0n ? 'Not liquidatable' : 'No debt');
    return h(
      'tr',
      h('td', addressLink(user), user === wallets.current?.address && h('span.tag', 'You')),
      h(
        'td.number',
        h(
          'span.traded',
          logos(account, (one) => one.supplied > 0n),
          money(account.suppliedUsd),
        ),
      ),
      h(
        'td.number',
        h(
          'span.traded',
          logos(account, (one) => one.debt > 0n),
          money(account.debtUsd, true),
        ),
      ),
      h('td.number', h('strong', healthElement(account.healthFactorBps))),
      h('td.number', act),
    );
  }

  async function draw() {
    try {
      const { found, more } = await borrowers.positions(wanted);
      if (signal.aborted) return;
      const risky = found.filter(
        ({ user, account }) => account.healthFactorBps < RISKY || wanted.has(user),
      );
      const below = risky.filter(({ account }) => account.healthFactorBps < LIQUIDATABLE).length;
      // Redrawing the table would take the focus away from the button that has it.
      if (!body.contains(document.activeElement))
        replace(
          body,
          risky.length
            ? risky.slice(0, SHOWN).map(row)
            : h('tr', h('td.empty', { colspan: 5 }, 'No position is close to liquidation.')),
        );
      replace(
        tag,
        below
          ? h('span.tag.bad', `${below} liquidatable`)
          : h('span.tag.good', 'None liquidatable'),
      );
      const indebted = found.filter(({ account }) => account.debtUsd > 0n);
      const healthy = indebted.filter(({ account }) => account.healthFactorBps >= RISKY).length;
      setText(
        note,
        `${healthText(healthy, indebted.length)}${more ? ` ${more} earlier ones are not read.` : ''}`,
      );
      note.hidden = !indebted.length;
    } catch (error) {
      if (!signal.aborted) setText(note, `The borrowers could not be read. ${reasonOf(error)}`);
    }
  }

  whenever(node, 'head', signal, draw, PACE);
  const head = ['Account', '-Supplied', '-Borrowed', '-Health factor', '-'].map((name) =>
    h(
      name.startsWith('-') ? 'th.number' : 'th',
      { scope: 'col' },
      name.replace(/^-/, '') || h('span.hidden', 'Action'),
    ),
  );
  const element = card(
    h('span.spread', 'Positions at risk', tag),
    h(
      'div.scroll',
      { tabindex: '0', role: 'group', 'aria-label': 'Positions at risk' },
      h('table', h('thead', h('tr', head)), body),
    ),
    note,
    lookup,
    wrong,
  );
  element.classList.add('risk');
  return { element, draw };
}
