// Fields for the arguments of a function.

import { typeName } from '../lib/abi.js';
import { argumentName, exampleOf, parseArgument } from '../lib/arguments.js';
import { field, h, replace } from '../lib/dom.js';
import { fromUnits } from '../lib/format.js';
import { tokenFor } from '../lib/links.js';
import { network } from '../lib/network.js';

const isStructured = (input) => /\]$/.test(input.type) || Boolean(input.components);

/** Decimals that amounts usually have: stablecoins, prices, gwei and coins. */
const USUAL_DECIMALS = [6, 8, 9, 18];
/** Integers with fewer bits hold no amounts. */
const AMOUNT_BITS = 64;

/** The control for an argument: a choice, a field for JSON, or one for a line of text. */
function control(input) {
  if (input.type === 'bool')
    return h(
      'select',
      ['false', 'true'].map((text) => h('option', { value: text }, text)),
    );

  if (isStructured(input))
    return h('textarea.json', { rows: '2', spellcheck: 'false', placeholder: exampleOf(input) });

  return h('input', {
    placeholder: input.type === 'address' ? `0x… or ${network.prefix}1…` : typeName(input),
    spellcheck: 'false',
    autocomplete: 'off',
  });
}

function mayBeAmount({ type }) {
  const bits = /^uint(\d*)$/.exec(type)?.[1];
  return bits !== undefined && Number(bits || 256) >= AMOUNT_BITS;
}

/**
 * A field with controls that multiply its number by a power of ten. `decimals` is the one that it
 * likely needs, or null.
 */
function amountField(name, label, input, decimals) {
  const choices = [...new Set([...(decimals === null ? [] : [decimals]), ...USUAL_DECIMALS])];
  const power = h(
    'select',
    { 'aria-label': `Decimals of ${name}` },
    choices.map((one) =>
      h('option', { value: String(one), selected: one === (decimals ?? 18) }, `10^${one}`),
    ),
  );
  const problem = h('small.down', { role: 'alert' });
  const apply = h(
    'button',
    { type: 'button', 'aria-label': `Multiply ${name} by the power of ten` },
    '×',
  );

  apply.addEventListener('click', () => {
    replace(problem);
    try {
      input.value = fromUnits(input.value, Number(power.value)).toString();
      input.dispatchEvent(new Event('input', { bubbles: true }));
    } catch (error) {
      replace(problem, `${name}: ${error.message}`);
    }
  });
  return h('div', h('div.scaled', field(label, input), apply, power), problem);
}

function element(input, at, own, contract) {
  const name = argumentName(input, at);
  const label = `${name} (${typeName(input)})`;
  if (!mayBeAmount(input)) return field(label, own);
  return amountField(name, label, own, tokenFor(input.name, contract)?.decimals ?? null);
}

/**
 * Fields of a function: `{ elements, values(), texts() }`. `values` throws an error that names the
 * argument; `texts` fill the fields. `contract` is the one that the function is of, whose decimals
 * amounts have if it is a token.
 */
export function argumentFields(inputs, texts = [], contract = null) {
  const controls = inputs.map(control);
  for (const [at, one] of controls.entries()) {
    if (texts[at] !== undefined) one.value = String(texts[at]);
  }
  return {
    elements: inputs.map((input, at) => element(input, at, controls[at], contract)),
    values: () =>
      inputs.map((input, at) => parseArgument(input, controls[at].value, at, network.prefix)),
    texts: () => controls.map((one) => one.value),
  };
}
