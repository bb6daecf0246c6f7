// Which pictures of tokens are drawn at once. Needs no browser and no node.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isCostly, isPicture } from '../../crates/page/src/page/lib/imageurls.js';

const base64 = (text) => `data:image/svg+xml;base64,${Buffer.from(text).toString('base64')}`;

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="parent.ran = 1"><script>parent.ran = 1; top.ran = 1</script><rect width="9" height="9" fill="#3551d8"/></svg>';

test('pictures are data: URLs within a length, and an SVG that grows without bounds is costly', () => {
  const levels = Array.from({ length: 12 }, (_, at) => `<g id="l${at + 1}">${`<use href="#l${at}"/>`.repeat(10)}</g>`).join('');
  const bomb = `<svg xmlns="http://www.w3.org/2000/svg"><defs><rect id="l0" width="1" height="1"/>${levels}</defs><use href="#l12"/></svg>`;
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

test('long runs of spaces and letters are read in linear time', () => {
  const spaces = ' '.repeat(500_000);
  const letters = 'a'.repeat(500_000);
  const bodies = [
    `<rect fill="url(${spaces}"/>`,
    `<rect fill="url('${spaces}"/>`,
    `<style>rect { fill: url(${spaces} }</style>`,
    `<style>rect${spaces}! { fill: url(#p) }</style>`,
    `<rect${spaces}`,
    `<rect a${spaces}`,
    `<${letters}`,
    `<rect ${letters}`,
    `<!--${spaces}`,
    `<style>/*${spaces}</style>`,
    `<text>&#x${'0'.repeat(500_000)}</text>`,
    `<text>${'&#x0'.repeat(100_000)}</text>`,
  ];
  // A quadratic one would take minutes.
  for (const body of bodies) isCostly(`data:image/svg+xml;utf8,<svg>${body}</svg>`);
});
