// Fields for the arguments of a function.

import { typeName } from '../lib/abi.js';
import { argumentName, exampleOf, parseArgument } from '../lib/arguments.js';
import { field, h } from '../lib/dom.js';
import { network } from '../lib/network.js';

const isStructured = (input) => /\]$/.test(input.type) || Boolean(input.components);

function control(input) {
  if (input.type === 'bool') return h('select', ['false', 'true'].map((text) => h('option', { value: text }, text)));
  if (isStructured(input)) return h('textarea.json', { rows: '2', spellcheck: 'false', placeholder: exampleOf(input) });
  return h('input', { placeholder: input.type === 'address' ? `0x… or ${network.prefix}1…` : typeName(input), spellcheck: 'false', autocomplete: 'off' });
}

/** Fields of a function: `{ elements, values(), texts() }`. `values` throws an error that names the argument; `texts` fill the fields. */
export function argumentFields(inputs, texts = []) {
  const controls = inputs.map(control);
  controls.forEach((one, at) => texts[at] !== undefined && (one.value = String(texts[at])));
  return {
    elements: inputs.map((input, at) => field(`${argumentName(input, at)} (${typeName(input)})`, controls[at])),
    values: () => inputs.map((input, at) => parseArgument(input, controls[at].value, at, network.prefix)),
    texts: () => controls.map((one) => one.value),
  };
}
