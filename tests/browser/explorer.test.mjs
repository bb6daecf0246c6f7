// The explorer: lists, addresses, tokens, blocks and search, on a node with a history.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { toUnits } from '../../crates/page/src/page/lib/format.js';
import { LOOKS, assertAccessible, assertFits } from './accessible.mjs';
import { seed } from './history.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

const BECH32 = 'pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg';
let node;
let browser;
let history;

before(async () => {
  [node, browser] = await Promise.all([startNode(), startBrowser()]);
  history = await seed(node, { transfers: 60 });
});
after(async () => {
  await browser?.stop();
  await node?.stop();
});

const rows = (page, label) => page.locator(`[role=group][aria-label="${label}"] tbody tr`);

async function wait(page, label) {
  await page.waitForSelector(`.list[aria-busy="false"] [role=group][aria-label="${label}"]`);
  return rows(page, label);
}

/** Sends coins to a new address and returns the transaction's hash. */
function pay(value) {
  return node.rpc('eth_sendTransaction', {
    from: history.accounts[4],
    to: `0x${'77'.repeat(20)}`,
    value,
    gas: '0x5208',
  });
}

test('transactions are listed with their outcome, in pages', async () => {
  const page = await browser.open(`${node.url}/#/explorer`);
  const list = await wait(page, 'Transactions');
  assert.equal(await list.count(), 25);
  const newest = await list.first().locator('a').first().getAttribute('title');
  await page.click('nav[aria-label="Pages of Transactions"] button:has-text("Older")');
  await page.waitForFunction(
    (hash) => !document.querySelector('[aria-label="Transactions"] tbody a').title.includes(hash),
    newest,
  );
  await page.click('nav[aria-label="Pages of Transactions"] button:has-text("Older")');
  await rows(page, 'Transactions').locator('.tag:has-text("Cosmos")').first().waitFor();
  await page.click('nav[aria-label="Pages of Transactions"] button:has-text("Newest")');
  await page.waitForFunction(
    (hash) => document.querySelector('[aria-label="Transactions"] tbody a').title === hash,
    newest,
  );
  await clean(page);
});

test('failed transactions are filtered, and show the reason', async () => {
  const page = await browser.open(`${node.url}/#/explorer`);
  await wait(page, 'Transactions');
  await page.check('label:has-text("Failed only") input');
  await page.waitForFunction(
    (count) => document.querySelectorAll('[aria-label="Transactions"] tbody tr').length === count,
    history.failed.length,
  );
  assert.equal(await rows(page, 'Transactions').locator('.tag.bad').count(), history.failed.length);
  const text = await page.locator('[aria-label="Transactions"]').textContent();
  for (const reason of ['SameToken', 'ERC20InsufficientAllowance', 'out of gas'])
    assert.ok(text.toLowerCase().includes(reason.toLowerCase()), `${reason} is missing in ${text}`);
  assert.ok(page.url().endsWith('#/explorer?failed=1'));
  await browser.picture(page, 'explorer-failed');
  await clean(page);
});

test('transactions are filtered by sender, method and kind', async () => {
  const page = await browser.open(`${node.url}/#/explorer?method=swapExact`);
  const list = await wait(page, 'Transactions');
  assert.equal(await list.count(), 4);
  await page.fill('label:has-text("From") input', history.accounts[0]);
  await page.click('button:has-text("Apply")');
  await page.waitForFunction(
    () => document.querySelectorAll('[aria-label="Transactions"] tbody tr').length === 2,
  );
  await page.click('button:has-text("Clear")');
  await page.waitForFunction(
    () => document.querySelectorAll('[aria-label="Transactions"] tbody tr').length === 25,
  );
  await page.selectOption('label:has-text("Kind") select', 'cosmos');
  await page.waitForFunction(
    () => document.querySelectorAll('[aria-label="Transactions"] tbody tr').length === 1,
  );
  await page.selectOption('label:has-text("Kind") select', 'creation');
  await page.waitForFunction(
    () => document.querySelectorAll('[aria-label="Transactions"] tbody tr').length === 4,
  );
  await page.fill('label:has-text("From") input', '0x12');
  await page.click('button:has-text("Apply")');
  await page.waitForSelector('.failure:has-text("40 hex digits")');
  await clean(page);
});

test('price updates are hidden by default, and the browser remembers the choice', async () => {
  const own = await startNode('--exchange-price-tick', '1');
  const page = await browser.open(`${own.url}/#/explorer`);
  await wait(page, 'Transactions');
  await page.waitForFunction(() =>
    /price updates? hidden/.test(document.querySelector('main').textContent),
  );
  assert.equal(await page.locator('[aria-label="Transactions"] td.empty').count(), 1);
  await page.check('label:has-text("Price updates") input');
  await rows(page, 'Transactions').locator('.tag:has-text("updatePrices")').first().waitFor();
  await page.reload();
  await rows(page, 'Transactions').locator('.tag:has-text("updatePrices")').first().waitFor();
  assert.ok(await page.isChecked('label:has-text("Price updates") input'));
  await clean(page);
  await own.stop();
});

test('price updates are counted on a page that was opened before them', async () => {
  const own = await startNode('--exchange-price-tick', '1', '--no-mining');
  const page = await browser.open(`${own.url}/#/explorer`);
  await page.locator('[aria-label="Transactions"] td.empty').waitFor();
  // The block's time is at least a second after its parent's, so that an update is due.
  await own.rpc('evm_mine');
  await page.waitForSelector('main :text("1 price update hidden")');
  await clean(page);
  await own.stop();
});

test('new transactions appear at the head, and wait while the user reads', async () => {
  const page = await browser.open(`${node.url}/#/explorer`);
  await wait(page, 'Transactions');
  await page.mouse.move(5, 5);
  const first = await pay('0x1');
  await page.waitForSelector(`[aria-label="Transactions"] a[title="${first}"]`);
  await page.hover('[aria-label="Transactions"] tbody tr:nth-child(3)');
  const second = await pay('0x2');
  await page.click('.list-bar button:has-text("Show newer rows"):visible');
  await page.waitForSelector(`[aria-label="Transactions"] a[title="${second}"]`);
  await clean(page);
});

test('blocks are listed downwards from a given one', async () => {
  const page = await browser.open(`${node.url}/#/explorer?from=33`);
  await page.waitForSelector('h1:has-text("Blocks from 33")');
  const list = await wait(page, 'Blocks');
  assert.equal(await list.first().locator('a').first().textContent(), '33');
  await page.click('button:has-text("Older")');
  await page.waitForFunction(
    () => document.querySelector('[aria-label="Blocks"] tbody a').textContent === '8',
  );
  assert.equal(await list.count(), 9);
  await page.click('button:has-text("← Newer")');
  await page.waitForFunction(
    () => document.querySelector('[aria-label="Blocks"] tbody a').textContent === '33',
  );
  await page.goto(`${node.url}/#/explorer?from=x`);
  await page.waitForSelector('.failure:has-text("block number or an address")');
  await clean(page);
});

test('lists show that the node is unreachable, and recover with it', async () => {
  const own = await startNode();
  const page = await browser.open(`${own.url}/#/explorer`, {
    tolerated: /ERR_CONNECTION_REFUSED|WebSocket|Failed to load/,
  });
  await wait(page, 'Transactions');
  await own.stop();
  await page.waitForSelector('#status.lost');
  await page.check('label:has-text("Failed only") input');
  await page.waitForSelector('.list .failure');
  const next = await startNode('--listen', `127.0.0.1:${own.port}`);
  await page.waitForSelector('#status:not(.lost)', { timeout: 30_000 });
  await wait(page, 'Transactions');
  await clean(page);
  await next.stop();
});

test('an age becomes a date and back', async () => {
  const page = await browser.open(`${node.url}/#/explorer/blocks`);
  await wait(page, 'Blocks');
  assert.match(await page.textContent('[aria-label="Blocks"] td time'), /ago|just now|in /);
  await page.click('th.times button');
  assert.match(await page.textContent('[aria-label="Blocks"] td time'), /\d{4}/);
  await page.click('th.times button');
  assert.match(await page.textContent('[aria-label="Blocks"] td time'), /ago|just now|in /);
  await clean(page);
});

test('an address has its complete history in tabs', async () => {
  const [alice] = history.accounts;
  const page = await browser.open(`${node.url}/#/address/${BECH32}`);
  await wait(page, 'Transactions');
  const text = await page.textContent('main');
  for (const expected of [BECH32, 'Account number']) assert.ok(text.includes(expected), expected);
  assert.ok((await rows(page, 'Transactions').count()) >= 12);
  await page.click('[role=tab]:has-text("Token transfers")');
  await rows(page, 'Token transfers').locator('text=COMM').first().waitFor();
  await rows(page, 'Token transfers').locator('text=USDC').first().waitFor();
  assert.ok(page.url().toLowerCase().endsWith(`#/address/${alice}?tab=transfers`));
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('[role=tab][aria-selected=true]:has-text("Internal transactions")');
  await page.click('[role=tab]:has-text("Tokens (")');
  await rows(page, 'Token holdings').locator('text=Community Token').first().waitFor();
  await rows(page, 'Token holdings').locator('text=Test Badges').first().waitFor();
  await page.waitForSelector('text=/Total value \\$/');
  await browser.picture(page, 'address-tokens');
  await page.click('[role=tab]:has-text("NFTs")');
  await rows(page, 'Non-fungible tokens').locator('text=Test Kittens').first().waitFor();
  await page.click('[role=tab]:has-text("Contracts created")');
  const created = await wait(page, 'Contracts created');
  assert.equal(await created.count(), 1);
  await page.reload();
  await wait(page, 'Contracts created');
  await clean(page);
});

test('accounts of the node have their names in lists, and a token its figures on its address', async () => {
  const page = await browser.open(`${node.url}/#/explorer?method=swapExact`);
  await (await wait(page, 'Transactions')).locator('a:text-is("Account 0")').first().waitFor();
  await page.goto(`${node.url}/#/address/${history.contracts.coin}`);
  await page.waitForSelector(
    '.facts dd:has-text("Community Token (COMM) · supply 999,000 · 4 holders")',
  );
  await clean(page);
});

test('a transaction names the accounts of the node as lists do', async () => {
  const page = await browser.open(`${node.url}/#/tx/${history.swapped}`);
  await page.locator('.facts > div:has(dt:text-is("From")) a:text-is("Account 0")').waitFor();
  await page.locator('.facts > div:has(dt:text-is("From")) .mono').waitFor();
  await page.click('[role=tab]:has-text("Events")');
  await page.locator('.log .arguments a:text-is("Account 0")').first().waitFor();
  await clean(page);
});

test('contracts created by a contract are listed, with their creator', async () => {
  const { factory, purse } = history.contracts;
  const page = await browser.open(`${node.url}/#/address/${factory}?tab=created`);
  const list = await wait(page, 'Contracts created');
  assert.equal(
    (await list.first().locator('a').first().getAttribute('title')).toLowerCase(),
    purse,
  );
  await page.goto(`${node.url}/#/address/${purse}`);
  // The page of the other contract, which also has a creator, stays until this one is loaded.
  await page.waitForSelector(`div:has(> dt:has-text("Created by")) a[title="${factory}" i]`);
  await page.click('[role=tab]:has-text("Internal transactions")');
  await rows(page, 'Internal transactions').locator('text=0.1 HPX').waitFor();
  await clean(page);
});

test('a contract shows its functions and events', async () => {
  const { vault } = history.network;
  const page = await browser.open(`${node.url}/#/address/${vault}`);
  await page.waitForSelector('h1:has-text("Exchange vault")');
  await page.click('[role=tab]:has-text("Events")');
  await rows(page, 'Events').locator('.tag:has-text("SwapPriced")').first().waitFor();
  await page.click('[role=tab]:text-is("Contract")');
  await page.waitForSelector('[role=tabpanel]:not([hidden]) .card:has-text("SWAP_FEE_BPS")');
  await browser.picture(page, 'address-contract');
  await clean(page);
});

test('a history is exported as CSV', async () => {
  const page = await browser.open(`${node.url}/#/address/${history.accounts[5]}`);
  await wait(page, 'Transactions');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('button:has-text("Export CSV")'),
  ]);
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
  assert.equal(
    lines[0],
    'Transaction hash,Status,Reason,Method,Block,Time,From,To,Contract created,Value,Fee',
  );
  assert.equal(lines.length, 61);
  assert.ok(lines[1].startsWith('0x') && lines[1].includes(',success,'));
  await clean(page);
});

test('a token shows supply, holders with shares, and transfers', async () => {
  const { coin, collectible, badges } = history.contracts;
  const page = await browser.open(`${node.url}/#/token/${coin}`);
  await page.waitForSelector('h1:has-text("Community Token (COMM)")');
  await page.waitForSelector('.tile:has-text("Total supply"):has-text("999,000")');
  await page.waitForSelector('.tile:has-text("Holders"):has-text("4")');
  assert.equal(await (await wait(page, 'Transfers')).count(), 5);
  await page.click('[role=tab]:has-text("Holders")');
  const holders = await wait(page, 'Holders');
  assert.equal(await holders.count(), 4);
  assert.match(await holders.first().textContent(), /474,999.*47\.55%/);
  await browser.picture(page, 'token-holders');

  await page.goto(`${node.url}/#/token/${collectible}?tab=items`);
  assert.equal(await (await wait(page, 'Items')).count(), 4);
  await rows(page, 'Items').locator('a:has-text("#1")').click();
  await page.waitForSelector('h1:has-text("Test Kittens #1")');
  assert.equal(await (await wait(page, 'Transfers')).count(), 2);

  await page.goto(`${node.url}/#/token/${badges}?tab=holders`);
  await rows(page, 'Holders').locator('a:has-text("#7")').first().waitFor();
  await page.goto(`${node.url}/#/token/${history.network.tokens.WETH}`);
  await page.waitForSelector('.tile:has-text("Price"):has-text("$")');
  await page.goto(`${node.url}/#/token/${history.contracts.purse}`);
  await page.waitForSelector('.failure:has-text("not known as a token")');
  await page.context().close();
});

test('amounts of any token are in its units, and a click shows the exact amount', async () => {
  const { coin } = history.contracts;
  const { items } = await (await fetch(`${node.url}/api/v2/tokens/${coin}/transfers`)).json();
  const transfer = items.find((one) => one.total.value === `400000${'0'.repeat(18)}`);
  const page = await browser.open(`${node.url}/#/tx/${transfer.transaction_hash}`);
  const shown = (title) =>
    page.locator(
      `.card .card:has(h2:has-text("${title}")) .arguments span:text-is("400,000 COMM")`,
    );
  await shown('Input data').waitFor();
  await page.click('[role=tab]:has-text("Events")');
  await shown('Events').waitFor();
  await page.goto(`${node.url}/#/address/${coin}?tab=events`);
  await rows(page, 'Events').locator('summary:has-text("value: 400,000 COMM")').waitFor();

  const { tokens } = history.network;
  const { logs } = await node.rpc('eth_getTransactionReceipt', history.swapped);
  const out = BigInt(
    logs.findLast((log) => log.address.toLowerCase() === tokens.WETH.toLowerCase()).data,
  );
  await page.goto(`${node.url}/#/tx/${history.swapped}`);
  const rounded = page.locator('.card .card:has(h2:has-text("Transfers")) button.exact').first();
  await rounded.focus();
  await page.keyboard.press('Enter');
  assert.equal(await rounded.textContent(), toUnits(out, 18));
  await clean(page);
});

test('the list of tokens is one of the lists of the explorer', async () => {
  const page = await browser.open(`${node.url}/#/explorer`);
  await page.click('nav[aria-label="Lists"] a:text-is("Tokens")');
  await page.waitForSelector('h1:text-is("Tokens")');
  await page.waitForSelector('nav[aria-label="Lists"] a[aria-current="page"]:text-is("Tokens")');
  await page.click('nav[aria-label="Lists"] a:text-is("Blocks")');
  await page.waitForSelector('h1:text-is("Blocks")');
  await clean(page);
});

test('all tokens are listed', async () => {
  const page = await browser.open(`${node.url}/#/tokens`);
  assert.equal(await (await wait(page, 'Tokens of the network')).count(), 24);
  assert.equal(await (await wait(page, 'Other tokens')).count(), 3);
  await page.selectOption('select[aria-label="Type"]', 'ERC-721');
  await page.waitForFunction(
    () => document.querySelectorAll('[aria-label="Other tokens"] tbody tr').length === 1,
  );
  await clean(page);
});

test('a collection that does not count its items leaves no failed call', async () => {
  const failures = async () => (await node.rpc('tetrad_failedCalls')).length;
  const before = await failures();
  const page = await browser.open(`${node.url}/#/token/${history.contracts.badges}/7`);
  await page.waitForSelector('h1:text-is("Test Badges #7")');
  await wait(page, 'Transfers');
  assert.equal(await failures(), before);
  await clean(page);
});

test('a block shows its gas, fees, transactions and neighbours', async () => {
  const { blockNumber } = await node.rpc('eth_getTransactionByHash', history.swapped);
  const number = Number(blockNumber);
  const page = await browser.open(`${node.url}/#/block/${number}`);
  await wait(page, 'Transactions of the block');
  const text = await page.textContent('main');
  for (const expected of ['Burnt fees', 'Transaction fees', 'swapExactTokensForTokens', 'Success'])
    assert.ok(text.includes(expected), expected);
  await page.click('a[aria-label="Next block"]');
  await page.waitForSelector(`h1:has-text("Block ${number + 1}")`);
  const cosmos = await node.rpc('eth_getTransactionByHash', history.cosmos);
  await page.goto(`${node.url}/#/block/${Number(cosmos.blockNumber)}`);
  await rows(page, 'Transactions of the block').locator('.tag:has-text("Cosmos")').waitFor();
  const head = Number(await node.rpc('eth_blockNumber'));
  await page.goto(`${node.url}/#/block/latest`);
  await page.waitForSelector(`h1:has-text("Block ${head}")`);
  await page.goto(`${node.url}/#/block/999999`);
  await page.waitForSelector('h1:text-is("Block not found")');
  await page.waitForSelector('.failure:has-text("does not exist yet")');
  await clean(page);
});

test('paths and names that users type open the page', async () => {
  const page = await browser.open(`${node.url}/blocks`);
  await wait(page, 'Blocks');
  await page.goto(`${node.url}/txs`);
  await wait(page, 'Transactions');
  await page.goto(`${node.url}/nope`);
  await page.waitForSelector('.failure:text-is("There is no page “nope”.")');
  for (const [name, title] of [
    ['USDC', 'USDC'],
    ['comm', 'Community Token'],
    ['pweth', 'WETH'],
  ]) {
    await page.goto(`${node.url}/token/${name}`);
    await page.waitForSelector(`h1:has-text("${title}")`);
    await wait(page, 'Transfers');
  }
  await page.goto(`${node.url}/#/token/nothing`);
  await page.waitForSelector('h1:text-is("Token not found")');
  await page.waitForSelector('.failure:text-is("No token is called nothing.")');
  await page.goto(`${node.url}/#/tx/0x${'12'.repeat(32)}`);
  await page.waitForSelector('h1:text-is("Transaction not found")');
  await clean(page);
});

test('results appear while typing, and are chosen by keyboard', async () => {
  const page = await browser.open(node.url);
  const input = page.locator('#query');
  const option = (text) => page.locator('[role=option]', { hasText: text });
  await input.focus();
  await page.waitForSelector('#query[role=combobox]');
  await input.pressSequentially('comm');
  await option('Community Token (COMM)').waitFor();
  assert.equal(await input.getAttribute('aria-expanded'), 'true');
  await page.keyboard.press('ArrowDown');
  assert.equal(await input.getAttribute('aria-activedescendant'), 'result-0');
  await browser.picture(page, 'search');
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("Community Token")');

  // Opened items are suggested again.
  await input.focus();
  await option('Community Token (COMM)').waitFor();
  await input.fill('lending po');
  await option('Lending pool').click();
  await page.waitForSelector('h1:has-text("Lending pool")');

  const said = async (text, reason) => {
    await input.fill(text);
    await page.waitForSelector(`.said:has-text("${reason}")`);
  };
  await said('999999999', 'does not exist yet');
  await said(`0x${'12'.repeat(32)}`, 'No block or transaction has this hash');
  await said(BECH32.replace(/g$/, 'h'), 'checksum');
  await said(
    '0xf39fd6e51aad88f6f4ce6ab8827279cfffb9ee',
    'An address has 40 hex digits and a hash 64; this has 38.',
  );
  await said('0xf39f…0000', 'Paste the whole address or hash');
  await said('no such thing', 'No token, contract, function, event, label or block is called');
  await input.press('Escape');
  assert.equal(await input.getAttribute('aria-expanded'), 'false');
  await clean(page);
});

test('Enter opens the best match of any kind of term', async () => {
  const page = await browser.open(node.url);
  const search = async (text, heading) => {
    await page.fill('#query', text);
    await page.press('#query', 'Enter');
    await page.waitForSelector(`main h1:has-text("${heading}")`);
  };
  const head = Number(await node.rpc('eth_blockNumber'));
  const { hash } = await node.rpc('eth_getBlockByNumber', '0x0', false);
  await search('0', 'Block 0');
  await search('latest', `Block ${head}`);
  await search('0xf39F', 'Account 0');
  // Another heading in between shows when a search is over.
  await search('0x2', 'Block 2');
  await search('0xf39F…2266', 'Account 0');
  const {
    items: [newest],
  } = await (await fetch(`${node.url}/api/v2/transactions`)).json();
  await page.fill('#query', `${newest.hash.slice(0, 10)}…${newest.hash.slice(-6)}`);
  await page.press('#query', 'Enter');
  await page.waitForURL(`**/#/tx/${newest.hash}`);
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  await search(hash.toUpperCase().replace('0X', '0x'), 'Block 0');
  await search(history.swapped.slice(2), 'swapExactTokensForTokens');
  await search('weth', 'WETH');
  await search('KITTEN', 'Test Kittens');
  await search(BECH32.toUpperCase(), 'Account 0');
  await search('paxvaloper17w0adeg64ky0daxwd2ugyuneellmjgnxe3dllm', 'No results');
  await search(history.network.vault.toLowerCase(), 'Exchange vault');
  await search('PriceOracle', 'Price oracle');
  await search('no such thing', 'No results');
  await clean(page);
});

test('without the index histories are incomplete, and the page shows the reason', async () => {
  const own = await startNode('--no-explorer');
  const seeded = await seed(own);
  const page = await browser.open(`${own.url}/#/address/${seeded.accounts[0]}`, {
    tolerated: /404/,
  });
  await page.waitForSelector('.note:has-text("--no-explorer")');
  assert.ok((await (await wait(page, 'Transactions')).count()) >= 10);
  await page.click('[role=tab]:has-text("Token transfers")');
  await rows(page, 'Token transfers').locator('text=USDC').first().waitFor();
  await page.click('[role=tab]:text-is("Tokens")');
  await rows(page, 'Token holdings').locator('text=USDC').first().waitFor();
  await page.goto(`${own.url}/#/explorer`);
  assert.equal(await (await wait(page, 'Transactions')).count(), 25);
  await page.goto(`${own.url}/#/explorer/transfers`);
  await page.waitForSelector('.note:has-text("--no-explorer")');
  await page.goto(`${own.url}/#/tokens`);
  assert.equal(await (await wait(page, 'Tokens of the network')).count(), 24);
  await page.goto(`${own.url}/#/token/${seeded.contracts.coin}`);
  await page.waitForSelector('h1:has-text("Community Token (COMM)")');
  assert.equal(await (await wait(page, 'Transfers')).count(), 5);
  await page.fill('#query', 'weth');
  await page.press('#query', 'Enter');
  await page.waitForSelector('h1:has-text("WETH")');
  await clean(page);
  await own.stop();
});

test('tables are never wider than their cards on desktops, and rows are two lines on phones', async () => {
  const [alice, , , dave] = history.accounts;
  const page = await browser.open(`${node.url}/#/explorer`);
  for (const width of [1280, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    for (const path of [
      '',
      'explorer?failed=1',
      'explorer/blocks',
      'explorer/transfers',
      `address/${alice}`,
      `address/${dave}?failed=1`,
      `address/${alice}?tab=transfers`,
      'tokens',
      'block/10',
    ]) {
      await page.evaluate(() =>
        document.getElementById('main').firstElementChild.setAttribute('data-left', ''),
      );
      await page.goto(`${node.url}/#/${path}`);
      await page.waitForFunction(() => !document.querySelector('[data-left]'));
      await page.waitForSelector('.scroll tbody a');
      await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'));
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll('.scroll')]
          .map((one) => one.scrollWidth - one.clientWidth)
          .filter((by) => by > 0),
      );
      assert.deepEqual(wide, [], `${path} at ${width}`);
    }
  }
  await page.setViewportSize({ width: 390, height: 844 });
  for (const [path, label] of [
    ['explorer', 'Transactions'],
    ['explorer/blocks', 'Blocks'],
    ['explorer/transfers', 'Token transfers'],
    [`address/${alice}`, 'Transactions'],
  ]) {
    await page.goto(`${node.url}/#/${path}`);
    const list = await wait(page, label);
    const { height, width } = await list.nth(2).evaluate((row) => ({
      height: row.getBoundingClientRect().height,
      width: row.closest('.scroll').scrollWidth - row.closest('.scroll').clientWidth,
    }));
    assert.ok(width <= 0, `${path} is ${width} px wider than the phone`);
    assert.ok(height < 100, `${path} has rows of ${height} px`);
    await browser.picture(
      page,
      `phone-rows-${label.toLowerCase().replace(' ', '-')}-${path.split('/')[0]}`,
    );
  }
  await clean(page);
});

test('every list is accessible and fits a phone, in light and dark', async () => {
  const { coin, collectible } = history.contracts;
  const [alice] = history.accounts;
  const paths = [
    'explorer',
    'explorer/blocks',
    'explorer/transfers',
    'explorer/internal',
    'tokens',
    `token/${coin}`,
    `token/${coin}?tab=holders`,
    `token/${collectible}/1`,
    'block/1',
    `address/${alice}`,
    `address/${alice}?tab=tokens`,
    `address/${history.network.vault}?tab=events`,
    'search/nothing%20here',
  ];
  for (const look of LOOKS) {
    const page = await browser.open(node.url, look);
    for (const path of paths) {
      await page.evaluate((to) => {
        document.querySelector('main h1').remove();
        location.hash = `#/${to}`;
      }, path);
      await page.waitForSelector('main h1');
      await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'));
      await assertAccessible(page, `${path}, ${look.name}`);
      await assertFits(page, `${path}, ${look.name},`);
      await browser.picture(page, `${look.name}-${path.replaceAll(/[^a-z]+/g, '-').slice(0, 30)}`);
    }
    await clean(page);
  }
});

test('page, filter, tab and scroll survive Back, a reload and a shared link', async () => {
  const list = 'nav[aria-label="Pages of Transactions"]';
  const first = (page) => page.getAttribute('[aria-label="Transactions"] tbody a', 'title');
  const shows = (page, hash) =>
    page.waitForFunction(
      (wanted) => document.querySelector('[aria-label="Transactions"] tbody a')?.title === wanted,
      hash,
    );

  const page = await browser.open(`${node.url}/#/explorer?kind=transfer`);
  await wait(page, 'Transactions');
  const newest = await first(page);

  await page.click(`${list} button:has-text("Older")`);
  await page.waitForFunction(
    (hash) => document.querySelector('[aria-label="Transactions"] tbody a').title !== hash,
    newest,
  );
  const second = await first(page);

  await page.evaluate(() => scrollTo(0, 600));
  await page.waitForFunction(() => scrollY === 600);
  // A click with the mouse would scroll to the link.
  await rows(page, 'Transactions')
    .nth(20)
    .locator('a')
    .first()
    .evaluate((link) => link.click());
  await page.waitForSelector('h1:text-is("Transfer")');
  assert.equal(await page.evaluate(() => scrollY), 0, 'another view begins at its top');

  const isBack = async () => {
    await shows(page, second);
    await page.waitForFunction(() => scrollY === 600);
    assert.equal(await page.locator('label:has-text("Kind") select').inputValue(), 'transfer');
  };
  await page.goBack();
  await isBack();
  await page.reload();
  await isBack();

  // The history of pages is kept as well.
  await page.click(`${list} button:has-text("← Newer")`);
  await shows(page, newest);
  await page.goForward();
  await page.waitForSelector('h1:text-is("Transfer")');
  await page.goBack();
  await shows(page, newest);
  await page.click(`${list} button:has-text("Older")`);
  await shows(page, second);

  const shared = await browser.open(page.url());
  await shows(shared, second);
  await shared.click(`${list} button:has-text("Newest")`);
  await shows(shared, newest);
  await clean(shared);

  await page.goto(`${node.url}/#/address/${history.accounts[0]}?tab=transactions`);
  await wait(page, 'Transactions');
  await page.selectOption('.list-bar select', 'from');
  await page.check('label:has-text("Failed only") input');
  await page.waitForSelector('[aria-label="Transactions"] td.empty');
  await page.reload();
  await page.waitForSelector('[aria-label="Transactions"] td.empty');
  assert.equal(await page.locator('.list-bar select').inputValue(), 'from');
  await clean(page);
});

/** Whether the visible part of a list is within the window. */
function isWithin(page, label) {
  return page.evaluate(
    (name) =>
      [...document.querySelectorAll(`[aria-label="${name}"] .rows > tbody > tr > td`)].every(
        (cell) => {
          const { left, right, width } = cell.getBoundingClientRect();
          return width === 0 || (left >= 0 && right <= innerWidth);
        },
      ),
    label,
  );
}

test('holders, holdings, created contracts and events are rows of two lines on a phone', async () => {
  const page = await browser.open(node.url, { viewport: { width: 390, height: 844 } });
  const lists = [
    [`token/${history.network.tokens.USDC}?tab=holders`, 'Holders', 'phone-holders'],
    [`address/${history.accounts[0]}?tab=tokens`, 'Token holdings', 'phone-holdings'],
    [`address/${history.network.tokens.USDC}?tab=events`, 'Events', 'phone-events'],
    [`address/${history.accounts[0]}?tab=created`, 'Contracts created', 'phone-created'],
    [`address/${history.accounts[0]}?tab=nft`, 'Non-fungible tokens', 'phone-nft'],
    [`contract/${history.network.tokens.USDC}?tab=events`, 'Events', 'phone-contract-events'],
    ['tokens', 'Tokens of the network', 'phone-tokens'],
    ['explorer', 'Transactions', 'phone-transactions'],
  ];
  for (const [path, label, name] of lists) {
    await page.goto(`${node.url}/#/${path}`);
    await page.waitForSelector(
      `.list:not([aria-busy="true"]) [aria-label="${label}"] table.rows td.line-2`,
    );
    await browser.picture(page, name);
    assert.ok(await isWithin(page, label), `${label} is wider than a phone`);
  }
  await clean(page);
});

test('tables of a transaction, of accounts and of the network are rows on a phone', async () => {
  const page = await browser.open(node.url, { viewport: { width: 390, height: 844 } });
  for (const path of [`tx/${history.swapped}`, 'accounts', 'network', 'developer', 'tokens']) {
    await page.goto(`${node.url}/#/${path === 'network' ? '' : path}`);
    await page.waitForSelector('main table.rows tbody td');
    await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'));
    const wide = await page.evaluate(() =>
      [...document.querySelectorAll('main .scroll:has(> .rows)')]
        .filter((one) => one.scrollWidth > one.clientWidth)
        .map((one) => one.getAttribute('aria-label')),
    );
    assert.deepEqual(wide, [], path);
  }
  await page.goto(`${node.url}/#/tx/${history.swapped}`);
  await page.waitForSelector('.rows td.line-1:has-text("ERC-20")');
  // The heading is longer than a line, and is broken between words.
  assert.equal(await page.locator('h1 wbr').count(), 4);
  assert.equal(await page.textContent('h1'), 'swapExactTokensForTokens');
  await clean(page);
});

test('the open list is visible in the bar of lists on a phone', async () => {
  const page = await browser.open(`${node.url}/#/explorer/internal`, {
    viewport: { width: 390, height: 844 },
  });
  await wait(page, 'Internal transactions');
  await page.waitForFunction(() => {
    const { left, right } = document
      .querySelector('nav[aria-label="Lists"] [aria-current]')
      .getBoundingClientRect();
    return left >= 0 && right <= innerWidth;
  });
  await clean(page);
});
