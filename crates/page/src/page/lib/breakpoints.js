// Breakpoints: lines of source files at which a debugged execution stops. The URL has them.

import { placed } from './place.js';

/** Maximum number of breakpoints; a URL has room for no more. */
export const MOST_BREAKPOINTS = 50;

/** The lines by path in the text of a URL; what is no list of lines is left out. */
function readBreakpoints(text) {
  let given;
  try {
    given = JSON.parse(text ?? '{}');
  } catch {
    return new Map();
  }
  if (!given || typeof given !== 'object' || Array.isArray(given)) return new Map();
  const found = new Map();
  let left = MOST_BREAKPOINTS;
  for (const [path, lines] of Object.entries(given)) {
    const valid = Array.isArray(lines)
      ? lines.filter((line) => Number.isSafeInteger(line) && line > 0).slice(0, left)
      : [];
    if (valid.length) found.set(path, new Set(valid));
    left -= valid.length;
  }
  return found;
}

/** The breakpoints of the view in the address bar. */
export class Breakpoints {
  #lines = readBreakpoints(placed('breakpoints'));

  has({ file, line }) {
    return Boolean(this.#lines.get(file.path)?.has(line));
  }

  /** All of them: `{ path, line }`. */
  get all() {
    return [...this.#lines].flatMap(([path, lines]) =>
      [...lines].sort((a, b) => a - b).map((line) => ({ path, line })),
    );
  }

  /** Sets or removes one. Returns whether that was possible. */
  toggle(path, line) {
    const lines = this.#lines.get(path) ?? new Set();
    if (!lines.delete(line)) {
      if (this.all.length >= MOST_BREAKPOINTS) return false;
      lines.add(line);
    }
    if (lines.size) this.#lines.set(path, lines);
    else this.#lines.delete(path);
    return true;
  }

  /** The text for the URL, or null without any. */
  get text() {
    return this.#lines.size
      ? JSON.stringify(
          Object.fromEntries([...this.#lines].map(([path, lines]) => [path, [...lines]])),
        )
      : null;
  }
}
