// The lending view in a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { encodeCall, fragment } from '../../crates/page/src/page/lib/abi.js';
import { LOOKS, assertAccessible, assertFits } from './accessible.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

const AMOUNT = '.manage [aria-label="Amount"]';
const SUBMIT = '.manage button.primary';
let node;
let browser;
let accounts;

before(async () => {
  [node, browser] = await Promise.all([startNode(), startBrowser()]);
  accounts = await node.rpc('eth_accounts');
});
after(async () => {
  await browser?.stop();
  await node?.stop();
});

async function send(from, to, text, values) {
  const hash = await node.rpc('eth_sendTransaction', {
    from,
    to,
    data: encodeCall(fragment(text), values),
  });
  const { status } = await node.rpc('eth_getTransactionReceipt', hash);
  assert.equal(status, '0x1', text);
}

const network = async () => (await fetch(`${node.url}/api/network`)).json();

/** Sets a price and holds it, as the developer view does. */
async function setPrice(symbol, price) {
  const { tokens } = await network();
  const response = await fetch(`${node.url}/api/admin/prices/${tokens[symbol]}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ price }),
  });
  assert.equal(response.status, 200);
}

async function position(user, weth, usdc) {
  const { tokens, lendingPool } = await network();
  await send(user, tokens.WETH, 'approve(address,uint256)', [lendingPool, weth]);
  await send(user, lendingPool, 'deposit(address,uint256)', [tokens.WETH, weth]);
  await send(user, lendingPool, 'borrow(address,uint256)', [tokens.USDC, usdc]);
}

async function use(page, account) {
  await page.evaluate((address) => {
    const select = document.querySelector('#account');
    select.value = [...select.options]
      .map((one) => one.value)
      .find((value) => value.toLowerCase() === `node/${address}`);
    select.dispatchEvent(new Event('change'));
  }, account);
}

async function choose(page, tab, asset) {
  await page.click(`.manage .tabs button:has-text("${tab}")`);
  const button = page.locator('.manage .token-button');
  if ((await button.textContent()) === asset) return;
  await button.click();
  await page.fill('dialog input', asset);
  await page.press('dialog input', 'Enter');
  await page.waitForSelector(`.manage .token-button:has-text("${asset}")`);
}

const fact = (page, name) => page.locator(`.manage .facts div:has(dt:text-is("${name}")) dd`);

test('a node account supplies, borrows and repays, and sees its health before and after', async () => {
  const page = await browser.open(`${node.url}/#/lending?asset=WETH`);
  await page.waitForSelector('.tile:has-text("Total supplied") strong:has-text("$1")');
  for (const name of ['Supply APY', 'Borrow APY', 'Utilisation'])
    await page.waitForSelector(`.markets th:text-is("${name}")`);

  await page.waitForSelector(`${SUBMIT}:has-text("Enter an amount"):disabled`);
  await page.fill(AMOUNT, '10');
  await page.waitForSelector('.manage .below:has-text("$35,1")');
  assert.match(
    await fact(page, 'Borrowing power').textContent(),
    /^\$0\.00→\$23,3\d\d\.\d\d$/,
    'at the score after the supply',
  );
  assert.equal(await fact(page, 'Credit score').textContent(), '300→350');

  await page.click(`${SUBMIT}:has-text("Supply WETH"):enabled`);
  await page.waitForSelector('.note.good:has-text("Supplied 10 WETH")');
  await page.waitForSelector(
    'section:has(h2:has-text("Your position")) .facts div:has-text("Borrowing power"):has-text("$23,3")',
  );

  await choose(page, 'Borrow', 'USDC');
  await page.fill(AMOUNT, '500');
  assert.match(await fact(page, 'Health factor').textContent(), /^No debt→59\.\d\d$/);
  assert.match(await fact(page, 'Power used').textContent(), /^0\.0%→2\.\d%$/);

  await page.click(`${SUBMIT}:has-text("Borrow USDC"):enabled`);
  await page.waitForSelector('.note.good:has-text("Borrowed 500 USDC")');
  await page.waitForSelector('dt:has-text("Next payment due")');

  await page.fill(AMOUNT, '1000');
  await page.waitForFunction(() =>
    /^59\.\d\d→19\.\d\d$/.test(
      [...document.querySelectorAll('.manage .facts div')]
        .find((one) => one.textContent.startsWith('Health factor'))
        ?.querySelector('dd').textContent,
    ),
  );

  await browser.picture(page, 'lending');
  await page.waitForSelector('h3:has-text("Score history")');
  await page.waitForSelector(
    'section:has(h2:has-text("Your history")) tr:has-text("Borrowed"):has-text("500 USDC")',
  );

  await choose(page, 'Repay', 'USDC');
  await page.waitForSelector('.manage .below:has-text("Debt 500")');
  await page.click('.manage button:text-is("Max")');
  assert.match(await fact(page, 'Borrowed').textContent(), /^\$500\.\d\d→\$0\.00$/);
  await page.click(`${SUBMIT}:has-text("Repay USDC"):enabled`);
  await page.waitForSelector('.note.good:has-text("Repaid 500")');
  await page.waitForSelector('.health:has-text("No debt")');

  // Ten seconds of interest. Before, the shares, which are rounded down, are worth a wei less than
  // the supplied amount.
  await node.rpc('evm_increaseTime', '0xa');
  await node.rpc('evm_mine');
  await choose(page, 'Withdraw', 'WETH');
  await page.waitForSelector('.manage .below:has-text("Available 10")');
  await page.click('.manage button:text-is("Max")');
  await page.click(`${SUBMIT}:has-text("Withdraw WETH"):enabled`);
  await page.waitForSelector('.note.good:has-text("Withdrew 10")');
  await page.waitForSelector('text=No supplied or borrowed assets');
  await clean(page);
});

test('an impossible action is disabled, with one reason', async () => {
  await position(accounts[4], 10n ** 18n, 100_000_000n);
  const page = await browser.open(`${node.url}/#/lending`);
  await use(page, accounts[4]);
  await page.waitForSelector('.health:has-text("29.")');

  const refused = async (amount, reason) => {
    await page.fill(AMOUNT, amount);
    await page.waitForSelector(`.manage .failure:has-text("${reason}")`);
    assert.ok(await page.isDisabled(SUBMIT));
    assert.equal(await page.locator('.failure').count(), 1);
  };

  await choose(page, 'Borrow', 'USDC');
  await page.waitForSelector('.manage .below:has-text("Available 2,")');
  await refused('2500', 'Exceeds your borrowing power by $');
  assert.match(await page.textContent('.manage .failure'), /by \$\d{3}\.\d\d\.$/);
  await refused('9999999999', 'Exceeds the available liquidity by ');
  await refused('1.2.3', 'Enter a number, such as 1.5.');
  await page.click('.manage button:text-is("Max")');
  await page.waitForSelector(`${SUBMIT}:enabled`);

  await choose(page, 'Withdraw', 'WETH');
  await refused('0.98', 'Your debt would exceed your borrowing power by $');
  await refused('2', 'Exceeds your supply by ');

  await choose(page, 'Repay', 'USDC');
  await refused('200', 'Exceeds your debt by ');
  await choose(page, 'Repay', 'SOL');
  await refused('1', 'You have no SOL debt.');

  await choose(page, 'Supply', 'WBTC');
  await refused('1000', 'Exceeds your wallet balance by 990 WBTC.');
  await clean(page);
});

test('an error of the contract is shown as a sentence', async () => {
  const page = await browser.open(`${node.url}/#/lending`);
  await use(page, accounts[4]);
  await choose(page, 'Borrow', 'USDC');
  await page.waitForSelector('.manage .below:has-text("Available 2,")');
  await page.fill(AMOUNT, '2000');
  await page.waitForSelector(`${SUBMIT}:enabled`);

  // The price falls in the same instant, so that the form still allows the loan.
  await page.route('**/rpc', async (route) => {
    if (route.request().postData().includes('eth_estimateGas')) await setPrice('WETH', 2_000);
    await route.continue();
  });

  await page.click(SUBMIT);
  await page.waitForSelector('.manage .failure:has-text("xceeds your borrowing power by $")');
  assert.equal(await page.locator('.manage .failure').count(), 1);

  await page.unroute('**/rpc');
  await setPrice('WETH', 3_500);
  await clean(page);
});

test('a position with a health factor below 1 is found, marked and liquidated', async () => {
  const [, borrower, healthy] = accounts;
  await setPrice('WETH', 3_500);
  await position(borrower, 10n * 10n ** 18n, 20_000_000_000n);
  await position(healthy, 10n * 10n ** 18n, 9_000_000_000n);

  const page = await browser.open(`${node.url}/#/lending`);
  const risk = page.locator('.risk');
  await risk.locator('tr', { hasText: '1.48' }).waitFor();
  assert.equal(await risk.locator('td button').count(), 0, 'nothing to liquidate yet');
  assert.match(
    await risk.locator('p:has-text("a health factor")').textContent(),
    /^((All|[1-9]) .*borrowers? (have|has)|The only borrower has) a health factor/,
  );

  await use(page, borrower);
  await page.waitForSelector('.note.warn:has-text("Below a health factor of 1")');

  await setPrice('WETH', 2_280);
  await page.waitForSelector('.failure:has-text("anyone can liquidate this position now")');
  await risk.locator('.tag.bad:has-text("1 liquidatable")').waitFor();
  await use(page, accounts[0]);
  await page.waitForSelector('text=No supplied or borrowed assets');
  await browser.picture(page, 'lending-risk');

  await risk.locator('input').fill('pax1nothing');
  await risk.locator('button:has-text("Check account")').click();
  await risk.locator('p.down:not(:empty)').waitFor();
  await risk.locator('input').fill(accounts[5]);
  await risk.locator('button:has-text("Check account")').click();
  await risk.locator('tr:has-text("No debt")').waitFor();
  await risk.locator('button:text-is("Liquidate")').click();

  const dialog = page.locator('dialog');
  const term = (name) => dialog.locator(`.facts div:has(dt:text-is("${name}")) dd`);
  await term('Expected bonus').waitFor();
  // Half of the debt, as the health factor is above 0.95; the bonus of WETH is 5 %, and the
  // treasury keeps a tenth of it.
  assert.match(await term('You repay').textContent(), /^10,000 USDC \$/);
  assert.match(await term('Expected bonus').textContent(), /^\$4(49|50)\.\d\d/);
  assert.match(await term('Borrower’s health factor').textContent(), /^0\.96→1\.0\d$/);

  await dialog.locator('[aria-label="Amount to repay"]').fill('15000');
  await dialog.locator('.failure:has-text("At most 10,000")').waitFor();
  assert.ok(await dialog.locator('button.primary').isDisabled());
  await dialog.locator('button:text-is("Max")').click();
  await dialog.locator('button.primary:has-text("Liquidate"):enabled').waitFor();

  await assertAccessible(page, 'the dialog of a liquidation', 'dialog');
  await browser.picture(page, 'liquidation');

  await dialog.locator('button.primary').click();
  await dialog.locator('.note.good:has-text("Repaid 10,000")').waitFor();
  await page.click('dialog [aria-label="Close"]');
  await risk.locator('.tag.good:has-text("None liquidatable")').waitFor();
  await page.waitForSelector(
    'section:has(h2:has-text("Your history")) tr:has-text("Liquidated"):has-text("USDC")',
  );

  await use(page, borrower);
  await page.waitForSelector(
    'section:has(h2:has-text("Your history")) tr:has-text("Was liquidated")',
  );

  // The penalty of the liquidation shows in the score's history.
  await page.click('summary:has-text("How the score is made up")');
  await page.waitForSelector('td:has-text("Penalties")');
  await page.click('summary:has-text("Changes of score and rate")');
  await page.waitForSelector('tr:has-text("300"):has-text("100%")');
  await page.waitForSelector('.time-plot path.trend.plain', { state: 'attached' });
  // The borrower lost more than the liquidator received: the treasury takes a tenth of the bonus.
  await page.click('section:has(h2:has-text("Your history")) tr:has-text("Was liquidated") a');
  const [, received, kept] = (await page.textContent('.happened'))
    .match(/received ([\d.]+) WETH; the treasury kept ([\d.]+) WETH/)
    .map(Number);
  assert.ok(
    Math.abs(received - (10_000 / 2_280) * 1.045) < 0.001 &&
      Math.abs(kept - (10_000 / 2_280) * 0.005) < 0.001,
    `${received}, ${kept}`,
  );
  await browser.picture(page, 'liquidation-transaction');
  await clean(page);
  await setPrice('WETH', 3_500);
});

test('the pool shows its rates over time and its parameters', async () => {
  const page = await browser.open(`${node.url}/#/lending?asset=WETH`);
  const pool = page.locator('section.card', { has: page.locator('.legend') });
  // The API has a sample per interval; the page adds the rates of new blocks. Rates of the same
  // second share one point.
  await pool.locator('dd:has-text("65% at a score of 300")').waitFor();
  await node.rpc('evm_increaseTime', '0x5');
  await node.rpc('evm_mine', { blocks: '0x3' });
  await pool.locator('path.trend.line-1').waitFor({ state: 'attached' });
  await page.click('.markets button:has-text("USDT")');
  await pool.locator('h2:has-text("USDT pool")').waitFor();
  await pool.locator('button:text-is("7D")').click();
  await node.rpc('evm_increaseTime', '0x5');
  await node.rpc('evm_mine');
  await pool.locator('path.trend.line-0').waitFor({ state: 'attached' });
  await page.waitForSelector('.manage .token-button:has-text("USDT")');
  await clean(page);
});

test('a market shows the position of the account and opens the form, which shows the liquidation price', async () => {
  const user = accounts[6];
  await position(user, 10n * 10n ** 18n, 9_000_000_000n);
  const page = await browser.open(`${node.url}/#/lending`);
  await page.waitForSelector('.markets button');
  await use(page, user);
  const row = page.locator('.markets tr:has-text("WETH"):not(:has-text("st"))');
  // A supply is rounded down.
  await row.locator('text=/Supplied (10|9\\.99)/').waitFor();
  await page.locator('.markets tr:has-text("USDC")').locator('text=Borrowed').waitFor();
  await page.locator('.markets tr:has-text("USDC")').locator('text=/Wallet/').waitFor();
  await page.click('.markets [aria-label="Borrow USDC"]');
  await page.waitForSelector('.manage button[aria-pressed="true"]:text-is("Borrow")');
  assert.equal(
    await page.evaluate(() => document.activeElement.getAttribute('aria-label')),
    'Amount',
  );
  await page.fill(AMOUNT, '1000');
  // 10,000 of debt against 10 WETH that count for 85 %.
  const price = page.locator(
    '.manage .facts div:has(dt:text-is("Liquidated if WETH falls below")) dd',
  );
  await price.waitFor();
  const shown = Number((await price.textContent()).replace(/[$,]/g, ''));
  assert.ok(Math.abs(shown - 10_000 / 10 / 0.85) < 3, `${shown}`);
  await page.waitForSelector('section:has(h2:has-text("Your history")) tr:has-text("Borrowed")');
  assert.equal(
    await page.locator('section:has(h2:has-text("Your history")) tr:has-text("Swapped")').count(),
    0,
  );
  await browser.picture(page, 'lending-markets');
  await clean(page);
});

test('each range of a pool has its own axis, unless the chain is younger', async (context) => {
  const own = await startNode();
  context.after(own.stop);
  for (let day = 0; day < 4; day++) {
    await own.rpc('evm_increaseTime', '0x15180');
    await own.rpc('evm_mine');
  }
  const page = await browser.open(`${own.url}/#/lending?asset=USDC`);
  const pool = page.locator('section.card', { has: page.locator('.legend') });
  const axis = async (range) => {
    await pool.locator(`button:text-is("${range}")`).click();
    return pool.locator('.time-plot text.tick').allTextContents();
  };
  await pool.locator('path.trend.line-0').waitFor({ state: 'attached' });
  const day = await axis('24H');
  assert.equal(await pool.locator('text=The chain is younger than this range').count(), 0);
  await axis('7D');
  await pool.locator('text=The chain is younger than this range: it began 4 days ago.').waitFor();
  assert.notDeepEqual(await axis('7D'), day);
  await browser.picture(page, 'pool-range');
  await clean(page);
});

test('positions and dialogs are accessible and fit a phone, in light and dark', async () => {
  for (const look of LOOKS) {
    const page = await browser.open(`${node.url}/#/lending`, look);
    await use(page, accounts[1]);
    await page.waitForSelector('.holding');
    await page.click('.manage .tabs button:has-text("Borrow")');
    await page.fill(AMOUNT, '99999');
    await page.waitForSelector('.manage .failure');
    const check = async (what) => {
      await assertAccessible(page, `${what}, ${look.name}`);
      await assertFits(page, `${what}, ${look.name},`);
      await browser.picture(page, `${what}-${look.name}`);
    };
    await check('lending');
    await page.click('.manage .token-button');
    await page.waitForSelector('dialog .token-balance');
    await check('picker');
    await page.keyboard.press('Escape');
    await page.goto(`${node.url}/#/exchange`);
    await page.waitForSelector('.tokens .sparkline');
    await page.fill('[aria-label="Amount to pay"]', '100');
    await page.waitForSelector('dt:has-text("Minimum received")');
    await page.click('.settings summary');
    await check('exchange');
    await clean(page);
  }
});
