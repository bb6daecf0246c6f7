// The developer controls in a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { encodeCall, fragment } from '../../crates/page/src/page/lib/abi.js';
import { LOOKS, assertAccessible, assertFits } from './accessible.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

const ACCOUNT = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
let node;
let browser;

before(async () => {
  [node, browser] = await Promise.all([startNode(), startBrowser()]);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
});

/** The card with a title. */
const card = (page, title) =>
  page.locator('section.card', { has: page.locator(`h2:text-is("${title}")`) });

test('developer controls mine, advance time, revert and fund accounts', async () => {
  const page = await browser.open(`${node.url}/#/developer`);
  const block = async () => Number(await node.rpc('eth_blockNumber'));
  const before = await block();
  await page.click('button:text-is("Take snapshot")');
  await page.click('button:text-is("Revert") >> visible=true', { trial: true });
  await page.click('button:text-is("Mine")');
  await page.waitForSelector('.toast.good:has-text("Mined 1 block")');
  assert.equal(await block(), before + 1);
  const { timestamp } = await node.rpc('eth_getBlockByNumber', 'latest', false);
  await page.click('button:text-is("+1 day")');
  await page.waitForSelector('.toast.good:has-text("24 h")');
  // Blocks mined in quick succession have timestamps ahead of the clock, and the clock is what
  // advances by a day.
  const later = Number((await node.rpc('eth_getBlockByNumber', 'latest', false)).timestamp);
  assert.ok(later - Number(timestamp) > 86_000);
  await page.click('button:text-is("Revert")');
  assert.ok((await block()) > before, 'it asks for confirmation');
  await page.click(`button:text-is("Delete all after block ${before}?")`);
  await page.waitForSelector('.toast.good:has-text("Reverted to block")');
  assert.equal(await block(), before);

  const fund = card(page, 'Fund account');
  await fund.locator('input').first().fill('pax1jrmehaht938cwqm9u7zestslzq0f8wgxvqfy9l');
  const had = await node.rpc('eth_getBalance', ACCOUNT, 'latest');
  await fund.locator('button:text-is("Send")').click();
  await page.waitForSelector('.toast.good:has-text("Sent 100 HPX")');
  assert.equal(
    BigInt(await node.rpc('eth_getBalance', ACCOUNT, 'latest')) - BigInt(had),
    100n * 10n ** 18n,
  );
  await browser.picture(page, 'developer');
  await clean(page);
});

test('a price is set and released, and an account is impersonated', async () => {
  const page = await browser.open(`${node.url}/#/developer`);
  const prices = card(page, 'Price');
  await prices.locator('select').selectOption('SOL');
  await prices.locator('input').fill('200');
  await prices.locator('button:has-text("Set price")').click();
  await page.waitForSelector('.toast.good:has-text("SOL price set to $200")');
  const { data } = await (await fetch(`${node.url}/api/prices`)).json();
  assert.equal(Object.values(data).find((token) => token.symbol === 'SOL').price, 200);
  assert.equal(await prices.locator('input').inputValue(), '');
  await prices.locator('text=SOL $200.00 Fixed').waitFor();
  await browser.picture(page, 'price-held');
  await page.reload();
  await prices.locator('[aria-label="Release the price of SOL"]').click();
  await page.waitForSelector('.toast.good:has-text("SOL price released")');
  await prices.locator('.tag').waitFor({ state: 'detached' });
  for (const [text, problem] of [
    ['-1', 'Price: enter US dollars, such as 3512.35.'],
    ['0', 'Price: it must be above 0.'],
    ['{"price": 1}', 'Price: enter US dollars'],
  ]) {
    await prices.locator('input').fill(text);
    assert.equal(
      await prices.locator('.failure').count(),
      0,
      'an error goes when the field changes',
    );
    await prices.locator('button:has-text("Set price")').click();
    await prices.locator(`.failure:has-text(${JSON.stringify(problem)})`).waitFor();
  }
  await prices.locator('select').selectOption('UNI');
  assert.equal(await prices.locator('input').inputValue(), '', 'a price belongs to one token');
  assert.equal(await prices.locator('.failure').count(), 0);

  const { vault } = await (await fetch(`${node.url}/api/network`)).json();
  const acting = card(page, 'Impersonate account');
  await acting.locator('input').fill(vault);
  await acting.locator('button:has-text("Impersonate")').click();
  await page.waitForSelector('.toast.good:has-text("Impersonating")');
  await page.selectOption('#account', `node/${vault}`);
  await acting.locator('button:has-text("Stop")').click();
  await page.waitForFunction(() => !document.querySelector('#account').value.includes('/0x49B0'));
  await clean(page);
});

test('a scenario is started and stopped', async () => {
  const page = await browser.open(`${node.url}/#/developer`);
  const scenarios = card(page, 'Scenarios');
  await scenarios.locator('select').selectOption('paused-vault');
  await scenarios.locator('text=pauses all swaps').waitFor();
  await scenarios.locator('button:has-text("Start scenario")').click();
  await page.waitForSelector('.toast.good:has-text("Paused vault started")');
  await scenarios.locator('text=running').waitFor();
  await scenarios.locator('button:has-text("Stop")').click();
  await page.waitForSelector('.toast.good:has-text("Paused vault stopped")');
  await scenarios.locator('text=stopped, 2 of 2 steps done').waitFor();
  await clean(page);
});

test('the mining mode is shown and changed, and waiting transactions are mined or dropped', async () => {
  const own = await startNode();
  const page = await browser.open(`${own.url}/#/developer`);
  const mining = card(page, 'Mining');
  await mining.locator('button[aria-pressed="true"]:text-is("Automine")').waitFor();
  await mining.locator('button:text-is("Off")').click();
  await mining.locator('text=Blocks are mined on request only').waitFor();
  assert.equal(await own.rpc('anvil_getAutomine'), false);

  const [from] = await own.rpc('eth_accounts');
  const send = () => own.rpc('eth_sendTransaction', { from, to: ACCOUNT, value: '0x1' });
  await send();
  const notice = page.locator('.mining-notice');
  await notice.locator('text=1 transaction waits for a block').waitFor();
  await browser.picture(page, 'mining-off');
  await notice.locator('button:text-is("Mine a block")').click();
  await notice.waitFor({ state: 'hidden' });
  assert.equal(Number(await own.rpc('eth_blockNumber')), 1);

  const pool = card(page, 'Transaction pool');
  await send();
  await send();
  await pool.locator('tbody tr:has-text("pending")').nth(1).waitFor();
  await pool.locator('button:text-is("Drop")').nth(1).click();
  await page.waitForSelector('.toast.good:has-text("Transaction dropped")');
  await pool.locator('button:text-is("Drop all")').click();
  await page.waitForSelector('.toast.good:has-text("All waiting transactions dropped")');
  assert.deepEqual(await own.rpc('txpool_status'), { pending: '0x0', queued: '0x0' });

  await mining.locator('button:text-is("Interval")').click();
  await mining.locator('text=A block is mined every 2 s').waitFor();
  assert.equal(await own.rpc('anvil_getIntervalMining'), 2);
  // Another client's change is noticed.
  await own.rpc('evm_setAutomine', true);
  await mining.locator('button[aria-pressed="true"]:text-is("Automine")').waitFor();
  await clean(page);
  await own.stop();
});

test('time is set, and an account is edited', async () => {
  const own = await startNode();
  const page = await browser.open(`${own.url}/#/developer`);
  const time = card(page, 'Time');
  await time.locator('input').fill('2040-01-02T03:04:05');
  await time.locator('button:text-is("Set time")').click();
  await page.waitForSelector('.toast.good:has-text("Time set to 2 Jan 2040")');
  assert.ok(
    Number((await own.rpc('eth_getBlockByNumber', 'latest', false)).timestamp) > 2_208_000_000,
  );
  await time.locator('input').fill('2020-01-02T03:04:05');
  await time.locator('button:text-is("Set time")').click();
  await time.locator('.failure:has-text("choose a later time")').waitFor();

  const editor = card(page, 'Edit account');
  const account = '0x00000000000000000000000000000000000000C1';
  await editor.locator('input').first().fill(account);
  await editor.locator('input').first().press('Tab');
  await editor.locator('text=None').waitFor();
  const part = async (name, fill, button) => {
    await editor.locator(`.tabs button:text-is("${name}")`).click();
    await editor.locator(`button:text-is("${button}")`).waitFor();
    for (const [label, value] of fill)
      await editor.getByLabel(label, { exact: false }).last().fill(value);
    await editor.locator(`button:text-is("${button}")`).click();
    await page.waitForSelector(`.toast.good:has-text("${name === 'Storage' ? 'Slot' : name} ")`);
  };
  await part('Balance', [['Balance', '12.5']], 'Set balance');
  await part('Nonce', [['Nonce', '7']], 'Set nonce');
  await part('Code', [['Runtime code', '0x6001']], 'Set code');
  await part(
    'Storage',
    [
      ['Slot', '3'],
      ['Value', '0x2a'],
    ],
    'Set slot',
  );
  await editor.locator('text=12.5 HPX').waitFor();
  await editor.locator('dd:has-text("2 bytes")').waitFor();
  assert.equal(await own.rpc('eth_getBalance', account, 'latest'), '0xad78ebc5ac620000');
  assert.equal(await own.rpc('eth_getTransactionCount', account, 'latest'), '0x7');
  assert.equal(await own.rpc('eth_getCode', account, 'latest'), '0x6001');
  assert.equal(Number(await own.rpc('eth_getStorageAt', account, '0x3', 'latest')), 42);
  await browser.picture(page, 'editor');
  await clean(page);
  await own.stop();
});

test('the form for an account disappears once another one is chosen', async () => {
  const own = await startNode();
  const page = await browser.open(`${own.url}/#/developer`);
  const editor = card(page, 'Edit account');
  const button = editor.locator('button:text-is("Set balance")');
  await button.waitFor();
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  await page.route('**/rpc', async (route) => {
    await released;
    await route.continue();
  });
  await editor.locator('input').first().fill('0x00000000000000000000000000000000000000C1');
  await editor.locator('input').first().press('Tab');
  await button.waitFor({ state: 'detached' });
  release();
  await button.waitFor();
  await clean(page);
  await own.stop();
});

test('the chain is reset after a second click', async () => {
  const own = await startNode();
  await own.rpc('evm_mine', { blocks: '0x5' });
  const page = await browser.open(`${own.url}/#/developer`);
  await page.click('button:text-is("Reset chain")');
  assert.equal(Number(await own.rpc('eth_blockNumber')), 5);
  await page.click('button:text-is("Delete all blocks?")');
  await page.waitForSelector('.toast.good:has-text("reset to its first block")');
  assert.equal(Number(await own.rpc('eth_blockNumber')), 0);
  await page.waitForSelector('#status-text:text-is("Chain 125 · block 0")');
  await clean(page);
  await own.stop();
});

test('snapshots are named and kept by the node, and failed calls have traces', async (context) => {
  const known = await node.rpc('tetrad_snapshots').catch(() => null);
  if (!known) return context.skip('this node does not list snapshots');
  const page = await browser.open(`${node.url}/#/developer`);
  const snapshots = card(page, 'Snapshots');
  await snapshots.getByLabel('Name').fill('before the trade');
  await snapshots.locator('button:text-is("Take snapshot")').click();
  await snapshots.locator('strong:text-is("before the trade")').waitFor();
  const { tokens } = await (await fetch(`${node.url}/api/network`)).json();
  // A function of a contract with a known ABI.
  const own = '0x00000000000000000000000000000000000000c5';
  await node.rpc('anvil_setCode', own, '0x60006000fd');
  await page.evaluate(
    (address) =>
      localStorage.setItem(
        'tetrad.contract-abis',
        JSON.stringify({ [`125/${address}`]: 'function launch(uint256 stage)' }),
      ),
    own,
  );
  await node
    .rpc('eth_call', { to: own, data: encodeCall(fragment('launch(uint256)'), [3n]) }, 'latest')
    .catch(() => null);
  const data = `0xa9059cbb${ACCOUNT.slice(2).padStart(64, '0')}${'f'.repeat(64)}`;
  await node.rpc('eth_call', { from: ACCOUNT, to: tokens.USDC, data }, 'latest').catch(() => null);
  await page.reload();
  await snapshots.locator('strong:text-is("before the trade")').waitFor();
  const failed = card(page, 'Failed calls of the last hour').locator('details').first();
  await failed.locator('text=ERC20InsufficientBalance').first().waitFor();
  await failed.locator('summary').first().click();
  await failed.locator('.trace button:has-text("transfer(…)")').waitFor();
  await card(page, 'Failed calls of the last hour')
    .locator('summary strong:text-is("launch")')
    .waitFor();
  await browser.picture(page, 'failed-calls');
  await snapshots.locator('button:text-is("Revert")').first().click();
  await snapshots.locator('button:has-text("Delete all after block")').click();
  await page.waitForSelector('.toast.good:has-text("Reverted to block")');
  await clean(page);
});

test('the controls are accessible while mining is off, and fit a phone', async () => {
  const own = await startNode('--no-mining');
  const [from] = await own.rpc('eth_accounts');
  await own.rpc('eth_sendTransaction', { from, to: ACCOUNT, value: '0x1' });
  for (const look of LOOKS) {
    const page = await browser.open(`${own.url}/#/developer`, look);
    await page.locator('.mining-notice').waitFor();
    await page.locator('.note:visible', { hasText: 'Mining is off' }).first().waitFor();
    await assertAccessible(page, look.name);
    await assertFits(page, look.name);
    await browser.picture(page, `developer-${look.name}`);
    await clean(page);
  }
  await own.stop();
});
