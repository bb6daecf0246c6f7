// Histories: the index of addresses (Blockscout's REST API v2), and blocks by GraphQL and JSON-RPC.

import { checksum } from './address.js';
import { toBytes, utf8Text } from './bytes.js';
import { explainCall, explainRevert, network, read } from './network.js';
import { node } from './node.js';

/** Number of rows of a page of transactions that is filtered here. */
export const ROWS = 25;
/** Maximum numbers of blocks read at once, by GraphQL and by JSON-RPC. */
const WINDOW = 1_000;
const SMALL_WINDOW = 30;
/** Number of reads by JSON-RPC after which a search pauses: on a fork each block is a request to another node. */
const SMALL_WINDOWS = 4;
/** Number of blocks after which a search pauses. */
const PATIENCE = 5_000;

/** Names of contracts that the index knows, by lower-case address. Anyone can choose the name of a token. */
const learned = new Map();
let state = null;
let updater = null;

function forget() {
  [state, updater] = [null, null];
  learned.clear();
}
node.addEventListener('restart', forget);
node.addEventListener('status', () => (state = null));

/** Requests a route under /api/v2. Errors have the response's `status`. */
export async function ask(path, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== ''));
  let response;
  try {
    response = await fetch(`api/v2/${path}${query.size ? `?${query}` : ''}`);
  } catch {
    throw new Error('the node is not responding');
  }
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  throw Object.assign(new Error(body?.message ?? `the node responded with status ${response.status}`), { status: response.status });
}

/** Whether the node has the index of addresses; it has none with `--no-explorer`. */
export function indexed() {
  state ??= ask('main-page/indexing-status').then(
    () => true,
    (error) => {
      if (error.status !== 404) state = null;
      return false;
    },
  );
  return state;
}

/** Whether histories are incomplete without the index, as a sentence. */
export const WITHOUT_INDEX = 'This node runs without the index of addresses (--no-explorer), so histories are incomplete: ';

/** Remembers the name of a contract in a response, and returns its address. */
function learn(param) {
  if (!param) return null;
  if (param.name) learned.set(param.hash.toLowerCase(), param.name);
  return param.hash;
}

/** The name of a contract that the index knows, or null. */
export function learnedName(address) {
  return learned.get(address?.toLowerCase()) ?? null;
}

/** The fields of a protobuf message, as [tag, bytes] pairs; null if the bytes are no such message. */
function fields(bytes) {
  const found = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      if (at >= bytes.length || scale > 2 ** 49) return null;
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag === null || (tag & 7) !== 2) return null;
    const size = varint();
    if (size === null || at + size > bytes.length) return null;
    found.push([tag >> 3, bytes.subarray(at, at + size)]);
    at += size;
  }
  return found;
}

/** The message type of a Cosmos transaction, such as `/cosmos.bank.v1beta1.MsgSend`, whose bytes are the input; null otherwise. */
export function cosmosMessage(input) {
  if (!input?.startsWith('0x0a') || input.length > 200_000) return null;
  const raw = fields(toBytes(input));
  if (!raw || raw.length < 3 || raw[0][0] !== 1 || raw[1][0] !== 2) return null;
  const body = raw[0][1];
  const message = body[0] === 10 ? firstField(body) : null;
  const url = message && fields(message)?.[0]?.[1];
  const text = url && utf8Text(url);
  return text?.startsWith('/') ? text : null;
}

/** The content of the first field, of a message that has fields of other types after it. */
function firstField(bytes) {
  let [size, at, scale] = [0, 1, 1];
  for (; at < bytes.length; scale *= 128) {
    const byte = bytes[at++];
    size += (byte & 127) * scale;
    if (byte < 128) break;
  }
  return at + size <= bytes.length ? bytes.subarray(at, at + size) : null;
}

async function indexReason(item) {
  if (item.status === 'ok') return null;
  const { revert_reason: reason, result } = item;
  if (reason?.raw) return explainRevert(reason.raw);
  if (reason?.method_call) {
    const name = reason.method_call.split('(')[0];
    const shown = reason.parameters.map(({ name: own, value }) => `${own ? `${own}: ` : ''}${Array.isArray(value) ? JSON.stringify(value) : value}`);
    return name === 'Error' ? String(reason.parameters[0]?.value) : `${name}(${shown.join(', ')})`;
  }
  return /^(error|failed)?$/i.test(result) ? null : result;
}

/**
 * A transaction of the index as a row: hash, block, index, time (in seconds), from, to, created, value, fee, input,
 * method, ok, reason, cosmos.
 */
async function indexRow(item) {
  const row = {
    hash: item.hash,
    block: item.block_number,
    index: item.position,
    time: Date.parse(item.timestamp) / 1_000,
    from: learn(item.from),
    to: learn(item.to),
    created: learn(item.created_contract),
    value: BigInt(item.value),
    fee: BigInt(item.fee.value),
    input: item.raw_input,
    ok: item.status === 'ok',
    reason: await indexReason(item),
    cosmos: cosmosMessage(item.raw_input),
  };
  row.method = await methodOf(row, item.method);
  return row;
}

/** The same of JSON-RPC's transaction and receipt; `ok` is null without a receipt. */
async function nodeRow(transaction, receipt, time) {
  const price = BigInt(receipt?.effectiveGasPrice ?? transaction.gasPrice ?? transaction.maxFeePerGas ?? 0);
  const row = {
    hash: transaction.hash,
    block: transaction.blockNumber === null ? null : Number(transaction.blockNumber),
    index: Number(transaction.transactionIndex ?? 0),
    time,
    from: checksum(transaction.from),
    to: transaction.to ? checksum(transaction.to) : null,
    created: !transaction.to && receipt && receipt.status !== '0x0' && receipt.contractAddress ? checksum(receipt.contractAddress) : null,
    value: BigInt(transaction.value),
    fee: receipt ? BigInt(receipt.gasUsed) * price : null,
    input: transaction.input,
    ok: receipt ? receipt.status !== '0x0' : null,
    reason: null,
    cosmos: cosmosMessage(transaction.input),
  };
  row.method = await methodOf(row, null);
  return row;
}

/** The name of a transaction's method, or its selector. */
async function methodOf({ to, input, cosmos }, named) {
  if (cosmos) return cosmos.split('.').at(-1);
  if (!to) return 'Contract creation';
  if (input === '0x') return 'Transfer';
  if (named && !named.startsWith('0x')) return named;
  const known = await explainCall(input).catch(() => null);
  return known ? known.fragment.name : input.slice(0, 10);
}

/** Adds the reasons of failed transactions that the index did not give. */
async function addReasons(rows) {
  const wanted = rows.filter((row) => row.ok === false && !row.reason);
  if (!wanted.length) return rows;
  const traces = await node.has('debug_traceTransaction');
  await Promise.all(wanted.map(async (row) => {
    const options = { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } };
    const trace = traces ? await node.call('debug_traceTransaction', row.hash, options).catch(() => null) : null;
    if (trace?.output && trace.output !== '0x') row.reason = await explainRevert(trace.output);
    else if (trace?.error) row.reason = trace.error === 'execution reverted' ? 'reverted without a reason' : trace.error;
  }));
  return rows;
}

/** Rows of transactions that are known by their hashes, in the same order. `times` gives a block's time by its number. */
export async function transactionsByHash(hashes, times) {
  const asked = hashes.map((hash) => Promise.all([node.call('eth_getTransactionByHash', hash), node.call('eth_getTransactionReceipt', hash)]));
  const found = (await Promise.all(asked)).filter(([transaction]) => transaction);
  return addReasons(await Promise.all(found.map(([transaction, receipt]) => nodeRow(transaction, receipt, times(Number(transaction.blockNumber))))));
}

/** The account that updates prices, in lower case; null on a chain without the oracle. */
export function updaterAddress() {
  if (!network.addresses) return Promise.resolve(null);
  updater ??= read('PriceOracle', network.addresses.oracle, 'updater').then(
    (address) => address.toLowerCase(),
    () => (updater = null),
  );
  return updater;
}

/** A function that tells from sender and recipient whether a transaction is a price update. */
export async function priceUpdates() {
  const sender = await updaterAddress();
  const oracle = network.addresses?.oracle.toLowerCase();
  return (from, to) => sender !== null && from?.toLowerCase() === sender && to?.toLowerCase() === oracle;
}

async function graphBlocks(from, to) {
  const query = `{blocks(from:${from},to:${to}){number timestamp transactions{hash index status from{address} to{address}}}}`;
  const response = await fetch('graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
  const { data } = await response.json();
  if (!response.ok || !data?.blocks) throw new Error('no blocks by GraphQL');
  return data.blocks.map((block) => ({
    number: Number(block.number),
    time: Number(block.timestamp),
    transactions: block.transactions.map((one) => ({ hash: one.hash, index: Number(one.index), ok: Number(one.status) !== 0, from: one.from.address, to: one.to?.address ?? null })),
  }));
}

async function nodeBlocks(from, to) {
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => `0x${(from + at).toString(16)}`);
  const blocks = await Promise.all(numbers.map((number) => node.call('eth_getBlockByNumber', number, true)));
  return blocks.filter(Boolean).map((block) => ({
    number: Number(block.number),
    time: Number(block.timestamp),
    transactions: block.transactions.map((one, index) => ({ hash: one.hash, index, ok: null, from: one.from, to: one.to })),
  }));
}

/** Blocks with the outlines of their transactions, oldest first. Earlier blocks than a fork's own have no GraphQL. */
export async function outlines(from, to) {
  const blocks = await graphBlocks(from, to).catch(() => null);
  if (blocks?.length || to < from) return { blocks: blocks ?? [], from };
  const start = Math.max(from, to - SMALL_WINDOW + 1);
  return { blocks: await nodeBlocks(start, to), from: start, slow: true };
}

/**
 * Searches blocks downwards for transactions whose outlines `accepts` takes. `before` is a position { block, index },
 * `floor` the last position that was seen. Returns rows, the position after which the search continues (null at the
 * first block), whether it was paused, the number of transactions that were left out, and the blocks that were searched.
 */
export async function searchBlocks({ accepts, before = null, floor = null, limit = ROWS, most = PATIENCE, signal }) {
  const head = Number(node.head?.number ?? (await node.call('eth_blockNumber')));
  let to = Math.min(before ? before.block : head, head);
  const lowest = floor ? floor.block : 0;
  const start = to;
  const times = new Map();
  const found = [];
  let [left, skipped, size, reads] = [null, 0, 100, 0];
  while (to >= lowest && !left && found.length <= limit) {
    if (signal?.aborted || start - to >= most || reads >= SMALL_WINDOWS) {
      left = { block: to, index: Infinity };
      break;
    }
    const { blocks, from, slow } = await outlines(Math.max(lowest, to - size + 1), to);
    if (slow) reads++;
    const expected = to - from + 1;
    for (const block of blocks.toReversed()) {
      times.set(block.number, block.time);
      for (const one of block.transactions.toReversed()) {
        if (before && block.number === before.block && one.index >= before.index) continue;
        if (floor && block.number === floor.block && one.index <= floor.index) continue;
        if (!accepts(one)) skipped++;
        else if (found.length < limit) found.push({ ...one, block: block.number });
        else left ??= found.at(-1);
      }
      if (left) break;
    }
    // Blocks that the node no longer holds.
    if (blocks.length < expected && (blocks[0]?.number ?? Infinity) > from) break;
    to = from - 1;
    size = Math.min(WINDOW, 3 * size);
  }
  const next = left && { block: left.block, index: Number.isFinite(left.index) ? left.index : 0xffffffff };
  const rows = await transactionsByHash(found.map((one) => one.hash), (block) => times.get(block));
  return { rows, next, paused: next !== null && found.length < limit, skipped, from: Math.max(lowest, Math.min(to + 1, start)), to: start };
}

/** The same for rows that `keeps` takes, which are only known with all their members. Without it every row is. */
export async function searchRows({ keeps, ...options }) {
  if (!keeps) return searchBlocks(options);
  const limit = options.limit ?? ROWS;
  const rows = [];
  let [before, skipped, to] = [options.before ?? null, 0, null];
  for (let round = 0; ; round++) {
    const page = await searchBlocks({ ...options, before, limit: 100 });
    to ??= page.to;
    skipped += page.skipped;
    for (const row of page.rows) {
      if (!keeps(row)) continue;
      if (rows.length === limit) return { rows, next: { block: rows.at(-1).block, index: rows.at(-1).index }, paused: false, skipped, from: rows.at(-1).block, to };
      rows.push(row);
    }
    before = page.next;
    if (!before || page.paused || round === 9) return { ...page, rows, skipped, to, paused: before !== null };
  }
}

/** A page of the index: its items as `convert` returns them, and the parameters of the next page. */
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
    const own = page.rows.filter((row) => row.created && row.ok && row.from.toLowerCase() === address.toLowerCase());
    found.push(...own);
    next = page.next;
    if (!next || found.length >= ROWS) break;
  }
  return { rows: found, next, paused: next !== null && found.length < ROWS };
}
