// The book in a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { forms } from '../../crates/page/src/page/lib/address.js';
import { replaced, replacements, WRITTEN } from '../../crates/page/src/page/lib/bookexamples.js';
import { find, marked, prepare } from '../../crates/page/src/page/lib/bookindex.js';
import { LOOKS, assertAccessible, assertFits } from './accessible.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

const CHAPTERS = ['', 'start/scenarios.html', 'contracts/Vault.html'];
let node;
let browser;

before(async () => {
  [node, browser] = await Promise.all([startNode(), startBrowser()]);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
});

const open = (path = '', options = {}) => browser.open(`${node.url}/docs/${path}`, options);

test('the search prefers titles to headings and headings to text', () => {
  const sections = prepare([
    {
      title: 'Oracle',
      page: 'oracle.html',
      sections: [
        ['Oracle', '', 'Prices come from it.'],
        ['Halts', 'halts', 'A vault halts.'],
      ],
    },
    {
      title: 'Vault',
      page: 'vault.html',
      sections: [
        ['Vault', '', 'Swaps of tokens.'],
        ['Fees', 'fees', 'The oracle has none; oracles cost nothing.'],
      ],
    },
    {
      title: 'Other',
      page: 'a/other.html',
      sections: [
        ['Other', '', 'Nothing'],
        ['The oracle at work', 'work', 'Prices'],
      ],
    },
  ]);

  const places = (query) => find(sections, query).map(({ href }) => href);
  assert.deepEqual(places('oracle'), [
    'oracle.html',
    'a/other.html#work',
    'oracle.html#halts',
    'vault.html#fees',
  ]);
  assert.deepEqual(places('ORACLE  prices'), ['oracle.html', 'a/other.html#work']);
  assert.deepEqual(places('vault'), ['vault.html', 'vault.html#fees', 'oracle.html#halts']);
  assert.deepEqual(places('oracle absent'), []);
  assert.deepEqual(places('  '), []);
  assert.deepEqual(places('(.*'), []);

  assert.deepEqual(marked('The (a) oracle', 'ORA (a'), [
    ['The ', false],
    ['(a', true],
    [') ', false],
    ['ora', true],
    ['cle', false],
  ]);
});

test('the search finds synonyms, and prefers chapters to references', () => {
  const subjects = prepare([
    {
      title: 'REST reference',
      page: 'interfaces/rest.html',
      sections: [
        ['REST reference', '', 'Routes.'],
        ['Faucet', 'faucet', 'Pays coins.'],
        ['Verification', 'verification', 'Verify it.'],
      ],
    },
    {
      title: 'Getting coins and tokens',
      page: 'start/funding.html',
      sections: [['Getting coins and tokens', '', 'From a faucet.']],
    },
    {
      title: 'Running a shared node',
      page: 'start/operators.html',
      sections: [['Running a shared node', '', 'For a team.']],
    },
    {
      title: 'Source verification',
      page: 'interfaces/verification.html',
      sections: [['Source verification', '', 'Send sources.']],
    },
  ]);

  const first = (query) => find(subjects, query)[0].href;
  assert.deepEqual(['faucet', 'coins', 'operator', 'verify'].map(first), [
    'start/funding.html',
    'start/funding.html',
    'start/operators.html',
    'interfaces/verification.html',
  ]);
  assert.equal(first('rest reference'), 'interfaces/rest.html');
});

test('a result of the search shows the text around the match', () => {
  const long = prepare([
    {
      title: 'Long',
      page: 'long.html',
      sections: [['Long', '', `${'word '.repeat(100)}needle ${'word '.repeat(100)}`]],
    },
  ]);

  const [{ excerpt }] = find(long, 'needle');
  assert.ok(
    excerpt.includes('needle') &&
      excerpt.length < 200 &&
      excerpt.startsWith('…') &&
      excerpt.endsWith('…'),
    excerpt,
  );
});

test('the page links to the book, and chapters link to each other', async () => {
  const page = await browser.open(node.url);
  await page.click('header a:has-text("Docs")');
  await page.waitForURL(`${node.url}/docs/`);
  assert.equal(await page.textContent('h1'), 'Introduction');
  assert.equal(await page.textContent('.contents [aria-current]'), 'Introduction');
  await page.click('a[rel=next]');
  await page.waitForURL(/start\/dapp\.html$/);
  assert.match(await page.title(), /^Building a dapp · tetrad$/);
  await page.click('.contents a:has-text("JSON-RPC")');
  await page.waitForURL(/interfaces\/json-rpc\.html$/);
  await page.click('.outline a >> nth=1');
  assert.match(page.url(), /#/);
  await page.waitForSelector('.outline a[aria-current]');
  await page.click('a[rel=prev]');
  await page.waitForURL(/interfaces\/page\.html$/);
  await page.click('.who a:has-text("Node page")');
  await page.waitForURL(`${node.url}/`);
  await clean(page);
});

test('the search is operated with the keyboard alone', async () => {
  const page = await open('interfaces/accounts.html');
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'book-query');
  await page.keyboard.type('price-crash');
  await page.waitForSelector('#book-results [role=option]');
  assert.equal(await page.getAttribute('#book-query', 'aria-expanded'), 'true');
  assert.equal(await page.getAttribute('#book-query', 'aria-activedescendant'), 'book-result-0');
  await page.keyboard.press('ArrowUp');
  const last = (await page.locator('#book-results [role=option]').count()) - 1;
  assert.equal(
    await page.getAttribute('#book-query', 'aria-activedescendant'),
    `book-result-${last}`,
  );
  await page.keyboard.press('ArrowDown');
  await browser.picture(page, 'book-search');
  const target = await page.getAttribute('#book-result-0', 'href');
  await page.keyboard.press('Enter');
  await page.waitForURL(target);
  assert.match(page.url(), /start\/scenarios\.html/);

  await page.fill('#book-query', 'GET /api/pools');
  await page.waitForSelector('#book-results [role=option] >> nth=0');
  assert.match(
    await page.getAttribute('#book-result-0', 'href'),
    /rest-examples\.html#get-apipools$/,
  );
  await page.fill('#book-query', 'xyzzy');
  await page.waitForSelector('#book-results .empty:has-text("Nothing found")');
  await page.keyboard.press('Escape');
  assert.equal(await page.isVisible('#book-results'), false);
  await page.keyboard.press('Escape');
  assert.equal(await page.inputValue('#book-query'), '');
  await clean(page);
});

test('code is copied, and the theme is shared with the page', async () => {
  const page = await open('start/dapp.html', { colorScheme: 'light' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.waitForSelector('.own-node');
  const code = await page.textContent('.code code');
  await page.hover('.code');
  await page.click('.code .copy');
  await page.waitForFunction(() => document.getElementById('live').textContent === 'Copied');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), code);
  await page.click('#book-theme');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.goto(node.url);
  await page.waitForSelector('main h1');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await clean(page);
});

const OTHER = '0x00000000000000000000000000000000000a4711';
/** A node that differs from the one in the book. */
const OWN = {
  root: 'https://a.example/node/',
  chainId: '7',
  cosmosChainId: 'other_7-1',
  contracts: { vault: OTHER },
  accounts: [OTHER],
};

test('only the values that differ on a node are replaced in examples', () => {
  const rewritten = (text) => replacements(text, OWN).map(([, , replacement]) => replacement);
  assert.deepEqual(
    rewritten(
      "curl -s 'localhost:8545/api?a=http://localhost:8545/rpc' ws://localhost:8545/ws http://127.0.0.1:8545",
    ),
    [
      'https://a.example/node',
      'https://a.example/node',
      'wss://a.example/node',
      'https://a.example/node',
    ],
  );
  assert.deepEqual(
    rewritten(
      '--chain 125 { chainId: 125 } { "chainId": "125" } chain = 125 /contract/125/a "hyperpax_125-1"',
    ),
    ['7', '7', '7', '7', '7', 'other_7-1'],
  );
  assert.deepEqual(
    rewritten(
      `${WRITTEN.contracts.vault} ${WRITTEN.accounts[0].toLowerCase()} ${WRITTEN.accounts[1]}`,
    ),
    [OTHER, OTHER],
  );
  assert.deepEqual(
    rewritten(
      'tetrad --listen 127.0.0.1:8545 --block-time 125; https://example.org/localhost:8545 localhost:85450 125 wei',
    ),
    [],
  );

  const link = 'http://localhost:8545/verify/125#top';
  assert.equal(replaced(link, replacements(link, OWN)), 'https://a.example/node/verify/7#top');
});

test('examples keep the bytes of other bech32 addresses, and texts that are not addresses', () => {
  const stranger = forms('0x00000000000000000000000000000000000a4712', 'pax').account;
  const address = forms(WRITTEN.accounts[0], 'pax');
  const elsewhere = { ...OWN, prefix: 'tern' };
  const rewrittenThere = (text) =>
    replacements(text, elsewhere).map(([, , replacement]) => replacement);
  assert.deepEqual(
    rewrittenThere(
      `a/${address.account}/${address.operator} "${stranger}" ${address.account.slice(0, -1)}q`,
    ),
    [
      forms(OTHER, 'tern').account,
      forms(OTHER, 'tern').operator,
      forms('0x00000000000000000000000000000000000a4712', 'tern').account,
    ],
  );
  assert.deepEqual(
    rewrittenThere(
      `{ prefix: 'pax' } "bech32Prefix": "pax", "bech32PrefixValAddr": "paxvaloper" pax`,
    ),
    ['tern', 'tern', 'tern'],
  );
});

test('the book has the default values of a node', async () => {
  const info = await (await fetch(`${node.url}/api/network`)).json();
  const { chainId, cosmosChainId, prefix, contracts, accounts } = WRITTEN;
  assert.deepEqual(
    [String(info.chainId), info.cosmosChainId, info.bech32Prefix],
    [chainId, cosmosChainId, prefix],
  );
  for (const [name, address] of Object.entries(contracts)) assert.equal(info[name], address);
  assert.deepEqual(
    (await node.rpc('eth_accounts')).slice(0, 2),
    accounts.map((address) => address.toLowerCase()),
  );
});

test('addresses in bech32 have the prefix and the accounts of the node', async () => {
  const own = await startNode(
    '--network-bech32-prefix',
    'tern',
    '--mnemonic',
    `${'abandon '.repeat(11)}about`,
  );
  const [first, second] = await own.rpc('eth_accounts');
  const [account, recipient] = [first, second].map((address) => forms(address, 'tern'));
  const page = await browser.open(`${own.url}/docs/interfaces/rest-examples.html`);
  await page.waitForSelector('.own-node');
  const commands = (await page.locator('code.language-sh').allTextContents()).join('');
  assert.ok(commands.includes(`/cosmos/auth/v1beta1/accounts/${account.account}\n`), commands);
  assert.ok(commands.includes(`/validators/${account.operator}/commission\n`), commands);
  assert.ok(commands.includes(`{"address": "${recipient.account}"`), commands);
  assert.doesNotMatch(commands, /\bpax(valoper|valcons)?1/);
  const found = await fetch(`${own.url}/cosmos/auth/v1beta1/accounts/${account.account}`);
  assert.equal(found.status, 200);

  await page.goto(`${own.url}/docs/interfaces/cosmjs.html`);
  await page.waitForSelector('.own-node');
  const scripts = (await page.locator('code.language-js').allTextContents()).join('');
  assert.ok(
    scripts.includes("{ prefix: 'tern' }") &&
      scripts.includes(`const recipient = '${recipient.account}'`),
    scripts,
  );
  await clean(page);
  await own.stop();
});

test('commands address the node that serves the book, and are highlighted by language', async () => {
  const mnemonic = `${'abandon '.repeat(11)}about`;
  const other = await startNode('--chain-id', '4242', '--mnemonic', mnemonic);
  const [first] = await other.rpc('eth_accounts');
  const page = await browser.open(`${other.url}/docs/interfaces/verification.html`);
  await page.waitForSelector(`.own-node:has-text("${other.url}, chain id 4242.")`);
  const toml = page.locator('code.language-toml', { hasText: 'chain = ' });
  assert.match(await toml.textContent(), new RegExp(`chain = 4242, url = "${other.url}/api"`));
  assert.deepEqual(await toml.locator('.string').first().allTextContents(), ['"any"']);

  await page.goto(`${other.url}/docs/interfaces/rest-examples.html`);
  await page.waitForSelector('.own-node');
  const commands = await page.locator('code.language-sh').allTextContents();
  const host = other.url.replace('http://', '');
  assert.ok(commands.includes(`curl -s ${host}/api/v2/addresses/${first}\n`), commands.join(''));
  assert.ok(!commands.some((command) => command.includes('localhost:8545')));
  const balance = await (await fetch(`${other.url}/api/v2/addresses/${first}`)).json();
  assert.notEqual(balance.coin_balance, '0');
  await browser.picture(page, 'book-own-node');
  await clean(page);
  await other.stop();

  const bare = await startNode('--bare');
  const plain = await browser.open(`${bare.url}/docs/interfaces/exchange.html`, {
    tolerated: /404/,
  });
  await plain.waitForSelector('.own-node:has-text("It has neither exchange nor lending")');
  await clean(plain);
  await bare.stop();
});

test('chapters are readable without JavaScript', async () => {
  const page = await open('interfaces/rest-examples.html', {
    javaScriptEnabled: false,
    viewport: { width: 390, height: 844 },
  });
  assert.ok(await page.isVisible('.contents a:has-text("Troubleshooting")'));
  assert.equal(await page.isVisible('#book-query'), false);
  assert.equal(await page.isVisible('#book-menu'), false);
  await clean(page);
});

test('chapters are accessible, in light and dark', async () => {
  for (const look of LOOKS.filter(({ name }) => name.startsWith('desktop'))) {
    const page = await open('', look);
    for (const path of CHAPTERS) {
      await page.goto(`${node.url}/docs/${path}`);
      await page.waitForSelector('main h1');
      await assertAccessible(page, path);
      await browser.picture(
        page,
        `book-${look.name}-${path.replace(/\W/g, '-') || 'introduction'}`,
      );
    }
    await page.fill('#book-query', 'oracle price');
    await page.waitForSelector('#book-results [role=option]');
    await assertAccessible(page, 'results');
    await browser.picture(page, `book-${look.name}-search`);
    await clean(page);
  }
});

test('chapters fit a phone, where the list of chapters is behind a button', async () => {
  for (const look of LOOKS.filter(({ name }) => name.startsWith('phone'))) {
    const page = await open('', look);
    const links = await page
      .locator('.contents a')
      .evaluateAll((all) => all.map((one) => one.href));
    for (const link of links) {
      await page.goto(link);
      await page.waitForSelector('main h1');
      await assertFits(page, link);
    }
    for (const path of [
      'interfaces/rest-examples.html',
      'troubleshooting.html',
      'interfaces/accounts.html',
    ]) {
      await page.goto(`${node.url}/docs/${path}`);
      await page.waitForSelector('main h1');
      await assertAccessible(page, path);
      await browser.picture(page, `book-${look.name}-${path.replace(/\W/g, '-')}`);
    }
    assert.equal(await page.isVisible('.contents'), false);
    await page.click('#book-menu');
    assert.equal(await page.isVisible('.contents'), true);
    await assertAccessible(page, 'the list of chapters');
    await browser.picture(page, `book-${look.name}-menu`);
    await page.locator('.contents a').first().focus();
    await page.keyboard.press('Escape');
    assert.equal(await page.isVisible('.contents'), false);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'book-menu');
    await page.click('#book-query');
    await page.keyboard.type('faucet');
    await page.waitForSelector('#book-results [role=option]');
    await browser.picture(page, `book-${look.name}-search`);
    await clean(page);
  }
});
