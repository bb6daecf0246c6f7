// Contracts in a real browser: reading, simulating, writing, events, source, proxies and ABIs.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { fragment, selector, topic } from '../../crates/page/src/page/lib/abi.js';
import {
  exampleOf,
  formatArgument,
  parseArgument,
} from '../../crates/page/src/page/lib/arguments.js';
import { keccak256 } from '../../crates/page/src/page/vendor/ethers.js';
import { LOOKS, assertAccessible, assertFits } from './accessible.mjs';
import { beaconOf, BOX, cloneOf, creationOf, deploy, send } from './contracts.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

const SWAP = 'swapExactTokensForTokens(address,address,uint256,uint256)';
const ABI_TEXT = BOX.abi
  .map(
    ({ type, name, inputs }) =>
      `${type} ${name}(${inputs.map((one) => `${one.type}${one.indexed ? ' indexed' : ''} ${one.name}`).join(', ')})${name === 'value' ? ' view returns (uint256)' : ''}`,
  )
  .join('\n');
let node;
let browser;
let network;
let accounts;
let sender;
let folder;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tetrad-artifacts-'));
  const file = join(folder, 'contracts', 'Crate.sol', 'Crate.json');
  mkdirSync(join(file, '..'), { recursive: true });
  // The same contract as BOX with one more byte, so that only this one is recognised.
  const artifact = {
    _format: 'hh-sol-artifact-1',
    contractName: 'Crate',
    sourceName: 'contracts/Crate.sol',
    abi: BOX.abi,
    bytecode: creationOf(`${BOX.runtime}00`),
    deployedBytecode: `0x${BOX.runtime}00`,
    linkReferences: {},
    deployedLinkReferences: {},
  };
  writeFileSync(file, JSON.stringify(artifact));
  [node, browser] = await Promise.all([startNode('--artifacts', folder), startBrowser()]);
  network = await (await fetch(`${node.url}/api/network`)).json();
  accounts = await node.rpc('eth_accounts');
  sender = accounts[0];
  await send(node, sender, network.tokens.USDC, 'approve(address,uint256)', [
    network.vault,
    10n ** 12n,
  ]);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const open = (path, options) => browser.open(`${node.url}/#/${path}`, options);
const tab = (page, name) => page.click(`.tabs[aria-label="Contract"] button:text-is("${name}")`);
const functionIn = (page, name) =>
  page.locator('.functions > details', { has: page.locator(`summary strong:text-is("${name}")`) });

test('arguments are parsed with errors that name them', () => {
  const { inputs } = fragment(
    'f(uint8 small, int256 any, address who, bool flag, bytes4 id, uint256[] list, (address to, uint128 amount)[2] pairs, string text)',
  );
  const parse = (at, text) => parseArgument(inputs[at], text, at, 'pax');
  const address = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
  assert.equal(parse(0, ' 255 '), 255n);
  assert.equal(parse(1, '-1,000'), -1000n);
  assert.equal(parse(1, '1.5e18'), 15n * 10n ** 17n);
  assert.equal(parse(1, '0xff'), 255n);
  assert.equal(parse(2, 'pax1jrmehaht938cwqm9u7zestslzq0f8wgxvqfy9l'), address);
  assert.equal(parse(3, 'true'), true);
  assert.equal(parse(4, '0x12345678'), '0x12345678');
  assert.deepEqual(parse(5, '[1, 340282366920938463463374607431768211456, "0x10"]'), [
    1n,
    2n ** 128n,
    16n,
  ]);
  assert.deepEqual(parse(6, `[{"to": "${address}", "amount": 1}, ["${address}", 2]]`), [
    [address, 1n],
    [address, 2n],
  ]);
  assert.equal(parse(7, ' text '), ' text ');
  const fails = (at, text, expected) =>
    assert.throws(
      () => parse(at, text),
      (error) => expected.test(error.message) || assert.fail(error.message),
    );
  fails(0, '256', /^small: expected a number from 0 to 255$/);
  fails(0, '', /^small: enter a number$/);
  fails(1, 'ten', /^any: expected a whole number, got "ten"$/);
  fails(2, '0x12', /^who: /);
  fails(3, 'maybe', /^flag: expected true or false/);
  fails(4, '0x1234', /^id: expected 4 bytes, got 2$/);
  fails(5, '[1, "x"]', /^list\[1\]: expected a whole number/);
  fails(5, '1, 2', /^list: not valid JSON; example: \[1\]$/);
  fails(5, '', /^list: enter a JSON list/);
  fails(6, '[]', /^pairs: expected 2 elements, got 0$/);
  fails(6, `[{"to": "${address}"}, {}]`, /^pairs\[0\]: the member amount is missing$/);
  fails(
    6,
    `[{"to": "${address}", "amount": -1}, {}]`,
    /^pairs\[0\]\.amount: does not fit uint128$/,
  );
  fails(6, '[{"from": 1}, {}]', /^pairs\[0\]: has no member "from"; its members are to, amount$/);
  assert.equal(exampleOf(inputs[6]), '[{"to": "0x…", "amount": 1}]');
  const values = [
    [address, 1n],
    [address, 2n ** 100n],
  ];
  assert.deepEqual(parseArgument(inputs[6], formatArgument(values, inputs[6]), 6, 'pax'), values);
});

test('the slots of proxies match the standards', () => {
  const source = readFileSync(
    new URL('../../crates/page/src/page/lib/contracts.js', import.meta.url),
    'utf8',
  );
  const hash = (text) => BigInt(keccak256(new TextEncoder().encode(text)));
  for (const name of ['implementation', 'beacon', 'admin'])
    assert.ok(source.includes((hash(`eip1967.proxy.${name}`) - 1n).toString(16)), name);
  assert.ok(source.includes(hash('PROXIABLE').toString(16)));
});

test('a contract is read, and the link restores the read', async () => {
  const page = await open(`contract/${network.vault}`);
  await page.waitForSelector('h1:text-is("Exchange vault")');
  await functionIn(page, 'SWAP_FEE_BPS').locator('summary').click();
  await functionIn(page, 'SWAP_FEE_BPS').locator('.result :text-is("30")').waitFor();
  await page.fill('[aria-label="Filter functions"]', 'quote');
  await functionIn(page, 'SWAP_FEE_BPS').waitFor({ state: 'hidden' });
  const quote = functionIn(page, 'quoteSwap');
  await quote.locator('summary').click();
  await quote.locator('button:text-is("Query")').click();
  await quote.locator('.failure:has-text("tokenIn: enter an address")').waitFor();
  const { USDC, WETH } = network.tokens;
  for (const [name, text] of [
    ['tokenIn', USDC],
    ['tokenOut', WETH],
    ['amountIn', '1_000_000'],
  ])
    await quote.locator(`label:has-text("${name}") input`).fill(text);
  await quote.locator('button:text-is("Query")').click();
  await quote.locator('.result td').first().waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await quote.locator('button.copy').click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(link.includes(`#/contract/${network.vault}?tab=read&function=quoteSwap`), link);
  const other = await browser.open(link);
  await functionIn(other, 'quoteSwap').locator('.result td').first().waitFor();
  assert.equal(
    await functionIn(other, 'quoteSwap').locator('label:has-text("amountIn") input').inputValue(),
    '1_000_000',
  );
  // The same parameters work where the contract is part of an address.
  await other.goto(
    `${node.url}/#/address/${USDC}?tab=read&function=balanceOf&args=${encodeURIComponent(JSON.stringify([network.vault]))}`,
  );
  await functionIn(other, 'balanceOf').locator('.result td').first().waitFor();
  await clean(other);
  await clean(page);
});

test('a function is simulated, then written with the active account', async () => {
  const page = await open(`contract/${network.tokens.USDC}?tab=write`);
  const transfer = functionIn(page, 'transfer');
  await transfer.locator('summary').click();
  await transfer.locator('label:has-text("to (address)") input').fill(accounts[9]);
  await transfer.locator('label:has-text("value (uint256)") input').fill('1e30');
  await transfer.locator('button:text-is("Simulate")').click();
  await transfer
    .locator('.result:has-text("Would fail"):has-text("ERC20InsufficientBalance")')
    .waitFor();
  await transfer.locator('button:text-is("Write")').click();
  await transfer.locator('.failure:has-text("ERC20InsufficientBalance")').waitFor();
  await transfer.locator('label:has-text("value (uint256)") input').fill('2_500_000');
  await transfer.locator('button:text-is("Simulate")').click();
  await transfer
    .locator('.result:has-text("Would succeed"):has-text("2.5 USDC"):has-text("true")')
    .waitFor();
  assert.match(
    await transfer.locator('a:text-is("Open in the simulator")').getAttribute('href'),
    /^#\/simulate\?from=0xf39F.*&to=0x29E1.*&data=0xa9059cbb/,
  );
  const block = await node.rpc('eth_blockNumber');
  await transfer.locator('button:text-is("Write")').click();
  await page.waitForSelector('.toast.good:has-text("transfer succeeded")');
  assert.equal(Number(await node.rpc('eth_blockNumber')), Number(block) + 1);
  await transfer.locator('.result:has-text("Success"):has-text("2.5 USDC")').waitFor();
  await clean(page);
});

test('an error of the contract is decoded with its ABI when writing fails', async () => {
  // Every call reverts with the error Nope(uint256) and the number 7.
  const refuser = await deploy(
    node,
    sender,
    `63${selector(fragment('Nope(uint256)')).slice(2)}5f52600760205260246${'01cfd'}`,
  );
  const page = await open(`contract/${refuser}?tab=abi`);
  await page.fill('textarea', 'function go()\nerror Nope(uint256 number)');
  await page.click('button:text-is("Save ABI")');
  await tab(page, 'Write');
  await functionIn(page, 'go').locator('summary').click();
  await functionIn(page, 'go').locator('button:text-is("Write")').click();
  await functionIn(page, 'go').locator('.failure:text-is("Nope(number: 7)")').waitFor();
  await clean(page);
});

test('getters show their values at once, and are updated with the chain', async () => {
  const page = await open(`contract/${network.tokens.USDC}`);
  const value = (name) =>
    page
      .locator('.functions > details', { has: page.locator(`summary strong:text-is("${name}")`) })
      .locator('.value');
  await value('symbol').filter({ hasText: 'USDC' }).waitFor();
  await value('decimals').filter({ hasText: '6' }).waitFor();
  await value('totalSupply')
    .filter({ hasText: /[\d,]+ USDC/ })
    .waitFor();
  assert.equal(await value('balanceOf').textContent(), '');
  await clean(page);
});

test('getters are read with a gas limit, and not again before the node has answered', async () => {
  const box = await deploy(node, sender, `${BOX.runtime}00`);
  await send(node, sender, box, 'store(uint256)', [5n]);
  const page = await browser.open('about:blank', { blank: true });
  await page.clock.install();
  const calledBy = ({ method, params }) =>
    method === 'eth_simulateV1' ? params[0].blockStateCalls[0].calls[0] : null;
  const isGetter = (call) =>
    call?.to.toLowerCase() === box && call.data === selector(fragment('value()'));
  const calls = [];
  let asked = null;
  let release = null;
  const isAsked = new Promise((resolve) => (asked = resolve));
  const isReleased = new Promise((resolve) => (release = resolve));
  await page.route('**/rpc', async (route) => {
    const found = [JSON.parse(route.request().postData() ?? '[]')]
      .flat()
      .map(calledBy)
      .find(isGetter);
    if (!found) return route.fallback();
    calls.push(found);
    if (calls.length > 1) return route.fallback();
    // The first response has the state before the next block, and arrives after it.
    const response = await route.fetch();
    asked();
    await isReleased;
    return route.fulfill({ response });
  });
  await page.goto(`${node.url}/#/contract/${box}`);
  await isAsked;
  await send(node, sender, box, 'store(uint256)', [7n]);
  const block = Number(await node.rpc('eth_blockNumber'));
  await page.waitForSelector(`text=block ${block}`);
  await page.clock.runFor(3_000);
  await page.evaluate(() =>
    fetch('rpc', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
    }).then((response) => response.text()),
  );
  assert.deepEqual(
    calls.map(({ gas }) => gas),
    ['0x1e8480'],
  );
  release();
  await functionIn(page, 'value').locator('.value:has-text("7")').waitFor();
  await clean(page);
});

test('a getter that fails is not among the failed calls', async () => {
  const box = await deploy(node, sender, BOX.runtime);
  const missing = { ...BOX.abi[1], name: 'missing' };
  const failures = async () =>
    (await node.rpc('tetrad_failedCalls')).filter(
      ({ call }) => call?.to?.toLowerCase() === box.toLowerCase(),
    ).length;
  const page = await open(`contract/${box}?tab=abi`);
  await page.fill('textarea', JSON.stringify([...BOX.abi, missing]));
  await page.click('button:text-is("Save ABI")');
  await tab(page, 'Read');
  await functionIn(page, 'missing').locator('.value:has-text("fails")').waitFor();
  await send(node, sender, box, 'store(uint256)', [3n]);
  await functionIn(page, 'value').locator('.value:text-is("3")').waitFor();
  assert.equal(await failures(), 0);
  await clean(page);
});

test('a write is forced although it reverts, and amounts are multiplied by the token’s decimals', async () => {
  const page = await open(`contract/${network.tokens.USDC}?tab=write&function=transfer`);
  const transfer = page.locator('.functions > details[open]');
  await transfer.locator('label:has-text("to (address)") input').fill(accounts[9]);
  await transfer.locator('label:has-text("value (uint256)") input').fill('1000000000.5');
  await transfer.locator('button:text-is("×")').click();
  assert.equal(
    await transfer.locator('label:has-text("value (uint256)") input').inputValue(),
    '1000000000500000',
  );
  await transfer.locator('button:text-is("Write")').click();
  await transfer.locator('.failure').waitFor();
  await transfer.locator('label:has-text("Send even if it would fail") input').check();
  await transfer.locator('button:text-is("Write")').click();
  await transfer.locator('.result .tag.bad:text-is("Failed")').waitFor();
  const { transactions } = await node.rpc('eth_getBlockByNumber', 'latest', false);
  assert.equal((await node.rpc('eth_getTransactionReceipt', transactions[0])).status, '0x0');
  await clean(page);
});

test('tuples and lists are entered as JSON', async () => {
  const multicall = '0xcA11bde05977b3631167028862bE2a173976CA11';
  const page = await open(`contract/${multicall}?tab=write&function=aggregate3`);
  const aggregate = functionIn(page, 'aggregate3');
  await aggregate
    .locator('textarea')
    .fill(`[{"target": "${network.tokens.USDC}", "allowFailure": false, "callData": 0x313ce567}]`);
  await aggregate.locator('button:text-is("Simulate")').click();
  await aggregate
    .locator('.result:has-text("Would succeed"):has(th:text-is("success")):has(:text-is("true"))')
    .waitFor();
  await aggregate
    .locator('textarea')
    .fill('[{"target": "here", "allowFailure": false, "callData": "0x"}]');
  await aggregate.locator('button:text-is("Simulate")').click();
  await aggregate.locator('.failure:has-text("calls[0].target: ")').waitFor();
  await clean(page);
});

test('an ABI is pasted, kept for the address, used for its transactions, and removed', async () => {
  const box = await deploy(node, sender, BOX.runtime);
  const hash = await send(node, sender, box, 'store(uint256)', [41n]);
  const page = await open(`contract/${box}`);
  await page.waitForSelector('.tag:text-is("Unknown ABI")');
  await page.click('button:text-is("ERC-20")');
  assert.match(await page.inputValue('textarea'), /function transfer\(address to, uint256 value\)/);
  await page.fill('textarea', '[{"type":"function"');
  await page.click('button:text-is("Save ABI")');
  await page.waitForSelector('.failure:has-text("not valid JSON")');
  await page.fill('textarea', ABI_TEXT);
  await page.click('button:text-is("Save ABI")');
  await page.waitForSelector('.toast.good:has-text("3 entries")');
  await page.waitForSelector('.tag:text-is("ABI saved in this browser")');
  await tab(page, 'Read');
  await functionIn(page, 'value').locator('summary').click();
  await functionIn(page, 'value').locator('.result :text-is("41")').waitFor();
  await page.goto(`${node.url}/#/tx/${hash}?tab=events`);
  await page.waitForSelector('h1:text-is("store")');
  await page.waitForSelector('.log .tag.accent:text-is("Stored")');
  await page.goto(`${node.url}/#/contract/${box}?tab=abi`);
  await page.click('button:text-is("Remove ABI")');
  await page.waitForSelector('.tag:text-is("Unknown ABI")');
  await clean(page);
});

test('a contract of an artifact is recognised', async () => {
  const crate = await deploy(node, sender, `${BOX.runtime}00`);
  const hash = await send(node, sender, crate, 'store(uint256)', [8n]);
  const page = await open(`tx/${hash}?tab=events`);
  await page.waitForSelector('h1:text-is("store")');
  await page.waitForSelector('.log .tag.accent:text-is("Stored")');
  await page.waitForSelector('.happened a:text-is("Crate")');
  await page.goto(`${node.url}/#/contract/${crate}`);
  await page.waitForSelector('.tag:text-is("Verified source")');
  await functionIn(page, 'value').waitFor();
  await clean(page);
});

test('proxies are recognised and have the functions of their implementation', async () => {
  const { implementation, beacon } = {
    implementation: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
    beacon: '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50',
  };
  const word = (address) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const token = network.tokens.USDC;
  const clone = await deploy(node, sender, cloneOf(token));
  const stop = '5f5ffd00';
  const proxy = await deploy(node, sender, stop);
  await node.rpc('anvil_setStorageAt', proxy, implementation, word(token));
  const beaconProxy = await deploy(node, sender, stop);
  const lamp = await deploy(node, sender, beaconOf(token));
  await node.rpc('anvil_setStorageAt', beaconProxy, beacon, word(lamp));
  const page = await browser.open(node.url);
  for (const [address, kind] of [
    [clone, 'Minimal proxy (EIP-1167)'],
    [proxy, 'Proxy (EIP-1967)'],
    [beaconProxy, 'Beacon proxy (EIP-1967)'],
  ]) {
    await page.goto(`${node.url}/#/contract/${address}`);
    await page.waitForSelector(`dd:has-text("${kind}")`);
    await page.waitForSelector(`dd a:text-is("USDC token")`);
    await functionIn(page, 'balanceOf').waitFor();
  }
  await page.waitForSelector(`dt:text-is("Beacon")`);
  // The facts of the address also name the implementation.
  await page.goto(`${node.url}/#/address/${proxy}`);
  await page.waitForSelector(
    '.facts div:has(dt:text-is("Proxy (EIP-1967)")) dd:has-text("Implementation USDC token")',
  );
  await clean(page);
});

test('source files are shown with line numbers, settings and bytecode', async () => {
  const page = await open(`contract/${network.vault}?tab=source`);
  await page.waitForSelector('.source .keyword:text-is("contract")');
  const [numbers, text] = await page.locator('.source pre').allTextContents();
  assert.equal(numbers.split('\n').length, text.replace(/\n$/, '').split('\n').length);
  await page.click('nav[aria-label="Files"] button:text-is("src/exchange/SwapMath.sol")');
  await page.waitForSelector('.source :text("library")');
  await page.click('summary:has-text("Compiler settings")');
  await page.waitForSelector('pre:has-text("\\"viaIR\\": true")');
  await tab(page, 'Bytecode');
  const code = await node.rpc('eth_getCode', network.vault, 'latest');
  assert.equal(await page.locator('pre.hex').first().textContent(), code);
  await clean(page);
});

test('events are filtered, followed live, paused, paged and saved', async () => {
  const box = await deploy(node, sender, BOX.runtime);
  for (let at = 0; at < 30; at++)
    await send(node, accounts[at % 2], box, 'store(uint256)', [BigInt(at)]);
  await node.rpc('anvil_mine', '0x1770');
  for (let at = 30; at < 32; at++)
    await send(node, accounts[at % 2], box, 'store(uint256)', [BigInt(at)]);
  const page = await open(`contract/${box}?tab=abi`);
  await page.fill('textarea', ABI_TEXT);
  await page.click('button:text-is("Save ABI")');
  await page.waitForSelector('.tag:text-is("ABI saved in this browser")');
  await tab(page, 'Events');
  const rows = page.locator('tbody tr:has(td:nth-child(5))');
  await page.waitForSelector('p:has-text("32 events since the first block")');
  assert.match(await rows.first().textContent(), /Stored.*number: 31$/);

  // Live, and paused.
  await page.waitForSelector('.status:has-text("Live"):not(.lost)');
  await send(node, sender, box, 'store(uint256)', [1000n]);
  await page.waitForSelector('td:has-text("number: 1000")');
  await page.click('button:text-is("Pause")');
  await send(node, sender, box, 'store(uint256)', [1001n]);
  await page.waitForSelector('p:has-text("1 new while paused")');
  assert.equal(await page.locator('td:has-text("number: 1001")').count(), 0);
  await page.click('button:text-is("Resume")');
  await page.waitForSelector('td:has-text("number: 1001")');

  // By event and argument.
  await page.selectOption('label:has-text("Event") select', { label: 'Stored(address, uint256)' });
  await page.fill('label:has-text("who") input', 'nobody');
  await page.click('button:text-is("Filter")');
  await page.waitForSelector('.failure:has-text("who: ")');
  await page.fill('label:has-text("who") input', accounts[1]);
  await page.click('button:text-is("Filter")');
  await page.waitForSelector('p:has-text("16 events since the first block")');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('button:text-is("Export CSV")'),
  ]);
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\n');
  assert.equal(lines[0], 'block,time,transaction,log_index,address,event,who,number');
  assert.equal(lines.length, 17);
  assert.match(
    lines[1],
    new RegExp(`^\\d+,\\d{4}-.*,0x[0-9a-f]{64},0,${box},Stored,${accounts[1]},31$`, 'i'),
  );
  await clean(page);
});

test('many events are read in pages', async () => {
  const token = network.tokens.DOT;
  const before = Number(await node.rpc('eth_blockNumber'));
  for (let at = 0; at < 30; at++)
    await send(node, sender, token, 'approve(address,uint256)', [accounts[1], BigInt(at + 1)]);
  // Windows of a node that refuses large ones.
  const page = await browser.open(node.url);
  await page.route('**/rpc', async (route) => {
    const request = JSON.parse(route.request().postData());
    const all = [request].flat();
    const wide = all.find(
      ({ method, params }) =>
        method === 'eth_getLogs' && Number(params[0].toBlock) - Number(params[0].fromBlock) > 10,
    );
    if (!wide) return route.continue();
    const answer = ({ id }) => ({
      jsonrpc: '2.0',
      id,
      error: { code: -32005, message: 'too many blocks' },
    });
    return route.fulfill({
      contentType: 'application/json',
      body: JSON.stringify(Array.isArray(request) ? request.map(answer) : answer(request)),
    });
  });
  await page.goto(`${node.url}/#/contract/${token}?tab=events&event=Approval`);
  const older = page.locator('button:text-is("Load older events")');
  await older.waitFor();
  const shown = async () => await page.locator('tbody td:has-text("value: ")').count();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length >= 25);
  assert.ok((await shown()) < 60);
  while ((await shown()) < 30 && Number(await node.rpc('eth_blockNumber')) >= before) {
    await older.click();
    await page.waitForSelector('button:text-is("Load older events"):enabled');
  }
  assert.match(await page.locator('tbody tr').nth(29).textContent(), /Approval/);
  await clean(page);
});

test('an address without code is not a contract', async () => {
  const page = await open(`contract/${accounts[5]}`);
  await page.waitForSelector(
    `.failure:has-text("No contract at ${accounts[5]}: this address has no code")`,
  );
  await clean(page);
});

test('the values of getters are requested once after an ABI was saved again', async () => {
  const box = await deploy(node, sender, BOX.runtime);
  const page = await open(`contract/${box}?tab=abi`);
  await page.fill('textarea', ABI_TEXT);
  const value = functionIn(page, 'value').locator('.value');
  for (let times = 0; times < 3; times++) {
    await page.locator('.tabs[aria-label="Contract"]').evaluate((old) => (old.id = 'old'));
    await page.click('button:text-is("Save ABI")');
    await page.waitForSelector('#old', { state: 'detached' });
    await tab(page, 'Read');
    await value.filter({ hasText: '0' }).waitFor();
    await tab(page, 'ABI');
  }
  await tab(page, 'Read');
  let asked = 0;
  const getter = selector(fragment('value()'));
  page.on('request', (request) => (asked += (request.postData() ?? '').split(getter).length - 1));
  await send(node, sender, box, 'store(uint256)', [41n]);
  await value.filter({ hasText: '41' }).waitFor();
  assert.equal(asked, 1);
  await clean(page);
});

test('a card that is redrawn twice shows the last change', async () => {
  const box = await deploy(node, sender, BOX.runtime);
  const page = await open(`contract/${box}?tab=abi`);
  await page.fill('textarea', ABI_TEXT);
  await page.click('button:text-is("Save ABI")');
  await page.waitForSelector('button:text-is("Remove ABI")');

  // The response for the first of two changes arrives after the second one is drawn.
  const held = new Promise((resolve) => {
    page.route(/\/api\/v2\/smart-contracts\/0x/, resolve, { times: 1 });
  });
  await page.click('button:text-is("Save ABI")');
  const first = await held;
  await page.click('button:text-is("Remove ABI")');
  await page.waitForSelector('.tag:text-is("Unknown ABI")');
  await page.locator('.tabs[aria-label="Contract"]').evaluate((newest) => (newest.id = 'newest'));
  const answered = page.waitForResponse(/\/api\/v2\/smart-contracts\/0x/);
  await first.continue();
  await (await answered).finished();
  await page.evaluate(() => new Promise(requestAnimationFrame));
  assert.equal(await page.locator('#newest').count(), 1);
  await page.waitForSelector('.tag:text-is("Unknown ABI")');
  await clean(page);
});

test('contracts are shown on a chain without the network and without the explorer', async () => {
  const own = mkdtempSync(join(tmpdir(), 'tetrad-genesis-'));
  const file = join(own, 'genesis.json');
  writeFileSync(
    file,
    JSON.stringify({
      config: { chainId: 7, londonBlock: 0 },
      difficulty: '0x0',
      gasLimit: '0x1c9c380',
      alloc: {
        '0x00000000000000000000000000000000000b0c50': { code: `0x${BOX.runtime}`, balance: '0x0' },
      },
    }),
  );
  const other = await startNode('--genesis', file, '--no-explorer');
  const page = await browser.open(
    `${other.url}/#/contract/0x00000000000000000000000000000000000b0c50`,
    { tolerated: /404/ },
  );
  await page.waitForSelector('.tag:text-is("Unknown ABI")');
  await page.fill('textarea', ABI_TEXT);
  await page.click('button:text-is("Save ABI")');
  await tab(page, 'Read');
  await functionIn(page, 'value').waitFor();
  await tab(page, 'Events');
  await page.waitForSelector('td:has-text("No events")');
  await clean(page);
  await other.stop();
  rmSync(own, { recursive: true });
});

test('every tab of a contract is accessible and fits a phone', async () => {
  await send(node, sender, network.vault, SWAP, [
    network.tokens.USDC,
    network.tokens.WETH,
    10n ** 9n,
    0n,
  ]);
  const clone = await deploy(node, sender, cloneOf(network.tokens.USDC));
  const args = encodeURIComponent(JSON.stringify([network.tokens.USDC]));
  const paths = {
    read: [`contract/${network.vault}?tab=read&function=reserves&args=${args}`, '.result td'],
    write: [
      `contract/${network.tokens.USDC}?tab=write&function=transfer`,
      'button:text-is("Write")',
    ],
    events: [`contract/${network.vault}?tab=events`, '.event-args'],
    source: [`contract/${network.vault}?tab=source`, '.source'],
    code: [`contract/${network.vault}?tab=code`, 'pre.hex'],
    abi: [`contract/${clone}?tab=abi`, 'textarea'],
  };
  for (const look of LOOKS) {
    const page = await browser.open(node.url, look);
    for (const [name, [path, expected]] of Object.entries(paths)) {
      await page.goto(`${node.url}/#/${path}`);
      await page.waitForSelector(expected);
      await assertAccessible(page, `${name}, ${look.name}`);
      await assertFits(page, `${name}, ${look.name},`);
      await browser.picture(page, `contract-${name}-${look.name}`);
    }
    await clean(page);
  }
});

test('the topic of an event is computed from its declaration', () => {
  assert.equal(
    topic(fragment('event TransferSingle(address,address,address,uint256,uint256)')),
    '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  );
  assert.equal(
    topic(fragment('event TransferBatch(address,address,address,uint256[],uint256[])')),
    '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
  );
});
