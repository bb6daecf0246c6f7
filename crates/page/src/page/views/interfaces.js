// ABIs of contracts that are not part of the network. Saved here, they decode calls, events and
// errors.

import { card, field, h, heading, replace, toast } from '../lib/dom.js';
import { counted } from '../lib/format.js';
import { forgetInterfaces, pasteInterface, pastedInterfaces } from '../lib/network.js';
import { parseInterface } from '../lib/signature.js';

const entries = (number) => counted(number, 'entry', 'entries');

export default function view() {
  const input = h('textarea', {
    rows: '10',
    spellcheck: 'false',
    placeholder:
      'A JSON ABI, a compiler artifact, or Solidity signatures such as\nevent Transfer(address indexed from, address indexed to, uint256 value)',
  });
  const list = h('div.stack');
  const problem = h('div');
  const forget = h('button', { type: 'button' }, 'Remove all');
  const draw = () => {
    const all = pastedInterfaces();
    forget.hidden = !all.length;
    replace(
      list,
      all.length
        ? all.map((text) =>
            h(
              'p',
              h('strong', `${entries(parseInterface(text).length)}: `),
              h(
                'span.soft',
                parseInterface(text)
                  .slice(0, 8)
                  .map((one) => one.name)
                  .join(', '),
              ),
            ),
          )
        : h('p.soft', 'No saved ABIs. Those of the network\u2019s own contracts are built in.'),
    );
  };
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
      draw();
    } catch (error) {
      replace(problem, h('div.failure', { role: 'alert' }, error.message));
    }
  });
  draw();
  forget.addEventListener('click', () => {
    forgetInterfaces();
    draw();
  });
  return [
    heading('Contract ABIs'),
    h('div.grid.two', card('Add an ABI', form), card('Saved ABIs', list, h('div.row', forget))),
  ];
}
