// Texts of the documents in a little Markdown.

import { h } from './dom.js';

/** Text in which backticks mark code. */
export function prose(text) {
  return text.split('`').map((part, at) => (at % 2 ? h('code', part) : part));
}
