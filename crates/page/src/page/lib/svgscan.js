// The elements of an SVG, as browsers read it: as strict XML.

/** Maximum depth of elements, and their maximum number. */
const DEEPEST = 256;
const MOST_ELEMENTS = 50_000;

const NAME = '[^\\s<>/="\'!?&][^\\s<>/="\'&]*';
const ATTRIBUTE = `\\s+${NAME}\\s*=\\s*(?:"[^"<]*"|'[^'<]*')`;
const MARKUP = new RegExp(
  `<!--[^]*?-->|<!\\[CDATA\\[[^]*?\\]\\]>|<\\?[^]*?\\?>|<(/?)(${NAME})((?:${ATTRIBUTE})*)\\s*(/?)>`,
  'y',
);
const ATTRIBUTES = new RegExp(`(${NAME})\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'g');
/** A declaration of XML whose encoding, if it has one, is UTF-8. */
const DECLARATION =
  /^<\?xml\s+version\s*=\s*(["'])1\.0\1(?:\s+encoding\s*=\s*(["'])utf-?8\2)?(?:\s+standalone\s*=\s*(["'])(?:yes|no)\3)?\s*\?>$/i;
const NAMED = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const XHTML = 'http://www.w3.org/1999/xhtml';

/** An SVG that browsers may read otherwise than this page does. */
export class UnreadableSvg extends Error {}

/** A name without its prefix. */
export const localName = (name) => name.slice(name.indexOf(':') + 1);

/** Whether XML allows a character. */
function isCharacter(code) {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return (
    code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff)
  );
}

/** The character to which a reference refers, such as `amp`, `#38` or `#x26`. */
function characterOf(reference = '') {
  if (Object.hasOwn(NAMED, reference)) return NAMED[reference];
  const [, hex, decimal] = /^#(?:x([0-9a-f]+)|([0-9]+))$/i.exec(reference) ?? [];
  const code = hex ? parseInt(hex, 16) : Number(decimal);
  if (!isCharacter(code) || reference.startsWith('#X'))
    throw new UnreadableSvg('a reference to no character');
  return String.fromCodePoint(code);
}

function unescaped(text) {
  return text.replace(/&(?:([^;&]*);)?/g, (_, reference) => characterOf(reference));
}

function attributesOf(text) {
  return [...text.matchAll(ATTRIBUTES)].map(([, name, double, single]) => {
    // Line breaks and tabs in values count as spaces.
    const value = (double ?? single).replace(/[\t\n\r]/g, ' ');
    return [name, unescaped(value)];
  });
}

/** Reads text up to the next markup, and returns the position after it. */
function readText(document, text, start) {
  const next = text.indexOf('<', start);
  const end = next < 0 ? text.length : next;
  const parent = document.open.at(-1);
  parent.text += unescaped(text.slice(start, end));
  parent.length += end - start;
  return end;
}

/** Reads a comment, character data or a processing instruction. */
function readOther({ open }, markup) {
  // These name an encoding, or a stylesheet.
  if (/^<\?xml/i.test(markup) && !DECLARATION.test(markup))
    throw new UnreadableSvg('an instruction');
  if (markup.startsWith('<![CDATA[')) open.at(-1).text += markup.slice(9, -3);
}

function closeElement({ open }, tag) {
  if (open.length < 2 || open.at(-1).tag !== tag) throw new UnreadableSvg('an end without a start');
  open.pop();
}

/** Adds an element to the one that is open. */
function openElement(document, tag, attributes, length) {
  const { open } = document;
  document.elements++;
  if (open.length > DEEPEST || document.elements > MOST_ELEMENTS)
    throw new UnreadableSvg('too many elements');

  const element = {
    tag,
    name: localName(tag),
    attributes: attributesOf(attributes),
    children: [],
    text: '',
    length,
  };
  // Elements of HTML load documents and stylesheets.
  const isHtml = element.attributes.some(
    ([name, value]) => /^xmlns(?::|$)/.test(name) && value === XHTML,
  );
  if (isHtml || element.name === 'link') throw new UnreadableSvg('an element of HTML');

  open.at(-1).children.push(element);
  open.push(element);
}

/** Reads the markup at a position, and returns the position after it. */
function readMarkup(document, text, start) {
  MARKUP.lastIndex = start;
  const found = MARKUP.exec(text);
  if (!found) throw new UnreadableSvg('no well-formed markup');

  const [markup, isEnd, tag, attributes, isEmpty] = found;
  if (tag === undefined) readOther(document, markup);
  else if (isEnd) closeElement(document, tag);
  else openElement(document, tag, attributes, markup.length);
  if (isEmpty && !isEnd) document.open.pop();
  return start + markup.length;
}

/**
 * The parent of an SVG's outermost element. Elements have a `name` (without a prefix), `attributes`
 * (`[name, value]`), `children`, the `text` directly in them and `length`, the number of characters
 * that are their own. Throws `UnreadableSvg` if the text is not well-formed, nests too deeply, has
 * too many elements or something that may load a stylesheet.
 */
export function scanSvg(text) {
  const root = { name: '', attributes: [], children: [], text: '', length: 0 };
  const document = { open: [root], elements: 0 };
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length) {
    const read = text[at] === '<' ? readMarkup : readText;
    at = read(document, text, at);
  }

  const isSvg = root.children.length === 1 && root.children[0].name === 'svg';
  if (document.open.length > 1 || !isSvg) throw new UnreadableSvg('no whole SVG');
  return root;
}
