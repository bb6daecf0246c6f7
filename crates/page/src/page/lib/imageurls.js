// URLs of pictures that anyone may have made: which of them are shown, and which could take long to
// draw.

import { svgWeight } from './svgweight.js';

/** The pictures that are shown. */
const KINDS = /^data:image\/(?:svg\+xml|png|jpeg|gif|webp|avif)[;,]/i;
/** Number of characters above which a picture is not shown. */
const LONGEST = 1_000_000;
/**
 * The heads of URLs of SVGs that every browser reads alike: what else stands there may be ignored,
 * or make it base64.
 */
const SVG_HEAD = /^data:image\/svg\+xml(;\s*(charset=)?"?utf-?8"?)*(;\s*base64)?\s*$/i;
/** Characters of an SVG that may be drawn, in which those that are repeated count each time. */
const MOST_DRAWN = 2_000_000;
/**
 * Masks, patterns and steps of filters that may be drawn, in which those that are repeated count
 * each time.
 */
const MOST_SURFACES = 256;

/**
 * Control characters, which XML does not allow: the text has an encoding in which nothing is found
 * here.
 */
const UNKNOWN_ENCODING = /[\0-\x08\x0b\x0c\x0e-\x1f]/;
/** Names that are defined by the document, and documents within it. */
const ENTITY = /<!(?:DOCTYPE|ENTITY)/i;
const FOREIGN = /<(?:[^\s<>/:]+:)?foreignObject\b/i;
const PICTURE_INSIDE = /<(?:[^\s<>/:]+:)?(?:image|feImage)\b/i;
const SVG_INSIDE = /svg\+xml|&#/i;

/** The text of an SVG in a data: URL, or null if browsers may read another one. */
function svgText(url) {
  const comma = url.indexOf(',');
  const head = url.slice(0, comma);
  const content = url.slice(comma + 1);
  if (comma < 0 || !SVG_HEAD.test(head)) return null;
  try {
    const decoded = decodeURIComponent(content.toWellFormed().replace(/%(?![0-9a-f]{2})/gi, '%25'));
    if (!/base64\s*$/i.test(head)) return decoded;
    const bytes = Uint8Array.from(atob(decoded), (letter) => letter.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Whether drawing a picture could take long. It is shown on request only, as is an SVG that cannot
 * be read.
 */
export function isCostly(url) {
  // Browsers ignore these characters wherever they are in a URL.
  const plain = url.replace(/[\t\n\r]/g, '');
  if (!/^data:image\/svg/i.test(plain)) return false;
  const text = svgText(plain);
  if (text === null || UNKNOWN_ENCODING.test(text) || ENTITY.test(text)) return true;

  // An SVG inside may repeat things as well, and so may a document.
  if (FOREIGN.test(text) || (PICTURE_INSIDE.test(text) && SVG_INSIDE.test(text))) return true;

  const weight = svgWeight(text);
  const isLight = weight !== null && weight.drawn <= MOST_DRAWN && weight.surfaces <= MOST_SURFACES;
  return !isLight;
}

/** Whether a URL is a picture that the page shows. */
export function isPicture(url) {
  return typeof url === 'string' && url.length <= LONGEST && KINDS.test(url);
}
