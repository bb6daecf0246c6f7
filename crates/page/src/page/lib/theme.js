// The choice between light and dark.

/** Switches the theme and saves the choice, which `theme.js` applies to the next page. */
export function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  try {
    localStorage.setItem('tetrad.theme', root.dataset.theme);
  } catch {
    // Storage may be disabled: the choice then holds for this page.
  }
}
