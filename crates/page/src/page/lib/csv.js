// Lists as CSV.

import { announce, failure, h, replace, setText } from './dom.js';
import { count } from './format.js';

/** Maximum number of exported rows. */
const EXPORTED = 10_000;

/** A text as a field of CSV. A leading character that spreadsheets take for a formula is quoted. */
function csvField(value) {
  const text = String(value ?? '');
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+$/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A button that downloads all rows of a list as CSV, up to a maximum. */
export function exportButton(name, columns, load) {
  const button = h(
    'button',
    { type: 'button', title: `Download up to ${count(EXPORTED)} rows` },
    'Export CSV',
  );
  button.addEventListener('click', async () => {
    const written = columns.filter((column) => column.csv);
    const lines = [written.map((column) => (column.title === 'Age' ? 'Time' : column.title))];
    button.disabled = true;
    try {
      let cursor = null;
      do {
        const page = await load(cursor);
        for (const row of page.rows.slice(0, EXPORTED + 1 - lines.length))
          lines.push(written.map((column) => column.csv(row)));
        cursor = page.next;
        setText(button, `Exporting ${count(lines.length - 1)}…`);
      } while (cursor && lines.length <= EXPORTED);
      const blob = new Blob([lines.map((line) => line.map(csvField).join(',')).join('\r\n')], {
        type: 'text/csv',
      });
      const link = h('a', { href: URL.createObjectURL(blob), download: `${name}.csv` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
      announce(`Exported ${count(lines.length - 1)} rows`);
      setText(button, cursor ? `Exported the newest ${count(EXPORTED)}` : 'Export CSV');
    } catch (error) {
      setText(button, 'Export CSV');
      replace(
        button.parentElement.querySelector('.problem') ??
          button.parentElement.appendChild(h('div.problem')),
        failure(error),
      );
    }
    button.disabled = false;
  });
  return button;
}
