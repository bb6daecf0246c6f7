// Metadata and pictures of non-fungible tokens outside of the chain. The browser loads them from
// where the operator of the node allows it, and from nowhere else: the page's policy says the same.
// Anyone may run these servers, so every answer is bounded.

import { loadableUrl, parseMetadata } from './metadata.js';
import { turns } from './turns.js';

/** Milliseconds after which an answer is no longer waited for. */
const TIME_LIMIT = 15_000;
/** Most that is read of metadata and of an SVG, and of another picture. */
const MOST_TEXT = { bytes: 512 * 1024, name: '512 KiB' };
const LARGEST_PICTURE = { bytes: 8 * 1024 * 1024, name: '8 MiB' };
/** Answers that are loaded at once. */
const AT_ONCE = 4;
/** Bytes of all answers that are remembered, and what each counts at least. */
const MOST_REMEMBERED = 16 * 1024 * 1024;
const LEAST_REMEMBERED = 2_048;
/** How long a failure is remembered, in milliseconds. */
const FAILURE_LIFETIME = 60_000;

const SVG = 'image/svg+xml';
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'];

/**
 * The content of a meta element of the document, in which the node writes what its operator allows.
 */
function allowed(name) {
  return document.querySelector(`meta[name="${name}"]`)?.content ?? '';
}

const rules = {
  sources: allowed('media-sources').split(' ').filter(Boolean),
  gateway: allowed('ipfs-gateway'),
};

/** Whether the operator allows to load anything from outside of the chain. */
export const loadsMedia = rules.sources.length > 0;

/** The URL at which the page may load a link, or null. */
export function mediaUrl(link) {
  return typeof link === 'string' ? loadableUrl(link, rules) : null;
}

const loading = turns(AT_ONCE);

// Answers.

/**
 * The bytes of an answer, in parts. Longer ones are errors, whatever length the server has
 * announced.
 */
async function bodyParts(response, limit) {
  if (!response.body) return [];
  const reader = response.body.getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts;

    size += value.length;
    if (size > limit.bytes) {
      reader.cancel().catch(() => {});
      throw new Error(`the answer is longer than ${limit.name}`);
    }
    parts.push(value);
  }
}

/** Parts of a body as a data: URL. */
function dataUrl(parts, type) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result));
    reader.addEventListener('error', () => reject(new Error('the picture could not be read')));
    reader.readAsDataURL(new Blob(parts, { type }));
  });
}

/**
 * The content of an answer: `{ picture }`, a data: URL with the type that the server gave, or `{
 * metadata }`, an object. The picture is not requested again, as the server may answer with another
 * one.
 */
async function read(response) {
  if (!response.ok) throw new Error(`the server answered with status ${response.status}`);
  const type = (response.headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase();
  if (type === SVG) return { picture: await dataUrl(await bodyParts(response, MOST_TEXT), type) };
  if (PICTURES.includes(type))
    return { picture: await dataUrl(await bodyParts(response, LARGEST_PICTURE), type) };
  if (type.startsWith('image/')) throw new Error('the picture is of a kind that is not shown');

  const text = await new Blob(await bodyParts(response, MOST_TEXT)).text();
  return { metadata: parseMetadata(text) };
}

/**
 * Loads a URL in its turn. Its server learns the origin of this page, as browsers name it in
 * requests to other origins.
 */
async function request(url, signal) {
  await loading.take(signal);
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), TIME_LIMIT);
  try {
    const options = {
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.any([signal, ending.signal]),
    };
    return await read(await fetch(url, options));
  } catch (error) {
    signal.throwIfAborted();
    if (ending.signal.aborted)
      throw new Error(`the answer took longer than ${TIME_LIMIT / 1_000} seconds`);
    // The browser does not say which of these it is.
    if (error instanceof TypeError)
      throw Object.assign(
        new Error('the server is not reachable, or does not let this page read its answers'),
        { isOpaque: true },
      );
    throw error;
  } finally {
    clearTimeout(timer);
    // The rest of the answer is not loaded.
    ending.abort();
    loading.end();
  }
}

// Memory.

/** Answers by their URLs, oldest first: a promise, its bytes, and when it failed. */
const remembered = new Map();

/** The bytes of an answer: a data: URL has one for each character. */
function sizeOf({ metadata, picture }) {
  return LEAST_REMEMBERED + (picture ? picture.length : 2 * JSON.stringify(metadata).length);
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
 * Loads `{ picture }`, a data: URL, or `{ metadata }`, an object, from a URL. Answers are
 * remembered, the newest up to a limit of bytes, and failures for a while. Errors are reasons;
 * `isOpaque` are those of which the page cannot know more.
 */
export function loadMedia(url, signal) {
  const known = remembered.get(url);
  if (known && !(known.failed && performance.now() - known.failed > FAILURE_LIFETIME))
    return known.answer;

  const entry = { answer: request(url, signal), size: LEAST_REMEMBERED, failed: null };
  remembered.delete(url);
  remembered.set(url, entry);
  entry.answer
    .then(
      (answer) => (entry.size = sizeOf(answer)),
      () => {
        entry.failed = performance.now();
        if (signal.aborted && remembered.get(url) === entry) remembered.delete(url);
      },
    )
    .finally(shrink);
  return entry.answer;
}
