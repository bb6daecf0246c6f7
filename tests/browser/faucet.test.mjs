// The faucet and the first steps on a production node, in a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { LOOKS, assertAccessible, assertFits } from './accessible.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

const ACCOUNT = '0x1111111111111111111111111111111111111111';
const BECH32 = 'pax1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3aj26p8';
let browser;

before(async () => {
  browser = await startBrowser();
});
after(() => browser?.stop());

test('the faucet pays a coin and a token, and shows the time of the next payment', async () => {
  const node = await startNode('--profile', 'production', '--faucet', '2.5');
  const page = await browser.open(`${node.url}/#/faucet`, { tolerated: /429/ });
  const form = page.locator('section.card:has(h2:text-is("Faucet"))');
  await form.locator('text=once per address, 5 times per IP address').waitFor();
  await assertAccessible(page, 'before');
  await form.getByLabel('Address').fill('0x12');
  await form.locator('button:text-is("Request")').click();
  await form.locator('.failure').waitFor();
  await form.getByLabel('Address').fill(BECH32);
  await form.locator('button:text-is("Request")').click();
  await page.waitForSelector('.toast.good:has-text("Sent 2.5 HPX")');
  await form.locator('.tag:has-text("HPX in 24 h")').waitFor();
  await form.locator('button:text-is("Request")').click();
  await form
    .locator('.failure:has-text("once in 24 hours to one address; try again in 24 h")')
    .waitFor();
  await form.getByLabel('Amount').selectOption('USDC');
  await form.locator('button:text-is("Request")').click();
  await page.waitForSelector('.toast.good:has-text("Sent 2,500 USDC")');
  await form.getByLabel('Amount').selectOption('*');
  await form.locator('button:text-is("Request")').click();
  await page.waitForSelector('.toast.good:has-text("Sent 11 assets")');
  await browser.picture(page, 'faucet-paid');
  // Payments are in the next block, which comes within a second.
  while (BigInt(await node.rpc('eth_getBalance', ACCOUNT, 'latest')) === 0n)
    await page.waitForTimeout(50);
  assert.equal(BigInt(await node.rpc('eth_getBalance', ACCOUNT, 'latest')), 25n * 10n ** 17n);
  await assertAccessible(page, 'after');
  await clean(page);
  await node.stop();
});

test('a production node shows the first steps', async () => {
  const [closed, open] = await Promise.all([
    startNode('--profile', 'production'),
    startNode('--profile', 'production', '--faucet', '1'),
  ]);
  for (const [node, text, name] of [
    [closed, 'This node has no faucet. Ask its operator', 'off'],
    [open, 'The faucet pays test coins', 'on'],
  ]) {
    for (const look of LOOKS) {
      const page = await browser.open(node.url, look);
      const start = page.locator('section.card:has(h2:text-is("Get started"))');
      await start.locator(`text=${text}`).waitFor();
      await start.locator('button:text-is("Connect wallet")').click();
      await page.waitForSelector('.toast:has-text("No browser wallet found")');
      await assertAccessible(page, `start ${name} ${look.name}`);
      await browser.picture(page, `start-${name}-${look.name}`);
      await page.goto(`${node.url}/#/accounts`);
      await page.waitForSelector('h2:text-is("Faucet")');
      await assertAccessible(page, `accounts ${name} ${look.name}`);
      await browser.picture(page, `start-accounts-${name}-${look.name}`);
      await page.goto(`${node.url}/#/faucet`);
      await page.waitForSelector('h1:has-text("Faucet")');
      await assertFits(page, `faucet ${name} ${look.name}`);
      await browser.picture(page, `faucet-${name}-${look.name}`);
      await clean(page);
    }
  }
  await Promise.all([closed.stop(), open.stop()]);
});
