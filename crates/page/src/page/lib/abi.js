// ABI encoding and decoding of calls, events and errors, by the coder of ethers.
//
// Parameters and fragments are entries of a JSON ABI. Integers are BigInt, addresses checksummed
// hex, bytes hex strings; a tuple is an array whose elements are also accessible by name.

import { AbiCoder, ParamType, keccak256 } from '../vendor/ethers.js';
import { parseHex } from './address.js';
import { isHex, toBytes, utf8, utf8Text } from './bytes.js';
import { parseFragment } from './signature.js';

const coder = AbiCoder.defaultAbiCoder();
/**
 * The maximum number of elements that a type with fixed sizes, such as `uint256[3][4]`, may
 * declare.
 */
const MOST_ELEMENTS = 10_000;

/**
 * The type and size of an array: `{ element, size }`, with a size of null if it varies. Null for
 * other types.
 */
function arrayOf(parameter) {
  const match = /^(.*)\[(\d*)\]$/.exec(parameter.type);
  return (
    match && {
      element: { ...parameter, type: match[1], name: '' },
      size: match[2] === '' ? null : Number(match[2]),
    }
  );
}

/** The coder's descriptions of parameters that were decoded. */
const decoders = new WeakMap();

/** The coder's description of a parameter. */
function described(parameter) {
  const sizes = [...parameter.type.matchAll(/\[(\d+)\]/g)].map(([, size]) => Number(size));
  if (sizes.reduce((product, size) => product * Math.max(size, 1), 1) > MOST_ELEMENTS)
    throw new Error('too many elements in the type');
  return ParamType.from(parameter, true);
}

/** A parameter whose strings are bytes, which have the same encoding, but may be any. */
function withoutText(parameter) {
  const { type, components } = parameter;
  return {
    ...parameter,
    type: type.replace(/^string/, 'bytes'),
    ...(components && { components: components.map(withoutText) }),
  };
}

function decoderOf(parameter) {
  if (!decoders.has(parameter)) decoders.set(parameter, described(withoutText(parameter)));
  return decoders.get(parameter);
}

/** The canonical type of a parameter in a signature, such as `(address,uint256)[]`. */
export function typeName({ type, components }) {
  return components ? `(${components.map(typeName).join(',')})${type.slice('tuple'.length)}` : type;
}

/** Whether a function only reads. */
export function isView({ stateMutability }) {
  return stateMutability === 'view' || stateMutability === 'pure';
}

/** The signature that selectors and topics are hashes of, such as `transfer(address,uint256)`. */
export function signature(fragment) {
  return `${fragment.name}(${fragment.inputs.map(typeName).join(',')})`;
}

/** The hash of a signature, which is an event's first topic. */
export function topic(fragment) {
  return keccak256(utf8(signature(fragment)));
}

/** The selector: the first four bytes of call data or revert data. */
export function selector(fragment) {
  return topic(fragment).slice(0, 10);
}

/**
 * A value in the form that the coder takes. The coder would encode some wrong values, such as the
 * text `false` as true.
 */
function checked(parameter, value) {
  const array = arrayOf(parameter);
  if (array) {
    if (!Array.isArray(value)) throw new Error('expected a list');
    if (array.size !== null && value.length !== array.size)
      throw new Error(`wrong length: expected ${array.size} elements, got ${value.length}`);
    return value.map((one) => checked(array.element, one));
  }

  const { type, components } = parameter;
  if (components) {
    const values = Array.isArray(value) ? value : components.map((part) => value?.[part.name]);
    if (values.length !== components.length)
      throw new Error(`expected ${components.length} values, got ${values.length}`);
    return components.map((part, at) => named(part, () => checked(part, values[at])));
  }

  if (value === undefined || value === null || value === '') {
    if (type !== 'string' || value !== '') throw new Error('a value is missing');
  }

  if (/^u?int/.test(type)) return integer(type, value);
  if (type === 'address') return parseHex(String(value));
  if (type === 'bool') {
    if (![true, false, 'true', 'false'].includes(value))
      throw new Error(`expected true or false, got ${String(value).slice(0, 50)}`);
    return value === true || value === 'true';
  }
  if (type === 'string') return String(value);

  const size = /^bytes(\d*)$/.exec(type)?.[1];
  if (size && !isHex(value, Number(size)))
    throw new Error(`expected ${size} bytes in hex for ${type}`);
  return size === '' ? toBytes(value) : value;
}

function integer(type, value) {
  let number;
  try {
    number = BigInt(typeof value === 'string' ? value.trim() : value);
  } catch {
    throw new Error(`expected an integer, got ${String(value).slice(0, 50)}`);
  }
  const bits = Number(/\d+$/.exec(type)?.[0] ?? 256);
  const fits = type.startsWith('u') ? BigInt.asUintN(bits, number) : BigInt.asIntN(bits, number);
  if (fits !== number) throw new Error(`${value} does not fit ${type}`);
  return number;
}

/** Runs a step, with the parameter's name in front of the message of an error. */
function named(parameter, run) {
  try {
    return run();
  } catch (error) {
    throw new Error(
      `${parameter.name || typeName(parameter)}: ${error.shortMessage ?? error.message}`,
    );
  }
}

/**
 * Encodes values as a tuple of the parameters, as hex. An error names the parameter that a value
 * does not suit.
 */
export function encode(parameters, values) {
  if (parameters.length !== values.length)
    throw new Error(`expected ${parameters.length} values, got ${values.length}`);
  const given = parameters.map((parameter, at) =>
    named(parameter, () => checked(parameter, values[at])),
  );
  return coder.encode(parameters.map(described), given);
}

/** A value of the coder in the page's form. */
function plain(parameter, value) {
  const array = arrayOf(parameter);
  if (array) return value.toArray().map((one) => plain(array.element, one));
  if (parameter.components) return tuple(parameter.components, value.toArray());
  return parameter.type === 'string' ? (utf8Text(toBytes(value)) ?? value) : value;
}

function tuple(parameters, values) {
  return withNames(
    parameters,
    parameters.map((parameter, at) => plain(parameter, values[at])),
  );
}

function withNames(parameters, values) {
  parameters.forEach(({ name }, at) => {
    if (name && !(name in values)) values[name] = values[at];
  });
  return values;
}

/** Decodes hex data that `encode` produced. A string that is not UTF-8 is returned as hex. */
export function decode(parameters, hex) {
  return tuple(parameters, coder.decode(parameters.map(decoderOf), hex).toArray());
}

/**
 * A function, event or error from its Solidity signature, such as `balanceOf(address) returns
 * (uint256)`.
 */
export function fragment(text) {
  return parseFragment(
    /^(function|event|error|constructor)\b/.test(text) ? text : `function ${text}`,
  );
}

/** The call data of a function with arguments. */
export function encodeCall(called, values) {
  return selector(called) + encode(called.inputs, values).slice(2);
}

/** Decodes the arguments after the selector in call data or revert data. */
export function decodeCall(called, data) {
  return decode(called.inputs, `0x${data.slice(10)}`);
}

/** Whether the topic of an indexed argument is a hash of it. */
function isHashed({ type }) {
  return /^(string|bytes|tuple)$|\]$/.test(type);
}

/**
 * Decodes the arguments of an event. Indexed arguments of dynamic types are available as hashes
 * only.
 */
export function decodeLog(event, log) {
  const topics = event.anonymous ? log.topics : log.topics.slice(1);
  const indexed = event.inputs.filter((input) => input.indexed);
  if (indexed.length !== topics.length) throw new Error('unexpected number of indexed arguments');
  const rest = decode(
    event.inputs.filter((input) => !input.indexed),
    log.data,
  );
  const known = indexed.map(
    (input, at) => decode([isHashed(input) ? { type: 'bytes32', name: '' } : input], topics[at])[0],
  );
  return withNames(
    event.inputs,
    event.inputs.map((input) => (input.indexed ? known : rest).shift()),
  );
}
