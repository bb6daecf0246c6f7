// The page when the node stops, restarts as another, or the network fails.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startBrowser, startNode } from './node.mjs';

let browser;

before(async () => {
  browser = await startBrowser();
});
after(() => browser?.stop());

/** Errors that a browser reports when a request fails. */
const FAILED_REQUESTS = /Failed to (load|fetch)|ERR_|WebSocket connection/;

test('a node restarted with another profile changes the controls of the open page', async (t) => {
  const node = await startNode();
  t.after(node.stop);
  const page = await browser.open(`${node.url}/#/developer`, { tolerated: FAILED_REQUESTS });
  await page.waitForSelector('nav a:has-text("Developer")');
  await node.stop();
  await page.waitForSelector('#status.lost');
  const other = await startNode('--profile', 'production', '--listen', `127.0.0.1:${node.port}`);
  t.after(other.stop);
  await page.waitForSelector('.toast:has-text("restarted")');
  await page.waitForSelector('nav:not(:has-text("Developer"))');
  await page.waitForSelector('.failure:has-text("needs the development profile")');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('views open while the node is down, and recover when it is back', async (t) => {
  const node = await startNode();
  t.after(node.stop);
  const page = await browser.open(node.url, { tolerated: FAILED_REQUESTS });
  // Views are loaded ahead of their use.
  await page.waitForFunction(() =>
    performance
      .getEntriesByType('resource')
      .some(({ name }) => name.endsWith('/views/developer.js')),
  );
  await page.waitForLoadState('networkidle');
  await node.stop();
  await page.waitForSelector('#status.lost');
  await page.evaluate(() => (location.hash = '#/block/0'));
  await page.waitForSelector('.failure:has-text("not responding")');
  const again = await startNode('--listen', `127.0.0.1:${node.port}`);
  t.after(again.stop);
  await page.waitForSelector('#status:not(.lost)');
  await page.waitForSelector('main h1:has-text("Block 0")');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a view whose module failed to load is loaded when it is opened again', async (t) => {
  const node = await startNode();
  t.after(node.stop);
  const page = await browser.open('about:blank', { tolerated: FAILED_REQUESTS, blank: true });
  await page.route(/views\/accounts\.js/, (route) => route.abort());
  await page.goto(node.url);
  await page.waitForSelector('nav a:has-text("Accounts")');
  await page.click('nav a:has-text("Accounts")');
  await page.waitForSelector('.failure:has-text("not responding")');
  await page.unroute(/views\/accounts\.js/);
  await page.click('nav a:has-text("Explorer")');
  await page.click('nav a:has-text("Accounts")');
  await page.waitForSelector('main h1:has-text("Accounts")');
  await page.context().close();
});

test('messages never cover a button', async (t) => {
  const node = await startNode();
  t.after(node.stop);
  for (const viewport of [
    { width: 1360, height: 900 },
    { width: 800, height: 700 },
    { width: 390, height: 844 },
  ]) {
    const page = await browser.open(`${node.url}/#/developer`, { viewport });
    const mine = page.locator('button:text-is("Mine")');
    await mine.click();
    await page.waitForSelector('.toast');
    const covered = await page.evaluate(() => {
      const toasts = [...document.querySelectorAll('.toast')].map((toast) =>
        toast.getBoundingClientRect(),
      );
      const used = document.activeElement;
      const inColumn = [
        ...document.querySelectorAll('.top button, .top input, .top select, nav a'),
      ];
      const wide = innerWidth > 46 * 16;
      const controls = [
        ...inColumn,
        ...(used.closest('main') ? [used] : []),
        ...(wide ? document.querySelectorAll('main button, main a, main input, main select') : []),
      ];
      return controls
        .filter((control) => {
          const box = control.getBoundingClientRect();
          return (
            box.width &&
            toasts.some(
              (one) =>
                box.left < one.right &&
                one.left < box.right &&
                box.top < one.bottom &&
                one.top < box.bottom,
            )
          );
        })
        .map((control) => control.outerHTML.slice(0, 100));
    });
    assert.deepEqual(covered, [], `${viewport.width} pixels wide`);
    await browser.picture(page, `messages-${viewport.width}`);
    await page.context().close();
  }
});
