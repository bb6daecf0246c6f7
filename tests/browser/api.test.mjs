// The API console in a real browser, and its parts without one.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import {
  build,
  search,
  textOf,
  typeName,
  parseValue,
} from '../../crates/page/src/page/lib/reference.js';
import {
  curl,
  ethersCode,
  fetchCode,
  socketCode,
  viemCode,
} from '../../crates/page/src/page/lib/snippets.js';
import { LOOKS, assertAccessible, assertFits } from './accessible.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

const FROM = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const URL_ = 'http://localhost:8545/rpc';
let node;
let browser;

before(async () => {
  [node, browser] = await Promise.all([startNode(), startBrowser()]);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
});

async function documents() {
  const openapi = await (await fetch(`${node.url}/openapi.json`)).json();
  return { openapi, openrpc: await node.rpc('rpc.discover') };
}

test('every operation of both documents is in the console, with a unique name', async () => {
  const { openapi, openrpc } = await documents();
  const { operations, groups, byId } = build(openapi, openrpc);
  const routes = Object.values(openapi.paths).reduce(
    (sum, methods) => sum + Object.keys(methods).length,
    0,
  );
  assert.equal(operations.length, routes + openrpc.methods.length);
  assert.equal(byId.size, operations.length);
  assert.equal(
    groups.reduce((sum, group) => sum + group.operations.length, 0),
    operations.length,
  );
  assert.ok(
    groups.filter(({ kind }) => kind !== 'live').every(({ description }) => description),
    'groups have descriptions',
  );
  assert.equal(groups[0].name, 'Live');
  for (const id of [
    'setPrice',
    'evm_mine',
    'anvil_setBalance',
    'eth_sendRawTransaction',
    'startScenario',
  ])
    assert.ok(byId.get(id).changes, id);
  for (const id of ['getPrices', 'eth_call', 'eth_getLogs', 'simulateTx', 'callJsonRpc'])
    assert.ok(!byId.get(id).changes, id);
  assert.equal(search(operations, 'balance eth_get')[0].id, 'eth_getBalance');
  assert.equal(search(operations, 'eth_call')[0].id, 'eth_call');
  assert.deepEqual(search(operations, 'eth_call xyzzy'), []);
});

test('texts of the form become values of the schema’s type', () => {
  const hex = { type: 'string', pattern: '^0x[0-9a-f]*$' };
  assert.equal(parseValue('0x1', hex), '0x1');
  assert.equal(parseValue('17', { anyOf: [hex, { type: 'integer' }] }), 17);
  assert.equal(
    parseValue('17', { anyOf: [{ type: 'string', pattern: '^[0-9]+$' }, { type: 'integer' }] }),
    '17',
  );
  assert.equal(
    parseValue('123456789012345678901234567890', { anyOf: [hex, { type: 'integer' }] }),
    '123456789012345678901234567890',
  );
  assert.equal(parseValue('true', { type: 'boolean' }), true);
  assert.deepEqual(parseValue('{"a": [1]}', { type: 'object' }), { a: [1] });
  assert.equal(parseValue('latest', { oneOf: [{ enum: ['latest'] }, hex] }), 'latest');
  assert.deepEqual(parseValue('[1]', {}), [1]);
  assert.equal(parseValue('x', {}), 'x');
  assert.throws(() => parseValue('{"a"', { type: 'object' }));
  assert.equal(textOf(null), '');
  assert.equal(typeName({ oneOf: [{ enum: ['latest', 'safe'] }, hex] }), 'tag | hex');
});

test('requests are shown as code', async () => {
  const body = '{"a":"it\'s"}';
  const command = curl({
    method: 'POST',
    url: `${node.url}/x?a=1&b=2`,
    headers: { 'content-type': 'application/json' },
    body,
  });
  // The shell does not interpret the text.
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    `curl() { printf '%s|' "$@"; }; ${command}`,
  ]);
  assert.equal(stdout, `-s|${node.url}/x?a=1&b=2|-H|content-type: application/json|-d|${body}|`);
  assert.match(curl({ method: 'DELETE', url: 'http://h/x' }), /^curl -s -X DELETE http:\/\/h\/x$/);
  const post = fetchCode({
    method: 'POST',
    url: 'http://h/x',
    headers: { 'content-type': 'application/json' },
    body: '{"price":1}',
  });
  for (const part of ['method: "POST"', '"content-type": "application/json"', 'JSON.stringify({\n'])
    assert.ok(post.includes(part), part);
  assert.ok(
    ethersCode(URL_, 'eth_getBalance', [FROM, 'latest']).includes(
      `provider.getBalance("${FROM}", "latest")`,
    ),
  );
  assert.ok(ethersCode(URL_, 'evm_mine', []).includes('provider.send("evm_mine", [])'));
  assert.ok(
    viemCode(URL_, 'eth_getBalance', [FROM, '0x10']).includes(
      `client.getBalance({ address: "${FROM}", blockNumber: 16n })`,
    ),
  );
  assert.ok(
    viemCode(URL_, 'eth_getBalance', [FROM, { blockHash: '0x1' }]).includes('client.request({'),
  );
  assert.ok(
    viemCode(URL_, 'anvil_setBalance', [FROM, '0x1']).includes('method: "anvil_setBalance"'),
  );
  assert.ok(
    socketCode('ws://h/ws', '').startsWith(
      'const socket = new WebSocket("ws://h/ws");\nsocket.addEventListener(\'message\'',
    ),
  );
  // Every snippet is valid JavaScript.
  for (const code of [
    post,
    ethersCode(URL_, 'eth_call', [{ to: FROM }, 'latest']),
    viemCode(URL_, 'eth_getLogs', [{ address: FROM }]),
  ]) {
    const running = promisify(execFile)(process.execPath, ['--check', '--input-type=module', '-']);
    running.child.stdin.end(code);
    await running;
  }
});

test('a method is found, run and copied, and nothing runs without a click', async () => {
  const page = await browser.open(`${node.url}/#/api`);
  const sent = [];
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.postData()));
  assert.match(
    await page.textContent('.lead'),
    /JSON-RPC methods, .* REST routes and \d live streams/,
  );
  await browser.picture(page, 'api');
  const rows = await page.locator('.operations a').count();
  assert.ok(rows < 20, `closed groups are not rendered, but there are ${rows} links`);

  await page.fill('[aria-label="Search methods and routes"]', 'getBalance');
  await page.waitForSelector('.operations a:has-text("eth_getBalance")');
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("eth_getBalance")');
  assert.equal(new URL(page.url()).hash, '#/api/eth_getBalance');
  await page.waitForSelector('.snippets pre:has-text("eth_getBalance")');
  assert.ok(
    !sent.some((body) => body?.includes('eth_getBalance')),
    'nothing is sent before the click',
  );

  await page.fill('#parameter-0', FROM);
  await page.click('button:has-text("Run")');
  await page.waitForSelector('.outcome .tag.good:has-text("200")');
  assert.match(await page.textContent('.outcome'), /\d ms.*\d+ B/);
  assert.match(await page.textContent('[aria-label="Response"]'), /"result": "0x/);
  await page.click('.tabs button:has-text("viem")');
  await page.waitForSelector('.snippets pre:has-text("client.getBalance")');
  await page.click('.tabs button:has-text("ethers")');
  await page.waitForSelector('.snippets pre:has-text("provider.getBalance")');
  await browser.picture(page, 'api-method');
  await clean(page);
});

test('the link contains the state of a form', async () => {
  const page = await browser.open(`${node.url}/#/api/eth_getBalance?address=${FROM}&block=0x0`);
  assert.equal(await page.inputValue('#parameter-1'), '0x0');
  await page.fill('#parameter-1', 'earliest');
  await page.waitForFunction(() => location.hash.endsWith('block=earliest'));
  await page.reload();
  await page.waitForSelector('#parameter-1');
  assert.equal(await page.inputValue('#parameter-1'), 'earliest');
  await clean(page);
});

test('errors are shown with their code, and an incomplete form shows the reason', async () => {
  const page = await browser.open(`${node.url}/#/api/eth_getBalance?address=nobody`);
  await page.click('button:has-text("Run")');
  await page.waitForSelector('.outcome .tag.bad:has-text("Error -32602")');
  await page.goto(`${node.url}/#/api/eth_getLogs`);
  await page.waitForSelector('h1:has-text("eth_getLogs")');
  await page.fill('#parameter-0', '{"address"');
  await page.click('button:has-text("Run")');
  await page.waitForSelector('#parameter-0-problem:has-text("Not valid JSON")');
  await page.goto(`${node.url}/#/api/noSuchOperation`);
  await page.waitForSelector('h1:has-text("Unknown operation")');
  await clean(page);
});

test('a route is run with its examples, and changes are marked', async () => {
  const page = await browser.open(`${node.url}/#/api/getPrice`);
  await page.click('button:has-text("Run")');
  await page.waitForSelector('.outcome .tag.good:has-text("200")');
  assert.match(await page.textContent('[aria-label="Response"]'), /"symbol": "WETH"/);
  await page.click('.tabs button:has-text("fetch")');
  await page.waitForSelector('.snippets pre:has-text("await fetch(")');
  await page.waitForSelector('summary:has-text("Example of 200")');
  assert.equal(await page.locator('.tag.caution').count(), 0);

  await page.goto(`${node.url}/#/api/setPrice`);
  await page.waitForSelector('h1:has-text("setPrice")');
  await page.waitForSelector('.tag.caution:has-text("Changes state")');
  await page.click('button:has-text("Send")');
  await page.waitForSelector('.outcome .tag.good:has-text("200")');
  assert.match(await page.textContent('[aria-label="Response"]'), /"price": 3600/);
  await page.goto(`${node.url}/#/api/releasePrice`);
  await page.waitForSelector('h1:has-text("releasePrice")');
  await page.click('button:has-text("Send")');
  await page.waitForSelector('[aria-label="Response"]:has-text("released")');
  await clean(page);
});

test('examples use addresses and hashes of this chain', async () => {
  const [from] = await node.rpc('eth_accounts');
  const hash = await node.rpc('eth_sendTransaction', { from, to: FROM, value: '0x1' });
  const page = await browser.open(`${node.url}/#/api/eth_getTransactionByHash`);
  await page.waitForFunction(
    (expected) => document.querySelector('#parameter-0').value === expected,
    hash,
  );
  await page.click('button:has-text("Run")');
  await page.waitForSelector('[aria-label="Response"]:has-text("blockNumber")');
  await clean(page);
});

test('subscriptions and prices appear live, can be paused and cleared, and are bounded', async () => {
  const page = await browser.open(`${node.url}/#/api/openJsonRpcSocket?stream=newHeads`);
  assert.equal(await page.locator('.messages li').count(), 0);
  await page.click('button:has-text("Connect")');
  await page.waitForSelector('.tag.good:has-text("Connected")');
  await page.waitForSelector('.messages li:has-text("0x")');
  await node.rpc('evm_mine');
  await page.waitForSelector('.messages .gist:has-text("block ")');
  await page.click('.messages li:first-child summary');
  await page.waitForSelector('.messages pre:has-text("parentHash")');
  await browser.picture(page, 'api-live');

  await page.click('button:has-text("Pause")');
  const shown = await page.locator('.messages li').count();
  await node.rpc('evm_mine', { blocks: '0x3' });
  await page.waitForSelector('text=3 held back');
  assert.equal(await page.locator('.messages li').count(), shown);
  await page.click('button:has-text("Resume")');
  await page.waitForFunction(
    (before) => document.querySelectorAll('.messages li').length === before + 3,
    shown,
  );
  await page.click('button:has-text("Clear")');
  assert.equal(await page.locator('.messages li').count(), 0);

  await node.rpc('anvil_mine', '0x12c');
  await page.waitForFunction(() => document.querySelectorAll('.messages li').length === 200);
  await page.click('button:has-text("Disconnect")');
  await page.waitForSelector('.tag:has-text("Disconnected")');

  await page.goto(`${node.url}/#/api/openPriceSocket`);
  await page.waitForSelector('h1:has-text("Prices")');
  await page.click('button:has-text("Connect")');
  await page.waitForSelector('.messages .gist:has-text("WETH $")');
  await clean(page);
});

test('the page of an operation is as long as its content', async () => {
  const page = await browser.open(`${node.url}/#/api/eth_getBalance`);
  await page.waitForSelector('.api .groups details[open] li');
  const [whole, body] = await page.evaluate(() => [
    document.documentElement.scrollHeight,
    document.body.getBoundingClientRect().height,
  ]);
  assert.ok(whole <= Math.ceil(body), `${whole} px, of which ${body} have content`);
  await clean(page);
});

test('the list is operated with the keyboard', async () => {
  const page = await browser.open(`${node.url}/#/api`);
  await page.focus('[aria-label="Search methods and routes"]');
  await page.keyboard.type('evm_mine');
  await page.keyboard.press('ArrowDown');
  assert.equal(
    await page.evaluate(() => document.activeElement.getAttribute('href')),
    '#/api/evm_mine',
  );
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("evm_mine")');
  await page.focus('#parameter-0');
  const before = await node.rpc('eth_blockNumber');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.outcome .tag.good');
  assert.ok(Number(await node.rpc('eth_blockNumber')) > Number(before));
  await clean(page);
});

test('the console is accessible and fits a phone, in light and dark', async () => {
  for (const look of LOOKS) {
    const page = await browser.open(`${node.url}/#/api`, look);
    for (const path of [
      '',
      '?list',
      '/eth_getLogs',
      '/getQuote',
      '/setPrice',
      '/getEtherscan',
      '/openJsonRpcSocket',
      '/nothing',
    ]) {
      await page.evaluate((to) => {
        document.querySelector('main h1')?.remove();
        location.hash = `#/api${to}`;
        if (!to) window.dispatchEvent(new HashChangeEvent('hashchange'));
      }, path);
      await page.waitForSelector('main h1', { state: 'attached' });
      const run = page.locator(
        '.console button.primary:has-text("Run"), .operation button:has-text("Connect")',
      );
      if (await run.count()) {
        await run.first().click();
        await page.waitForSelector('.outcome .tag:not(:has-text("Waiting")), .messages li');
      }
      await assertAccessible(page, `${path}, ${look.name}`);
      await assertFits(page, `${path}, ${look.name},`);
      await browser.picture(page, `api-${look.name}-${path.replace(/\W/g, '') || 'home'}`);
    }
    await clean(page);
  }
});
