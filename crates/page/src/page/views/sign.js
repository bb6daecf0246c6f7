// Signs a message or typed data with the active account.

import { submitOnce } from '../lib/actions.js';
import { field, failure, copyButton, facts, h, replace } from '../lib/dom.js';
import { isHex, toHex, utf8 } from '../lib/bytes.js';
import { addressLink } from '../lib/links.js';
import { network } from '../lib/network.js';
import { placed, setPlace } from '../lib/place.js';
import { reasonOf } from '../lib/reasons.js';
import { wallets } from '../lib/wallet.js';
import { switcher } from './parts.js';

/** An example of typed data, which is filled in with the chain. */
const exampleOf = () =>
  JSON.stringify(
    {
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'chainId', type: 'uint256' },
        ],
        Mail: [
          { name: 'to', type: 'address' },
          { name: 'text', type: 'string' },
        ],
      },
      primaryType: 'Mail',
      domain: { name: 'Example', chainId: network.chainId },
      message: { to: `0x${'1'.repeat(40)}`, text: 'Hello' },
    },
    null,
    2,
  );

/**
 * A number that JSON.parse may have rounded is refused: another one than the text's would be
 * signed.
 */
function exactOnly(name, value) {
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    throw new RangeError(
      `${name.slice(0, 60)}: write the number in quotes, or it would be rounded`,
    );
  return value;
}

/**
 * Wallets hash only the members of the domain that its type declares: others would be shown, but
 * not signed.
 */
function checkDomain({ types, domain }) {
  const declared = Array.isArray(types.EIP712Domain)
    ? types.EIP712Domain.map((member) => member?.name)
    : [];
  const unsigned = Object.keys(domain).find((name) => !declared.includes(name));
  if (unsigned !== undefined)
    throw new Error(
      `the domain’s member ${unsigned.slice(0, 60)} is not in the type EIP712Domain, and would not be signed`,
    );
}

/** Typed data that a text has, checked for what signers need. */
function parseTyped(text) {
  let data;
  try {
    data = JSON.parse(text, exactOnly);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new Error(`not valid JSON: ${error.message}`);
  }
  for (const name of ['types', 'primaryType', 'domain', 'message']) {
    if (data?.[name] === undefined) throw new Error(`the member ${name} is missing`);
  }
  for (const name of ['types', 'domain']) {
    if (data[name] === null || typeof data[name] !== 'object')
      throw new Error(`the member ${name} is no object`);
  }
  if (!Array.isArray(data.types[data.primaryType]))
    throw new Error(`the types have no ${String(data.primaryType).slice(0, 60)}`);
  checkDomain(data);
  return data;
}

/** What typed data are about, as rows of facts. */
function typedFacts(data) {
  const { name, chainId, verifyingContract } = data.domain;
  const elsewhere = chainId !== undefined && Number(chainId) !== network.chainId;
  return facts([
    ['Type', h('span.mono', String(data.primaryType).slice(0, 100))],
    name !== undefined && ['Domain', String(name).slice(0, 100)],
    chainId === undefined
      ? ['Chain ID', 'none, valid on every chain']
      : [
          'Chain ID',
          String(chainId).slice(0, 30),
          elsewhere && h('span.tag.bad', 'Not this chain'),
        ],
    typeof verifyingContract === 'string' &&
      isHex(verifyingContract, 20) && ['Contract', addressLink(verifyingContract)],
  ]);
}

function result(signature, account) {
  return h(
    'div.result',
    facts([
      ['Signer', addressLink(account, { full: true })],
      ['Signature', h('span.mono', signature), copyButton(signature, 'Copy signature')],
    ]),
  );
}

/** A form that signs what is in its fields: `sign()` resolves to the signature. */
function signer(fields, name, sign, signal) {
  const output = h('div', { 'aria-live': 'polite' });
  const submit = h('button.primary', { type: 'submit' }, name);
  const form = h('form.stack', fields, h('div.row', submit), output);
  submitOnce(
    form,
    submit,
    async () => {
      replace(output);
      try {
        const { address } = wallets.current;
        const signature = await sign(address);
        replace(output, result(signature, address));
      } catch (error) {
        replace(output, failure(reasonOf(error)));
      }
    },
    signal,
  );
  form.addEventListener('input', () => replace(output));
  return form;
}

function messageForm(signal) {
  const text = h('textarea', { rows: '4' });
  const bytes = h('input', { type: 'checkbox' });
  const fields = [
    field('Message', text, 'Signed as personal_sign does, with the prefix of Ethereum’s messages.'),
    h('label.toggle', bytes, 'The message is bytes in hex'),
  ];
  return signer(
    fields,
    'Sign message',
    (address) => {
      if (bytes.checked && !isHex(text.value.trim()))
        throw new Error('expected bytes in hex, such as 0x1234');
      return wallets.request(
        'personal_sign',
        bytes.checked ? text.value.trim() : toHex(utf8(text.value)),
        address,
      );
    },
    signal,
  );
}

function typedForm(signal) {
  const text = h('textarea', { rows: '12', spellcheck: 'false', value: exampleOf() });
  const about = h('div');
  const describe = () => {
    try {
      replace(about, typedFacts(parseTyped(text.value)));
    } catch {
      // Signing says what is wrong.
      replace(about);
    }
  };
  text.addEventListener('input', describe);
  describe();
  const fields = [
    field('Typed data (EIP-712)', text, 'JSON with types, primaryType, domain and message.'),
    about,
  ];
  return signer(
    fields,
    'Sign typed data',
    (address) => {
      const data = parseTyped(text.value);
      return wallets.request('eth_signTypedData_v4', address, JSON.stringify(data));
    },
    signal,
  );
}

export function signForm(signal) {
  const made = { message: messageForm(signal), typed: typedForm(signal) };
  const show = (form) => () => {
    setPlace({ form: form === 'message' ? null : form });
    return made[form];
  };
  const { control, content } = switcher(
    'What is signed',
    [
      ['Message', show('message')],
      ['Typed data', show('typed')],
    ],
    placed('form') === 'typed' ? 1 : 0,
  );
  return h('div.stack', control, content);
}
