// How much a browser has to draw for an SVG: parts of it may be repeated by reference, and
// repetitions repeat each other.

import { localName, scanSvg, UnreadableSvg } from './svgscan.js';
import { attributeReferences, idIn, NOT_INHERITED, OPAQUE, stylesheetRules } from './svgstyles.js';

/** Maximum length of a chain of references. */
const LONGEST_CHAIN = 500;
/** Maximum number of references by CSS, as written and as elements have them. */
const MOST_REFERENCES = 128;
const MOST_PAINTS = 50_000;
/** Maximum number of colours of a gradient, which is cheap with few only. */
const MOST_STOPS = 256;

/** Elements whose links repeat nothing, and those that are cheap wherever they are referred to. */
const LINKS = new Set([
  'a',
  'image',
  'linearGradient',
  'mpath',
  'radialGradient',
  'script',
  'style',
  'textPath',
]);
const CHEAP = new Set(['linearGradient', 'radialGradient', 'solidColor']);
/** Elements that are drawn on a surface of their own each time. */
const SURFACES = new Set(['filter', 'mask', 'pattern']);

const attribute = (element, name) => element.attributes.find(([own]) => own === name)?.[1] ?? '';

/** All elements, each before what is in it. */
function* elementsOf(root) {
  const left = [root];
  while (left.length) {
    const element = left.pop();
    yield element;
    for (const child of element.children.toReversed()) left.push(child);
  }
}

/** Whether an animation may change what an element refers to, or how often a marker is drawn. */
function movesReferences({ attributes, name }, hasMarkers) {
  if (name === 'discard') return true;
  if (!/^(animate|set)/.test(name)) return false;
  return attributes.some(([own, value]) => {
    if (own !== 'attributeName') return /url\(/i.test(value);
    return (
      /href|class|style|mask|clip-path|filter/i.test(value) ||
      (hasMarkers && /^\s*(?:d|points)\s*$/i.test(value))
    );
  });
}

/** Whether it is unknown what an element refers to. */
function isOpaque(element, hasMarkers) {
  if (CHEAP.has(element.name) && element.children.length > MOST_STOPS) return true;
  return (
    movesReferences(element, hasMarkers) ||
    element.attributes.some(([name, value]) => name === 'xml:base' || OPAQUE.test(value))
  );
}

/** The paints of references, `{ property, target }`, without elements that are cheap. */
function paintsOf(references, byId) {
  const paints = references.map(([property, id]) => ({ property, target: byId.get(id) }));
  if (!paints.every(({ target }) => target)) throw new UnreadableSvg('a reference to nothing');
  return paints.filter(({ target }) => !CHEAP.has(target.name));
}

/** Paints without repetitions. */
function distinct(paints) {
  if (paints.length < 2) return paints;
  return [
    ...new Map(paints.map((paint) => [`${paint.property} ${paint.target.id}`, paint])).values(),
  ];
}

/** The paints of stylesheets by selector: for each, the lists of its rules. */
function sheetOf(rules, byId) {
  const sheet = new Map();
  for (const { selectors, references } of rules) {
    const paints = paintsOf(references, byId);
    if (!paints.length) continue;
    if (selectors.has('*')) throw new UnreadableSvg('a rule for unknown elements');
    for (const selector of selectors) {
      const lists = sheet.get(selector) ?? [];
      lists.push(paints);
      sheet.set(selector, lists);
    }
  }
  return sheet;
}

/** The paints that stylesheets give to an element. */
function sheetPaints(element, sheet) {
  if (!sheet.size) return [];
  const classes = new Set(attribute(element, 'class').split(/\s+/));
  const selectors = [element.name, `#${element.id}`, ...[...classes].map((one) => `.${one}`)];
  return selectors.flatMap((selector) => sheet.get(selector)?.flat() ?? []);
}

/** The elements that an element repeats by links. */
function linksOf(element, byId) {
  if (LINKS.has(element.name)) return [];
  const urls = element.attributes
    .filter(([name]) => localName(name) === 'href')
    .map(([, value]) => value);
  const ids = urls.map(idIn).filter((id) => id !== null);
  if (!ids.every((id) => byId.has(id))) throw new UnreadableSvg('a link to nothing');
  return ids.map((id) => byId.get(id));
}

/** The elements by their ids, of which the first counts. Sets `id`. */
function elementsById(all) {
  const byId = new Map();
  for (const element of all) {
    element.id = attribute(element, 'id');
    if (element.id && !byId.has(element.id)) byId.set(element.id, element);
  }
  return byId;
}

/** The rules of all stylesheets. What one leaves open, such as a comment, ends with it. */
function rulesOf(all, hasMarkers) {
  const stylesheets = all.filter(({ name }) => name === 'style').map(({ text }) => text);
  // A path in a stylesheet has more points than its element tells.
  if (hasMarkers && stylesheets.some((css) => /path\(/i.test(css)))
    throw new UnreadableSvg('a path of unknown length');
  return stylesheets.flatMap(stylesheetRules);
}

/**
 * Finds what elements refer to: sets `links`, elements that are repeated in them, and `paints`, `{
 * target, property }`, with those that they inherit. Throws `UnreadableSvg` if some references
 * cannot be found, or if there are too many.
 */
function resolve(root) {
  const all = [...elementsOf(root)];
  const byId = elementsById(all);
  const hasMarkers = all.some(({ name }) => name === 'marker');
  const rules = rulesOf(all, hasMarkers);
  let written = rules.reduce((total, { references }) => total + references.length, 0);
  if (written > MOST_REFERENCES) throw new UnreadableSvg('too many references');

  const sheet = sheetOf(rules, byId);
  let paints = 0;

  root.inherited = [];
  for (const element of all) {
    if (isOpaque(element, hasMarkers))
      throw new UnreadableSvg('an element with unknown references');
    const references = element.attributes.flatMap(attributeReferences);
    written += references.length;
    if (written > MOST_REFERENCES) throw new UnreadableSvg('too many references');

    element.links = linksOf(element, byId);
    element.paints = distinct([
      ...paintsOf(references, byId),
      ...sheetPaints(element, sheet),
      ...element.inherited,
    ]);
    paints += element.paints.length;
    if (paints > MOST_PAINTS) throw new UnreadableSvg('too many paints');
    const inherited = element.paints.filter(({ property }) => !NOT_INHERITED.test(property));
    for (const child of element.children) child.inherited = inherited;
  }
}

const ENDLESS = { elements: Infinity, drawn: Infinity, surfaces: Infinity };

/**
 * Number of times that a paint of an element is drawn. `heirs` are the element and those that its
 * links repeat.
 */
function timesDrawn(property, target, heirs) {
  if (NOT_INHERITED.test(property)) return 1;
  // Markers are drawn at each point of a line, which has at least one character.
  return target.name === 'marker' ? heirs.drawn : heirs.elements;
}

/** The elements, characters and surfaces that are drawn for an element, with repetitions. */
function measure(element, depth = 0) {
  if (element.measured) return element.measured;
  // A circle, or a chain that is too long to be drawn by hand.
  if (element.isMeasuring || depth > LONGEST_CHAIN) return ENDLESS;
  element.isMeasuring = true;
  // Each step of a filter is drawn on its own.
  const sum = {
    elements: 1,
    drawn: element.length,
    surfaces: /^fe[A-Z]/.test(element.name) ? 1 : 0,
  };
  for (const part of [...element.children, ...element.links]) {
    const measured = measure(part, depth + 1);
    for (const name of Object.keys(sum)) sum[name] += measured[name];
  }

  // What a link repeats inherits from the link.
  const heirs = { elements: 1, drawn: element.length };
  for (const target of element.links) {
    const measured = measure(target, depth + 1);
    heirs.elements += measured.elements;
    heirs.drawn += measured.drawn;
  }
  for (const { property, target } of element.paints) {
    const measured = measure(target, depth + 1);
    const times = timesDrawn(property, target, heirs);
    sum.drawn += times * measured.drawn;
    sum.surfaces += times * (measured.surfaces + (SURFACES.has(target.name) ? 1 : 0));
  }
  element.isMeasuring = false;
  element.measured = sum;
  return sum;
}

/**
 * The weight of an SVG: `drawn`, its characters, in which what is repeated counts each time, and
 * `surfaces`, the masks, patterns and steps of filters that are drawn. Null if unknown.
 */
export function svgWeight(text) {
  try {
    const root = scanSvg(text);
    resolve(root);
    return measure(root);
  } catch (error) {
    if (error instanceof UnreadableSvg) return null;
    throw error;
  }
}
