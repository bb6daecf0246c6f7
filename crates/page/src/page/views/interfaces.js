// ABIs of contracts that are not part of the network. Saved here, they decode calls, events and
// errors.

import { card, field, h, heading, replace, toast } from '../lib/dom.js';
import { counted } from '../lib/format.js';
import { forgetInterfaces, pasteInterface, pastedInterfaces } from '../lib/network.js';
import { parseInterface } from '../lib/signature.js';

const entries = (number) => counted(number, 'entry', 'entries');

/** Names of entries that are listed of each ABI. */
const LISTED = 8;

/** A saved ABI: the number of its entries, and the names of the first. */
function savedInterface(text) {
  const all = parseInterface(text);
  const names = all.slice(0, LISTED).map((one) => one.name);
  return h('p', h('strong', `${entries(all.length)}: `), h('span.soft', names.join(', ')));
}

/** The form that saves an ABI, after which `saved` is called. */
function saveForm(saved) {
  const input = h('textarea', {
    rows: '10',
    spellcheck: 'false',
    placeholder:
      'A JSON ABI, a compiler artifact, or Solidity signatures such as\nevent Transfer(address indexed from, address indexed to, uint256 value)',
  });
  const problem = h('div');
  const form = h(
    'form.stack',
    field('ABI', input, 'Stored in this browser only.'),
    problem,
    h('div.row', h('button.primary', { type: 'submit' }, 'Save ABI')),
  );

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    try {
      const found = pasteInterface(input.value);
      toast(`Saved an ABI with ${entries(found)}`, 'good');
      input.value = '';
      replace(problem);
      saved();
    } catch (error) {
      replace(problem, h('div.failure', { role: 'alert' }, error.message));
    }
  });
  return form;
}

export default function view() {
  const list = h('div.stack');
  const forget = h('button', { type: 'button' }, 'Remove all');

  function draw() {
    const all = pastedInterfaces();
    forget.hidden = !all.length;
    replace(
      list,
      all.length
        ? all.map(savedInterface)
        : h('p.soft', 'No saved ABIs. Those of the network\u2019s own contracts are built in.'),
    );
  }

  forget.addEventListener('click', () => {
    forgetInterfaces();
    draw();
  });
  draw();
  return [
    heading('Contract ABIs'),
    h(
      'div.grid.two',
      card('Add an ABI', saveForm(draw)),
      card('Saved ABIs', list, h('div.row', forget)),
    ),
  ];
}
