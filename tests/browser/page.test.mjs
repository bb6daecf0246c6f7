// The page in a real browser.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import axe from 'axe-core';

import { encodeCall, fragment, selector } from '../../src/site/page/lib/abi.js';
import { startBrowser, startNode } from './node.mjs';

const ACCOUNT = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const WALLET = { account: ACCOUNT };
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
  await page.waitForFunction(() => document.querySelector('#account').value.startsWith('test.wallet/0x'));
}

function clean(page) {
  assert.deepEqual(page.problems, []);
  return page.context().close();
}

test('the first view is small and loads fast', async () => {
  const page = await browser.open(node.url);
  const { time, ready, size } = await page.evaluate(() => ({
    time: performance.getEntriesByName('first-contentful-paint')[0].startTime,
    ready: performance.now(),
    size: ['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind)).reduce((sum, one) => sum + one.transferSize, 0),
  }));
  console.log(`first paint after ${Math.round(time)} ms, content before ${Math.round(ready)} ms, ${Math.round(size / 1024)} KiB on the wire`);
  assert.ok(size < 150_000, `${size} bytes`);
  await page.waitForFunction(() => document.querySelector('#status-text').textContent.startsWith('Chain 125'));
  await browser.picture(page, 'network');
  await clean(page);
});

test('new blocks appear by themselves', async () => {
  const page = await browser.open(node.url);
  const block = () => page.textContent('.tile strong');
  await page.waitForFunction(() => document.querySelector('.tile strong').textContent !== '–');
  const first = Number(await block());
  await node.rpc('evm_mine', { blocks: '0x3' });
  await page.waitForFunction((expected) => document.querySelector('.tile strong').textContent === String(expected), first + 3);
  await clean(page);
});

test('a wallet is switched to the network, approves and swaps', async () => {
  const page = await browser.open(`${node.url}/#/exchange?from=USDC&to=WETH`, { wallet: WALLET });
  await connect(page);
  assert.equal(await page.evaluate(() => window.added.chainId), '0x7d');
  await page.fill('[aria-label="Amount to pay"]', '1000');
  await page.waitForSelector('button.primary:has-text("Approve USDC and swap"):enabled');
  await browser.picture(page, 'swap');
  await page.click('button.primary');
  await page.waitForSelector('.toast.good');
  const sent = await page.evaluate(() => window.asked.filter((method) => method === 'eth_sendTransaction').length);
  assert.equal(sent, 2, 'an approval and a swap');

  await page.click('.toast.good a');
  await page.waitForSelector('h1:has-text("swapExactTokensForTokens")');
  const text = await page.textContent('main');
  for (const expected of ['Success', '1,000 USDC', 'SwapPriced', 'WETH token', 'Exchange vault']) {
    assert.ok(text.includes(expected), `${expected} is missing on the page`);
  }
  await browser.picture(page, 'transaction');
  await clean(page);
});

test('the chain is suggested to Keplr', async () => {
  const page = await browser.open(node.url);
  const button = page.locator('button:has-text("Add to Keplr")');
  await button.click();
  await page.waitForSelector('.toast:has-text("Keplr not found")');
  await page.evaluate(() => {
    window.keplr = { experimentalSuggestChain: async (document) => (window.suggested = document) };
  });
  await button.click();
  await page.waitForSelector('.toast.good:has-text("This network is in Keplr")');
  const document = await page.evaluate(() => window.suggested);
  const { keplr } = await (await fetch(`${node.url}/api/network`)).json();
  const [{ gasPriceStep, ...feeCoin }] = document.feeCurrencies;
  const coin = { coinDenom: 'HPX', coinMinimalDenom: 'ahpx', coinDecimals: 18 };
  assert.deepEqual(document, { ...keplr, feeCurrencies: [{ ...coin, gasPriceStep }] });
  assert.deepEqual([feeCoin, document.currencies, document.stakeCurrency], [coin, [coin], coin]);
  assert.ok(0 < gasPriceStep.low && gasPriceStep.low < gasPriceStep.average && gasPriceStep.average < gasPriceStep.high);
  const { rpc, rest, evm, chainId, bip44, bech32Config, features } = document;
  assert.deepEqual([rpc, rest, evm], [node.url, node.url, { chainId: 125, rpc: `${node.url}/rpc` }]);
  assert.deepEqual([chainId, bip44, bech32Config.bech32PrefixAccAddr], ['hyperpax_125-1', { coinType: 60 }, 'pax']);
  for (const feature of ['eth-address-gen', 'eth-key-sign']) assert.ok(features.includes(feature));
  // What Keplr asks before it shows the chain.
  assert.equal((await (await fetch(`${rpc}/status`)).json()).result.node_info.network, chainId);
  const { default_node_info } = await (await fetch(`${rest}/cosmos/base/tendermint/v1beta1/node_info`)).json();
  assert.equal(default_node_info.network, chainId);

  await page.evaluate(() => {
    window.keplr.experimentalSuggestChain = () => Promise.reject(new Error('Request rejected'));
  });
  await button.click();
  await page.waitForSelector('.toast.error:has-text("Request rejected")');
  await clean(page);
});

test('a swap that the vault would reject is not sent', async () => {
  const page = await browser.open(`${node.url}/#/exchange?from=WBTC&to=WETH`, { wallet: WALLET });
  await connect(page);
  await page.fill('[aria-label="Amount to pay"]', '10.5');
  await page.waitForSelector('button.primary:has-text("Insufficient WBTC balance"):disabled');
  await page.fill('[aria-label="Amount to pay"]', '1,2.3.4');
  await page.waitForSelector('.failure:has-text("expected a number")');
  await page.fill('[aria-label="Amount to pay"]', '999999');
  await page.waitForSelector('.failure:has-text("10% of the reserve"), .failure:has-text("Insufficient liquidity")');
  assert.ok(await page.isDisabled('button.primary'));
  await clean(page);
});

test('a rejection by the wallet is shown, and the form stays usable', async () => {
  const page = await browser.open(`${node.url}/#/exchange?from=USDT&to=WETH`, { wallet: WALLET });
  await connect(page);
  await page.evaluate(() => (window.refusing = true));
  await page.fill('[aria-label="Amount to pay"]', '5');
  await page.click('button.primary:enabled');
  await page.waitForSelector('.toast.error:has-text("User rejected")');
  await page.waitForSelector('button.primary:enabled');
  await clean(page);
});

test('a node account supplies, borrows and repays', async () => {
  const page = await browser.open(`${node.url}/#/lending?asset=WETH`);
  const act = async (tab, past, asset, amount) => {
    await page.click(`.tabs button:has-text("${tab}")`);
    await page.selectOption('main form select', asset);
    await page.fill('main form input', amount);
    await page.click(`button.primary:has-text("${tab} ${asset}"):enabled`);
    await page.waitForSelector(`.toast.good:has-text("${past} ${amount} ${asset}")`);
  };
  await act('Supply', 'Supplied', 'WETH', '10');
  await act('Borrow', 'Borrowed', 'USDC', '500');
  await page.waitForSelector('dt:has-text("Next payment due")');
  await browser.picture(page, 'lending');
  await page.click('.tabs button:has-text("Repay")');
  await page.selectOption('main form select', 'USDC');
  await page.waitForSelector('button.link-button:has-text("Available to repay: 500")');
  await page.click('button.link-button:has-text("Available to repay")');
  await page.click('button.primary:has-text("Repay USDC")');
  await page.waitForSelector('dd:has-text("No debt")');

  await page.click('.tabs button:has-text("Borrow")');
  await page.fill('main form input', '999999');
  await page.click('button.primary:enabled');
  await page.waitForSelector('.failure:has-text("BorrowingPowerExceeded")');
  await clean(page);
});

test('search finds blocks, transactions, tokens and addresses in every format', async () => {
  const page = await browser.open(node.url);
  const search = async (text, heading) => {
    await page.fill('#query', text);
    await page.press('#query', 'Enter');
    await page.waitForSelector(`main h1:has-text("${heading}")`);
  };
  await search('0', 'Block 0');
  const { hash } = await node.rpc('eth_getBlockByNumber', '0x0', false);
  await search(hash, 'Block 0');
  await search('weth', 'WETH token');
  await search('pax1jrmehaht938cwqm9u7zestslzq0f8wgxvqfy9l', 'Account');
  assert.ok((await page.textContent('main')).includes(ACCOUNT));
  await search('0x49b0f9a0554da1a7243a9c8ac5b45245a66d90ff', 'Exchange vault');
  await page.selectOption('section select', { label: 'SWAP_FEE_BPS()' });
  await page.waitForSelector('ul.plain:has-text("30")');
  await search('pax1jrmehaht938cwqm9u7zestslzq0f8wgxvqfy9m', 'No results');
  await page.waitForSelector('.failure:has-text("checksum")');
  await search('0x' + '12'.repeat(32), 'No results');
  await clean(page);
});

test('older blocks and past transfers are found', async () => {
  await node.rpc('evm_mine', { blocks: '0x28' });
  const page = await browser.open(`${node.url}/#/explorer?from=33`);
  await page.waitForSelector('h1:has-text("Blocks 4 to 33")');
  await page.click('a:has-text("Older")');
  await page.waitForSelector('h1:has-text("Blocks 0 to 3")');
  await page.click('a:has-text("Newer")');
  await page.waitForSelector('h1:has-text("Blocks 4 to 33")');
  await page.goto(`${node.url}/#/explorer?from=x`);
  await page.waitForSelector('.failure:has-text("block number")');
  await page.goto(`${node.url}/#/address/${ACCOUNT}`);
  await page.waitForSelector('section:has(h2:has-text("Token transfers")) td:has-text("1,000 USDC")');
  await page.waitForSelector('section:has(h2:has-text("Token transfers")) .tag.good:has-text("In")');
  await browser.picture(page, 'address');
  await clean(page);
});

test('a failed transaction shows its reason', async () => {
  const { vault, tokens } = await (await fetch(`${node.url}/api/network`)).json();
  const data = encodeCall(fragment('swapExactTokensForTokens(address,address,uint256,uint256)'), [tokens.USDC, tokens.USDC, 1n, 0n]);
  const hash = await node.rpc('eth_sendTransaction', { from: ACCOUNT, to: vault, data, gas: '0x30d40' });
  const page = await browser.open(`${node.url}/#/tx/${hash}`);
  await page.waitForSelector('.tag.bad:has-text("Failed")');
  const reason = await page.textContent('.failure');
  assert.match(reason, /SameToken/);
  await clean(page);
});

test('a saved ABI decodes calls that were unknown', async () => {
  const data = '0x5a3b1d4f' + '0'.repeat(63) + '7';
  const hash = await node.rpc('eth_sendTransaction', { from: ACCOUNT, to: ACCOUNT, data });
  const page = await browser.open(`${node.url}/#/interfaces`);
  await page.fill('textarea', 'nonsense');
  await page.click('button.primary');
  await page.waitForSelector('.failure');
  const named = selector(fragment('launch(uint256 rockets)'));
  const known = await node.rpc('eth_sendTransaction', { from: ACCOUNT, to: ACCOUNT, data: named + data.slice(10) });
  await page.fill('textarea', 'function launch(uint256 rockets)');
  await page.click('button.primary');
  await page.waitForSelector('.toast.good:has-text("1 entry")');
  await page.goto(`${node.url}/#/tx/${known}`);
  await page.waitForSelector('h1:has-text("launch")');
  assert.ok((await page.textContent('table.arguments')).includes('rockets'));
  await page.goto(`${node.url}/#/tx/${hash}`);
  await page.waitForSelector('p:has-text("No known ABI")');
  await clean(page);
});

test('developer controls mine, advance time, revert and send from the faucet', async () => {
  const page = await browser.open(`${node.url}/#/developer`);
  const block = async () => Number(await node.rpc('eth_blockNumber'));
  const before = await block();
  await page.click('button:has-text("Take snapshot")');
  await page.waitForSelector('button:has-text("Revert")');
  await page.click('button:has-text("Mine")');
  await page.waitForSelector('.toast.good:has-text("Mined 1 block")');
  assert.equal(await block(), before + 1);
  const { timestamp } = await node.rpc('eth_getBlockByNumber', 'latest', false);
  await page.click('button:has-text("+1 day")');
  await page.waitForSelector('.toast.good:has-text("24 h")');
  // Blocks mined in quick succession have timestamps ahead of the clock, and the clock is what advances by a day.
  const later = Number((await node.rpc('eth_getBlockByNumber', 'latest', false)).timestamp);
  assert.ok(later - Number(timestamp) > 86_000);
  await page.click('button:has-text("Revert")');
  await page.waitForSelector('.toast.good:has-text("Reverted to block")');
  assert.equal(await block(), before);
  await page.fill('input[placeholder^="0x"]', 'pax1jrmehaht938cwqm9u7zestslzq0f8wgxvqfy9l');
  const had = await node.rpc('eth_getBalance', ACCOUNT, 'latest');
  await page.click('button:has-text("Send")');
  await page.waitForSelector('.toast.good:has-text("Sent 100 HPX")');
  assert.equal(BigInt(await node.rpc('eth_getBalance', ACCOUNT, 'latest')) - BigInt(had), 100n * 10n ** 18n);
  await browser.picture(page, 'developer');
  await clean(page);
});

test('a price is set and released, and an account is impersonated', async () => {
  const page = await browser.open(`${node.url}/#/developer`, { tolerated: /400/ });
  const prices = page.locator('section', { has: page.locator('h2', { hasText: /^Price$/ }) });
  await prices.locator('select').selectOption('SOL');
  await prices.locator('input').fill('200');
  await prices.locator('button:has-text("Set price")').click();
  await page.waitForSelector('.toast.good:has-text("SOL price set to $200")');
  const { data } = await (await fetch(`${node.url}/api/prices`)).json();
  assert.equal(Object.values(data).find((token) => token.symbol === 'SOL').price, 200);
  await prices.locator('button:has-text("Release price")').click();
  await page.waitForSelector('.toast.good:has-text("SOL price released")');
  await prices.locator('input').fill('-1');
  await prices.locator('button:has-text("Set price")').click();
  await prices.locator('.failure').waitFor();

  const { vault } = await (await fetch(`${node.url}/api/network`)).json();
  const acting = page.locator('section', { has: page.locator('h2', { hasText: 'Impersonate account' }) });
  await acting.locator('input').fill(vault);
  await acting.locator('button:has-text("Impersonate")').click();
  await page.waitForSelector('.toast.good:has-text("Impersonating")');
  await page.selectOption('#account', `node/${vault}`);
  await acting.locator('button:has-text("Stop")').click();
  await page.waitForFunction(() => !document.querySelector('#account').value.includes('/0x49B0'));
  await clean(page);
});

test('the internal calls of a transaction are shown', async () => {
  const { vault, tokens } = await (await fetch(`${node.url}/api/network`)).json();
  const call = (to, text, values) => node.rpc('eth_sendTransaction', { from: ACCOUNT, to, data: encodeCall(fragment(text), values) });
  await call(tokens.USDT, 'approve(address,uint256)', [vault, 10n ** 9n]);
  const hash = await call(vault, 'swapExactTokensForTokens(address,address,uint256,uint256)', [tokens.USDT, tokens.WETH, 10n ** 8n, 0n]);
  const page = await browser.open(`${node.url}/#/tx/${hash}`);
  const trace = page.locator('.trace');
  for (const name of ['readPrice', 'transferFrom', 'transfer']) await trace.locator(`.tag.accent:text-is("${name}")`).first().waitFor();
  await browser.picture(page, 'trace');
  await clean(page);
});

test('the page reconnects to a restarted node and notices a new chain', async () => {
  const own = await startNode();
  await own.rpc('evm_mine', { blocks: '0x5' });
  const page = await browser.open(own.url, { tolerated: /ERR_CONNECTION_REFUSED|WebSocket|Failed to load/ });
  await page.waitForSelector('#status-text:has-text("block 5")');
  await own.stop();
  await page.waitForSelector('#status.lost');
  // Without a different balance, nodes started within the same second would have the same genesis block.
  const next = await startNode('--listen', `127.0.0.1:${own.port}`, '--exchange-price-tick', '0', '--balance', '9000');
  await page.waitForSelector('#status:not(.lost)', { timeout: 30_000 });
  await page.waitForSelector('#status-text:has-text("block 0")');
  await page.waitForSelector('.toast:has-text("new chain")');
  await next.rpc('evm_mine', { blocks: '0x2' });
  await page.waitForSelector('#status-text:has-text("block 2")');
  await clean(page);
  await next.stop();
});

test('blocks that a restarted node no longer has are dropped', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tetrad-genesis-'));
  const file = join(folder, 'genesis.json');
  writeFileSync(file, JSON.stringify({ config: { chainId: 7, londonBlock: 0 }, difficulty: '0x0', gasLimit: '0x1c9c380', alloc: {} }));
  const own = await startNode('--genesis', file);
  await own.rpc('evm_mine', { blocks: '0x5' });
  const page = await browser.open(own.url, { tolerated: /404|ERR_CONNECTION_REFUSED|WebSocket|Failed to load/ });
  await page.waitForSelector('#status-text:has-text("block 5")');
  await own.stop();
  await page.waitForSelector('#status.lost');
  // The same genesis block, and no block after it.
  const next = await startNode('--genesis', file, '--listen', `127.0.0.1:${own.port}`);
  await page.waitForSelector('#status:not(.lost)', { timeout: 30_000 });
  await page.waitForSelector('#status-text:has-text("block 0")');
  await clean(page);
  await next.stop();
  rmSync(folder, { recursive: true });
});

test('a scenario is started and stopped', async () => {
  const page = await browser.open(`${node.url}/#/developer`);
  const scenarios = page.locator('section.card', { hasText: 'Start scenario' });
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

test('the production profile shows no developer controls', async () => {
  const production = await startNode('--profile', 'production');
  const page = await browser.open(production.url);
  await page.waitForSelector('nav a:has-text("Accounts")');
  assert.equal(await page.locator('nav a:has-text("Developer")').count(), 0);
  await page.goto(`${production.url}/#/developer`);
  await page.waitForSelector('.failure');
  await page.goto(`${production.url}/#/exchange`);
  await page.waitForSelector('button.primary:has-text("Choose an account"):disabled');
  await clean(page);
  await production.stop();
});

test('a chain from a genesis file has an explorer but no exchange', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tetrad-genesis-'));
  const file = join(folder, 'genesis.json');
  writeFileSync(file, JSON.stringify({ config: { chainId: 7, londonBlock: 0 }, difficulty: '0x0', gasLimit: '0x1c9c380', alloc: {} }));
  const other = await startNode('--genesis', file);
  const page = await browser.open(other.url, { tolerated: /404/ });
  await page.waitForSelector('#status-text:has-text("Chain 7")');
  assert.equal(await page.locator('nav a:has-text("Exchange"), nav a:has-text("Lending")').count(), 0);
  for (const path of ['explorer', 'accounts', 'block/0', `address/${ACCOUNT}`, 'developer']) {
    await page.goto(`${other.url}/#/${path}`);
    await page.waitForSelector('main h1');
    assert.equal(await page.locator('main > .failure').count(), 0, path);
  }
  await clean(page);
  await other.stop();
  rmSync(folder, { recursive: true });
});

test('the page keeps up with a thousand blocks a minute', async () => {
  const page = await browser.open(node.url);
  await page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((one) => (window.longest = Math.max(window.longest, one.duration)))).observe({ type: 'longtask' });
  });
  const start = Number(await node.rpc('eth_blockNumber'));
  for (let round = 0; round < 50; round++) {
    await node.rpc('evm_mine');
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  await page.waitForSelector(`#status-text:has-text("block ${start + 50}")`);
  console.log(`longest task ${Math.round(await page.evaluate(() => window.longest))} ms`);
  await clean(page);
});

test('every view is accessible, in light and dark', async () => {
  const [from] = await node.rpc('eth_accounts');
  const hash = await node.rpc('eth_sendTransaction', { from, to: ACCOUNT, value: '0x1' });
  const paths = ['', 'explorer', 'exchange', 'lending', 'accounts', 'developer', 'interfaces', 'block/1', `tx/${hash}`, `address/${ACCOUNT}`, 'search/nothing', 'nowhere'];
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.open(node.url, { colorScheme });
    await page.evaluate(axe.source);
    for (const path of paths) {
      await page.evaluate((to) => {
        document.querySelector('main h1').remove();
        location.hash = `#/${to}`;
        if (!to) window.dispatchEvent(new HashChangeEvent('hashchange'));
      }, path);
      await page.waitForSelector('main h1');
      await page.waitForLoadState('networkidle');
      const found = await page.evaluate(async () => {
        const { violations } = await axe.run(document, { resultTypes: ['violations'] });
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' ')}`);
      });
      assert.deepEqual(found, [], `${path} in ${colorScheme}`);
      if (colorScheme === 'light' || path === 'exchange') await browser.picture(page, `${colorScheme}-${path.split('/')[0] || 'network'}`);
    }
    await clean(page);
  }
});

test('every view fits a phone and labels its controls, in light and dark', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.open(node.url, { viewport: { width: 390, height: 844 }, colorScheme });
    for (const path of ['', 'explorer', 'exchange', 'lending', 'accounts', 'developer', 'interfaces', 'block/0', `address/${ACCOUNT}`]) {
      await page.goto(`${node.url}/#/${path}`);
      await page.waitForTimeout(150);
      await page.waitForSelector('main h1');
      const { wide, unnamed } = await page.evaluate(() => ({
        wide: document.documentElement.scrollWidth > innerWidth,
        unnamed: [...document.querySelectorAll('button, a, input, select, textarea')]
          .filter((one) => !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length || one.title))
          .filter((one) => one.checkVisibility())
          .map((one) => one.outerHTML.slice(0, 100)),
      }));
      assert.ok(!wide, `${path} is wider than a phone`);
      assert.deepEqual(unnamed, [], path);
      await browser.picture(page, `phone-${colorScheme}-${path.split('/')[0] || 'network'}`);
    }
    await clean(page);
  }
});
