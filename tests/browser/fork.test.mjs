// The page of a fork: content of the other chain, and the requests to its node.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startBrowser, startNode } from './node.mjs';

let browser, origin, fork;

before(async () => {
  const mnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
  [browser, origin] = await Promise.all([startBrowser(), startNode('--mnemonic', mnemonic)]);
  fork = await startNode('--fork-url', `${origin.url}/rpc`);
});

after(async () => {
  await browser.stop();
  await Promise.all([fork.stop(), origin.stop()]);
});

test('a fork of the network shows its coin, its exchange and its lending', async () => {
  const page = await browser.open(fork.url);
  await page.waitForSelector('main h1:text-is("Local fork")');
  await page.waitForSelector('section.card:has(h2:text-is("Contracts"))');
  await browser.picture(page, 'fork');

  await page.goto(`${fork.url}/#/exchange`);
  await page.waitForSelector('main :text("WETH")');
  await page.goto(`${fork.url}/#/lending`);
  await page.waitForSelector('main :text("WETH")');
  const account = (await fork.rpc('eth_accounts'))[0];
  await page.goto(`${fork.url}/#/address/${account}`);
  await page.waitForSelector('main :text("HPX")');
  assert.deepEqual(page.problems, []);
});

test('the Network view shows the requests to the forked node', async () => {
  const page = await browser.open(fork.url);
  const card = page.locator('section.card:has(h2:text-is("Forked node"))');
  await fork.rpc('eth_getBalance', '0x00000000000000000000000000000000000000aa', 'latest');
  await card.locator('tr:has(code:text-is("eth_getBalance"))').waitFor();
  const requests = async () =>
    Number(
      (
        await card.locator('tr:has(code:text-is("eth_getBalance")) td').last().textContent()
      ).replace(/\D/g, ''),
    );
  const asked = await requests();

  // An unknown account is requested.
  await fork.rpc('eth_getBalance', '0x00000000000000000000000000000000000000ab', 'latest');
  await page.waitForFunction(
    (least) =>
      [...document.querySelectorAll('section.card tr')].some(
        (row) =>
          row.cells[0]?.textContent === 'eth_getBalance' &&
          Number(row.cells[1].textContent.replace(/\D/g, '')) >= least,
      ),
    asked + 1,
  );
  assert.deepEqual(page.problems, []);
});
