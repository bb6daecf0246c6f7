// Before anything is painted: the colours that were chosen here before. Without a choice the system's hold.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem('tetrad.theme');
  } catch {
    // Storage may be switched off.
  }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}
