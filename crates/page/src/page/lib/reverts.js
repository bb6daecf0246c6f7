// What reverted data say: errors of contracts with their arguments, and panics of Solidity.

import { decodeCall } from './abi.js';
import { amount, shorten, toUnits } from './format.js';
import { tokenFor } from './links.js';
import { interfaces } from './knownabis.js';
import { nameOf } from './network.js';

/**
 * Most elements of a list, and characters of a text, in the words for an error: both are untrusted.
 */
const MOST_ELEMENTS = 20;
const LONGEST = 1_000;
const UNLIMITED = (1n << 256n) - 1n;

/** The panics of Solidity by their code. */
const PANICS = {
  0x00: 'generic panic',
  0x01: 'assertion failed',
  0x11: 'arithmetic overflow or underflow',
  0x12: 'division or modulo by zero',
  0x21: 'invalid enum value',
  0x22: 'invalid encoding of a storage byte array',
  0x31: 'pop of an empty array',
  0x32: 'array index out of bounds',
  0x41: 'out of memory',
  0x51: 'call of an uninitialised function',
};

/** A panic in words, such as `arithmetic overflow or underflow (panic 0x11)`. */
export function panicText(code) {
  const number = BigInt(code);
  return `${PANICS[Number(number)] ?? 'unknown panic'} (panic 0x${shorten(number.toString(16).padStart(2, '0'), 10, 6)})`;
}

function bounded(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** A decoded value as text. `token` is the token that it is an amount of, if it is one. */
function textOf(value, input, token) {
  if (Array.isArray(value)) {
    const isList = input.type.endsWith(']');
    const element = { ...input, type: input.type.replace(/\[\d*\]$/, '') };
    const parts = value
      .slice(0, MOST_ELEMENTS)
      .map((part, at) => textOf(part, isList ? element : input.components[at], null));
    return `[${parts.join(', ')}${value.length > MOST_ELEMENTS ? ', …' : ''}]`;
  }
  if (typeof value === 'bigint') {
    if (token)
      return value === UNLIMITED
        ? `unlimited ${token.symbol ?? 'tokens'}`
        : `${amount(value, token.decimals, Infinity)} ${token.symbol ?? 'tokens'}`;
    return /Usd$/.test(input.name) ? `$${toUnits(value, 8)}` : value.toString();
  }
  if (input.type === 'address') {
    // A contract can have any name.
    const name = nameOf(value);
    return name ? `${name} (${shorten(value)})` : value;
  }
  return bounded(String(value));
}

function decoded(data, also) {
  const known = also?.get(data.slice(0, 10)) ?? interfaces().errors.get(data.slice(0, 10));
  if (!known) return null;
  try {
    return { error: known, values: decodeCall(known, data) };
  } catch {
    return null;
  }
}

/**
 * The error that revert data encode, as text; the start of the data if the error is unknown. `also`
 * maps selectors to further errors. `contract` is the one that reverted, and `called` the arguments
 * of its function by name: with them amounts are in units of their token.
 */
export async function explainRevert(data, { also = null, contract = null, called = {} } = {}) {
  if (!data || data === '0x') return 'reverted without a reason';
  const found = decoded(data, also);
  if (!found) return `reverted with an unknown error: ${data.slice(0, 74)}`;
  const { error, values } = found;
  if (error.name === 'Error') return bounded(String(values[0]));
  if (error.name === 'Panic') return panicText(values[0]);
  const context = { ...called, ...values };
  const shown = error.inputs.map((input, at) => {
    const text = textOf(values[at], input, tokenFor(input.name, contract, context));
    return `${input.name ? `${input.name}: ` : ''}${text}`;
  });
  return bounded(`${error.name}(${shown.join(', ')})`);
}
