// Metadata and pictures of non-fungible tokens outside of the chain. The browser loads them from where the operator of the node
// allows it, and from nowhere else: the page's policy says the same. The servers are anybody's, so that everything has a limit.

import { loadableUrl, parseMetadata } from './metadata.js';
import { turns } from './turns.js';

/** Milliseconds after which an answer is no longer waited for, and the bytes that are read of it. */
const TIME_LIMIT = 15_000;
const MOST_BYTES = 512 * 1024;
/** Bytes of a picture above which it is not shown, if its server says how many it has. */
const LARGEST_PICTURE = 20 * 1024 * 1024;
/** Answers that are loaded at once. */
const AT_ONCE = 4;
/** Bytes of all answers that are remembered, and what each counts at least. */
const MOST_REMEMBERED = 16 * 1024 * 1024;
const LEAST_REMEMBERED = 2_048;
/** How long a failure is remembered, in milliseconds. */
const FAILURE_LIFETIME = 60_000;

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'];

/** The content of a meta element of the document, in which the node writes what its operator allows. */
function allowed(name) {
  return document.querySelector(`meta[name="${name}"]`)?.content ?? '';
}

const rules = { sources: allowed('media-sources').split(' ').filter(Boolean), gateway: allowed('ipfs-gateway') };

/** Whether the operator allows to load anything from outside of the chain. */
export const loadsMedia = rules.sources.length > 0;

/** The URL at which the page may load a link, or null. */
export function mediaUrl(link) {
  return typeof link === 'string' ? loadableUrl(link, rules) : null;
}

const loading = turns(AT_ONCE);

// Answers.

/** The text of an answer, within the limit. */
async function bodyText(response) {
  if (!response.body) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let [text, size] = ['', 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MOST_BYTES) {
      reader.cancel().catch(() => {});
      throw new Error(`the answer is longer than ${MOST_BYTES / 1024} KiB`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** A text as a data: URL. */
function dataUrl(text, type) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result));
    reader.addEventListener('error', () => reject(new Error('the picture could not be read')));
    reader.readAsDataURL(new Blob([text], { type }));
  });
}

/** What is at a URL: `{ picture }`, the URL of one, or `{ metadata }`, an object. */
async function read(response, url) {
  if (!response.ok) throw new Error(`the server answered with status ${response.status}`);
  const type = (response.headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase();
  // An SVG is read here, as only its text tells whether drawing it could take long.
  if (type === 'image/svg+xml') return { picture: await dataUrl(await bodyText(response), type) };
  if (!type.startsWith('image/')) return { metadata: parseMetadata(await bodyText(response)) };
  if (!PICTURES.includes(type)) throw new Error('the picture is of a kind that is not shown');
  if (Number(response.headers.get('content-length')) > LARGEST_PICTURE) throw new Error('the picture is larger than 20 MiB');
  return { picture: url };
}

/** Loads a URL in its turn. */
async function request(url, signal) {
  await loading.take(signal);
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), TIME_LIMIT);
  try {
    const options = { credentials: 'omit', referrerPolicy: 'no-referrer', signal: AbortSignal.any([signal, ending.signal]) };
    return await read(await fetch(url, options), url);
  } catch (error) {
    signal.throwIfAborted();
    if (ending.signal.aborted) throw new Error(`the answer took longer than ${TIME_LIMIT / 1_000} seconds`);
    // The browser does not say which of these it is.
    if (error instanceof TypeError) throw Object.assign(new Error('the server is not reachable, or does not let this page read its answers'), { isOpaque: true });
    throw error;
  } finally {
    clearTimeout(timer);
    // The body of a picture is loaded by its element.
    ending.abort();
    loading.end();
  }
}

// Memory.

/** Answers by their URLs, oldest first: a promise, its bytes, and when it failed. */
const remembered = new Map();

function sizeOf({ metadata, picture }) {
  return LEAST_REMEMBERED + 2 * (picture ?? JSON.stringify(metadata)).length;
}

/** Forgets the oldest answers beyond the limit. */
function shrink() {
  let total = 0;
  for (const { size } of remembered.values()) total += size;
  for (const [url, { size }] of remembered) {
    if (total <= MOST_REMEMBERED) return;
    remembered.delete(url);
    total -= size;
  }
}

/**
 * What is at a URL, `{ picture }` or `{ metadata }`. Answers are remembered for the life of the page. Errors are reasons;
 * `isOpaque` are those of which the page cannot know more.
 */
export function loadMedia(url, signal) {
  const known = remembered.get(url);
  if (known && !(known.failed && performance.now() - known.failed > FAILURE_LIFETIME)) return known.answer;

  const entry = { answer: request(url, signal), size: LEAST_REMEMBERED, failed: null };
  remembered.delete(url);
  remembered.set(url, entry);
  entry.answer.then(
    (answer) => (entry.size = sizeOf(answer)),
    () => {
      entry.failed = performance.now();
      if (signal.aborted && remembered.get(url) === entry) remembered.delete(url);
    },
  ).finally(shrink);
  return entry.answer;
}
