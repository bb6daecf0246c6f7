// How much a browser has to draw for an SVG: parts of it may be repeated by reference, and repetitions repeat each other.

import { localName, scanSvg } from './svgscan.js';

/** Maximum length of a chain of references. */
const LONGEST_CHAIN = 500;

/** Elements whose links repeat nothing, and those that are cheap wherever they are referred to. */
const LINKS = new Set(['a', 'image', 'linearGradient', 'mpath', 'radialGradient', 'script', 'style', 'textPath']);
const CHEAP = new Set(['linearGradient', 'radialGradient', 'solidColor']);
/** Elements that are drawn on a surface of their own each time. */
const SURFACES = new Set(['filter', 'mask', 'pattern']);
/** Elements that CSS refers to, and ids that it cannot split. */
const REFERRED = new Set(['clipPath', 'filter', 'marker', 'mask', 'pattern']);
const PLAIN_ID = /^[^\s;:,{}()"'/*]*$/;
/** Properties that concern the element itself; others, such as `fill`, are inherited by what is in it. */
const NOT_INHERITED = /^(mask|clip-path|filter)/;
/** What hides or moves references in CSS: escapes, variables, colours of the referring element, and SVGs within. */
const OPAQUE = /\\|var\(|context-(?:fill|stroke)|svg\+xml/i;
/** Rules of CSS that only group others, or name a font. */
const PLAIN_RULES = /@(?:media|font-face|supports|charset|namespace)\b/gi;
const SELECTOR = /^(?:[^()]*[\s>+~])?([.#]?[a-z_][\w-]*)$/i;
const REFERENCE = /url\(\s*(?:["']\s*)?#([^"')\s]*)/gi;

const valueOf = (element, name) => element.attributes.find(([own]) => own === name)?.[1] ?? '';

const withoutComments = (css) => css.replace(/\/\*[^]*?(?:\*\/|$)/g, ' ');

/** The references in a value of a property: `[property, id]`. */
function referencesOf(property, value) {
  return [...value.matchAll(REFERENCE)].map(([, id]) => [property, id]);
}

/** The references in declarations of CSS. */
function referencesIn(declarations) {
  return declarations.split(';').flatMap((declaration) => {
    const property = declaration.slice(0, declaration.indexOf(':')).trim().toLowerCase();
    return referencesOf(property, declaration);
  });
}

/** The references of stylesheets by selector, `.class`, `#id` or `name`, with those of any other selector under `*`. */
function stylesheetReferences(css) {
  const bySelector = new Map();
  const add = (selector, references) => bySelector.set(selector, [...(bySelector.get(selector) ?? []), ...references]);
  const hasOtherRules = css.replace(PLAIN_RULES, '').includes('@');
  // What closes last is innermost, so that rules in rules are found as well.
  for (const part of withoutComments(css).split('}')) {
    const references = referencesIn(part.replaceAll('{', ';'));
    if (!references.length) continue;
    const start = part.lastIndexOf('{');
    const selectors = part.slice(part.lastIndexOf('{', start - 1) + 1, Math.max(start, 0));
    const isPlain = !hasOtherRules && start >= 0 && !/url\(/i.test(part.slice(0, start));
    const found = selectors.split(',').map((selector) => (isPlain && SELECTOR.exec(selector.trim())?.[1]) || '*');
    for (const selector of new Set(found)) add(selector, references);
  }
  return bySelector;
}

/** All elements, each before what is in it. */
function* elementsOf(root) {
  const left = [root];
  while (left.length) {
    const element = left.pop();
    yield element;
    for (const child of element.children.toReversed()) left.push(child);
  }
}

/** Whether an animation may change what an element refers to. */
function movesReferences({ attributes, name }) {
  if (!/^(animate|set)/.test(name)) return false;
  return attributes.some(([own, value]) => (own === 'attributeName' && /href$/.test(value)) || /url\(/i.test(value));
}

/** Whether it is unknown what an element refers to. */
function isOpaque(element) {
  const hasOddId = REFERRED.has(element.name) && !PLAIN_ID.test(valueOf(element, 'id'));
  return hasOddId || movesReferences(element) || element.attributes.some(([, value]) => OPAQUE.test(value));
}

/** The references of an element: by CSS, of its own and of stylesheets, and by links. */
function referencesFrom(element, sheet) {
  const classes = valueOf(element, 'class').split(/\s+/).map((one) => `.${one}`);
  const own = element.attributes.flatMap(([name, value]) => (name === 'style' ? referencesIn(withoutComments(value)) : referencesOf(name, value)));
  const painted = [...own, ...[element.name, `#${valueOf(element, 'id')}`, ...classes].flatMap((key) => sheet.get(key) ?? [])];
  const linked = LINKS.has(element.name) ? [] : element.attributes.filter(([name]) => localName(name) === 'href');
  return { painted, linked: linked.map(([, value]) => value.trim().replace(/^#/, '')) };
}

/** The paints of an element and those that it inherits, each once. */
function withInherited(own, inherited) {
  const isNew = ({ property, target }) => !NOT_INHERITED.test(property) && !own.some((one) => one.property === property && one.target === target);
  return [...own, ...inherited.filter(isNew)];
}

/**
 * Finds what elements refer to: sets `links`, elements that are repeated in them, and `paints`, `{ target, property }`, with
 * those that they inherit. Returns false if some references cannot be found.
 */
function resolve(root) {
  const all = [...elementsOf(root)];
  const css = all.filter(({ name }) => name === 'style').map(({ text }) => text).join('\n');
  if (OPAQUE.test(css) || /@import/i.test(css)) return false;
  const sheet = stylesheetReferences(css);
  const byId = new Map();
  for (const element of all) {
    const id = valueOf(element, 'id');
    if (id && !byId.has(id)) byId.set(id, element);
  }
  const isCheap = (id) => !byId.has(id) || CHEAP.has(byId.get(id).name);
  // Escaped characters in an id may be any.
  const isEscaped = (id) => id.includes('%');
  if (sheet.get('*')?.some(([, id]) => !isCheap(id) || isEscaped(id))) return false;

  root.inherited = [];
  for (const element of all) {
    if (isOpaque(element)) return false;
    const { painted, linked } = referencesFrom(element, sheet);
    if ([...linked, ...painted.map(([, id]) => id)].some(isEscaped)) return false;

    element.links = linked.map((id) => byId.get(id)).filter(Boolean);
    const own = painted.filter(([, id]) => !isCheap(id)).map(([property, id]) => ({ property, target: byId.get(id) }));
    element.paints = withInherited(own, element.inherited);
    for (const child of element.children) child.inherited = element.paints;
  }
  return true;
}

const ENDLESS = { elements: Infinity, drawn: Infinity, surfaces: Infinity };

/** What is drawn for an element: elements and characters, with repetitions, and surfaces. */
function measure(element, depth = 0) {
  if (element.measured) return element.measured;
  // A circle, or a chain that nobody draws by hand.
  if (element.isMeasuring || depth > LONGEST_CHAIN) return ENDLESS;
  element.isMeasuring = true;
  const sum = { elements: 1, drawn: element.length, surfaces: 0 };
  for (const part of [...element.children, ...element.links]) {
    const measured = measure(part, depth + 1);
    for (const name of Object.keys(sum)) sum[name] += measured[name];
  }

  // What a link repeats inherits from the link.
  const heirs = 1 + element.links.reduce((total, target) => total + measure(target, depth + 1).elements, 0);
  for (const { property, target } of element.paints) {
    const measured = measure(target, depth + 1);
    // Markers are drawn at each point of a line.
    const times = (NOT_INHERITED.test(property) ? 1 : heirs) * (target.name === 'marker' ? element.length : 1);
    sum.drawn += times * measured.drawn;
    sum.surfaces += times * (measured.surfaces + (SURFACES.has(target.name) ? 1 : 0));
  }
  element.isMeasuring = false;
  element.measured = sum;
  return sum;
}

/**
 * The weight of an SVG: `drawn`, its characters, in which what is repeated counts each time, and `surfaces`, the masks,
 * patterns and filters that are drawn. Null if it cannot be told.
 */
export function svgWeight(text) {
  const root = scanSvg(text);
  if (!root || !resolve(root)) return null;
  return measure(root);
}
