// Pages of the chain's transactions that a filter accepts.

import { count } from '../lib/format.js';
import { indexed } from '../lib/index.js';
import { node } from '../lib/node.js';
import { addressTransactions } from '../lib/pages.js';
import { priceUpdates, ROWS, searchRows } from '../lib/scan.js';

/** Pages of the index that are read at most for one page of the list. */
const MOST_PAGES = 10;
/** An index after every transaction of a block. */
const AFTER_ALL = 0xffffffff;

function kindOf(row) {
  if (row.cosmos) return 'cosmos';
  if (!row.to) return 'creation';
  return row.input === '0x' ? 'transfer' : 'call';
}

/**
 * The conditions on a transaction: `accepts` takes its outline, `keeps` the whole transaction and
 * is null if that is not needed, `outcome` says whether the outline must have one.
 */
async function conditions({ from, to, method, kind, failed, updates }) {
  const isUpdate = await priceUpdates();
  const same = (wanted, address) => !wanted || address?.toLowerCase() === wanted.toLowerCase();
  const accepts = (one) =>
    (updates || !isUpdate(one.from, one.to)) &&
    same(from, one.from) &&
    same(to, one.to) &&
    (!failed || one.ok !== true) &&
    (kind !== 'creation' || !one.to);

  const named = method.trim().toLowerCase();
  const keeps = (row) =>
    (!failed || row.ok === false) &&
    (!kind || kindOf(row) === kind) &&
    (!named ||
      row.method.toLowerCase().includes(named) ||
      row.input.toLowerCase().startsWith(named));
  return { accepts, keeps: failed || kind || named ? keeps : null, outcome: failed };
}

/** A page of an address's transactions in the index that fulfil the conditions. */
async function addressPage(filter, { accepts, keeps }, cursor) {
  const address = filter.from || filter.to;
  const side = filter.from ? 'from' : 'to';
  const rows = [];
  let next = cursor;
  for (let pages = 0; pages < MOST_PAGES && rows.length < ROWS; pages++) {
    const page = await addressTransactions(address, next, side);
    rows.push(...page.rows.filter((row) => accepts(row) && (!keeps || keeps(row))));
    next = page.next;
    if (!next) break;
  }
  return { rows, next, paused: next !== null && !rows.length };
}

/** Which blocks were searched, where that is not obvious, and what was left out. */
function noteOf({ from, to, skipped, paused }, filter) {
  const isNarrow = filter.from || filter.to || filter.failed || filter.kind === 'creation';
  const hidden =
    skipped && !filter.updates && !isNarrow
      ? `${count(skipped)} price update${skipped > 1 ? 's' : ''} hidden`
      : null;
  const searched = paused || hidden ? `Blocks ${count(from)} to ${count(to)}` : null;
  return [searched, hidden].filter(Boolean).join(' · ');
}

/** Whether the block that was the chain's head still belongs to it. */
function isOfChain(head) {
  const known = node.headers.find((header) => Number(header.number) === head.number);
  const isReached = Number(node.head?.number ?? 0) >= head.number;
  return isReached && (!known || known.hash === head.hash);
}

/** A first page with the rows of an earlier one after its own. */
function joined(page, earlier) {
  const rows = [...page.rows, ...earlier.rows];
  const cut = rows.length > ROWS ? rows[ROWS - 1] : null;
  const next = cut ? { block: cut.block, index: cut.index } : earlier.next;
  return {
    ...page,
    rows: rows.slice(0, ROWS),
    next,
    paused: next !== null && !cut && earlier.paused,
    skipped: page.skipped + earlier.skipped,
    from: earlier.from,
  };
}

/**
 * A function that loads pages of transactions. It keeps the first one, and adds only new blocks to
 * it. `filter()` returns the current filter.
 */
export function transactionPages(filter, signal) {
  let first = null;

  async function firstPage(condition, key) {
    if (first && (first.key !== key || !isOfChain(first.head))) first = null;
    const head = node.head ? { number: Number(node.head.number), hash: node.head.hash } : null;
    const floor = first && { block: first.head.number, index: AFTER_ALL };
    const found = await searchRows({ ...condition, floor, signal });
    const page = first && !found.next ? joined(found, first.page) : found;
    first = head && { key, head, page };
    return page;
  }

  return async (cursor) => {
    const own = filter();
    const condition = await conditions(own);
    if ((own.from || own.to) && (await indexed())) return addressPage(own, condition, cursor);

    const page =
      cursor === null
        ? await firstPage(condition, JSON.stringify(own))
        : await searchRows({ ...condition, before: cursor, signal });
    return { ...page, note: noteOf(page, own) };
  };
}
