// The "Read contract" form: view functions from known ABIs whose selectors occur in the contract's code.

import { decode, encodeCall, selector, typeName } from '../lib/abi.js';
import { card, field, h, replace } from '../lib/dom.js';
import { valueOf } from '../lib/links.js';
import { explainRevert, interfaces, network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { parseAddress } from '../lib/address.js';

/** Parses an input field into a value of its ABI type. Arrays and tuples are JSON. */
function readArgument(input, text) {
  const trimmed = text.trim();
  if (input.type === 'address') return parseAddress(trimmed, network.prefix);
  if (/^u?int\d*$/.test(input.type)) return BigInt(trimmed.replace(/[_,]/g, ''));
  if (/[[\]]|^tuple/.test(input.type)) return JSON.parse(trimmed);
  return trimmed;
}

async function call(address, called, values) {
  try {
    const output = await node.call('eth_call', { to: address, data: encodeCall(called, values) }, 'latest');
    return decode(called.outputs, output);
  } catch (error) {
    throw error.data ? new Error(await explainRevert(error.data)) : error;
  }
}

function results(called, values) {
  return h('ul.plain', called.outputs.map((output, at) => h('li', output.name && h('span.soft', `${output.name}: `), valueOf(values[at], output))));
}

/** A card with the functions that the code dispatches on: compilers push each selector onto the stack to compare it. */
export async function contractCard(address) {
  const code = await node.call('eth_getCode', address, 'latest');
  const has = (one) => code.includes(`63${selector(one).slice(2).replace(/^(00)+/, '')}`) || code.includes(selector(one).slice(2));
  const views = [...interfaces().functions.values()].filter((one) => /view|pure/.test(one.stateMutability) && has(one));
  if (!views.length) return card('Read contract', h('p.soft', 'No known ABI matches this contract. ', h('a', { href: '#/interfaces' }, 'Add an ABI')));
  views.sort((a, b) => a.name.localeCompare(b.name));
  const choice = h('select', views.map((one, at) => h('option', { value: at }, `${one.name}(${one.inputs.map(typeName).join(', ')})`)));
  const form = h('form.stack');
  const output = h('div', { 'aria-live': 'polite' });
  const draw = () => {
    const called = views[choice.value];
    const inputs = called.inputs.map((input) => h('input', { placeholder: typeName(input), spellcheck: 'false', autocomplete: 'off' }));
    replace(output);
    replace(form, called.inputs.map((input, at) => field(input.name || typeName(input), inputs[at])), h('div.row', h('button', { type: 'submit' }, 'Query')));
    const run = async () => {
      try {
        const values = called.inputs.map((input, at) => readArgument(input, inputs[at].value));
        replace(output, results(called, await call(address, called, values)));
      } catch (error) {
        replace(output, h('div.failure', { role: 'alert' }, error.message));
      }
    };
    form.onsubmit = (event) => {
      event.preventDefault();
      run();
    };
    if (!called.inputs.length) run();
  };
  choice.addEventListener('change', draw);
  draw();
  return card('Read contract', field('Function', choice), form, output);
}
