// The search's list of known sources, without a browser or a node.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { node } from '../../crates/page/src/page/lib/node.js';
import { knownSources } from '../../crates/page/src/page/lib/sources.js';

/** Longer than a list of created contracts holds, in milliseconds. */
const LATER = 20_000;

const addressOf = (number) => `0x${number.toString(16).padStart(40, '0')}`;
const contract = (name, number) => ({ hash: addressOf(number), name, is_verified: true });
const transaction = (name, number, block, hash = `0x${number}`) => ({
  hash,
  block_number: block,
  position: 0,
  created_contract: contract(name, number),
});
const internal = (name, number, block) => ({
  transaction_hash: `0x${number}`,
  block_number: block,
  transaction_index: 0,
  created_contract: contract(name, number),
});

/**
 * Answers the page's requests to the node during a test with the lists of the returned object,
 * newest first. `asked` has the addresses whose sources were requested, and `time` is that of the
 * browser.
 */
function chain(t) {
  node.dispatchEvent(new Event('restart'));
  const lists = { transactions: [], internal: [], asked: [], time: 0 };
  t.mock.method(Date, 'now', () => lists.time);
  t.mock.method(globalThis, 'fetch', async (path) => {
    if (path.startsWith('api/v2/transactions'))
      return Response.json({ items: lists.transactions, next_page_params: null });
    if (path.startsWith('api/v2/internal-transactions'))
      return Response.json({ items: lists.internal, next_page_params: null });
    if (path.startsWith('api/')) return Response.json({});
    const [address] = /0x[0-9a-f]{40}/.exec(path);
    lists.asked.push(address);
    const { name } = [...lists.transactions, ...lists.internal]
      .map((one) => one.created_contract)
      .find(({ hash }) => hash === address);
    return Response.json({ abi: [], compilation: { name } });
  });
  return lists;
}

/** The known sources as `name address`, sorted. */
async function known() {
  const found = await knownSources();
  return found.map(({ name, address }) => `${name} ${Number(address)}`).sort();
}

test('sources of contracts that a revert removed are forgotten', async (t) => {
  const lists = chain(t);
  lists.transactions = [transaction('Drawer', 2, 6), transaction('Box', 1, 5)];
  assert.deepEqual(await known(), ['Box 1', 'Drawer 2']);
  lists.transactions = lists.transactions.slice(1);
  lists.time += LATER;
  assert.deepEqual(await known(), ['Box 1']);
  assert.deepEqual(lists.asked, [addressOf(2), addressOf(1)], 'known sources are not read again');
});

test('a source is read again if another transaction has created a contract at the same address', async (t) => {
  const lists = chain(t);
  lists.transactions = [transaction('Box', 1, 5)];
  assert.deepEqual(await known(), ['Box 1']);
  lists.transactions = [transaction('Box', 1, 5, '0xother')];
  lists.time += LATER;
  assert.deepEqual(await known(), ['Box 1']);
  assert.deepEqual(lists.asked, [addressOf(1), addressOf(1)]);
});

test('the newest of contracts with the same name counts, whether an account or a contract created it', async (t) => {
  const lists = chain(t);
  lists.transactions = [transaction('Box', 3, 8), transaction('Drawer', 1, 5)];
  lists.internal = [internal('Drawer', 2, 7), internal('Box', 4, 6)];
  assert.deepEqual(await known(), ['Box 3', 'Drawer 2']);
  lists.internal.unshift(internal('Box', 5, 9));
  lists.time += LATER;
  assert.deepEqual(await known(), ['Box 5', 'Drawer 2']);
});

test('the newest hundred names are known, and follow later contracts', async (t) => {
  const lists = chain(t);
  const number = 130;
  lists.transactions = Array.from({ length: number }, (_, at) =>
    transaction(`Contract${number - at}`, number - at, number - at),
  );
  const expected = lists.transactions
    .slice(0, 100)
    .map(({ block_number: at }) => `Contract${at} ${at}`)
    .sort();
  assert.deepEqual(await known(), expected);
  lists.transactions.unshift(
    transaction(`Contract${number}`, 500, 500),
    transaction('Newest', 499, 499),
  );
  lists.time += LATER;
  const found = await known();
  assert.equal(found.length, 100);
  assert.ok(found.includes(`Contract${number} 500`) && found.includes('Newest 499'), found.join());
  assert.ok(!found.includes('Contract31 31'), 'the oldest name makes room');
});
