// Non-fungible tokens in a real browser: what a token says of itself, whatever that is.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import { isCostly, isPicture } from '../../crates/page/src/page/lib/imageurls.js';
import { instance, mint, word } from './items.mjs';
import { startBrowser, startNode } from './node.mjs';

let node;
let browser;

before(async () => {
  [node, browser] = await Promise.all([startNode(), startBrowser()]);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
});

function clean(page) {
  assert.deepEqual(page.problems, []);
  return page.context().close();
}

const json = (value) => `data:application/json;base64,${Buffer.from(JSON.stringify(value)).toString('base64')}`;
const base64 = (text) => `data:image/svg+xml;base64,${Buffer.from(text).toString('base64')}`;

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="parent.ran = 1"><script>parent.ran = 1; top.ran = 1</script><rect width="9" height="9" fill="#3551d8"/></svg>';

test('an item shows its picture, name, description and attributes, and runs nothing of it', async () => {
  const name = '<img src=x onerror="window.ran = 1">';
  const attributes = [{ trait_type: 'Colour', value: 'Blue' }, { trait_type: 'Level', value: 7 }, { value: { nested: true } }, null];
  const token = await mint(node, json({ name, description: 'Line one\nLine two', image_data: SVG, attributes, external_url: 'javascript:alert(1)' }));
  const { metadata, image_url: image, external_app_url: external } = await instance(node, token);
  assert.equal(metadata.name, name);
  assert.match(image, /^data:image\/svg\+xml;base64,/);
  assert.equal(external, null);

  const page = await browser.open(`${node.url}/#/token/${token}/1`);
  await page.waitForFunction(() => document.querySelector('.nft-picture img')?.naturalWidth > 0);
  assert.equal(await page.getAttribute('.nft-picture img', 'alt'), name);
  assert.deepEqual(await page.locator('.attributes > div').allTextContents(), ['ColourBlue', 'Level7']);
  assert.equal(await page.textContent('.nft-text'), 'Line one\nLine two');
  assert.equal(await page.evaluate(() => window.ran), undefined);
  await browser.picture(page, 'nft-item');

  await page.goto(`${node.url}/#/token/${token}?tab=items`);
  await page.waitForSelector('.nft-thumbnail img');
  await page.waitForSelector('[aria-label="Items"] td:has-text("onerror")');
  await clean(page);

  const phone = await browser.open(`${node.url}/#/token/${token}/1`, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
  await phone.waitForSelector('.nft-picture img');
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await browser.picture(phone, 'nft-item-phone');
  await clean(phone);
});

test('metadata outside of the chain is a link that nobody follows', async () => {
  const ipfs = await mint(node, 'ipfs://bafy/{id}.json');
  assert.equal((await instance(node, ipfs)).token_uri, `ipfs://bafy/${word(1)}.json`);

  // A server that would answer the node and the page alike.
  const asked = [];
  const outside = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' });
    response.end(JSON.stringify({ name: 'Followed', image: 'data:image/png;base64,AA==' }));
  });
  await new Promise((resolve) => outside.listen(0, '127.0.0.1', resolve));
  try {
    const uri = `http://127.0.0.1:${outside.address().port}/1.json`;
    const token = await mint(node, uri);
    assert.equal((await instance(node, token)).token_uri, uri);

    const page = await browser.open(`${node.url}/#/explorer`);
    page.on('request', (request) => !request.url().startsWith(node.url) && asked.push(request.url()));
    await page.goto(`${node.url}/#/token/${token}/1`);
    await page.waitForSelector(`.facts :text("${uri}")`);
    await page.waitForSelector('p:has-text("Neither the node nor this page follows the link")');
    assert.equal(await page.locator('.nft-picture').count(), 0);
    assert.deepEqual(asked, []);
    // What the page's policy blocks is no request, but an error.
    await clean(page);

    await fetch(uri);
    assert.deepEqual(asked, ['/1.json']);
  } finally {
    outside.closeAllConnections();
    outside.close();
  }
});

test('an SVG that grows without bounds is drawn on request only', async () => {
  const levels = Array.from({ length: 12 }, (_, at) => `<g id="l${at + 1}">${`<use href="#l${at}"/>`.repeat(10)}</g>`).join('');
  const bomb = `<svg xmlns="http://www.w3.org/2000/svg"><defs><rect id="l0" width="1" height="1"/>${levels}</defs><use href="#l12"/></svg>`;
  const token = await mint(node, json({ image: `data:image/svg+xml;utf8,${bomb}` }));
  const page = await browser.open(`${node.url}/#/token/${token}/1`);
  await page.waitForSelector('.nft-picture button:text-is("Show picture")');
  assert.equal(await page.locator('.nft-picture img').count(), 0);
  await clean(page);

  assert.ok(isCostly(base64(bomb)) && isCostly(base64('<!DOCTYPE svg><svg/>')));
  assert.ok(!isCostly(base64(SVG)) && !isCostly('data:image/png;base64,AA=='));
  assert.ok(isPicture(base64(SVG)) && !isPicture('https://a.example/1.png') && !isPicture('data:text/html,<p>') && !isPicture(null));
  assert.ok(!isPicture(`data:image/png;base64,${'A'.repeat(1_000_001)}`));
});

test('an SVG in which browsers may find more than the page does is drawn on request only', () => {
  const levels = Array.from({ length: 8 }, (_, at) => `<g id="l${at + 1}">${`<use href="#l${at}"/>`.repeat(10)}</g>`).join('');
  const bomb = `<svg xmlns="http://www.w3.org/2000/svg"><g id="l0"/>${levels}</svg>`;
  const urls = [
    // Base64 counts only at the end of the head.
    `data:image/svg+xml;base64;x,${bomb}`,
    `data:image/svg+xml;ba\tse64,${btoa(bomb)}`,
    `data:image/svg+xml;charset=utf-16,${bomb}`,
    // Bytes that are not UTF-8, and base64 that is none.
    `data:image/svg+xml,${bomb}%FF`,
    'data:image/svg+xml;base64,A',
    'data:image/svg+xml',
    `data:image/svg+xml;base64,${Buffer.from(bomb, 'utf16le').toString('base64')}`,
    `data:image/svg+xml;base64,${Buffer.from(`\ufeff${bomb}`, 'utf16le').toString('base64')}`,
    base64(bomb.replaceAll('<use', '<u\x1b(Bse')),
    `data:image/svg+xml,${bomb.replaceAll('<use', '<u\nse')}`,
    base64(bomb.replaceAll('<use', '<a-b:use')),
    base64(`<svg><image href="${base64(bomb)}"/></svg>`),
    base64(`<svg><image href="&#100;ata:image/png,"/></svg>`),
    base64(`<svg><foreignObject><p>Text</p></foreignObject></svg>`),
  ];
  assert.deepEqual(urls.filter((url) => !isCostly(url)), []);
});

test('few repetitions of much are drawn on request only, others at once', () => {
  const level = (at) => `<g id="l${at + 1}">${`<use href="#l${at}"/>`.repeat(3)}</g>`;
  const levels = Array.from({ length: 10 }, (_, at) => level(at)).join('');
  const many = `<svg><g id="l0">${'<rect/>'.repeat(20_000)}</g>${levels}<use href="#l10"/></svg>`;
  assert.ok(isCostly(base64(many)));

  const drawn = [
    `<svg>${'<rect/>'.repeat(20_000)}</svg>`,
    `<svg><g id="l0">${'<rect/>'.repeat(1_000)}</g>${level(0)}${level(1)}</svg>`,
    '<svg><image href="data:image/png;base64,AA=="/></svg>',
    '<svg><text>caf\u00e9 &#38; 100 %</text></svg>',
  ];
  const urls = drawn.flatMap((text) => [base64(text), `data:image/svg+xml;utf8,${text}`, `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`]);
  assert.deepEqual(urls.filter(isCostly), []);
});

/** An SVG in which each of some levels refers to the one below several times. */
function nested(times, depth, level) {
  const levels = Array.from({ length: depth }, (_, at) => level(at + 1, at, times)).join('');
  return base64(`<svg xmlns="http://www.w3.org/2000/svg">${levels}<rect width="9" height="9" fill="url(#l${depth})" mask="url(#l${depth})"/></svg>`);
}

test('patterns, masks and markers that repeat each other are drawn on request only', () => {
  const rects = (reference, times) => `<rect width="1" height="1" ${reference}/>`.repeat(times);
  const pattern = (id, below, times) => `<pattern id="l${id}" width="1" height="1">${rects(`fill="url(#l${below})"`, times)}</pattern>`;
  const mask = (id, below, times) => `<mask id="l${id}">${rects(`mask="url(#l${below})"`, times)}</mask>`;
  assert.ok(isCostly(nested(5, 12, pattern)) && isCostly(nested(5, 12, mask)));
  assert.ok(!isCostly(nested(1, 3, pattern)) && !isCostly(nested(2, 2, mask)));

  const bomb = (body) => base64(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:s="http://www.w3.org/2000/svg">${body}</svg>`);
  const levels = (level) => Array.from({ length: 6 }, (_, at) => level(at + 1, at)).join('');
  const costly = {
    'a stylesheet': `<style>${levels((id, below) => `.c${id} { fill: url(#l${below}) }`)}</style>${levels((id) => `<pattern id="l${id}">${rects(`class="c${id}"`, 20)}</pattern>`)}`,
    'a stylesheet with another selector': '<style>pattern :is(rect) { fill: url("#a") }</style><pattern id="a"><rect/></pattern>',
    'a nested rule': `<style>${levels((id, below) => `.x { .c${id} { fill: url(#l${below}) } }`)}</style>${levels((id) => `<pattern id="l${id}">${rects(`class="c${id}"`, 20)}</pattern>`)}`,
    'inheritance': levels((id, below) => `<g fill="url(#l${below})"><pattern id="l${id}">${'<rect/>'.repeat(20)}</pattern></g>`),
    'a style': levels((id, below) => `<mask id="l${id}">${rects(`style="opacity:1;/*;*/mask:url('#l${below}')"`, 20)}</mask>`),
    'another prefix': levels((id, below) => `<s:mask x:id="none" xmlns:x="urn:x" id="l${id}">${rects(`mask="url(#l${below}"`, 20)}</s:mask>`),
    'references in character references': levels((id, below) => `<mask id="l${id}">${rects(`mask="&#x75;rl(#l${below})"`, 20)}</mask>`),
    'escapes of CSS': levels((id, below) => `<mask id="l${id}">${rects(`mask="\\75 rl(#l${below})"`, 20)}</mask>`),
    'escapes of URLs': levels((id, below) => `<mask id="l${id}">${rects(`mask="url(#%6c${below})"`, 20)}</mask>`),
    'comments': levels((id, below) => `<mask id="l${id}"><!-- </mask> -->${rects(`mask="url(#l${below})"`, 20)}</mask>`),
    'a link that paints': `<g id="g">${'<rect/>'.repeat(2_000)}</g><pattern id="p">${'<rect/>'.repeat(2_000)}</pattern><use href="#g" fill="url(#p)"/>`,
    'markers at many points': `<marker id="m">${'<rect/>'.repeat(1_000)}</marker><path marker-mid="url(#m)" d="M0 0${'h1'.repeat(1_000)}"/>`,
    'animations': '<rect><set attributeName="fill" to="url(#p)"/></rect>',
    'circles': '<pattern id="p"><rect fill="url(#p)"/></pattern>',
    'depth': `${'<g>'.repeat(1_000)}${'</g>'.repeat(1_000)}`,
    'what is no XML': '<g><rect></g>',
  };
  // Only one level has something to draw.
  const notCostly = Object.entries(costly).filter(([, body]) => !isCostly(bomb(`<pattern id="l0"><rect/></pattern>${body}`)));
  assert.deepEqual(notCostly.map(([name]) => name), []);
});

test('pictures with gradients, clipped groups and a filter are drawn at once', () => {
  const drawn = [
    `<style>.a { clip-path: url(#c) } .b, .d { fill: url(#g) } @media print { .b { opacity: .5 } }</style><defs><clipPath id="c"><rect class="b" width="9" height="9"/></clipPath><linearGradient id="g"/></defs>${'<g class="a"><path class="b" d="M0 0h9"/></g>'.repeat(40)}`,
    `<defs><filter id="f"><feGaussianBlur stdDeviation="2"/></filter><mask id="m"><rect fill="url(#g)"/></mask><radialGradient id="g"/></defs><g filter="url(#f)" mask="url(#m)">${'<path d="M0 0h9"/>'.repeat(2_000)}</g>`,
    `<symbol id="s"><circle r="4"/></symbol>${'<use href="#s" fill="#fff"/>'.repeat(60)}`,
    `<g id="a"><animate attributeName="fill" values="#fff;#000"/></g><a href="https://a.example/"><text>A &amp; B</text></a>`,
  ];
  assert.deepEqual(drawn.filter((body) => isCostly(base64(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg">${body}</svg>`))), []);
});
