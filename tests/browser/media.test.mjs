// Metadata and pictures of non-fungible tokens outside of the chain, which the page loads from
// origins that the operator allows.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import { linksIn, loadableUrl, parseMetadata } from '../../crates/page/src/page/lib/metadata.js';
import { LOOKS, assertFits } from './accessible.mjs';
import { instance, mint, word } from './items.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="parent.ran = 1"><script>parent.ran = 1</script><rect width="9" height="9" fill="#3551d8"/></svg>';
const LEVELS = Array.from(
  { length: 8 },
  (_, at) => `<g id="l${at + 1}">${`<use href="#l${at}"/>`.repeat(10)}</g>`,
).join('');
const BOMB = `<svg xmlns="http://www.w3.org/2000/svg"><g id="l0"/>${LEVELS}</svg>`;

/** The header with which a server lets other pages read its responses. */
const CORS = { 'access-control-allow-origin': '*' };

/**
 * Starts a server that answers with `[content type, body, headers]` by path, and remembers its
 * requests.
 */
async function startServer(answers = {}) {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const answer = answers[request.url] ?? answers['*'];
    if (typeof answer === 'function') return void answer(request, response);
    const [type, body, headers = CORS] = answer ?? ['text/plain', 'nothing'];
    response.writeHead(answer ? 200 : 404, { 'content-type': type, ...headers });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    answers,
    requests,
    paths: () => requests.map(({ url }) => url),
    stop,
  };
}

let gateway;
let listed;
let other;
let node;
let browser;

before(async () => {
  [gateway, listed, other] = await Promise.all([
    startServer(),
    startServer(),
    startServer({ '*': ['image/png', PNG] }),
  ]);
  const settings = [
    '--page-ipfs-gateway',
    `${gateway.origin}/ipfs/`,
    '--page-media-origins',
    listed.origin,
  ];
  [node, browser] = await Promise.all([startNode(...settings), startBrowser()]);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
  for (const server of [gateway, listed, other]) server?.stop();
});

const json = (value) => ['application/json', JSON.stringify(value)];
const onChain = (value) =>
  `data:application/json;base64,${Buffer.from(JSON.stringify(value)).toString('base64')}`;
const openItem = (token, options) => browser.open(`${node.url}/#/token/${token}/1`, options);
const isDrawn = (page) =>
  page.waitForFunction(() => document.querySelector('.nft-picture img')?.naturalWidth > 0);

test('metadata and picture of an ipfs: URI come from the gateway, without cookies and referrer', async () => {
  const name = '<img src=x onerror="window.ran = 1">';
  const attributes = [{ trait_type: 'Colour', value: 'Blue' }];
  gateway.answers[`/ipfs/bafyitem/${word(1)}.json`] = json({
    name,
    description: 'From afar',
    image: 'ipfs://ipfs/bafypicture/a b.png',
    attributes,
  });
  gateway.answers['/ipfs/bafypicture/a%20b.png'] = [
    'image/png',
    PNG,
    { ...CORS, 'set-cookie': 'seen=1' },
  ];
  const token = await mint(node, 'ipfs://bafyitem/{id}.json');

  for (const look of LOOKS) {
    const page = await openItem(token, look);
    await isDrawn(page);
    assert.equal(await page.getAttribute('.nft-picture img', 'alt'), name);
    assert.match(await page.getAttribute('.nft-picture img', 'src'), /^data:image\/png;base64,/);
    assert.equal(await page.textContent('.nft-text'), 'From afar');
    assert.deepEqual(await page.locator('.attributes > div').allTextContents(), ['ColourBlue']);
    await page.waitForSelector(
      `p:text-is("The metadata was loaded from ${new URL(gateway.origin).host}.")`,
    );
    assert.equal(await page.evaluate(() => window.ran), undefined);
    await assertFits(page, look.name);
    await browser.picture(page, `media-${look.name}`);
    await clean(page);
  }

  assert.deepEqual(
    gateway.requests.flatMap(({ headers }) => [headers.cookie, headers.referer]).filter(Boolean),
    [],
  );
  assert.deepEqual([...new Set(gateway.requests.map(({ headers }) => headers.origin))], [node.url]);
  // The API has links, even to origins from which the page may not load.
  const { metadata, image_url: image, token_uri: uri } = await instance(node, token);
  assert.deepEqual([metadata, image, uri], [null, null, `ipfs://bafyitem/${word(1)}.json`]);
});

test('an SVG of a listed origin is drawn as an image, and on request only if that could take long', async () => {
  listed.answers['/plain.svg'] = ['image/svg+xml', SVG];
  listed.answers['/bomb.svg'] = ['image/svg+xml', BOMB];
  const plain = await openItem(
    await mint(node, onChain({ name: 'Plain', image: `${listed.origin}/plain.svg` })),
  );
  await isDrawn(plain);
  assert.match(await plain.getAttribute('.nft-picture img', 'src'), /^data:image\/svg/);
  assert.equal(await plain.evaluate(() => window.ran), undefined);
  await clean(plain);

  // The URI may be that of the picture itself.
  const bomb = await openItem(await mint(node, `${listed.origin}/bomb.svg`));
  await bomb.waitForSelector('.nft-picture button:text-is("Show picture")');
  assert.equal(await bomb.locator('.nft-picture img').count(), 0);
  await clean(bomb);
});

test('a picture is requested once, and the received bytes are shown', async () => {
  const answers = [
    ['image/png', PNG],
    ['image/svg+xml', BOMB],
  ];
  listed.answers['/changing.png'] = (_, response) => {
    const [type, body] = answers.shift();
    response.writeHead(200, { 'content-type': type, ...CORS }).end(body);
  };
  // By the metadata, and as the item's URI itself.
  for (const uri of [
    onChain({ name: 'Changing', image: `${listed.origin}/changing.png` }),
    `${listed.origin}/still.png`,
  ]) {
    listed.answers['/still.png'] = ['image/png', PNG];
    const page = await openItem(await mint(node, uri));
    await isDrawn(page);
    assert.equal(
      await page.getAttribute('.nft-picture img', 'src'),
      `data:image/png;base64,${PNG.toString('base64')}`,
    );
    await clean(page);
  }
  assert.equal(answers.length, 1);
  assert.equal(listed.paths().filter((path) => path === '/still.png').length, 1);
});

test('a picture that other pages may not read is shown on request', async () => {
  listed.answers['/private.png'] = ['image/png', PNG, {}];
  const token = await mint(
    node,
    onChain({ name: 'Private', image: `${listed.origin}/private.png` }),
  );
  const page = await openItem(token, { tolerated: /CORS|Failed to load resource/ });
  await page.click('.nft-picture button:text-is("Show picture")');
  await isDrawn(page);
  await clean(page);
});

test('an origin that is not allowed gets no request', async () => {
  const uri = `${other.origin}/1.json`;
  const direct = await openItem(await mint(node, uri));
  await direct.waitForSelector(`.facts :text("${uri}")`);
  await direct.waitForSelector(
    'p:has-text("the settings of this node do not let the page load it")',
  );
  await clean(direct);

  listed.answers['/elsewhere.json'] = json({
    name: 'Elsewhere',
    image: `${other.origin}/1.png`,
    animation_url: `${listed.origin}/1.mp4`,
  });
  const picture = await openItem(await mint(node, `${listed.origin}/elsewhere.json`));
  await picture.waitForSelector(
    '.facts p:text-is("The settings of this node do not let the page load it.")',
  );
  assert.equal(await picture.locator('.nft-picture').count(), 0);
  await browser.picture(picture, 'media-elsewhere');
  await clean(picture);

  // The policy also applies to redirections.
  const redirect = (_, response) =>
    response.writeHead(302, { location: `${other.origin}/1.json`, ...CORS }).end();
  listed.answers['/moved.json'] = redirect;
  const moved = await openItem(await mint(node, `${listed.origin}/moved.json`), {
    tolerated: /Content Security Policy|Failed to load|Fetch API cannot load/,
  });
  await moved.waitForSelector('p:has-text("could not be loaded")');
  await clean(moved);
  assert.deepEqual(other.paths(), []);
});

test('responses that exceed a limit or have another type stay links with the reason', async () => {
  const deep = `{"a":${'['.repeat(100)}${']'.repeat(100)}}`;
  Object.assign(listed.answers, {
    '/long.json': json({ name: 'x'.repeat(600_000) }),
    '/deep.json': ['application/json', deep],
    '/list.json': json(['name']),
    '/page.html': ['text/html', '<!doctype html><title>No</title>'],
    '/icon.bmp': ['image/bmp', 'BM'],
    '/private.json': ['application/json', '{}', {}],
    '/damaged.json': json({ name: 'Damaged', image: `${listed.origin}/damaged.png` }),
    '/damaged.png': ['image/png', 'not a picture'],
    '/large.json': json({ name: 'Large', image: `${listed.origin}/large.png` }),
    // Without a length that the page could see beforehand.
    '/large.png': (_, response) => {
      response.writeHead(200, { 'content-type': 'image/png', ...CORS });
      for (let at = 0; at < 9; at++) response.write(Buffer.alloc(1024 * 1024));
      response.end();
    },
    '/nested.json': json({ name: 'Nested', image: `${listed.origin}/nested.json` }),
  });
  const cases = [
    ['/long.json', 'the answer is longer than 512 KiB.'],
    ['/deep.json', 'the answer nests deeper than 64 levels.'],
    ['/list.json', 'the answer is no JSON object.'],
    ['/page.html', 'the answer is neither JSON nor a picture.'],
    ['/icon.bmp', 'the picture is of a kind that is not shown.'],
    ['/missing.json', 'the server answered with status 404.'],
    ['/private.json', 'the server is not reachable, or does not let this page read its answers.'],
    ['/damaged.json', 'The picture is damaged.'],
    ['/large.json', 'The answer is longer than 8 MiB.'],
    ['/nested.json', 'There is no picture at the link.'],
  ];
  for (const [path, reason] of cases) {
    const token = await mint(node, listed.origin + path);
    const page = await openItem(token, { tolerated: /CORS|Failed to load resource/ });
    await page.waitForSelector(`p:has-text("${reason}")`);
    await page.waitForSelector(`.facts a[href="${listed.origin}${path}"]`);
    assert.equal(await page.locator('.nft-picture').count(), 0, path);
    if (path === '/page.html') await browser.picture(page, 'media-failed');
    await clean(page);
  }
});

test('a response that does not arrive times out', async () => {
  const asked = new Promise((resolve) => (listed.answers['/silent.json'] = resolve));
  const token = await mint(node, `${listed.origin}/silent.json`);
  const page = await browser.open(`${node.url}/#/explorer`);
  await page.clock.install();
  await page.goto(`${node.url}/#/token/${token}/1`);
  await asked;
  await page.waitForSelector('p:has-text("Loading the metadata from")');
  await page.clock.fastForward(16_000);
  await page.waitForSelector('p:has-text("the answer took longer than 15 seconds.")');
  await clean(page);
});

test('lists load the pictures of visible rows, and the page remembers them', async () => {
  const ids = Array.from({ length: 40 }, (_, at) => at + 1);
  const path = (id) => `/ipfs/bafylist/${word(id)}`;
  for (const id of ids)
    gateway.answers[path(id)] = json({ name: `Item ${id}`, image: 'ipfs://bafypicture/{id}.png' });
  for (const id of ids) gateway.answers[`/ipfs/bafypicture/${word(id)}.png`] = ['image/png', PNG];
  const own = await startNode('--page-ipfs-gateway', `${gateway.origin}/ipfs/`);
  const token = await mint(own, 'ipfs://bafylist/{id}', ids);
  const asked = () => gateway.paths().filter((one) => one.startsWith('/ipfs/bafylist/'));

  const page = await browser.open(`${own.url}/#/explorer`, {
    viewport: { width: 1440, height: 600 },
  });
  await page.addInitScript(() => {
    window.observers = 0;
    window.IntersectionObserver = class extends IntersectionObserver {
      constructor(...options) {
        super(...options);
        window.observers++;
      }
    };
  });
  await page.goto(`${own.url}/?#/token/${token}?tab=items`);
  const rows = page.locator('[aria-label="Items"] tbody tr');
  await rows.first().locator('.nft-thumbnail img').waitFor();
  const id = (await rows.first().locator('a').first().textContent()).replace('#', '');
  await browser.picture(page, 'media-list');
  assert.ok(asked().length < ids.length, `${asked().length} of ${ids.length} were asked for`);

  await rows.last().scrollIntoViewIfNeeded();
  await rows.last().locator('.nft-thumbnail img').waitFor();
  // One for all rows, which keeps none that are replaced.
  assert.equal(await page.evaluate(() => window.observers), 1);

  // The item's own view does not request anything that the list has loaded.
  await rows.first().locator('a').first().click();
  await isDrawn(page);
  await page.waitForSelector(`.facts dd:text-is("Item ${id}")`);
  assert.equal(asked().filter((one) => one === path(id)).length, 1);
  await clean(page);

  // The token answers every call alike, including that for the owner of an item.
  const { owner } = await instance(own, token);
  const held = await browser.open(`${own.url}/#/address/${owner.hash}?tab=nft`, {
    tolerated: /404/,
  });
  await held.waitForSelector('[aria-label="Non-fungible tokens"] .nft-thumbnail img');
  await browser.picture(held, 'media-held');
  await clean(held);
  await own.stop();
});

test('links become URLs of allowed origins only', () => {
  const rules = {
    sources: ['https://a.example', 'http://127.0.0.1:8080'],
    gateway: 'http://127.0.0.1:8080/ipfs/',
  };
  for (const [link, url] of [
    ['ipfs://bafy', 'http://127.0.0.1:8080/ipfs/bafy'],
    ['ipfs://ipfs/bafy/1.json', 'http://127.0.0.1:8080/ipfs/bafy/1.json'],
    ['ipfs://bafy/a b?x=1#y', 'http://127.0.0.1:8080/ipfs/bafy/a%20b?x=1'],
    ['ipfs://bafy/../../admin', null],
    ['ipfs://bafy/%2e%2e/%2e%2e/admin', null],
    ['ipfs://../admin', null],
    ['ipfs://b@evil.example/1', null],
    ['https://a.example/1#y', 'https://a.example/1'],
    ['https://A.example:443/1', 'https://a.example/1'],
    ['https://a.example:444/1', null],
    ['https://b.a.example/1', null],
    ['https://a.example@b.example/1', null],
    ['https://me:secret@a.example/1', null],
    ['http://a.example/1', null],
    ['http://127.0.0.1:8081/', null],
    ['ar://1', null],
    ['javascript:alert(1)', null],
    ['data:text/html,<p>', null],
    ['//a.example/1', null],
    [`https://a.example/${'1'.repeat(3_000)}`, null],
  ]) {
    assert.equal(loadableUrl(link, rules), url, link);
  }
  assert.equal(loadableUrl('ipfs://bafy', { ...rules, gateway: '' }), null);
  const all = { sources: ['https:'], gateway: '' };
  assert.equal(loadableUrl('https://b.example/1', all), 'https://b.example/1');
  assert.equal(loadableUrl('http://b.example/1', all), null);
});

test('metadata is an object within limits, and links are read from its members', () => {
  assert.deepEqual(parseMetadata('{"a":"[[[\\"["}'), { a: '[[["[' });
  for (const text of [
    '',
    '[]',
    '1',
    'null',
    '{',
    '<p>',
    `${'['.repeat(250_000)}`,
    `{"a":"${'\\"'.repeat(200_000)}`,
  ]) {
    assert.throws(() => parseMetadata(text), /^Error: the answer/, text.slice(0, 20));
  }
  const { picture, animation, external } = linksIn(
    { image_url: ' ipfs://bafy/{id}.png ', animation_url: 'javascript:alert(1)', external_url: 7 },
    '255',
  );
  assert.deepEqual([picture, animation, external], [`ipfs://bafy/${word(255)}.png`, null, null]);
  assert.match(
    linksIn({ image: '<svg>\ud800</svg>' }, '1').picture,
    /^data:image\/svg\+xml;charset=utf-8,%3Csvg/,
  );
  assert.equal(linksIn({ image: 'data:text/html,<p>' }, '1').picture, null);
});
