// Whole flows by keyboard alone, and the views as screen readers get them, in a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { encodeCall, fragment } from '../../crates/page/src/page/lib/abi.js';
import { send } from './contracts.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

/** Most presses of Tab on the way to a control. */
const MOST_TABS = 120;
let node;
let browser;
let network;
let accounts;

before(async () => {
  [node, browser] = await Promise.all([startNode(), startBrowser()]);
  network = await (await fetch(`${node.url}/api/network`)).json();
  accounts = await node.rpc('eth_accounts');
});
after(async () => {
  await browser?.stop();
  await node?.stop();
});

const open = (path, options) => browser.open(`${node.url}/#/${path}`, options);

/** The name that the focused element has for screen readers. */
const focused = (page) =>
  page.evaluate(() => {
    const one = document.activeElement;
    const label =
      one.labels?.[0]?.querySelector('span')?.textContent ?? one.labels?.[0]?.textContent;
    return one.getAttribute('aria-label') ?? label ?? one.textContent.trim();
  });

/** Presses Tab until a control has the focus. */
async function tabTo(page, name) {
  const passed = [];
  for (let presses = 0; presses < MOST_TABS; presses++) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (typeof name === 'string' ? now === name : name.test(now)) return;
    passed.push(now.slice(0, 30));
  }
  assert.fail(`${name} is not reached; passed: ${passed.join(' | ')}`);
}

test('a token is picked, and tokens are swapped, by keyboard alone', async () => {
  const page = await open('exchange?from=USDC&to=WETH');
  await page.waitForSelector('.token-button[aria-label="Token to pay with: USDC"]');
  await tabTo(page, 'Token to receive: WETH');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Select a token' });
  await dialog.waitFor();
  assert.equal(await focused(page), 'Search tokens', 'the search has the focus');
  await page.keyboard.type('SOL');
  await dialog
    .getByRole('status')
    .filter({ hasText: /^\d+ tokens? match(es)?$/ })
    .waitFor();
  assert.match(
    await dialog.ariaSnapshot(),
    /- dialog "Select a token":[^]*- heading "Select a token" \[level=2\][^]*- searchbox "Search tokens"[^]*- list:[^]*- listitem:[^]*- button "SOL /,
  );
  await page.keyboard.press('Enter');
  await page.waitForSelector('.token-button[aria-label="Token to receive: SOL"]');
  assert.equal(await dialog.count(), 0);
  assert.match(await focused(page), /^Token to receive: SOL/, 'the focus is back on the button');

  await page.keyboard.press('Space');
  await dialog.waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'token-choice');
  await page.keyboard.press('Escape');
  assert.equal(await dialog.count(), 0);
  assert.match(await focused(page), /^Token to receive: SOL/);

  await page.keyboard.press('Shift+Tab');
  for (let presses = 0; presses < MOST_TABS && (await focused(page)) !== 'Amount to pay'; presses++)
    await page.keyboard.press('Shift+Tab');
  await page.keyboard.type('10');
  await page.waitForFunction(
    () =>
      document.querySelector('[aria-label="Amount to receive"]').value !== '' &&
      !document.querySelector('button.primary.wide').disabled,
  );
  await page.keyboard.press('Enter');
  await page.waitForSelector('#live:has-text("SOL")');
  await page.waitForSelector('.note.good[role=status]');
  await clean(page);
});

test('the tabs of a transaction are operated with arrows, and announce the selection', async () => {
  const hash = await send(node, accounts[3], network.tokens.USDC, 'approve(address,uint256)', [
    network.vault,
    5n,
  ]);
  const page = await open(`tx/${hash}`);
  await page.waitForSelector('h1:has-text("approve")');
  await tabTo(page, 'Overview');
  for (const [key, name, place] of [
    ['ArrowRight', 'Events (1)', 'events'],
    ['ArrowRight', 'Calls', 'calls'],
    ['End', 'State changes', 'state'],
    ['ArrowRight', 'Overview', null],
    ['ArrowLeft', 'State changes', 'state'],
    ['Home', 'Overview', null],
  ]) {
    await page.keyboard.press(key);
    assert.equal(await focused(page), name, key);
    assert.equal(await page.getByRole('tab', { selected: true }).textContent(), name);
    await page.getByRole('tabpanel', { name }).waitFor();
    assert.equal(new URLSearchParams(page.url().split('?')[1] ?? '').get('tab'), place);
  }
  const tree = await page.getByRole('main').ariaSnapshot();
  assert.match(
    tree,
    /- heading "approve" \[level=1\][^]*- tablist "Parts of the transaction":[^]*- tab "Overview" \[selected\][^]*- tab "Events \(1\)"[^]*- tabpanel "Overview":[^]*- term: Transaction hash[^]*- definition:[^]*- heading "Input data approve" \[level=2\]/,
  );
  await tabTo(page, 'Copy hash');
  await clean(page);
});

test('coins are sent by keyboard alone, and the outcome is announced', async () => {
  const page = await open('transact');
  await page.waitForSelector('p:has-text(" HPX.")');
  await tabTo(page, 'Send');
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Asset');
  await page.keyboard.press('Tab');
  await page.keyboard.type('0.5');
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'To');
  await page.keyboard.type(accounts[5]);
  const before = BigInt(await node.rpc('eth_getBalance', accounts[5], 'latest'));
  await page.keyboard.press('Enter');
  await page.waitForSelector('#live:has-text("Sent 0.5 HPX")');
  assert.equal(
    BigInt(await node.rpc('eth_getBalance', accounts[5], 'latest')) - before,
    5n * 10n ** 17n,
  );
  assert.match(
    await page.getByRole('main').ariaSnapshot(),
    /- tablist "Forms":[^]*- tab "Send" \[selected\][^]*- combobox "Asset"[^]*- textbox "Amount"[^]*- textbox "To"[^]*- checkbox "Send even if it would fail"[^]*- button "Send"/,
  );
  await clean(page);
});

test('a function is found, filled in and written by keyboard alone', async () => {
  const page = await open(`contract/${network.tokens.USDC}?tab=write`);
  await page.waitForSelector('.functions summary');
  await tabTo(page, /^transfer\(/);
  await page.keyboard.press('Enter');
  await tabTo(page, /^to \(address\)/);
  await page.keyboard.type(accounts[6]);
  await tabTo(page, /^value \(uint256\)/);
  await page.keyboard.type('1.5');
  await tabTo(page, 'Multiply value by the power of ten');
  await page.keyboard.press('Enter');
  await tabTo(page, 'Write');
  await page.keyboard.press('Space');
  await page.waitForSelector('#live:has-text("transfer succeeded")');
  const [hash] = (await node.rpc('eth_getBlockByNumber', 'latest', false)).transactions;
  assert.equal(
    (await node.rpc('eth_getTransactionByHash', hash)).input,
    encodeCall(fragment('transfer(address,uint256)'), [accounts[6], 1_500_000n]),
  );
  await clean(page);
});

test('the search is a combobox that is operated with arrows', async () => {
  const page = await open('');
  await page.keyboard.press('/');
  await page.keyboard.type('WETH');
  // Until then the results match a part of the word.
  await page.waitForSelector('#result-0:has-text("WETH")');
  await page.keyboard.press('ArrowDown');
  const snapshot = await page.getByRole('search').ariaSnapshot();
  assert.match(
    snapshot,
    /- combobox "Search by hash, block, address, token or name" \[expanded\][^]*- listbox[^]*- option "WETH[^"]*" \[selected\]/,
  );
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("WETH"), h1:has-text("Wrapped")');
  assert.equal(
    await page.evaluate(() => document.activeElement.tagName),
    'H1',
    'the focus is on the heading of the view',
  );
  await clean(page);
});

test('a link skips the navigation, and lists are tables with headings', async () => {
  await send(node, accounts[3], network.tokens.USDC, 'transfer(address,uint256)', [
    accounts[4],
    5n,
  ]);
  const page = await open('explorer');
  await page.waitForSelector('[role=group][aria-label="Transactions"] tbody tr');
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Skip to content');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  const list = page.getByRole('group', { name: 'Transactions' });
  assert.match(
    await list.ariaSnapshot(),
    /- group "Transactions":[^]*- table:[^]*- rowgroup:[^]*- columnheader "Transaction hash"[^]*- columnheader "Block"[^]*- row /,
  );
  await clean(page);
});

test('every group and scrollable element has a name, in every view', async () => {
  const hash = await send(node, accounts[3], network.tokens.USDC, 'approve(address,uint256)', [
    network.vault,
    7n,
  ]);
  const paths = [
    '',
    'explorer',
    'exchange',
    'lending',
    'accounts',
    'developer',
    'api',
    'tokens',
    `address/${accounts[0]}`,
    `contract/${network.vault}`,
    `token/${network.tokens.USDC}`,
    'block/1',
    ...['overview', 'events', 'calls', 'state'].map((tab) => `tx/${hash}?tab=${tab}`),
    ...['send', 'deploy', 'verify', 'sign', 'broadcast'].map((tab) => `transact?tab=${tab}`),
  ];
  const page = await open('');
  for (const path of paths) {
    await page.goto(`${node.url}/#/${path}`);
    await page.waitForSelector('main h1');
    await page.waitForLoadState('networkidle');
    const unnamed = await page.evaluate(() =>
      [
        ...document.querySelectorAll(
          '[role=group], [role=tablist], [role=tabpanel], [role=dialog], dialog, nav, [role=tree]',
        ),
      ]
        .filter(
          (one) =>
            one.checkVisibility() &&
            !one.getAttribute('aria-label') &&
            !document.getElementById(one.getAttribute('aria-labelledby'))?.textContent,
        )
        .map((one) => one.outerHTML.slice(0, 120)),
    );
    assert.deepEqual(unnamed, [], path);
  }
  await clean(page);
});

test('placeholders are legible, and links in text are underlined, in light and dark', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(`token/${network.tokens.USDC}`, { colorScheme });
    await page.waitForSelector('.facts');
    const { contrast, decoration } = await page.evaluate(() => {
      const query = document.getElementById('query');
      const style = getComputedStyle(query, '::placeholder');
      const numbers = (color) =>
        color
          .match(/[\d.]+/g)
          .slice(0, 3)
          .map(Number);
      const behind = numbers(getComputedStyle(query).backgroundColor);
      const shown = numbers(style.color).map(
        (part, at) => part * Number(style.opacity) + behind[at] * (1 - Number(style.opacity)),
      );
      const light = (rgb) => {
        const [r, g, b] = rgb
          .map((part) => part / 255)
          .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const [high, low] = [light(shown), light(behind)].sort((a, b) => b - a);
      const link = [...document.querySelectorAll('.facts dd a')].find(
        (one) => one.textContent === 'USDC token',
      );
      return {
        contrast: (high + 0.05) / (low + 0.05),
        decoration: getComputedStyle(link).textDecorationLine,
      };
    });
    assert.ok(contrast >= 4.5, `${colorScheme}: ${contrast}`);
    assert.equal(decoration, 'underline');
    await clean(page);
  }
});
