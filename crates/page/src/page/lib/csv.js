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

/** Downloads lines of fields as a file. */
function download(name, lines) {
  const text = lines.map((line) => line.map(csvField).join(',')).join('\r\n');
  const blob = new Blob([text], { type: 'text/csv' });
  const link = h('a', { href: URL.createObjectURL(blob), download: `${name}.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}

/**
 * Reads the rows of a list, up to a maximum, as lines after that of the titles. Calls back with the
 * number of rows after each page. `isCut` is whether there are more.
 */
async function readLines(columns, load, progress) {
  const written = columns.filter((column) => column.csv);
  const lines = [written.map((column) => (column.title === 'Age' ? 'Time' : column.title))];
  let cursor = null;
  do {
    const page = await load(cursor);
    for (const row of page.rows.slice(0, EXPORTED + 1 - lines.length))
      lines.push(written.map((column) => column.csv(row)));
    cursor = page.next;
    progress(lines.length - 1);
  } while (cursor && lines.length <= EXPORTED);
  return { lines, isCut: Boolean(cursor) };
}

/** A button that downloads all rows of a list as CSV, up to a maximum. */
export function exportButton(name, columns, load) {
  const button = h(
    'button',
    { type: 'button', title: `Download up to ${count(EXPORTED)} rows` },
    'Export CSV',
  );
  const progress = (rows) => setText(button, `Exporting ${count(rows)}…`);

  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      const { lines, isCut } = await readLines(columns, load, progress);
      download(name, lines);
      announce(`Exported ${count(lines.length - 1)} rows`);
      setText(button, isCut ? `Exported the newest ${count(EXPORTED)}` : 'Export CSV');
    } catch (error) {
      setText(button, 'Export CSV');
      const bar = button.parentElement;
      const problem = bar.querySelector('.problem') ?? bar.appendChild(h('div.problem'));
      replace(problem, failure(error));
    }
    button.disabled = false;
  });
  return button;
}
