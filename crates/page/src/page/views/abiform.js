// The ABI of a contract, with the form that saves or removes one in this browser.

import { isView, typeName } from '../lib/abi.js';
import { removeAbi, saveAbi, savedAbi } from '../lib/contracts.js';
import { copyButton, failure, field, h, replace, toast } from '../lib/dom.js';
import { counted } from '../lib/format.js';
import { TOKEN_STANDARDS } from '../lib/standards.js';

function inputText(input) {
  const indexed = input.indexed ? ' indexed' : '';
  const name = input.name ? ` ${input.name}` : '';
  return `${typeName(input)}${indexed}${name}`;
}

/** An entry of an ABI in a line, as Solidity declares it. */
function declaration(entry) {
  const { type, name, inputs, outputs, stateMutability } = entry;
  const isSpecial = isView(entry) || stateMutability === 'payable';
  const mutability = isSpecial ? ` ${stateMutability}` : '';
  const results = outputs?.length ? ` returns (${outputs.map(typeName).join(', ')})` : '';
  return `${type} ${name}(${inputs.map(inputText).join(', ')})${mutability}${results}`;
}

function knownAbi(abi) {
  const lines = [...abi.own, ...abi.implementation].map(declaration).join('\n');
  return (
    lines && [
      h('h3', 'Known ABI'),
      h('div.code', h('pre', { tabindex: '0' }, lines), copyButton(lines)),
    ]
  );
}

/** Buttons that fill in the ABI of a token standard. */
function templates(input) {
  return [...TOKEN_STANDARDS].map(([name, text]) =>
    h('button', { type: 'button', onclick: () => (input.value = text) }, name),
  );
}

/** The form that saves or removes the ABI of an address, and then calls `changed`. */
function savedAbiForm(address, saved, changed) {
  const input = h('textarea', {
    rows: '8',
    spellcheck: 'false',
    placeholder:
      'A JSON ABI, a compiler artifact, or Solidity signatures such as\nfunction balanceOf(address owner) view returns (uint256)',
  });
  if (saved) input.value = saved;

  const failed = h('div');
  const change = async (run) => {
    try {
      run();
      await changed();
    } catch (error) {
      replace(failed, failure(error));
    }
  };
  const save = () => {
    const size = saveAbi(address, input.value);
    toast(`Saved an ABI with ${counted(size, 'entry', 'entries')}`, 'good');
  };
  const remove = () => change(() => removeAbi(address));

  const form = h(
    'form.stack',
    !saved && h('div.row', h('span.soft', 'Fill in the ABI of a standard:'), templates(input)),
    field(
      'ABI',
      input,
      'Kept for this address, in this browser only. It takes precedence over a verified one.',
    ),
    failed,
    h(
      'div.row',
      h('button.primary', { type: 'submit' }, 'Save ABI'),
      saved && h('button', { type: 'button', onclick: remove }, 'Remove ABI'),
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    change(save);
  });
  return form;
}

/** The known ABI of a contract, and the form that saves or removes one; `changed` follows. */
export function abiForm(contract, abi, changed) {
  const saved = savedAbi(contract.address);
  return h(
    'div.stack',
    abi && knownAbi(abi),
    h('h3', saved ? 'Saved ABI' : 'Add an ABI'),
    savedAbiForm(contract.address, saved, changed),
  );
}
