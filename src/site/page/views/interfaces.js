// Interfaces of contracts that the network does not know: pasted here, they explain calls, events and errors.

import { card, field, h, heading, replace, toast } from '../lib/dom.js';
import { forgetInterfaces, pasteInterface, pastedInterfaces } from '../lib/network.js';
import { parseInterface } from '../lib/signature.js';

export default function view() {
  const input = h('textarea', { rows: '10', spellcheck: 'false', placeholder: 'A JSON ABI, a compiler\u2019s artifact, or lines such as\nevent Transfer(address indexed from, address indexed to, uint256 value)' });
  const list = h('div.stack');
  const problem = h('div');
  const draw = () => {
    const all = pastedInterfaces();
    replace(list, all.length
      ? all.map((text) => h('p', h('strong', `${parseInterface(text).length} entries: `), h('span.soft', parseInterface(text).slice(0, 8).map((one) => one.name).join(', '))))
      : h('p.soft', 'None yet. The network\u2019s own contracts are known anyway.'));
  };
  const form = h('form.stack', field('Interface', input, 'It stays in this browser.'), problem, h('div.row', h('button.primary', { type: 'submit' }, 'Remember it')));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    try {
      const found = pasteInterface(input.value);
      toast(`${found} entries are known now`, 'good');
      input.value = '';
      replace(problem);
      draw();
    } catch (error) {
      replace(problem, h('div.failure', { role: 'alert' }, error.message));
    }
  });
  draw();
  const forget = h('button', { type: 'button' }, 'Forget all');
  forget.addEventListener('click', () => {
    forgetInterfaces();
    draw();
  });
  return [heading('Interfaces'), h('div.grid.two', card('Paste one', form), card('Remembered', list, h('div.row', forget)))];
}
