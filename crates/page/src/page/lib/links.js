// Links between views, and rendering of decoded values.

import { accountName } from './accountnames.js';
import { checksum } from './address.js';
import { isHex } from './bytes.js';
import { copyButton, h } from './dom.js';
import { amount, count, date, shorten } from './format.js';
import { displayName } from './labels.js';
import { measuredToken, network } from './network.js';

/**
 * A link to an address, labelled with its name if it has one. `full` shows the whole address with a
 * copy button; `plain` omits the name.
 */
export function addressLink(given, { full = false, plain = false } = {}) {
  if (!given) return h('span.soft', '–');
  const address = checksum(given);
  const name = plain ? null : (displayName(address) ?? accountName(address));
  const link = h(
    'a',
    { href: `#/address/${address}`, title: address },
    name ?? h('span.mono', full ? address : shorten(address, 8, 6)),
  );
  return full
    ? h(
        'span',
        link,
        name && h('span.mono.soft', ` ${address}`),
        copyButton(address, 'Copy address'),
      )
    : link;
}

/** A link to a transaction. */
export function transactionLink(hash, { full = false } = {}) {
  const link = h(
    'a.mono',
    { href: `#/tx/${hash}`, title: hash },
    full ? hash : shorten(hash, 10, 6),
  );
  return full ? h('span', link, copyButton(hash, 'Copy hash')) : link;
}

/** The link to a transaction that a message about it offers. */
export function viewTransaction(hash) {
  return { href: `#/tx/${hash}`, text: 'View transaction' };
}

/** A sentence about a transaction that was included, and the link to it with more properties. */
export function outcomeNote(text, hash, properties = {}) {
  const { href, text: label } = viewTransaction(hash);
  return h('p.note.good', { role: 'status' }, text, ' ', h('a', { href, ...properties }, label));
}

/** A link to a block by its number. */
export function blockLink(number) {
  return h('a', { href: `#/block/${Number(number)}` }, count(Number(number)));
}

/** An amount of the native coin. */
export function coins(wei, digits = 6) {
  return `${amount(BigInt(wei), 18, digits)} ${network.coin}`;
}

/**
 * An amount with about `digits` significant digits; if that is not all of it, as a button that
 * shows the exact one.
 */
export function exactAmount(value, decimals, digits) {
  const short = amount(value, decimals, digits);
  const exact = amount(value, decimals, Infinity);
  if (short === exact) return h('span', exact);
  const button = h(
    'button.exact',
    { type: 'button', 'aria-pressed': 'false', title: exact },
    short,
  );
  button.addEventListener('click', () => {
    const isExact = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(isExact));
    button.textContent = isExact ? exact : short;
  });
  return button;
}

/** Elements of a list that are shown before a button shows the next ones. */
const SHOWN_ELEMENTS = 50;

/**
 * Appends the elements of a list to `box` in parts, each made by `make`; `last` is what holds the
 * button.
 */
function inParts(box, values, make, last) {
  let shown = 0;
  const more = h('button', { type: 'button' });
  const next = () => {
    const part = values.slice(shown, shown + SHOWN_ELEMENTS);
    box.append(...part.map((value, at) => make(value, shown + at)));
    shown += part.length;
    if (shown < values.length) last.append(more);
    else more.remove();
    more.textContent = `Show more of ${count(values.length - shown)}`;
  };
  more.addEventListener('click', next);
  next();
}

/** A member of a tuple, of an amount of `token` if its name says that it is an amount. */
function memberOf(value, component, token) {
  return decodedValue(value, component, AMOUNT.test(component.name) ? token : null);
}

/** A list of tuples as a table: a column for each member, a row for each tuple. */
function tupleTable(values, element, token) {
  const head = h(
    'tr',
    h('th', { scope: 'col' }, '#'),
    element.components.map((one, at) => h('th', { scope: 'col' }, one.name || `#${at}`)),
  );

  const body = h('tbody');
  const row = (value, at) =>
    h(
      'tr',
      h('td', count(at)),
      element.components.map((one, index) => h('td', memberOf(value[index], one, token))),
    );

  const box = h(
    'div.stack',
    h(
      'div.scroll',
      { tabindex: '0', role: 'group', 'aria-label': 'List of tuples' },
      h('table.tuples', h('thead', head), body),
    ),
  );
  inParts(body, values, row, box);
  return box;
}

function listOf(values, input, token) {
  if (!values.length) return h('span.soft', 'empty');
  const element = { ...input, type: input.type.replace(/\[\d*\]$/, '') };
  if (element.type === 'tuple') return tupleTable(values, element, token);
  const list = h('ul.plain');
  const box = h('div.stack', list);
  inParts(list, values, (value) => h('li', decodedValue(value, element, token)), box);
  return box;
}

function tupleOf(values, input, token) {
  const members = (input.components ?? []).map((one, at) =>
    h('li', one.name && h('span.soft', `${one.name}: `), memberOf(values[at], one, token)),
  );
  return members.length ? h('ul.plain', members) : h('span.soft', 'empty');
}

/** A number whose name says what it is: the time of a block, an amount, or US dollars. */
function decodedNumber(value, { name }, token) {
  const exact = value.toString();
  if (value === (1n << 256n) - 1n) return h('span', { title: exact }, 'unlimited');
  if (/timestamp|(At|deadline)$/i.test(name) && value > 1_000_000_000n && value < 10_000_000_000n)
    return h('span', { title: exact }, date(Number(value)));
  if (token) {
    const sum = amount(value, token.decimals, Infinity);
    return h('span', { title: exact }, `${sum} ${token.symbol ?? 'tokens'}`);
  }
  if (/usd$|^price/i.test(name) && value < 10n ** 24n)
    return h('span', { title: exact }, `$${amount(value, 8, 10)}`);
  return h('span.mono', exact);
}

/** A decoded value as an element. `token` is the token that it is an amount of, if it is one. */
export function decodedValue(value, input, token) {
  if (input.type.endsWith(']') && Array.isArray(value)) return listOf(value, input, token);
  if (Array.isArray(value)) return tupleOf(value, input, token);
  if (input.type === 'address') return addressLink(value);
  if (typeof value === 'bigint') return decodedNumber(value, input, token);
  if (isHex(value, 32)) return h('span.mono', { title: value }, shorten(value, 18, 10));
  return h('span.mono', String(value));
}

/** Names of numbers that are amounts of tokens. */
const AMOUNT = /amount|value/i;
/**
 * Names of numbers that are amounts of the token whose contract they are of, such as `balanceOf`.
 */
const OWN_AMOUNT =
  /^_*(amount|value|wad|needed|balance(Of)?|totalSupply|allowance|(added|subtracted)Value)_*$/i;

/**
 * The token that a number called `name` is an amount of, if that follows from the contract or from
 * other arguments.
 */
export function tokenFor(name, contract, values = {}) {
  const own = measuredToken(contract);
  if (own) return OWN_AMOUNT.test(name) ? own : null;
  // Of a liquidation.
  if (values.collateralAsset && /^(repaid|seized|fee)$/.test(name))
    return measuredToken(name === 'repaid' ? values.debtAsset : values.collateralAsset);
  if (!AMOUNT.test(name)) return null;
  const wanted = /out/i.test(name)
    ? (values.tokenOut ?? values._tokenOut)
    : (values.tokenIn ?? values._tokenIn ?? values.debtAsset ?? values.asset ?? values.token);
  return typeof wanted === 'string' ? measuredToken(wanted) : null;
}

/** A decoded argument as an element. */
export function argumentOf(known, at, contract) {
  const input = known.fragment.inputs[at];
  return decodedValue(known.values[at], input, tokenFor(input.name, contract, known.values));
}

/**
 * A table of decoded arguments, with their types if `types` says so. `contract` is the called
 * address, or the one that emitted the event.
 */
export function argumentsOf(known, contract, { types = false } = {}) {
  const { inputs } = known.fragment;
  if (!inputs.length) return null;
  // The members of a tuple are named below, so that its type does not list their types.
  const type = (input) => h('td.mono.soft', input.type);
  const rows = inputs.map((input, at) =>
    h(
      'tr',
      h('td', input.name || `#${at}`),
      types && type(input),
      h('td', argumentOf(known, at, contract)),
    ),
  );
  return h('table.arguments', h('tbody', rows));
}
