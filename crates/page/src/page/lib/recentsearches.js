// The last results that the user opened, saved in this browser.

const RECENT = 'tetrad.searches';
/** Number of remembered searches. */
const REMEMBERED = 6;

/** Whether a saved value has what a result needs; a link leads within the page. */
function isResult(one) {
  return (
    typeof one?.href === 'string' && one.href.startsWith('#/') && typeof one.title === 'string'
  );
}

/** The remembered results, the newest first. */
export function recentSearches() {
  try {
    const list = JSON.parse(localStorage.getItem(RECENT) ?? '[]');
    return Array.isArray(list) ? list.filter(isResult).slice(0, REMEMBERED) : [];
  } catch {
    return [];
  }
}

/** Remembers a result as the newest. */
export function rememberSearch({ kind, title, detail, href }) {
  const others = recentSearches().filter((one) => one.href !== href);
  const list = [{ kind, title, detail, href }, ...others].slice(0, REMEMBERED);
  try {
    localStorage.setItem(RECENT, JSON.stringify(list));
  } catch {
    // Storage may be disabled.
  }
}
