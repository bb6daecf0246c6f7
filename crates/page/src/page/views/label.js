// The user's own label of an address, with the form that changes it.

import { announce, failure, h, replace } from '../lib/dom.js';
import { labelOf, LONGEST_LABEL, saveLabel } from '../lib/labels.js';

/**
 * The label of an address and a button to change it. `changed` is called with the new label, or
 * null.
 */
export function labelEditor(address, changed) {
  const box = h('span.label-editor');

  function show(focus = false) {
    const label = labelOf(address);
    const button = h(
      'button.quiet',
      { type: 'button', onclick: edit },
      label ? 'Change' : 'Add a label',
    );
    replace(box, label && h('span', label), button);
    if (focus) button.focus();
  }

  function edit() {
    const input = h('input', {
      'aria-label': 'Label',
      maxlength: LONGEST_LABEL,
      value: labelOf(address) ?? '',
      autocomplete: 'off',
      placeholder: 'Only in this browser',
    });
    const problem = h('span');
    const form = h(
      'form.row.tight',
      input,
      h('button', { type: 'submit' }, 'Save'),
      h('button.quiet', { type: 'button', onclick: () => show(true) }, 'Cancel'),
      problem,
    );

    form.addEventListener('submit', (event) => {
      event.preventDefault();
      try {
        changed(saveLabel(address, input.value));
        announce('Label saved');
        show(true);
      } catch (error) {
        replace(problem, failure(error));
      }
    });

    replace(box, form);
    input.focus();
  }

  show();
  return box;
}
