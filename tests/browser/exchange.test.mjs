// The exchange in a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { encodeCall, fragment } from '../../crates/page/src/page/lib/abi.js';
import { clean, startBrowser, startNode } from './node.mjs';

const ACCOUNT = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const WALLET = { account: ACCOUNT };
const PAY = '[aria-label="Amount to pay"]';
const SUBMIT = '.swap button.primary';
let node;
let browser;

before(async () => {
  [node, browser] = await Promise.all([startNode(), startBrowser()]);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
});

async function connect(page) {
  await page.selectOption('#account', 'test.wallet/');
  await page.waitForFunction(() =>
    document.querySelector('#account').value.startsWith('test.wallet/0x'),
  );
}

const button = (page, text, state = 'enabled') =>
  page.waitForSelector(`${SUBMIT}:has-text("${text}"):${state}`);

/** Asserts that the page shows one error, with a text. */
async function onlyError(page, text) {
  await page.waitForSelector(`.swap .failure:has-text("${text}")`);
  assert.equal(await page.locator('.swap .failure').count(), 1);
  assert.equal(await page.locator('.toast.error').count(), 0);
}

async function send(own, from, to, text, values) {
  const hash = await own.rpc('eth_sendTransaction', {
    from,
    to,
    data: encodeCall(fragment(text), values),
  });
  const { status } = await own.rpc('eth_getTransactionReceipt', hash);
  assert.equal(status, '0x1', text);
}

const network = async (own) => (await fetch(`${own.url}/api/network`)).json();

async function swap(own, from, tokenIn, tokenOut, amount) {
  const { vault, tokens } = await network(own);
  await send(own, from, tokens[tokenIn], 'approve(address,uint256)', [vault, amount]);
  await send(own, from, vault, 'swapExactTokensForTokens(address,address,uint256,uint256)', [
    tokens[tokenIn],
    tokens[tokenOut],
    amount,
    0n,
  ]);
}

test('a swap stops if another account is chosen between the approval and the swap', async () => {
  const own = await startNode();
  const [first, second] = await own.rpc('eth_accounts');
  await own.rpc('evm_setAutomine', false);
  const page = await browser.open(`${own.url}/#/exchange?from=USDC&to=WETH`);
  await page.fill(PAY, '10');
  await (await button(page, 'Approve USDC and swap')).click();
  await page.waitForSelector('.steps li.active:has-text("Waiting for a block")');
  const options = await page
    .locator('#account option')
    .evaluateAll((all) => all.map((one) => one.value));
  await page.selectOption(
    '#account',
    options.find((value) => value.toLowerCase() === `node/${second}`),
  );
  await own.rpc('evm_mine');
  await onlyError(
    page,
    'The active account has changed from Account 0 in the meantime, so nothing more was sent',
  );
  await page.waitForSelector('.steps li.done:has-text("Approve USDC")');
  await page.waitForSelector(
    '.steps li.failed:has-text("Swap USDC for WETH"):has-text("Not sent")',
  );
  assert.equal(await own.rpc('eth_getTransactionCount', first, 'pending'), '0x1');
  assert.equal(await own.rpc('eth_getTransactionCount', second, 'pending'), '0x0');
  await clean(page);
  await own.stop();
});

test('a wallet is switched to the network, approves and swaps', async () => {
  const page = await browser.open(`${node.url}/#/exchange?from=USDC&to=WETH`, { wallet: WALLET });
  await button(page, 'Enter an amount', 'disabled');
  await page.waitForSelector('.swap button:text-is("Max")');
  await connect(page);
  assert.equal(await page.evaluate(() => window.added.chainId), '0x7d');
  await page.fill(PAY, '1000');
  await button(page, 'Approve USDC and swap');
  await page.waitForSelector('.swap .facts dd:has-text("$3.0")');
  const details = await page.textContent('.swap .facts');
  for (const expected of [
    'Rate1 USDC = 0.000',
    'Share of the reserve0.0',
    'Fee (0.30%)0.000',
    'Minimum received0.2',
  ])
    assert.ok(details.includes(expected), `${expected} is missing in ${details}`);
  await page.click('.swap .facts button');
  await page.waitForSelector('.swap .facts button:has-text("1 WETH = 3,5")');
  await browser.picture(page, 'swap');
  await page.click(SUBMIT);
  await page.waitForSelector('.note.good:has-text("Swapped 1,000 USDC for 0.28")');
  assert.equal(await page.inputValue(PAY), '');
  const sent = await page.evaluate(
    () => window.asked.filter((method) => method === 'eth_sendTransaction').length,
  );
  assert.equal(sent, 2, 'an approval and a swap');
  await page.waitForSelector('.trades td:has-text("1,000 USDC")');
  await page.waitForSelector('.figures strong:has-text("$99")');

  await page.click('.note.good a');
  await page.waitForSelector('main h1:not(:has-text("Exchange"))');
  const text = await page.textContent('main');
  for (const expected of ['Success', 'USDC', 'Exchange vault'])
    assert.ok(text.includes(expected), `${expected} is missing on the page`);
  await page.click('[role=tab]:has-text("Events")');
  await page.waitForSelector('.log .tag.accent:text-is("SwapPriced")');
  await clean(page);
});

test('an amount to receive determines the amount to pay, and the network cost is shown', async () => {
  const page = await browser.open(`${node.url}/#/exchange?from=USDC&to=WETH`);
  await button(page, 'Enter an amount', 'disabled');
  const get = '[aria-label="Amount to receive"]';
  await page.fill(get, '0.5');
  await button(page, 'Approve USDC and swap');
  const paid = Number(await page.inputValue(PAY));
  assert.ok(Math.abs(paid - (0.5 * 3_512.35) / 0.997) < 5, `${paid} USDC`);
  assert.equal(await page.inputValue(get), '0.5');
  await page.waitForSelector(
    '.facts div:has(dt:text-is("Network cost")) dd:text-matches("^about 0\\\\.0\\\\d+ HPX$")',
  );
  await browser.picture(page, 'swap-exact-output');
  await page.fill(PAY, '100');
  await page.waitForFunction(
    (selector) => document.querySelector(selector).value.startsWith('0.02'),
    get,
  );
  await page.fill(get, '1,5');
  await button(page, 'Enter a valid amount', 'disabled');
  await onlyError(page, 'Use a point for decimals');
  await page.fill(get, '0.1');
  await page.click(`${SUBMIT}:enabled`);
  const done = await page.waitForSelector('.note.good:has-text("for 0.1")');
  assert.match(await done.textContent(), /for 0\.1\d* WETH/);
  await clean(page);
});

test('the form is the first thing in the view for keyboards and on phones', async () => {
  const page = await browser.open(`${node.url}/#/exchange`);
  await page.focus('h1');
  for (
    let tab = 0;
    tab < 3 && !(await page.evaluate(() => document.activeElement.matches('.swap input')));
    tab++
  )
    await page.keyboard.press('Tab');
  assert.equal(
    await page.evaluate(() => document.activeElement.getAttribute('aria-label')),
    'Amount to pay',
  );
  const top = (selector) =>
    page.locator(selector).evaluate((one) => one.getBoundingClientRect().top);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok((await top('.swap')) < (await top('.time-plot')));
  await browser.picture(page, 'phone-exchange');
  await clean(page);
});

test('tokens are searched in a dialog, and choosing the token of the other side switches the two', async () => {
  const page = await browser.open(`${node.url}/#/exchange?from=USDC&to=WETH`);
  const pay = page.locator('.swap .token-button').nth(0);
  const get = page.locator('.swap .token-button').nth(1);
  const shown = async () => [await pay.textContent(), await get.textContent()];
  assert.deepEqual(await shown(), ['USDC', 'WETH']);
  await get.click();
  await page.waitForSelector('dialog .token-balance:has-text("250,000")');
  await browser.picture(page, 'token-picker');
  await page.fill('dialog input', 'bitcoin');
  await page.waitForFunction(() => document.querySelectorAll('dialog .token-choice').length === 1);
  await page.fill('dialog input', 'nothing');
  await page.waitForSelector('dialog :text("No token matches")');
  await page.fill('dialog input', 'usdc');
  await page.press('dialog input', 'Enter');
  await page.waitForSelector('dialog', { state: 'detached' });
  assert.deepEqual(await shown(), ['WETH', 'USDC']);
  await pay.click();
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  assert.deepEqual(await shown(), ['WETH', 'USDC']);
  await page.click('.swap-turn');
  assert.deepEqual(await shown(), ['USDC', 'WETH']);
  await page.click('.tokens button:has-text("SOL")');
  assert.deepEqual(await shown(), ['USDC', 'SOL']);
  await page.waitForSelector('.token-title:has-text("Solana")');
  await clean(page);
});

test('the form keeps its tokens after a reconnection', async () => {
  const page = await browser.open(`${node.url}/#/exchange?from=USDC&to=WETH`);
  const pay = page.locator('.swap .token-button').nth(0);
  const get = page.locator('.swap .token-button').nth(1);
  await get.waitFor();
  // The page does the same when its WebSocket is open again.
  await page.evaluate(async () => (await import('./site/lib/network.js')).load());
  await get.click();
  await page.fill('dialog input', 'usdc');
  await page.press('dialog input', 'Enter');
  await page.waitForSelector('dialog', { state: 'detached' });
  assert.deepEqual([await pay.textContent(), await get.textContent()], ['WETH', 'USDC']);
  await clean(page);
});

test('one error is shown at a time, and the button names the missing input', async () => {
  const page = await browser.open(`${node.url}/#/exchange?from=WBTC&to=WETH`, { wallet: WALLET });
  await connect(page);
  await button(page, 'Enter an amount', 'disabled');
  await page.fill(PAY, '10.5');
  await button(page, 'Insufficient WBTC balance', 'disabled');
  assert.equal(await page.locator('.swap .failure').count(), 0);
  await page.fill(PAY, '1,5');
  await button(page, 'Enter a valid amount', 'disabled');
  await onlyError(page, 'Use a point for decimals');
  await page.fill(PAY, '1.2.3.4');
  await button(page, 'Enter a valid amount', 'disabled');
  await onlyError(page, 'Enter a number');
  await page.fill(PAY, '0.123456789');
  await onlyError(page, 'WBTC has at most 8 decimal places');
  await page.fill(PAY, '999999');
  await button(page, 'Insufficient WBTC balance', 'disabled');
  assert.equal(await page.locator('.swap .failure').count(), 0);
  const { tokens } = await network(node);
  await node.rpc('anvil_dealERC20', ACCOUNT, tokens.WBTC, '0x38d7ea4c68000');
  await node.rpc('evm_mine');
  await button(page, 'Insufficient liquidity', 'disabled');
  await onlyError(page, 'The vault holds too little');
  await page.fill(PAY, '20');
  await button(page, 'Share of the reserve too large', 'disabled');
  await onlyError(page, 'at most 10% of the reserve');
  await page.click('button:has-text("Max")');
  assert.notEqual(await page.inputValue(PAY), '20');
  await page.fill(PAY, '1');
  await button(page, 'Approve WBTC and swap');
  assert.equal(await page.locator('.swap .failure').count(), 0);
  await clean(page);
});

test('a rejection by the wallet is shown once, and the form stays usable', async () => {
  const page = await browser.open(`${node.url}/#/exchange?from=USDT&to=WETH`, { wallet: WALLET });
  await connect(page);
  await page.evaluate(() => (window.refusing = true));
  await page.fill(PAY, '5');
  await page.click(`${SUBMIT}:enabled`);
  await onlyError(page, 'You rejected the request in your wallet.');
  await page.waitForSelector('.steps .failed:has-text("Approve USDT"):has-text("Rejected")');
  await browser.picture(page, 'swap-rejected');
  await page.evaluate(() => (window.refusing = false));
  await page.click(`${SUBMIT}:enabled`);
  await page.waitForSelector('.note.good:has-text("Swapped 5 USDT")');
  assert.equal(await page.locator('.swap .failure').count(), 0);
  await clean(page);
});

test('a wallet on another network is asked to switch', async () => {
  const page = await browser.open(`${node.url}/#/exchange`, { wallet: WALLET });
  await connect(page);
  await button(page, 'Enter an amount', 'disabled');
  await page.evaluate(() => {
    window.addEventListener(
      'eip6963:announceProvider',
      ({ detail }) => {
        detail.provider.request({
          method: 'wallet_switchEthereumChain',
          params: [{ chainId: '0x1' }],
        });
      },
      { once: true },
    );
    window.dispatchEvent(new Event('eip6963:requestProvider'));
  });
  await node.rpc('evm_mine');
  await button(page, 'Switch network');
  await onlyError(page, 'Test wallet is on another network.');
  await page.click(SUBMIT);
  await button(page, 'Enter an amount', 'disabled');
  await clean(page);
});

test('a slippage tolerance is chosen, checked and kept', async () => {
  const page = await browser.open(`${node.url}/#/exchange?from=USDC&to=WETH`);
  await page.fill(PAY, '1000');
  await page.waitForSelector('dt:has-text("Minimum received")');
  const least = async () =>
    Number(
      (await page.locator('.facts div:has(dt:text-is("Minimum received")) dd').textContent()).split(
        ' ',
      )[0],
    );
  const before = await least();
  await page.click('.settings summary');
  await page.fill('[aria-label="Custom slippage tolerance in per cent"]', '77');
  await page.waitForSelector('.settings p:has-text("between 0 and 50")');
  await page.fill('[aria-label="Custom slippage tolerance in per cent"]', '10');
  await page.waitForSelector('.settings p:has-text("A high tolerance")');
  await page.waitForSelector('summary:has-text("Slippage 10%")');
  await page.waitForFunction(
    (old) =>
      Number(
        [...document.querySelectorAll('.facts div')]
          .find((one) => one.textContent.startsWith('Minimum received'))
          .querySelector('dd')
          .textContent.split(' ')[0],
      ) <
      old * 0.95,
    before,
  );
  await page.reload();
  await page.waitForSelector('summary:has-text("Slippage 10%")');
  await clean(page);
});

test('a halted token has a badge and a reason, and cannot be swapped', async (context) => {
  const own = await startNode();
  context.after(own.stop);
  const { oracle, vault, tokens } = await network(own);
  const owner = await own
    .rpc('eth_call', { to: oracle, data: encodeCall(fragment('owner()'), []) }, 'latest')
    .then((word) => `0x${word.slice(26)}`);
  await own.rpc('anvil_impersonateAccount', owner);
  const page = await browser.open(`${own.url}/#/exchange?from=USDC&to=WETH`);
  await page.fill(PAY, '10');
  await button(page, 'Approve USDC and swap');
  await send(own, owner, oracle, 'halt(address,uint256)', [tokens.WETH, 3_000n * 10n ** 8n]);
  await button(page, 'WETH is halted', 'disabled');
  await onlyError(
    page,
    'WETH is halted: its price is moving to $3,000.00, the price of its source.',
  );
  await page.waitForSelector('.tokens tr:has-text("WETH") .tag.bad:has-text("Halted")');
  await page.waitForSelector('.token-title .tag.bad:has-text("Halted")');
  await browser.picture(page, 'exchange-halted');
  await send(own, owner, oracle, 'resume(address)', [tokens.WETH]);
  await button(page, 'Approve USDC and swap');
  assert.equal(await page.locator('.failure').count(), 0);
  await send(own, owner, vault, 'pause()', []);
  await button(page, 'Trading is paused', 'disabled');
  await send(own, owner, vault, 'unpause()', []);
  await clean(page);
});

test('a stale price has a badge and a reason, and cannot be swapped', async (context) => {
  const own = await startNode('--exchange-price-tick', '2');
  context.after(own.stop);
  const page = await browser.open(`${own.url}/#/exchange?from=USDC&to=WETH`);
  await page.fill(PAY, '10');
  await button(page, 'Approve USDC and swap');
  const scenario =
    'name = "Stale feed"\nlasts = "5m"\n[[step]]\nat = "0s"\nsilence = { tokens = ["USDC"] }\n[[step]]\nat = "1s"\nadvance = "60m"\n';
  const started = await fetch(`${own.url}/api/admin/scenarios`, {
    method: 'POST',
    headers: { 'content-type': 'application/toml' },
    body: scenario,
  });
  assert.ok(started.ok, await started.text());
  await button(page, 'USDC is stale', 'disabled');
  await onlyError(page, 'The price of USDC is stale: it was last updated 60 min ago');
  assert.deepEqual(await page.locator('.tokens tr:has(.tag.bad) strong').allTextContents(), [
    'USDC',
  ]);
  await browser.picture(page, 'exchange-stale');
  await clean(page);
});

test('without mining, the page says that the transaction waits', async (context) => {
  const own = await startNode();
  context.after(own.stop);
  const page = await browser.open(`${own.url}/#/exchange?from=USDC&to=WETH`);
  await own.rpc('evm_setAutomine', false);
  await page.fill(PAY, '100');
  await page.click(`${SUBMIT}:enabled`);
  await page.waitForSelector(
    '.steps li:nth-child(1):has-text("Mining is off: the transaction waits until a block is mined")',
  );
  await browser.picture(page, 'swap-waiting');
  await own.rpc('evm_mine');
  await page.waitForSelector('.steps li.done:nth-child(1)');
  await page.waitForSelector('.steps li:nth-child(2):has-text("Mining is off")');
  await own.rpc('evm_mine');
  await page.waitForSelector('.note.good:has-text("Swapped 100 USDC")');
  await clean(page);
});

test('the chart has ranges and axes, and shows the price under the pointer', async () => {
  const page = await browser.open(`${node.url}/#/exchange?token=WBTC`);
  await page.waitForSelector('.time-plot path.trend');
  const texts = () => page.locator('.time-plot text').allTextContents();
  const day = await texts();
  assert.ok(day.filter((text) => text.startsWith('$')).length >= 2, 'prices on the axis');
  assert.ok(day.filter((text) => /^\d\d:\d\d$/.test(text)).length >= 3, 'times on the axis');
  await page.click('button:text-is("30D")');
  await page.waitForSelector(
    '.time-plot text:text-matches("^\\\\d+ (Oct|Nov|Dec|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep)")',
  );
  await page.waitForSelector('.moved:has-text("past month")');
  // A width at which a longer text would need another line.
  await page.setViewportSize({ width: 1000, height: 900 });
  const top = () =>
    page.evaluate(() => document.querySelector('.time-plot').getBoundingClientRect().top);
  const before = await top();
  await page.hover('.time-plot');
  await page.waitForSelector('.time-plot .tip:visible');
  await page.waitForSelector('.moved:has-text("since the start of the range")');
  assert.equal(await top(), before, 'the chart keeps its position');
  await page.click('button:text-is("Candles")');
  await page.waitForSelector('.time-plot path.body.up');
  await page.hover('.time-plot');
  await page.waitForSelector('.time-plot .tip:has-text("Open"):has-text("Close")');
  await page.waitForSelector('.tokens .sparkline');
  await clean(page);
});

test('the token, the range and the tokens of the form survive a reload', async () => {
  const page = await browser.open(`${node.url}/#/exchange`);
  await page.click('.tokens button:has-text("SOL")');
  await page.click('button:text-is("7D")');
  await page.reload();
  await page.waitForSelector('.token-title:has-text("Solana")');
  await page.waitForSelector('button[aria-pressed="true"]:text-is("7D")');
  assert.deepEqual(await page.locator('.swap .token-button').allTextContents(), ['USDC', 'SOL']);

  await page.goto(`${node.url}/#/lending`);
  await page.click('.markets button:has-text("WBTC")');
  await page.click('.manage .tabs button:text-is("Borrow")');
  await page.click('button:text-is("30D")');
  await page.reload();
  await page.waitForSelector('h2:has-text("WBTC pool")');
  await page.waitForSelector('.manage button[aria-pressed="true"]:text-is("Borrow")');
  await page.waitForSelector('.manage .token-button:has-text("WBTC")');
  await page.waitForSelector('button[aria-pressed="true"]:text-is("30D")');
  await clean(page);
});

test('each small chart has the colour of the change beside it', async (context) => {
  const own = await startNode();
  context.after(own.stop);
  const { tokens } = await network(own);
  for (const [symbol, price] of [
    ['WETH', 1],
    ['SOL', 100_000],
    ['UNI', 0.5],
    ['BNB', 9_000],
  ]) {
    const response = await fetch(`${own.url}/api/admin/prices/${tokens[symbol]}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ price }),
    });
    assert.equal(response.status, 200);
  }
  const page = await browser.open(`${own.url}/#/exchange`);
  await page.waitForFunction(() => document.querySelectorAll('.tokens .sparkline').length === 12);
  const pairs = await page.evaluate(() =>
    [...document.querySelectorAll('.tokens tbody tr')].map((row) => [
      row.querySelector('strong').textContent,
      row.cells[2].firstChild.className,
      row.querySelector('.sparkline').classList[1],
    ]),
  );
  for (const [symbol, shown, drawn] of pairs) assert.equal(drawn, shown, symbol);
  const way = Object.fromEntries(pairs);
  assert.deepEqual([way.WETH, way.SOL, way.UNI, way.BNB], ['down', 'up', 'down', 'up']);
  await clean(page);
});

test('swaps of other accounts appear automatically, and are filtered by token', async () => {
  const page = await browser.open(`${node.url}/#/exchange?token=SOL`);
  await page.waitForSelector('.trades td');
  const [, other] = await node.rpc('eth_accounts');
  await swap(node, other, 'USDT', 'SOL', 250_000_000n);
  await page.waitForSelector('.trades tr:has-text("250 USDT"):has-text("SOL"):has-text("$250.00")');
  await swap(node, other, 'USDT', 'UNI', 50_000_000n);
  await page.waitForSelector('.trades tr:has-text("50 USDT"):has-text("UNI")');
  await page.click('.trades button:text-is("SOL")');
  await page.waitForFunction(() => document.querySelectorAll('.trades tbody tr').length === 1);
  await page.waitForSelector('.trades tr:has-text("250 USDT")');
  await page.click('.tokens button:has-text("DOT")');
  await page.waitForSelector('.trades td:has-text("No DOT swaps yet")');
  await clean(page);
});

test('tokens, swaps and markets are rows of two lines on a phone', async () => {
  const [, other] = await node.rpc('eth_accounts');
  await swap(node, other, 'USDT', 'WBTC', 12_345_678_901n);
  const page = await browser.open(`${node.url}/#/exchange`, {
    viewport: { width: 390, height: 844 },
  });
  await page.waitForSelector('.tokens td.line-2 .sparkline');
  await page.waitForSelector('.tokens td:has-text("Volume $")');
  await page.waitForSelector('.trades td.line-1:has-text("WBTC")');
  await browser.picture(page, 'phone-exchange-rows');
  const wide = () =>
    page
      .locator('main .scroll:has(> .rows)')
      .evaluateAll((all) =>
        all
          .filter((one) => one.scrollWidth > one.clientWidth)
          .map((one) => one.getAttribute('aria-label')),
      );
  assert.deepEqual(await wide(), []);
  await page.goto(`${node.url}/#/lending`);
  await page.waitForSelector('.markets td.line-2:has-text("Utilisation")');
  await page.waitForSelector('.markets td.own:has-text("Wallet")');
  await browser.picture(page, 'phone-lending-rows');
  assert.deepEqual(await wide(), []);
  await clean(page);
});
