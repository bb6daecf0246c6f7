// Where the user is in a view: its page, filter, tab, period or token, which the URL says after the
// `?` and links share; and how far the window is scrolled, and the way back through pages, which an
// entry of the browser's history keeps.

const SCROLLS = 'tetrad.scrolls';
/** Most entries of the history whose scroll positions are kept. */
const MOST_SCROLLS = 100;
/** How long a view may take to become as long as it was, in milliseconds. */
const GROWTH_TIME = 10_000;

/** Scroll positions by the key of the history's entry. */
let scrolls = new Map();
/** The entry whose view is shown; null while another view loads. */
let shown = null;

function current() {
  const [path, query = ''] = location.hash.split('?');
  return { path: path || '#/', query: new URLSearchParams(query) };
}

/** A value that the URL gives the view, or null. */
export function placed(name) {
  return current().query.get(name);
}

/**
 * Writes values into the URL without loading the view again; null, false and empty ones are
 * removed.
 */
export function setPlace(values, path = null) {
  const { path: own, query } = current();
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === false || value === '')
      query.delete(name);
    else query.set(name, value === true ? '1' : value);
  }
  const text = query.toString();
  history.replaceState(
    history.state,
    '',
    `${path === null ? own : `#/${path}`}${text && `?${text}`}`,
  );
}

/** What the history's entry keeps under a name, or null. */
export function kept(name) {
  return history.state?.[name] ?? null;
}

export function keep(name, value) {
  history.replaceState({ ...history.state, [name]: value }, '');
}

/**
 * Takes over scrolling from the browser, which would restore a position before the view has loaded.
 */
export function followScrolling() {
  history.scrollRestoration = 'manual';
  try {
    scrolls = new Map(JSON.parse(sessionStorage.getItem(SCROLLS) ?? '[]'));
  } catch {
    // A damaged or disabled storage: positions survive no reload.
  }
  window.addEventListener('scroll', () => shown && scrolls.set(shown, window.scrollY), {
    passive: true,
  });
  window.addEventListener('pagehide', () => {
    try {
      sessionStorage.setItem(SCROLLS, JSON.stringify([...scrolls].slice(-MOST_SCROLLS)));
    } catch {
      // Storage may be full or disabled.
    }
  });
}

/** The view of the history's entry begins to load. */
export function leave() {
  shown = null;
}

/**
 * The view of the history's entry is shown: scrolls to where the user left it, which lists may
 * still have to reach.
 */
export function arrive(signal) {
  if (!kept('key')) keep('key', crypto.getRandomValues(new Uint32Array(2)).join('-'));
  shown = kept('key');
  const wanted = scrolls.get(shown) ?? 0;
  window.scrollTo(0, wanted);
  if (window.scrollY >= wanted - 1) return;

  const done = new AbortController();
  const stop = () => done.abort();
  const growth = new ResizeObserver(() => {
    window.scrollTo(0, wanted);
    if (window.scrollY >= wanted - 1) stop();
  });
  const timer = setTimeout(stop, GROWTH_TIME);
  done.signal.addEventListener('abort', () => {
    clearTimeout(timer);
    growth.disconnect();
  });

  // A user who scrolls decides.
  for (const event of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
    window.addEventListener(event, stop, { signal: done.signal, passive: true });
  signal.addEventListener('abort', stop);
  growth.observe(document.getElementById('main'));
}
