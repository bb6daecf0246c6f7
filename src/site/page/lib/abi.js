// ABI encoding and decoding of calls, events and errors.
//
// Integers are BigInt, addresses checksummed hex, bytes hex strings; a tuple is an array whose elements are also
// accessible by name.

import { checksum } from './address.js';
import { concat, isHex, toBytes, toHex, utf8, utf8Text } from './bytes.js';
import { keccak256 } from './keccak.js';
import { parseFragment } from './signature.js';

const WORD = 32;

/** The canonical type of a parameter in a signature, such as `(address,uint256)[]`. */
export function typeName({ type, components }) {
  return components ? `(${components.map(typeName).join(',')})${type.slice('tuple'.length)}` : type;
}

/** The signature that selectors and topics are hashes of, such as `transfer(address,uint256)`. */
export function signature(fragment) {
  return `${fragment.name}(${fragment.inputs.map(typeName).join(',')})`;
}

/** The hash of a signature, which is an event's first topic. */
export function topic(fragment) {
  return toHex(keccak256(utf8(signature(fragment))));
}

/** The selector: the first four bytes of call data or revert data. */
export function selector(fragment) {
  return topic(fragment).slice(0, 10);
}

function arrayOf(parameter) {
  const match = /^(.*)\[(\d*)\]$/.exec(parameter.type);
  return match && { element: { ...parameter, type: match[1], name: '' }, size: match[2] === '' ? null : Number(match[2]) };
}

function isDynamic(parameter) {
  const array = arrayOf(parameter);
  if (array) return array.size === null || isDynamic(array.element);
  if (parameter.components) return parameter.components.some(isDynamic);
  return parameter.type === 'bytes' || parameter.type === 'string';
}

/** The size in bytes of a parameter in the head of its enclosing tuple. */
function headSize(parameter) {
  if (isDynamic(parameter)) return WORD;
  const array = arrayOf(parameter);
  if (array) return array.size * headSize(array.element);
  if (parameter.components) return parameter.components.reduce((sum, part) => sum + headSize(part), 0);
  return WORD;
}

function word(number) {
  const out = new Uint8Array(WORD);
  let rest = BigInt.asUintN(256, number);
  for (let at = WORD - 1; rest > 0n; at--, rest >>= 8n) out[at] = Number(rest & 0xffn);
  return out;
}

function padded(bytes) {
  const out = new Uint8Array(Math.ceil(bytes.length / WORD) * WORD);
  out.set(bytes);
  return out;
}

function encodeInteger(type, value) {
  const bits = BigInt(/\d+$/.exec(type)?.[0] ?? 256);
  const number = BigInt(value);
  const [least, most] = type.startsWith('u') ? [0n, (1n << bits) - 1n] : [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
  if (number < least || number > most) throw new Error(`${value} does not fit ${type}`);
  return word(number);
}

function encodeOne(parameter, value) {
  const array = arrayOf(parameter);
  if (array) {
    if (!Array.isArray(value)) throw new Error(`${typeName(parameter)}: expected a list`);
    if (array.size !== null && value.length !== array.size) throw new Error(`${typeName(parameter)}: wrong length`);
    const body = encode(value.map(() => array.element), value);
    return array.size === null ? concat([word(BigInt(value.length)), body]) : body;
  }
  const { type, components } = parameter;
  if (components) {
    const values = Array.isArray(value) ? value : components.map((part) => value?.[part.name]);
    return encode(components, values);
  }
  if (/^u?int\d*$/.test(type)) return encodeInteger(type, value);
  if (type === 'address') {
    if (!isHex(value, 20)) throw new Error(`expected an address, got ${String(value).slice(0, 50)}`);
    return word(BigInt(value));
  }
  if (type === 'bool') return word(value === true || value === 'true' ? 1n : 0n);
  if (type === 'string' || type === 'bytes') {
    const bytes = type === 'string' ? utf8(String(value)) : toBytes(value);
    return concat([word(BigInt(bytes.length)), padded(bytes)]);
  }
  const size = Number(/^bytes(\d+)$/.exec(type)?.[1]);
  if (size >= 1 && size <= WORD) {
    if (!isHex(value, size)) throw new Error(`expected ${size} bytes in hex for ${type}`);
    return padded(toBytes(value));
  }
  throw new Error(`unknown type ${type}`);
}

/** Encodes values as a tuple of the parameters. */
export function encode(parameters, values) {
  if (parameters.length !== values.length) throw new Error(`expected ${parameters.length} values, got ${values.length}`);
  const bodies = parameters.map((parameter, at) => encodeOne(parameter, values[at]));
  let tail = parameters.reduce((sum, parameter) => sum + headSize(parameter), 0);
  const heads = [];
  const tails = [];
  parameters.forEach((parameter, at) => {
    if (!isDynamic(parameter)) return heads.push(bodies[at]);
    heads.push(word(BigInt(tail)));
    tails.push(bodies[at]);
    tail += bodies[at].length;
  });
  return concat([...heads, ...tails]);
}

/** Reads words from untrusted data, with bounds checks. */
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    // A short input can declare huge lists of empty elements; valid data has fewer elements than bytes, tuples included.
    this.budget = 1_000 + 2 * bytes.length;
  }

  slice(at, size) {
    if (at < 0 || at + size > this.bytes.length) throw new Error('unexpected end of data');
    return this.bytes.subarray(at, at + size);
  }

  number(at) {
    return BigInt(toHex(this.slice(at, WORD)));
  }

  offset(at) {
    const number = this.number(at);
    if (number > BigInt(this.bytes.length)) throw new Error('offset outside the data');
    return Number(number);
  }

  spend() {
    if (--this.budget < 0) throw new Error('too many elements in the data');
  }
}

function decodeOne(parameter, reader, at) {
  reader.spend();
  const array = arrayOf(parameter);
  if (array) {
    const size = array.size ?? reader.offset(at);
    const start = array.size === null ? at + WORD : at;
    if (size > reader.budget) throw new Error('too many elements in the data');
    return decodeAt(Array.from({ length: size }, () => array.element), reader, start);
  }
  const { type, components } = parameter;
  if (components) return decodeAt(components, reader, at);
  if (type === 'string' || type === 'bytes') {
    const bytes = reader.slice(at + WORD, reader.offset(at));
    return type === 'bytes' ? toHex(bytes) : (utf8Text(bytes) ?? toHex(bytes));
  }
  if (type === 'address') return checksum(toHex(reader.slice(at, WORD).subarray(12)));
  if (type === 'bool') return reader.number(at) !== 0n;
  if (/^uint\d*$/.test(type)) return reader.number(at);
  if (/^int\d*$/.test(type)) return BigInt.asIntN(256, reader.number(at));
  const size = Number(/^bytes(\d+)$/.exec(type)?.[1]);
  if (size) return toHex(reader.slice(at, WORD).subarray(0, size));
  throw new Error(`unknown type ${type}`);
}

function decodeAt(parameters, reader, start) {
  const values = [];
  let at = start;
  for (const parameter of parameters) {
    const where = isDynamic(parameter) ? start + reader.offset(at) : at;
    const value = decodeOne(parameter, reader, where);
    values.push(value);
    if (parameter.name && !(parameter.name in values)) values[parameter.name] = value;
    at += headSize(parameter);
  }
  return values;
}

/** Decodes hex data that `encode` produced. */
export function decode(parameters, hex) {
  return decodeAt(parameters, new Reader(toBytes(hex)), 0);
}

/** A function, event or error from its Solidity signature, such as `balanceOf(address) returns (uint256)`. */
export function fragment(text) {
  return parseFragment(/^(function|event|error|constructor)\b/.test(text) ? text : `function ${text}`);
}

/** The call data of a function with arguments. */
export function encodeCall(called, values) {
  return selector(called) + toHex(encode(called.inputs, values)).slice(2);
}

/** Decodes the arguments after the selector in call data or revert data. */
export function decodeCall(called, data) {
  return decode(called.inputs, '0x' + data.slice(10));
}

/** Decodes the arguments of an event. Indexed arguments of dynamic types are available as hashes only. */
export function decodeLog(event, log) {
  const topics = event.anonymous ? log.topics : log.topics.slice(1);
  const hashed = (input) => (isDynamic(input) || input.components || arrayOf(input) ? { ...input, type: 'bytes32', components: undefined } : input);
  const indexed = event.inputs.filter((input) => input.indexed);
  if (indexed.length !== topics.length) throw new Error('unexpected number of indexed arguments');
  const rest = decode(event.inputs.filter((input) => !input.indexed), log.data);
  const values = [];
  let [inTopics, inData] = [0, 0];
  for (const input of event.inputs) {
    const value = input.indexed ? decode([hashed(input)], topics[inTopics++])[0] : rest[inData++];
    values.push(value);
    if (input.name && !(input.name in values)) values[input.name] = value;
  }
  return values;
}
