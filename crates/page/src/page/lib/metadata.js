// Metadata of an item of a non-fungible token: JSON and URLs that anyone may have written. Without
// the browser's interfaces, so that tests read it as it is.

import { toWord } from './bytes.js';

/** Number of levels to which JSON may nest, as in the node. */
const MOST_LEVELS = 64;
/** Most characters of a link, as in the node. */
const LONGEST_LINK = 2_048;

const LINK = /^(?:https?|ipfs|ar):\/\/[^\0-\x1f\x7f]+$/;
/** `ipfs://CID/path`, and the old form `ipfs://ipfs/CID/path`. */
const IPFS = /^ipfs:\/\/(?:ipfs\/)?([A-Za-z0-9]{1,128})((?:[/?#].*)?)$/;

/** A link that may be shown, or null. */
function linkIn(text) {
  return text.length <= LONGEST_LINK && LINK.test(text) ? text : null;
}

/**
 * The depth of arrays and objects in JSON text. It is found without a stack, which text can
 * exhaust.
 */
function depthOf(json) {
  let depth = 0;
  let deepest = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const letter = json[at];
    if (isText) {
      if (letter === '\\') at++;
      else if (letter === '"') isText = false;
    } else if (letter === '"') {
      isText = true;
    } else if (letter === '[' || letter === '{') {
      deepest = Math.max(deepest, ++depth);
    } else if (letter === ']' || letter === '}') {
      depth--;
    }
  }
  return deepest;
}

/**
 * Parses JSON. Whole numbers that JavaScript would round become text: exact if the browser has
 * their digits, otherwise marked with `≈`.
 */
export function parseExactly(json) {
  return JSON.parse(json, (_, value, context) => {
    const isRounded = typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
    return isRounded ? (context?.source ?? `≈${value}`) : value;
  });
}

/** The object in JSON text. Errors say what the text is instead. */
export function parseMetadata(json) {
  if (depthOf(json) > MOST_LEVELS)
    throw new Error(`the answer nests deeper than ${MOST_LEVELS} levels`);
  let value;
  try {
    value = parseExactly(json);
  } catch {
    throw new Error('the answer is neither JSON nor a picture');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Error('the answer is no JSON object');
  return value;
}

/**
 * The links in the metadata of an item, each null if there is none: those of the members that the
 * node reads.
 */
export function linksIn(metadata, id) {
  const text = (...names) =>
    names
      .map((name) => metadata[name])
      .find((value) => typeof value === 'string')
      ?.trim() ?? '';
  // ERC-1155: clients put the id in place of this, in 64 digits.
  const digits = toWord(id).slice(2);
  const link = (given) => linkIn(given.replaceAll('{id}', digits));

  const picture = text('image', 'image_url', 'image_data');
  const isSvg = picture.startsWith('<svg');
  const isContent = isSvg || /^data:image\//i.test(picture);
  const content = isSvg
    ? `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture.toWellFormed())}`
    : picture;
  return {
    picture: isContent ? content : link(picture),
    animation: link(text('animation_url')),
    external: link(text('external_url')),
  };
}

/**
 * The URL at which a link may be loaded, or null. `sources` are those of the page's policy,
 * `gateway` is the prefix for CIDs of IPFS.
 */
export function loadableUrl(link, { sources, gateway }) {
  const [isIpfs, cid, path] = IPFS.exec(link) ?? [false, '', ''];
  const prefix = isIpfs ? `${gateway}${cid}` : '';
  const text = isIpfs ? `${prefix}${path}` : link;
  if (!linkIn(link) || (isIpfs && !gateway) || !URL.canParse(text)) return null;

  const url = new URL(text);
  url.hash = '';
  // A path with `..` must not lead out of the content, nor are a name and a password sent.
  if (!url.href.startsWith(prefix) || url.username || url.password) return null;
  const isAllowed =
    sources.includes(url.origin) || (url.protocol === 'https:' && sources.includes('https:'));
  return isAllowed ? url.href : null;
}
