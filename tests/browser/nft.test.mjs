// Non-fungible tokens in a real browser, whose metadata may be malicious.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import { assertFits } from './accessible.mjs';
import { instance, mint, word } from './items.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

let node;
let browser;

before(async () => {
  [node, browser] = await Promise.all([startNode(), startBrowser()]);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
});

const json = (value) =>
  `data:application/json;base64,${Buffer.from(JSON.stringify(value)).toString('base64')}`;

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="parent.ran = 1"><script>parent.ran = 1; top.ran = 1</script><rect width="9" height="9" fill="#3551d8"/></svg>';

test('an item shows its picture, name, description and attributes, and runs no scripts of them', async () => {
  const name = '<img src=x onerror="window.ran = 1">';
  const attributes = [
    { trait_type: 'Colour', value: 'Blue' },
    { trait_type: 'Level', value: 7 },
    { value: { nested: true } },
    null,
  ];
  const token = await mint(
    node,
    json({
      name,
      description: 'Line one\nLine two',
      image_data: SVG,
      attributes,
      external_url: 'javascript:alert(1)',
    }),
  );
  const { metadata, image_url: image, external_app_url: external } = await instance(node, token);
  assert.equal(metadata.name, name);
  assert.match(image, /^data:image\/svg\+xml;base64,/);
  assert.equal(external, null);

  const page = await browser.open(`${node.url}/#/token/${token}/1`);
  await page.waitForFunction(() => document.querySelector('.nft-picture img')?.naturalWidth > 0);
  assert.equal(await page.getAttribute('.nft-picture img', 'alt'), name);
  assert.deepEqual(await page.locator('.attributes > div').allTextContents(), [
    'ColourBlue',
    'Level7',
  ]);
  assert.equal(await page.textContent('.nft-text'), 'Line one\nLine two');
  assert.equal(await page.evaluate(() => window.ran), undefined);
  await browser.picture(page, 'nft-item');

  await page.goto(`${node.url}/#/token/${token}?tab=items`);
  await page.waitForSelector('.nft-thumbnail img');
  await page.waitForSelector('[aria-label="Items"] td:has-text("onerror")');
  await clean(page);

  const phone = await browser.open(`${node.url}/#/token/${token}/1`, {
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
  });
  await phone.waitForSelector('.nft-picture img');
  await assertFits(phone, 'an item');
  await browser.picture(phone, 'nft-item-phone');
  await clean(phone);
});

test('the symbol of a token does not push other columns of holdings out of sight', async () => {
  // This token returns its URI as its symbol, too.
  await mint(node, json({ name: 'x'.repeat(400) }));
  const [owner] = await node.rpc('eth_accounts');
  const page = await browser.open(`${node.url}/#/address/${owner}?tab=tokens`, {
    viewport: { width: 1440, height: 900 },
  });
  const holdings = page.locator('[aria-label="Token holdings"]');
  await holdings.locator('.symbol[title^="data:"]').first().waitFor();
  assert.ok(await holdings.evaluate((box) => box.scrollWidth <= box.clientWidth));
  await clean(page);
});

test('metadata outside of the chain is a link that is not loaded', async () => {
  const ipfs = await mint(node, 'ipfs://bafy/{id}.json');
  assert.equal((await instance(node, ipfs)).token_uri, `ipfs://bafy/${word(1)}.json`);

  // A server that would answer the node and the page alike.
  const asked = [];
  const outside = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(200, {
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
    });
    response.end(JSON.stringify({ name: 'Followed', image: 'data:image/png;base64,AA==' }));
  });
  await new Promise((resolve) => outside.listen(0, '127.0.0.1', resolve));
  try {
    const uri = `http://127.0.0.1:${outside.address().port}/1.json`;
    const token = await mint(node, uri);
    assert.equal((await instance(node, token)).token_uri, uri);

    const page = await browser.open(`${node.url}/#/explorer`);
    page.on(
      'request',
      (request) => !request.url().startsWith(node.url) && asked.push(request.url()),
    );
    await page.goto(`${node.url}/#/token/${token}/1`);
    await page.waitForSelector(`.facts :text("${uri}")`);
    await page.waitForSelector('p:has-text("Neither the node nor this page follows the link")');
    assert.equal(await page.locator('.nft-picture').count(), 0);
    assert.deepEqual(asked, []);
    // A request that the page's policy blocks appears as an error only.
    await clean(page);

    await fetch(uri);
    assert.deepEqual(asked, ['/1.json']);
  } finally {
    outside.closeAllConnections();
    outside.close();
  }
});

test('a picture in a URL whose scheme is in capitals has no link beside it', async () => {
  const token = await mint(
    node,
    json({
      name: 'Capitals',
      image: `DATA:image/svg+xml;base64,${Buffer.from(SVG).toString('base64')}`,
    }),
  );
  const page = await browser.open(`${node.url}/#/token/${token}/1`);
  await page.waitForFunction(() => document.querySelector('.nft-picture img')?.naturalWidth > 0);
  assert.equal(await page.locator('.facts dt:text-is("Picture")').count(), 0);
  assert.equal(await page.locator('.facts dt:text-is("Contract")').count(), 1);
  await clean(page);
});

test('large numbers of the metadata are shown exactly', async () => {
  const token = await mint(
    node,
    'data:application/json,{"name":"Exact","attributes":[{"trait_type":"Power","value":12345678901234567890}]}',
  );
  const page = await browser.open(`${node.url}/#/token/${token}/1`);
  await page.waitForSelector('.attributes > div:has-text("Power")');
  assert.deepEqual(await page.locator('.attributes dd').allTextContents(), [
    '12345678901234567890',
  ]);
  await clean(page);
});

test('an SVG that grows without bounds is drawn on request only', async () => {
  const levels = Array.from(
    { length: 12 },
    (_, at) => `<g id="l${at + 1}">${`<use href="#l${at}"/>`.repeat(10)}</g>`,
  ).join('');
  const bomb = `<svg xmlns="http://www.w3.org/2000/svg"><defs><rect id="l0" width="1" height="1"/>${levels}</defs><use href="#l12"/></svg>`;
  const token = await mint(node, json({ image: `data:image/svg+xml;utf8,${bomb}` }));
  const page = await browser.open(`${node.url}/#/token/${token}/1`);
  await page.waitForSelector('.nft-picture button:text-is("Show picture")');
  assert.equal(await page.locator('.nft-picture img').count(), 0);
  await clean(page);
});
