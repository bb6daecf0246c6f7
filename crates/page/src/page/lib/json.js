// JSON as coloured text.

import { copyButton, h } from './dom.js';

/** Longer texts are shown without colours, and beyond the second limit only in part. */
const COLOURED = 60_000;
const SHOWN = 400_000;

const TOKEN =
  /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;

/** The parts of JSON text, with the class of each. */
function parts(text) {
  const found = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > end) found.push(text.slice(end, match.index));
    const [whole, string, colon, word] = match;
    if (string && colon) found.push(h('span.json-name', string), colon);
    else
      found.push(
        h(string ? 'span.json-text' : word ? 'span.json-word' : 'span.json-number', whole),
      );
    end = match.index + whole.length;
  }
  found.push(text.slice(end));
  return found;
}

/** A text as it is read best: JSON is indented. */
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A block of text that can be copied; `coloured` marks it as JSON. */
export function codeBlock(text, { label = 'Copy', coloured = false, name = null } = {}) {
  const shown = text.length > SHOWN ? text.slice(0, SHOWN) : text;
  const content = coloured && shown.length <= COLOURED ? parts(shown) : shown;
  return h(
    'div.code',
    h('pre', { tabindex: '0', role: 'group', 'aria-label': name ?? 'Code' }, content),
    copyButton(text, label),
    shown !== text &&
      h(
        'p.soft',
        `The first ${SHOWN.toLocaleString('en')} of ${text.length.toLocaleString('en')} characters. Copy has them all.`,
      ),
  );
}
