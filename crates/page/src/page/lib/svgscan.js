// The elements of an SVG, as browsers read it: as strict XML.

/** Maximum depth of elements, and their maximum number. */
const DEEPEST = 256;
const MOST_ELEMENTS = 50_000;

const NAME = '[^\\s<>/="\']+';
const ATTRIBUTE = `\\s+${NAME}\\s*=\\s*(?:"[^"<]*"|'[^'<]*')`;
const MARKUP = new RegExp(`<!--[^]*?-->|<!\\[CDATA\\[[^]*?\\]\\]>|<\\?[^]*?\\?>|<(/?)(${NAME})((?:${ATTRIBUTE})*)\\s*(/?)>`, 'y');
const ATTRIBUTES = new RegExp(`(${NAME})\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'g');
const NAMED = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** A name without its prefix. */
export const localName = (name) => name.slice(name.indexOf(':') + 1);

function unescaped(text) {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name) return NAMED[name] ?? whole;
    const code = hex ? parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function attributesOf(text) {
  return [...text.matchAll(ATTRIBUTES)].map(([, name, double, single]) => [name, unescaped(double ?? single)]);
}

/**
 * The root of an SVG: elements with `name` (without a prefix), `attributes` (`[name, value]`), `children`, the `text` directly
 * in them and `length`, the number of characters that are their own. Null if the text is not well-formed, nests too deeply, has
 * too many elements or a processing instruction that may load a stylesheet.
 */
export function scanSvg(text) {
  const root = { name: '', attributes: [], children: [], text: '', length: 0 };
  const open = [root];
  let elements = 0;
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length) {
    const parent = open.at(-1);
    if (text[at] !== '<') {
      const end = text.indexOf('<', at);
      const part = text.slice(at, end < 0 ? text.length : end);
      parent.text += unescaped(part);
      parent.length += part.length;
      at += part.length;
      continue;
    }

    MARKUP.lastIndex = at;
    const found = MARKUP.exec(text);
    if (!found) return null;
    const [markup, closes, name, attributes, isEmpty] = found;
    at += markup.length;
    if (name === undefined) {
      if (/^<\?xml-/i.test(markup)) return null;
      if (markup.startsWith('<![CDATA[')) parent.text += markup.slice(9, -3);
    } else if (closes) {
      if (open.length < 2 || parent.tag !== name) return null;
      open.pop();
    } else {
      if (open.length > DEEPEST || ++elements > MOST_ELEMENTS) return null;
      const element = { tag: name, name: localName(name), attributes: attributesOf(attributes), children: [], text: '', length: markup.length };
      parent.children.push(element);
      if (!isEmpty) open.push(element);
    }
  }
  return open.length === 1 ? root : null;
}
