// The page in a real browser.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { encodeCall, fragment } from '../../crates/page/src/page/lib/abi.js';
import { LOOKS, assertAccessible, assertFits } from './accessible.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

const ACCOUNT = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
let node;
let browser;

before(async () => {
  [node, browser] = await Promise.all([startNode(), startBrowser()]);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
});

test('the first view is small and loads fast', async () => {
  const page = await browser.open(node.url);
  const { time, ready, size } = await page.evaluate(() => ({
    time: performance.getEntriesByName('first-contentful-paint')[0].startTime,
    ready: performance.now(),
    size: ['navigation', 'resource']
      .flatMap((kind) => performance.getEntriesByType(kind))
      .reduce((sum, one) => sum + one.transferSize, 0),
  }));
  console.log(
    `first paint after ${Math.round(time)} ms, content before ${Math.round(ready)} ms, ${Math.round(size / 1024)} KiB on the wire`,
  );
  assert.ok(size < 150_000, `${size} bytes`);
  await page.waitForFunction(() =>
    document.querySelector('#status-text').textContent.startsWith('Chain 125'),
  );
  await browser.picture(page, 'network');
  await clean(page);
});

test('new blocks appear automatically', async () => {
  const page = await browser.open(node.url);
  const block = () => page.textContent('.tile strong');
  await page.waitForFunction(() => document.querySelector('.tile strong').textContent !== '–');
  const first = Number(await block());
  await node.rpc('evm_mine', { blocks: '0x3' });
  await page.waitForFunction(
    (expected) => document.querySelector('.tile strong').textContent === String(expected),
    first + 3,
  );
  await clean(page);
});

test('the latest transactions are shown however many blocks followed, and disappear with their block', async (context) => {
  const own = await startNode();
  context.after(own.stop);
  const [from, to] = await own.rpc('eth_accounts');
  const pay = (value) => own.rpc('eth_sendTransaction', { from, to, value, gas: '0x5208' });
  const early = await pay('0x1');
  await own.rpc('evm_mine', { blocks: '0x96' });
  const page = await browser.open(own.url);
  const link = (hash) =>
    page.locator(`.card:has(h2:has-text("Latest transactions")) a[title="${hash}"]`);
  await link(early).waitFor();

  const snapshot = await own.rpc('evm_snapshot');
  const late = await pay('0x2');
  await link(late).waitFor();
  assert.equal(await link(early).count(), 1);
  await own.rpc('evm_revert', snapshot);
  const other = await pay('0x3');
  await link(other).waitFor();
  assert.equal(await link(late).count(), 0);
  assert.equal(await link(early).count(), 1);
  await clean(page);
});

test('after time travel all views use the clock of the chain', async (context) => {
  const own = await startNode();
  context.after(own.stop);
  const [from] = await own.rpc('eth_accounts');
  const { vault, tokens } = await (await fetch(`${own.url}/api/network`)).json();
  const call = (to, text, values) =>
    own.rpc('eth_sendTransaction', { from, to, data: encodeCall(fragment(text), values) });
  await call(tokens.USDC, 'approve(address,uint256)', [vault, 1_000_000n]);
  const swap = await call(vault, 'swapExactTokensForTokens(address,address,uint256,uint256)', [
    tokens.USDC,
    tokens.WETH,
    1_000_000n,
    0n,
  ]);
  const page = await browser.open(own.url);
  await page.waitForSelector('#status-text:has-text("block 2")');
  assert.ok(!(await page.isVisible('#clock')), 'the clocks agree');

  await own.rpc('evm_increaseTime', '0x3f480');
  await own.rpc('evm_mine');
  await page.waitForSelector('#clock:text-is("clock +3 d")');
  await page.waitForSelector('.tile:has-text("Block") time:text-matches("just now|^\\\\d+ s ago")');
  await browser.picture(page, 'clock-ahead');
  for (const [path, row] of [
    ['explorer', `tr:has(a[title="${swap}"])`],
    ['exchange', '.trades tbody tr'],
    [`tx/${swap}`, '.facts'],
  ]) {
    await page.goto(`${own.url}/#/${path}`);
    await page.waitForSelector(`${row} time:text-is("3 days ago")`);
    assert.equal(await page.locator('time:text-matches("^in ")').count(), 0, path);
  }
  await page.reload();
  await page.waitForSelector('#clock:text-is("clock +3 d")');
  await clean(page);
});

test('the latest transactions are beside the latest blocks, and pending ones are shown while there are any', async (context) => {
  const own = await startNode();
  context.after(own.stop);
  const page = await browser.open(own.url);
  const latest = page.locator('.card:has(h2:has-text("Latest transactions"))');
  await latest.locator('td:has-text("No transactions yet")').waitFor();
  const [from] = await own.rpc('eth_accounts');
  const hash = await own.rpc('eth_sendTransaction', {
    from,
    to: ACCOUNT,
    value: '0xde0b6b3a7640000',
  });
  await latest
    .locator(`tr:has(a[title="${hash}"]):has-text("Transfer"):has-text("1 HPX")`)
    .waitFor();
  const pending = page.locator('h2:text-is("Pending transactions")');
  assert.ok(!(await pending.isVisible()));
  await own.rpc('evm_setAutomine', false);
  await own.rpc('eth_sendTransaction', { from, to: ACCOUNT, value: '0x1' });
  await pending.waitFor();
  await browser.picture(page, 'network-latest');
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
  assert.ok(
    0 < gasPriceStep.low &&
      gasPriceStep.low < gasPriceStep.average &&
      gasPriceStep.average < gasPriceStep.high,
  );
  const { rpc, rest, evm, chainId, bip44, bech32Config, features } = document;
  assert.deepEqual(
    [rpc, rest, evm],
    [node.url, node.url, { chainId: 125, rpc: `${node.url}/rpc` }],
  );
  assert.deepEqual(
    [chainId, bip44, bech32Config.bech32PrefixAccAddr],
    ['hyperpax_125-1', { coinType: 60 }, 'pax'],
  );
  for (const feature of ['eth-address-gen', 'eth-key-sign']) assert.ok(features.includes(feature));
  // Keplr's requests before it shows the chain.
  assert.equal((await (await fetch(`${rpc}/status`)).json()).result.node_info.network, chainId);
  const { default_node_info } = await (
    await fetch(`${rest}/cosmos/base/tendermint/v1beta1/node_info`)
  ).json();
  assert.equal(default_node_info.network, chainId);

  await page.evaluate(() => {
    window.keplr.experimentalSuggestChain = () => Promise.reject(new Error('Request rejected'));
  });
  await button.click();
  await page.waitForSelector('.toast.error:has-text("Request rejected")');
  await clean(page);
});

test('the page reconnects to a restarted node and notices a new chain', async () => {
  const own = await startNode();
  await own.rpc('evm_mine', { blocks: '0x5' });
  const page = await browser.open(own.url, {
    tolerated: /ERR_CONNECTION_REFUSED|WebSocket|Failed to load/,
  });
  await page.waitForSelector('#status-text:has-text("block 5")');
  await own.stop();
  await page.waitForSelector('#status.lost');
  // Without a different balance, nodes started within the same second would have the same genesis
  // block.
  const next = await startNode(
    '--listen',
    `127.0.0.1:${own.port}`,
    '--exchange-price-tick',
    '0',
    '--balance',
    '9000',
  );
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
  writeFileSync(
    file,
    JSON.stringify({
      config: { chainId: 7, londonBlock: 0 },
      difficulty: '0x0',
      gasLimit: '0x1c9c380',
      alloc: {},
    }),
  );
  const own = await startNode('--genesis', file);
  await own.rpc('evm_mine', { blocks: '0x5' });
  const page = await browser.open(own.url, {
    tolerated: /404|ERR_CONNECTION_REFUSED|WebSocket|Failed to load/,
  });
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

test('the production profile shows no developer controls', async () => {
  const production = await startNode('--profile', 'production');
  const page = await browser.open(production.url);
  await page.waitForSelector('nav a:has-text("Accounts")');
  assert.equal(await page.locator('nav a:has-text("Developer")').count(), 0);
  await page.goto(`${production.url}/#/developer`);
  await page.waitForSelector(
    '.failure:text-is("The developer view needs the development profile.")',
  );
  await page.goto(`${production.url}/#/nowhere`);
  await page.waitForSelector('.failure:text-is("There is no page “nowhere”.")');
  await page.goto(`${production.url}/#/exchange?from=USDC&to=DOGE`);
  await page.waitForSelector('.failure:text-is("Unknown token DOGE")');
  await page.waitForSelector('button.primary:has-text("Connect a wallet"):disabled');
  await page.waitForSelector('.swap .failure:has-text("No browser wallet found.") a');
  assert.ok(
    !(await page.isVisible('.swap button:text-is("Max")')),
    'no balance, so no button for it',
  );
  await clean(page);
  await production.stop();
});

test('a chain from a genesis file has an explorer but no exchange', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tetrad-genesis-'));
  const file = join(folder, 'genesis.json');
  writeFileSync(
    file,
    JSON.stringify({
      config: { chainId: 7, londonBlock: 0 },
      difficulty: '0x0',
      gasLimit: '0x1c9c380',
      alloc: {},
    }),
  );
  const other = await startNode('--genesis', file);
  const page = await browser.open(other.url, { tolerated: /404/ });
  await page.waitForSelector('#status-text:has-text("Chain 7")');
  assert.equal(
    await page.locator('nav a:has-text("Exchange"), nav a:has-text("Lending")').count(),
    0,
  );
  for (const path of [
    'explorer',
    'explorer/blocks',
    'tokens',
    'accounts',
    'faucet',
    'block/0',
    `address/${ACCOUNT}`,
    'developer',
  ]) {
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
    new PerformanceObserver((list) =>
      list.getEntries().forEach((one) => (window.longest = Math.max(window.longest, one.duration))),
    ).observe({ type: 'longtask' });
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

test('every view is accessible, fits its window and labels its controls', async () => {
  const [from] = await node.rpc('eth_accounts');
  const hash = await node.rpc('eth_sendTransaction', { from, to: ACCOUNT, value: '0x1' });
  const paths = [
    '',
    'exchange',
    'lending',
    'accounts',
    'faucet',
    'developer',
    'api',
    'interfaces',
    'contract/0x49B0f9a0554da1A7243A9C8ac5B45245A66D90ff',
    'simulate',
    `tx/${hash}`,
    'nowhere',
  ];
  for (const look of LOOKS) {
    const page = await browser.open(node.url, look);
    for (const path of paths) {
      await page.evaluate((to) => {
        document.querySelector('main h1').remove();
        location.hash = `#/${to}`;
        if (!to) window.dispatchEvent(new HashChangeEvent('hashchange'));
      }, path);
      await page.waitForSelector('main h1');
      await page.waitForLoadState('networkidle');
      await assertAccessible(page, `${path}, ${look.name}`);
      await assertFits(page, `${path}, ${look.name},`);
      const unnamed = await page.evaluate(() =>
        [...document.querySelectorAll('button, a, input, select, textarea')]
          .filter(
            (one) =>
              !(
                one.textContent.trim() ||
                one.getAttribute('aria-label') ||
                one.labels?.length ||
                one.title
              ),
          )
          .filter((one) => one.checkVisibility())
          .map((one) => one.outerHTML.slice(0, 100)),
      );
      assert.deepEqual(unnamed, [], path);
      await browser.picture(page, `${look.name}-${path.split('/')[0] || 'network'}`);
    }
    await clean(page);
  }
});

test('characters that change the direction of writing are replaced, however a text is set', async () => {
  const page = await browser.open(node.url);
  const texts = await page.evaluate(async () => {
    const { h, replace, setText } = await import('/site/lib/dom.js');
    const text = '1 \u202etoken';
    const set = h('p');
    setText(set, text);
    return [h('p', text), replace(h('p'), [text, null]), set].map((one) => one.textContent);
  });
  assert.deepEqual(texts, Array(3).fill('1 \ufffdtoken'));
  await clean(page);
});
