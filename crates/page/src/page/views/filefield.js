// A field for a long text, which may be pasted or read from a file.

import { failure, field, h, replace } from '../lib/dom.js';

/** Most bytes of a file that are read. */
const LARGEST = 20_000_000;

/**
 * The field: `{ element, input }`. A file that is read into the input is an `input` event, as what
 * is typed.
 */
export function fileField(label, hint) {
  const input = h('textarea', { rows: '6', spellcheck: 'false' });
  const file = h('input', { type: 'file' });
  const problem = h('div', { 'aria-live': 'polite' });

  file.addEventListener('change', async () => {
    const [chosen] = file.files;
    replace(problem);
    if (!chosen) return;
    try {
      if (chosen.size > LARGEST) throw new Error(`the file is larger than ${LARGEST / 1e6} MB`);
      const text = await chosen.text();
      // Another file may have been chosen meanwhile, or the view left, whose URL is no longer that
      // of this form.
      if (file.files[0] !== chosen || !input.isConnected) return;
      input.value = text;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    } catch (error) {
      replace(problem, failure(error));
    }
  });

  return {
    element: h('div.stack', field(label, input, hint), field('Or read a file', file), problem),
    input,
  };
}
