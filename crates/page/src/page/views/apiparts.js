// What the console shows of operations in several places.

import { h } from '../lib/dom.js';

/** The link to the page of an operation. */
export const hrefOf = (id, query = '') => `#/api/${encodeURIComponent(id)}${query}`;

/** A name that may be broken between its words. */
export const breakable = (name) =>
  name.split(/(?<=_)|(?=[A-Z][a-z])/).flatMap((part, at) => (at ? [h('wbr'), part] : [part]));

/** The method of HTTP, or WS. */
export function badge(operation) {
  const method = operation.kind === 'live' ? 'WS' : operation.method;
  return h(`span.method.${method.toLowerCase()}`, method);
}
