// References in the styles of an SVG: `url(#id)`, in properties and stylesheets.

import { UnreadableSvg } from './svgscan.js';

/**
 * Escapes, variables, functions that read a URL elsewhere, colours of the referring element and
 * SVGs within: they hide or move references.
 */
export const OPAQUE = /\\|(?:var|env|attr|src|element)\(|context-(?:fill|stroke)|svg\+xml/i;
/**
 * Properties that concern the element itself; others, such as `fill`, are inherited by what is in
 * it.
 */
export const NOT_INHERITED = /^(mask|clip-path|filter)/;
/** Properties that are inherited only if their value says so. */
const INHERITED_ON_DEMAND = /^(mask|clip-path|filter|all$)/;

/**
 * Comments, URLs and strings. The last group is a quote or `url(` that begins none of them, or the
 * end of a longer name.
 */
const TOKEN =
  /\/\*[^]*?(?:\*\/|$)|url\(\s*(?:"([^"\n\r\f]*)"\s*|'([^'\n\r\f]*)'\s*|([^"'()\s]+)\s*)?\)|"[^"\n\r\f]*"|'[^'\n\r\f]*'|(["']|[\w\u0080-\uffff-]?url\()/gi;
const REFERENCE = /url\(#([^)]*)\)/g;
/** Ids that all browsers find alike: escaped characters may be any. */
const ID = /^#([^\s\0-\x1f\x7f%"'(){};:,/*\\]+)$/;
/** URLs that an SVG does not load, or that are not an SVG. */
const HARMLESS =
  /^(?:https?:|data:(?:image\/(?:png|jpe?g|gif|webp|avif)|font\/[\w-]+|application\/(?:(?:x-)?font-[\w-]+|octet-stream|vnd\.ms-fontobject))[;,])/i;

/** Rules of CSS that only group others, or name a font. */
const PLAIN_RULES = /@(?:media|font-face|supports|charset|namespace)\b/gi;
const SELECTOR = /^(?:[^()]*[\s>+~])?([.#]?[a-z_][\w-]*)$/i;

/** The id to which a URL refers, or null if it leads out of the SVG. */
export function idIn(url) {
  const [, id] = ID.exec(url.trim()) ?? [];
  if (id) return id;
  if (!HARMLESS.test(url.trim()))
    throw new UnreadableSvg('a reference that browsers may read otherwise');
  return null;
}

/** CSS without comments and strings, and of URLs only those that refer to an id. */
function plainCss(css) {
  return css.replace(TOKEN, (token, double, single, bare, odd) => {
    if (odd) throw new UnreadableSvg('a string or URL without an end');
    if (token.startsWith('/*')) return ' ';
    if (!/^url/i.test(token)) return '""';

    const id = idIn(double ?? single ?? bare ?? '');
    return id === null ? 'url()' : `url(#${id})`;
  });
}

/** The references in declarations without comments and strings: `[property, id]`. */
function referencesIn(declarations) {
  return declarations.split(';').flatMap((declaration) => {
    const property = declaration.slice(0, declaration.indexOf(':')).trim().toLowerCase();
    if (INHERITED_ON_DEMAND.test(property) && /inherit/i.test(declaration))
      throw new UnreadableSvg('an inherited reference');
    return [...declaration.matchAll(REFERENCE)].map(([, id]) => [property, id]);
  });
}

/** The references in an attribute, `[property, id]`. */
export function attributeReferences([name, value]) {
  if (name === 'style') return referencesIn(plainCss(value));
  const isRelevant = /url\(/i.test(value) || INHERITED_ON_DEMAND.test(name);
  return isRelevant ? referencesIn(`${name}:${plainCss(value)}`) : [];
}

/**
 * The rules of a stylesheet that have references: `selectors`, each `.class`, `#id`, `name` or `*`
 * for any other, and `references`.
 */
export function stylesheetRules(stylesheet) {
  if (OPAQUE.test(stylesheet) || /@import/i.test(stylesheet))
    throw new UnreadableSvg('a stylesheet with unknown references');
  const css = plainCss(stylesheet);
  const hasOtherRules = css.replace(PLAIN_RULES, '').includes('@');

  // The last opening brace of each part belongs to the innermost rule, so that rules in rules are
  // found as well.
  return css.split('}').flatMap((part) => {
    const references = referencesIn(part.replaceAll('{', ';'));
    if (!references.length) return [];
    const start = part.lastIndexOf('{');
    const selectors = part.slice(part.lastIndexOf('{', start - 1) + 1, Math.max(start, 0));
    const isPlain = !hasOtherRules && start >= 0 && !part.slice(0, start).includes('url(');
    const found = selectors
      .split(',')
      .map((selector) => (isPlain && SELECTOR.exec(selector.trim())?.[1]) || '*');
    return [{ selectors: new Set(found), references }];
  });
}
