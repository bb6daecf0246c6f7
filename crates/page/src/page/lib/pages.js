// Pages of the histories in the index.

import { ask, learn, learnToken } from './index.js';
import { addReasons, indexRow } from './rows.js';
import { ROWS } from './scan.js';

/**
 * A page of the index: its items as `convert` returns them, and the parameters of the next page.
 */
async function indexPage(path, cursor, parameters, convert) {
  const { items, next_page_params: next } = await ask(path, { ...parameters, ...cursor });
  return { rows: await Promise.all(items.map(convert)), next };
}

/** Pages of an address's transactions. `filter` is `from`, `to` or null. */
export async function addressTransactions(address, cursor, filter) {
  const page = await indexPage(`addresses/${address}/transactions`, cursor, { filter }, indexRow);
  await addReasons(page.rows);
  return page;
}

function transferRow(item) {
  learn({ hash: item.token.address_hash, name: item.token.name });
  learnToken(item.token);
  const { value = null, token_id: id = null } = item.total;
  return {
    hash: item.transaction_hash,
    log: item.log_index,
    block: item.block_number,
    time: Date.parse(item.timestamp) / 1_000,
    from: learn(item.from),
    to: learn(item.to),
    token: item.token,
    value: value === null ? null : BigInt(value),
    id,
    kind: { token_minting: 'Mint', token_burning: 'Burn' }[item.type] ?? 'Transfer',
    method: item.method,
  };
}

/** Pages of token transfers under a path, such as `addresses/0x…/token-transfers`. */
export function tokenTransfers(path, cursor, parameters = {}) {
  return indexPage(path, cursor, parameters, transferRow);
}

function internalRow(item) {
  return {
    hash: item.transaction_hash,
    index: item.index,
    block: item.block_number,
    time: Date.parse(item.timestamp) / 1_000,
    kind: item.type,
    from: learn(item.from),
    to: learn(item.to),
    created: learn(item.created_contract),
    value: BigInt(item.value),
    ok: item.success,
    reason: item.error,
  };
}

/** Pages of internal transactions. */
export function internalTransactions(path, cursor) {
  return indexPage(path, cursor, {}, internalRow);
}

/** Pages of the logs of a contract. */
export function contractLogs(address, cursor) {
  return indexPage(`addresses/${address}/logs`, cursor, {}, (item) => ({
    hash: item.transaction_hash,
    block: item.block_number,
    time: Date.parse(item.block_timestamp) / 1_000,
    index: item.index,
    log: { address: item.address.hash, topics: item.topics.filter(Boolean), data: item.data },
    decoded: item.decoded,
  }));
}

/** Pages of any list, with its items unchanged. */
export function listOf(path, cursor, parameters = {}) {
  return indexPage(path, cursor, parameters, (item) => {
    if (item.address?.hash) learn(item.address);
    if (item.owner?.hash) learn(item.owner);
    return item;
  });
}

/** Contracts that an address created, by its transactions if it is an account, or by its calls. */
export async function createdContracts(address, isContract, cursor) {
  const found = [];
  let next = cursor;
  for (let pages = 0; pages < 10; pages++) {
    const page = isContract
      ? await internalTransactions(`addresses/${address}/internal-transactions`, next)
      : await addressTransactions(address, next, 'from');
    const own = page.rows.filter(
      (row) => row.created && row.ok && row.from.toLowerCase() === address.toLowerCase(),
    );
    found.push(...own);
    next = page.next;
    if (!next || found.length >= ROWS) break;
  }
  return { rows: found, next, paused: next !== null && found.length < ROWS };
}
