// The pictures of tokens that are drawn at once. Needs no browser and no node.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isCostly, isPicture } from '../../crates/page/src/page/lib/imageurls.js';

const base64 = (text) => `data:image/svg+xml;base64,${Buffer.from(text).toString('base64')}`;

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="parent.ran = 1"><script>parent.ran = 1; top.ran = 1</script><rect width="9" height="9" fill="#3551d8"/></svg>';

test('pictures are data: URLs within a length, and an SVG that grows without bounds is costly', () => {
  const levels = Array.from(
    { length: 12 },
    (_, at) => `<g id="l${at + 1}">${`<use href="#l${at}"/>`.repeat(10)}</g>`,
  ).join('');
  const bomb = `<svg xmlns="http://www.w3.org/2000/svg"><defs><rect id="l0" width="1" height="1"/>${levels}</defs><use href="#l12"/></svg>`;
  assert.ok(isCostly(base64(bomb)) && isCostly(base64('<!DOCTYPE svg><svg/>')));
  assert.ok(!isCostly(base64(SVG)) && !isCostly('data:image/png;base64,AA=='));
  assert.ok(
    isPicture(base64(SVG)) &&
      !isPicture('https://a.example/1.png') &&
      !isPicture('data:text/html,<p>') &&
      !isPicture(null),
  );
  assert.ok(!isPicture(`data:image/png;base64,${'A'.repeat(1_000_001)}`));
});

test('an SVG that browsers may parse differently is drawn on request only', () => {
  const levels = Array.from(
    { length: 8 },
    (_, at) => `<g id="l${at + 1}">${`<use href="#l${at}"/>`.repeat(10)}</g>`,
  ).join('');
  const bomb = `<svg xmlns="http://www.w3.org/2000/svg"><g id="l0"/>${levels}</svg>`;
  const urls = [
    // Base64 counts only at the end of the head.
    `data:image/svg+xml;base64;x,${bomb}`,
    `data:image/svg+xml;ba\tse64,${btoa(bomb)}`,
    `data:image/svg+xml;charset=utf-16,${bomb}`,
    // Bytes that are not UTF-8, and invalid base64.
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
  assert.deepEqual(
    urls.filter((url) => !isCostly(url)),
    [],
  );
});

test('repetitions of large content are drawn on request only, others at once', () => {
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
  const urls = drawn.flatMap((text) => [
    base64(text),
    `data:image/svg+xml;utf8,${text}`,
    `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`,
  ]);
  assert.deepEqual(urls.filter(isCostly), []);
});

/** An SVG in which each of some levels refers to the one below several times. */
function nested(times, depth, level) {
  const levels = Array.from({ length: depth }, (_, at) => level(at + 1, at, times)).join('');
  return base64(
    `<svg xmlns="http://www.w3.org/2000/svg"><pattern id="l0"/>${levels}<rect width="9" height="9" fill="url(#l${depth})" mask="url(#l${depth})"/></svg>`,
  );
}

test('patterns, masks and markers that repeat each other are drawn on request only', () => {
  const rects = (reference, times) => `<rect width="1" height="1" ${reference}/>`.repeat(times);
  const pattern = (id, below, times) =>
    `<pattern id="l${id}" width="1" height="1">${rects(`fill="url(#l${below})"`, times)}</pattern>`;
  const mask = (id, below, times) =>
    `<mask id="l${id}">${rects(`mask="url(#l${below})"`, times)}</mask>`;

  assert.ok(isCostly(nested(5, 12, pattern)) && isCostly(nested(5, 12, mask)));
  assert.ok(!isCostly(nested(1, 3, pattern)) && !isCostly(nested(2, 2, mask)));

  const bomb = (body) =>
    base64(
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:s="http://www.w3.org/2000/svg">${body}</svg>`,
    );

  const levels = (level) => Array.from({ length: 6 }, (_, at) => level(at + 1, at)).join('');

  const costly = {
    'a stylesheet': `<style>${levels((id, below) => `.c${id} { fill: url(#l${below}) }`)}</style>${levels((id) => `<pattern id="l${id}">${rects(`class="c${id}"`, 20)}</pattern>`)}`,
    'a stylesheet with another selector':
      '<style>pattern :is(rect) { fill: url("#a") }</style><pattern id="a"><rect/></pattern>',
    'a nested rule': `<style>${levels((id, below) => `.x { .c${id} { fill: url(#l${below}) } }`)}</style>${levels((id) => `<pattern id="l${id}">${rects(`class="c${id}"`, 20)}</pattern>`)}`,
    inheritance: levels(
      (id, below) =>
        `<g fill="url(#l${below})"><pattern id="l${id}">${'<rect/>'.repeat(20)}</pattern></g>`,
    ),
    'a style': levels(
      (id, below) =>
        `<mask id="l${id}">${rects(`style="opacity:1;/*;*/mask:url('#l${below}')"`, 20)}</mask>`,
    ),
    'another prefix': levels(
      (id, below) =>
        `<s:mask x:id="none" xmlns:x="urn:x" id="l${id}">${rects(`mask="url(#l${below}"`, 20)}</s:mask>`,
    ),
    'references in character references': levels(
      (id, below) => `<mask id="l${id}">${rects(`mask="&#x75;rl(#l${below})"`, 20)}</mask>`,
    ),
    'escapes of CSS': levels(
      (id, below) => `<mask id="l${id}">${rects(`mask="\\75 rl(#l${below})"`, 20)}</mask>`,
    ),
    'escapes of URLs': levels(
      (id, below) => `<mask id="l${id}">${rects(`mask="url(#%6c${below})"`, 20)}</mask>`,
    ),
    comments: levels(
      (id, below) =>
        `<mask id="l${id}"><!-- </mask> -->${rects(`mask="url(#l${below})"`, 20)}</mask>`,
    ),
    'a link that paints': `<g id="g">${'<rect/>'.repeat(2_000)}</g><pattern id="p">${'<rect/>'.repeat(2_000)}</pattern><use href="#g" fill="url(#p)"/>`,
    'markers at many points': `<marker id="m">${'<rect/>'.repeat(1_000)}</marker><path marker-mid="url(#m)" d="M0 0${'h1'.repeat(1_000)}"/>`,
    animations: '<rect><set attributeName="fill" to="url(#p)"/></rect>',
    circles: '<pattern id="p"><rect fill="url(#p)"/></pattern>',
    depth: `${'<g>'.repeat(1_000)}${'</g>'.repeat(1_000)}`,
    'what is no XML': '<g><rect></g>',
  };

  // Only one level has something to draw.
  const notCostly = Object.entries(costly).filter(
    ([, body]) => !isCostly(bomb(`<pattern id="l0"><rect/></pattern>${body}`)),
  );
  assert.deepEqual(
    notCostly.map(([name]) => name),
    [],
  );
});

test('an SVG with unknown references is drawn on request only', () => {
  const rects = '<rect class="c"/>'.repeat(300);
  const mask = '<mask id="m"><rect/></mask>';
  const hidden = (id) => `<rect style="font-family:'/*';mask:url(#${id});x:'*/'"/>`;
  const costly = {
    'zeros before a number': `${mask}${'<rect mask="&#x00000075;rl(#m)"/>'.repeat(300)}`,
    'an unknown name': '<text>&nbsp;</text>',
    'a name of JavaScript': '<text>&constructor;</text>',
    'a reference without an end': '<text>&amp</text>',
    'a character that is none': '<text>&#0;&#xd800;</text>',
    'a capital X': '<text>&#X41;</text>',
    'strings that look like a comment': `${mask}<mask id="n">${hidden('m').repeat(20)}</mask>${hidden('n').repeat(20)}`,
    'a stylesheet with such strings': `<style>.c { font-family: "/*"; mask: url(#m); x: "*/" }</style>${mask}${rects}`,
    'a string with a brace': `<style>.c { font-family: " } .b { "; mask: url(#m) }</style>${mask}${rects}`,
    'a string without an end': '<style>.c { font-family: "a\nb" }</style>',
    'a stylesheet after an open comment': `<style>/*</style><style>.c { mask: url(#m) }</style>${mask}${rects}`,
    'a URL with a brace': '<style>.c { fill: url(#a;b{c) }</style>',
    'a name that ends with url':
      '<style>.c { fill: xurl(/*) } .c { mask: url(#m) } .c { x: */ }</style><mask id="m"/>',
    'another stylesheet': '<style>@import "data:text/css,";</style>',
    'an animated class':
      '<style>.c { mask: url(#m) }</style><mask id="m"/><rect><set attributeName="class" to="c"/></rect>',
    'an animated link': '<g id="a"/><use href="#a"><set attributeName="xlink:href" to="#a"/></use>',
    'an animated line with markers':
      '<marker id="m"/><path marker-mid="url(#m)"><animate attributeName="d" values="M0 0h1"/></path>',
    'a line of a stylesheet with markers':
      '<style>path { d: path("M0 0h1") }</style><marker id="m"/><path marker-mid="url(#m)"/>',
    'a link with markers': `<marker id="m"><rect/></marker><path id="p" d="M0 0${'h1'.repeat(100_000)}"/><use href="#p" marker-mid="url(#m)"/>`,
    'a mask that is inherited on demand': `${mask}<g mask="url(#m)">${'<rect mask="inherit"/>'.repeat(300)}</g>`,
    'a stylesheet that inherits a mask': `<style>rect { mask: inherit }</style>${mask}<g mask="url(#m)"><rect/></g>`,
    'all that is inherited': `<g style="mask: url(#m)"><rect style="all: inherit"/></g>${mask}`,
    'a link of HTML':
      '<link xmlns="http://www.w3.org/1999/xhtml" rel="stylesheet" href="data:text/css,"/>',
    'HTML with a prefix':
      '<h:style xmlns:h="http://www.w3.org/1999/xhtm&#x6c;">rect { x: 1 }</h:style>',
    'a link with a line break': '<g id="a&#10;b"/><use href="#a&#10;b"/>',
    'a reference with a space': '<mask id="a b"/><rect mask="url(\'#a b\')"/>',
    'a link to nothing': '<use href="#none"/>',
    'a reference to nothing': '<rect fill="url(#none)"/>',
    'a link to another document': '<use href="data:application/xml,#a"/>',
    'another base': '<g xml:base="data:application/xml,"/>',
    'a filter with many steps': `<filter id="f">${'<feTurbulence/>'.repeat(300)}</filter><rect filter="url(#f)"/>`,
    'a gradient with many colours': `<linearGradient id="g">${'<stop/>'.repeat(300)}</linearGradient><rect fill="url(#g)"/>`,
  };
  const notCostly = Object.entries(costly).filter(
    ([, body]) => !isCostly(base64(`<svg xmlns="http://www.w3.org/2000/svg">${body}</svg>`)),
  );
  assert.deepEqual(
    notCostly.map(([name]) => name),
    [],
  );
});

test('an SVG that names or has another encoding than UTF-8 is drawn on request only', () => {
  const svg = '<svg><g id="\u00e9"/><use href="#\u00e9"/></svg>';
  const drawn = [
    svg,
    `\ufeff${svg}`,
    `<?xml version="1.0" encoding="UTF-8"?>${svg}`,
    `<?xml version='1.0' standalone='no' ?>\n${svg}`,
  ];
  assert.deepEqual(
    drawn.flatMap((text) => [base64(text), `data:image/svg+xml,${text}`]).filter(isCostly),
    [],
  );
  const costly = [
    `data:image/svg+xml;base64,${Buffer.from(svg, 'latin1').toString('base64')}`,
    `data:image/svg+xml,${svg.replaceAll('\u00e9', '%e9')}`,
    base64(`<?xml version="1.0" encoding="ISO-8859-1"?>${svg}`),
    base64(`<?xml version="1.0" encoding='shift_jis'?>${svg}`),
    base64(`<?xml version="1.1"?>${svg}`),
    base64(`<?xml-stylesheet href="data:text/css,"?>${svg}`),
    // Halves of characters become the same character.
    `data:image/svg+xml,<svg><g id="\ud801">${'<rect/>'.repeat(150_000)}</g><g id="\ud800"/><use href="#\ud800"/><use href="#\ud800"/></svg>`,
    base64('<html/>'),
    base64('<svg/><svg/>'),
  ];
  assert.deepEqual(
    costly.filter((url) => !isCostly(url)),
    [],
  );
});

test('an SVG with many references is drawn on request only, however they are written', () => {
  const filled = (fill, times) =>
    base64(`<svg><linearGradient id="p"/>${`<rect fill="${fill}"/>`.repeat(times)}</svg>`);
  assert.ok(
    !isCostly(filled('url(#p)', 128)) &&
      isCostly(filled('url(#p)', 129)) &&
      isCostly(filled('u&#114;l(#p)', 129)),
  );

  // References of a few rules reach many elements.
  const patterns = Array.from({ length: 100 }, (_, at) => `<pattern id="p${at}"/>`).join('');
  const declarations = Array.from({ length: 100 }, (_, at) => `--x${at}: url(#p${at})`).join(';');
  assert.ok(
    isCostly(
      base64(
        `<svg><style>rect { ${declarations} }</style>${patterns}${'<rect/>'.repeat(40_000)}</svg>`,
      ),
    ),
  );
  assert.ok(
    isCostly(
      base64(`<svg>${patterns}<g style="${declarations}">${'<rect/>'.repeat(40_000)}</g></svg>`),
    ),
  );
  const repeated = `<style>${'.c { mask: url(#m) }'.repeat(60)}</style><mask id="m"><rect/></mask>${'<rect class="c c"/>'.repeat(200)}`;
  assert.ok(!isCostly(base64(`<svg>${repeated}</svg>`)));
});

test('pictures with gradients, clipped groups and a filter are drawn at once', () => {
  const drawn = [
    `<style>.a { clip-path: url(#c) } .b, .d { fill: url(#g) } @media print { .b { opacity: .5 } }</style><defs><clipPath id="c"><rect class="b" width="9" height="9"/></clipPath><linearGradient id="g"/></defs>${'<g class="a"><path class="b" d="M0 0h9"/></g>'.repeat(40)}`,
    `<defs><filter id="f"><feGaussianBlur stdDeviation="2"/></filter><mask id="m"><rect fill="url(#g)"/></mask><radialGradient id="g"/></defs><g filter="url(#f)" mask="url(#m)">${'<path d="M0 0h9"/>'.repeat(2_000)}</g>`,
    `<symbol id="s"><circle r="4"/></symbol>${'<use href="#s" fill="#fff"/>'.repeat(60)}`,
    `<style>/* "a" */ @font-face { font-family: 'F'; src: url(data:font/woff2;base64,AA//) } text { font: 9px "Courier New", 'F' }</style><text style="font-family: 'Courier New', monospace" aria-label="Don't">It's "A"</text>`,
    `<path id="p" d="M0 0h9"/><text><textPath href="#p">A &#x26; &#0038;</textPath></text><a href="https://a.example/"/><rect fill='url("#g")'/><linearGradient id="g"/>`,
    `<g id="a"><animate attributeName="fill" values="#fff;#000"/></g><a href="https://a.example/"><text>A &amp; B</text></a>`,
  ];
  assert.deepEqual(
    drawn.filter((body) =>
      isCostly(
        base64(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg">${body}</svg>`),
      ),
    ),
    [],
  );
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
