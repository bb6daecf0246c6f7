// Applies the saved theme before the first paint. Without one the system's preference holds.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem('tetrad.theme');
  } catch {
    // Storage may be disabled.
  }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}
