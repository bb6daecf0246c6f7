// Positions at risk of liquidation.

import { parseAddress } from '../lib/address.js';
import { addressInput } from '../lib/addressinput.js';
import { borrowers } from '../lib/borrowers.js';
import { card, h, replace, setText } from '../lib/dom.js';
import { addressLink } from '../lib/links.js';
import { liveTable, loadingBody } from '../lib/livetable.js';
import { RISKY } from '../lib/loans.js';
import { logo } from '../lib/logos.js';
import { money } from '../lib/money.js';
import { network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { reasonOf } from '../lib/reasons.js';
import { wallets } from '../lib/wallet.js';
import { healthElement } from './health.js';
import { openLiquidation } from './liquidation.js';
import { LIQUIDATABLE } from './liquidationterms.js';

/** Maximum number of positions in the list. */
const SHOWN = 25;
/** How often positions are read, in milliseconds. */
const PACE = 4_000;
const COLUMNS = ['Account', '-Supplied', '-Borrowed', '-Health factor', '-'];

/** How many of the borrowers are healthy, in a sentence. */
function healthText(healthy, all) {
  const verb = all === 1 ? 'The only borrower has' : `All ${all} borrowers have`;
  if (healthy === all) return `${verb} a health factor of 1.5 or more.`;
  if (healthy === 0) return `${verb} a health factor below 1.5.`;
  return `${healthy} of ${all} borrowers ${healthy === 1 ? 'has' : 'have'} a health factor of 1.5 or more.`;
}

/** A form for the address of an account; `check` is called with it. */
function lookupForm(check) {
  const who = addressInput({ 'aria-label': 'Account to check' });
  const wrong = h('p.down', { 'aria-live': 'polite' });
  const form = h('form.row.nowrap', who, h('button', { type: 'submit' }, 'Check account'));

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    setText(wrong, '');
    try {
      const address = parseAddress(who.value, network.prefix);
      who.value = '';
      check(address);
    } catch (error) {
      setText(wrong, reasonOf(error));
    }
  });
  return [form, wrong];
}

/** A value, after the logos of the positions that are part of it. */
function valueCell(positions, text) {
  return h(
    'td.number',
    h(
      'span.traded',
      h(
        'span.traded',
        positions.map((one) => logo(one.symbol, 'small')),
      ),
      text,
    ),
  );
}

/** The button that opens the form for a borrower, or why there is none. */
function actionOf({ user, account }, open) {
  if (account.healthFactorBps >= LIQUIDATABLE)
    return h('span.soft', account.debtUsd > 0n ? 'Not liquidatable' : 'No debt');
  return h(
    'button.small',
    { type: 'button', 'aria-label': `Liquidate ${user}`, onclick: () => open(user) },
    'Liquidate',
  );
}

function row(borrower, open) {
  const { user, account } = borrower;
  return h(
    'tr',
    h('td', addressLink(user), user === wallets.current?.address && h('span.tag', 'You')),
    valueCell(
      account.positions.filter((one) => one.supplied > 0n),
      money(account.suppliedUsd),
    ),
    valueCell(
      account.positions.filter((one) => one.debt > 0n),
      money(account.debtUsd, true),
    ),
    h('td.number', h('strong', healthElement(account.healthFactorBps))),
    h('td.number', actionOf(borrower, open)),
  );
}

function rows(risky, open) {
  if (!risky.length)
    return h(
      'tr',
      h('td.empty', { colspan: COLUMNS.length }, 'No position is close to liquidation.'),
    );
  return risky.slice(0, SHOWN).map((borrower) => row(borrower, open));
}

/** The tag with the number of positions that can be liquidated. */
function liquidatableTag(risky) {
  const below = risky.filter(({ account }) => account.healthFactorBps < LIQUIDATABLE).length;
  return below
    ? h('span.tag.bad', `${below} liquidatable`)
    : h('span.tag.good', 'None liquidatable');
}

/**
 * The card with the positions at risk; `pools()` returns the pools' data, `done` is called after a
 * liquidation.
 */
export function riskCard(signal, pools, done) {
  const body = loadingBody(COLUMNS);
  const tag = h('span');
  const note = h('p.soft');
  /** Accounts that the visitor asked for, which are listed whatever their health. */
  const wanted = new Set();
  const open = (user) => openLiquidation(user, pools, done);

  function drawNote(found, more) {
    const indebted = found.filter(({ account }) => account.debtUsd > 0n);
    const healthy = indebted.filter(({ account }) => account.healthFactorBps >= RISKY).length;
    const unread = more ? ` ${more} earlier ones are not read.` : '';
    setText(note, `${healthText(healthy, indebted.length)}${unread}`);
    note.hidden = !indebted.length;
  }

  async function draw() {
    try {
      const { found, more } = await borrowers.positions(wanted);
      if (signal.aborted) return;
      const risky = found.filter(
        ({ user, account }) => account.healthFactorBps < RISKY || wanted.has(user),
      );
      // Redrawing the table would take the focus away from the button that has it.
      if (!body.contains(document.activeElement)) replace(body, rows(risky, open));
      replace(tag, liquidatableTag(risky));
      drawNote(found, more);
    } catch (error) {
      if (!signal.aborted) setText(note, `The borrowers could not be read. ${reasonOf(error)}`);
    }
  }

  const lookup = lookupForm((address) => {
    wanted.add(address);
    draw();
  });
  whenever(node, 'head', signal, draw, PACE);

  const element = card(
    h('span.spread', 'Positions at risk', tag),
    liveTable('table', 'Positions at risk', COLUMNS, body),
    note,
    lookup,
  );
  element.classList.add('risk');
  return { element, draw };
}
