// Names of addresses in a real browser: the user's own labels, names of contracts, and the search
// for them.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { selector, topic } from '../../crates/page/src/page/lib/abi.js';
import { BOX, cloneOf, creationOf, deploy, send } from './contracts.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

/** The deployment proxy of CREATE2, which takes a salt and creation code. */
const DEPLOYER = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
const DRAWER = [
  {
    type: 'function',
    name: 'openDrawer',
    inputs: [{ name: 'key', type: 'uint256' }],
    outputs: [],
    stateMutability: 'nonpayable',
  },
  {
    type: 'event',
    name: 'DrawerOpened',
    inputs: [{ name: 'who', type: 'address', indexed: true }],
    anonymous: false,
  },
];
let folder;
let node;
let browser;
let accounts;
let box;
let network;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tetrad-artifacts-'));
  const file = join(folder, 'contracts', 'LetterBox.sol', 'LetterBox.json');
  mkdirSync(join(file, '..'), { recursive: true });
  const artifact = {
    _format: 'hh-sol-artifact-1',
    contractName: 'LetterBox',
    sourceName: 'contracts/LetterBox.sol',
    abi: BOX.abi,
    bytecode: creationOf(BOX.runtime),
    deployedBytecode: `0x${BOX.runtime}`,
    linkReferences: {},
    deployedLinkReferences: {},
  };
  writeFileSync(file, JSON.stringify(artifact));
  // Contracts that are not used: one is created by another contract, one is not deployed.
  writeFileSync(
    join(file, '..', 'Drawer.json'),
    JSON.stringify({
      ...artifact,
      contractName: 'Drawer',
      abi: DRAWER,
      bytecode: creationOf(`${BOX.runtime}00`),
      deployedBytecode: `0x${BOX.runtime}00`,
    }),
  );
  writeFileSync(
    join(file, '..', 'Shelf.json'),
    JSON.stringify({
      ...artifact,
      contractName: 'Shelf',
      bytecode: creationOf(`${BOX.runtime}0000`),
      deployedBytecode: `0x${BOX.runtime}0000`,
    }),
  );
  [node, browser] = await Promise.all([startNode('--artifacts', folder), startBrowser()]);
  accounts = await node.rpc('eth_accounts');
  network = await (await fetch(`${node.url}/api/network`)).json();
  box = await deploy(node, accounts[0], BOX.runtime);
  await send(node, accounts[1], box, 'store(uint256)', [5n]);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The results of a search, as they appear while it is typed. */
async function results(page, text, expected) {
  await page.fill('header input[type="search"]', text);
  await page.waitForSelector(`#results [role="option"]:has-text("${expected}")`);
  return page.locator('#results [role="option"]').allTextContents();
}

test('a label of the user names an address in every list, and is found', async () => {
  const page = await browser.open(`${node.url}/#/address/${accounts[1]}`);
  await page.click('button:text-is("Add a label")');
  await page.fill('input[aria-label="Label"]', '  My   <b>relayer</b> ');
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:text-is("My <b>relayer</b>")');
  await page.goto(`${node.url}/#/explorer`);
  await page.waitForSelector('[aria-label="Transactions"] td a:text-is("My <b>relayer</b>")');
  await page.reload();
  await page.waitForSelector('[aria-label="Transactions"] td a:text-is("My <b>relayer</b>")');
  const found = await results(page, 'relayer', 'My <b>relayer</b>');
  assert.match(found[0], /Label$/);
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`#/address/${accounts[1]}`, 'i'));

  await page.click('button:text-is("Change")');
  await page.fill('input[aria-label="Label"]', '');
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:text-is("Account 1")');
  await page.waitForSelector('button:text-is("Add a label")');
  await clean(page);
});

test('a label names a contract in the gas flame and among failed calls', async () => {
  // The flame is drawn for a call with internal calls.
  const clone = await deploy(node, accounts[0], cloneOf(box));
  const hash = await send(node, accounts[1], clone, 'store(uint256)', [6n]);
  await node.rpc('eth_call', { to: clone, data: '0x12345678' }, 'latest').catch(() => null);
  const page = await browser.open(`${node.url}/#/network`);
  await page.evaluate(
    ([key, label]) => localStorage.setItem('tetrad.labels', JSON.stringify({ [key]: label })),
    [`${network.chainId}/${clone.toLowerCase()}`, 'My box'],
  );
  await page.goto(`${node.url}/#/tx/${hash}?tab=calls`);
  await page.reload();
  await page.locator('svg.flame [role=treeitem][aria-label^="My box."]').first().waitFor();
  await page.goto(`${node.url}/#/developer`);
  await page.waitForSelector('.failed-head span:text-is("My box")');
  await clean(page);
});

test('contracts of artifacts have their names in the list of all transactions, and are found by them', async () => {
  const page = await browser.open(`${node.url}/#/explorer`);
  await page.waitForSelector('[aria-label="Transactions"] td:has-text("LetterBox")');
  await page.goto(`${node.url}/#/network`);
  const found = await results(page, 'letterb', 'LetterBox');
  assert.ok(
    found.some((one) => one.toLowerCase().includes(box.slice(2, 8).toLowerCase())),
    found.join(),
  );
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`#/address/${box}`, 'i'));
  await page.waitForSelector('h1:text-is("LetterBox")');
  await clean(page);
});

test('calls of contracts of artifacts have the names of their methods in the lists of all transactions and of a block', async () => {
  const page = await browser.open(`${node.url}/#/explorer`);
  const list = page.locator('[aria-label="Transactions"]');
  await list.locator('tr:has-text("LetterBox") .tag:text-is("store")').waitFor();
  let asked = 0;
  page.on('request', (request) => (asked += /api\/v2\/transactions\/0x/.test(request.url())));
  const hash = await send(node, accounts[1], box, 'store(uint256)', [7n]);
  await list.locator(`tr:has(a[href="#/tx/${hash}"]) .tag:text-is("store")`).waitFor();
  assert.equal(asked, 0, 'the index is read once for a method');

  await page.click('summary:has-text("Filter by sender")');
  await page.fill('label:has-text("Method") input', 'store');
  await page.click('button:text-is("Apply")');
  await list.locator(`tr:has(a[href="#/tx/${hash}"])`).waitFor();
  const { blockNumber } = await node.rpc('eth_getTransactionReceipt', hash);
  await page.goto(`${node.url}/#/block/${Number(blockNumber)}`);
  await page.waitForSelector('[aria-label="Transactions of the block"] .tag:text-is("store")');
  await clean(page);
});

test('contracts of artifacts that no recent transaction has used are found, with their functions and events', async () => {
  const data = `0x${'00'.repeat(32)}${creationOf(`${BOX.runtime}00`).slice(2)}`;
  await node.rpc('eth_sendTransaction', { from: accounts[0], to: DEPLOYER, data });
  // More transactions than a list has on its page.
  for (let at = 0; at < 60; at++)
    await node.rpc('eth_sendTransaction', { from: accounts[0], to: accounts[1], value: '0x1' });

  const page = await browser.open(`${node.url}/#/network`);
  await results(page, 'drawer', 'Drawer');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/address\/0x/);
  await page.waitForSelector('h1:text-is("Drawer")');

  await results(page, 'openDr', 'openDrawer(uint256)');
  await results(page, selector(DRAWER[0]), 'openDrawer(uint256)');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/contract\/0x[0-9a-fA-F]{40}\?tab=write&function=openDrawer/);
  // The new view takes the focus when it is drawn.
  await page.waitForSelector('details[open] strong:text-is("openDrawer")');
  const found = await results(page, 'draweropened', 'DrawerOpened(address)');
  assert.match(found[0], /Event$/);
  await results(page, 'letterb', 'LetterBox');
  await results(page, topic(DRAWER[1]), 'DrawerOpened(address)');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/contract\/0x[0-9a-fA-F]{40}\?tab=events&event=DrawerOpened/);
  await page.waitForSelector('p[role="status"]:has-text("0 events")');

  await page.fill('header input[type="search"]', 'Shelf');
  await page.waitForSelector(
    '.said:has-text("Contracts of compiler artifacts are found where they are deployed.")',
  );
  await clean(page);
});

test('functions are found by their name and by their selector', async () => {
  const page = await browser.open(`${node.url}/#/network`);
  await results(page, 'swapExactTokensFor', 'swapExactTokensForTokens(');
  await page.keyboard.press('Enter');
  await page.waitForURL(
    /#\/contract\/0x[0-9a-fA-F]{40}\?tab=write&function=swapExactTokensForTokens/,
  );
  await page.waitForSelector('h1:text-is("Exchange vault")');
  await results(page, '0xa9059cbb', 'transfer(address,uint256)');
  await results(page, 'balanceOf(addr', 'balanceOf(address)');
  await clean(page);
});

test('the page of an address shows supply, holders and transfers of a token, or the implementation of a proxy', async () => {
  await send(node, accounts[0], network.tokens.USDC, 'transfer(address,uint256)', [
    accounts[2],
    1_000_000n,
  ]);
  const page = await browser.open(`${node.url}/#/address/${network.tokens.USDC}`);
  await page.waitForSelector(
    '.facts div:has(dt:text-is("Token")):has-text("supply"):has-text("holders"):has-text("transfer")',
  );
  const clone = await deploy(node, accounts[0], cloneOf(network.tokens.USDC));
  await page.goto(`${node.url}/#/address/${clone}`);
  await page.waitForSelector(
    '.facts div:has-text("Minimal proxy (EIP-1167)"):has-text("Implementation USDC token")',
  );
  await clean(page);
});
