// RLP, the encoding of transactions: byte strings and lists, as hex.

import { toBytes, toHex } from './bytes.js';

/** Depth of lists that is read; transactions have three. */
const DEEPEST = 8;

function lengthAt(bytes, at, size) {
  if (size > 4 || at + size > bytes.length) throw new Error('the data end too early');
  let length = 0;
  for (let index = 0; index < size; index++) length = length * 256 + bytes[at + index];
  return length;
}

/**
 * The item that begins at a position: whether it is a list, and where its content begins and ends.
 */
function itemAt(bytes, at) {
  const first = bytes[at];
  if (first === undefined) throw new Error('the data end too early');
  if (first < 0x80) return { isList: false, start: at, end: at + 1 };
  const isList = first >= 0xc0;
  const short = first - (isList ? 0xc0 : 0x80);
  const sizeOfLength = Math.max(0, short - 55);
  const start = at + 1 + sizeOfLength;
  const end = start + (sizeOfLength ? lengthAt(bytes, at + 1, sizeOfLength) : short);
  if (end > bytes.length) throw new Error('the data end too early');
  return { isList, start, end };
}

function decodeItem(bytes, at, depth) {
  const { isList, start, end } = itemAt(bytes, at);
  if (!isList) return { value: toHex(bytes.subarray(start, end)), end };
  if (depth === 0) throw new Error('lists are nested too deeply');
  const value = [];
  let next = start;
  while (next < end) {
    const item = decodeItem(bytes.subarray(0, end), next, depth - 1);
    value.push(item.value);
    next = item.end;
  }
  return { value, end };
}

/** Decodes hex data to hex strings and lists of them. */
export function decodeRlp(hex) {
  const bytes = toBytes(hex);
  const { value, end } = decodeItem(bytes, 0, DEEPEST);
  if (end !== bytes.length) throw new Error('bytes follow the transaction');
  return value;
}

/** A number in hex of whole bytes, without 0x. */
export function evenHex(number) {
  const digits = number.toString(16);
  return digits.padStart(digits.length + (digits.length % 2), '0');
}

function bytesWithLength(offset, content) {
  const size = content.length / 2;
  if (size <= 55) return (offset + size).toString(16).padStart(2, '0') + content;
  const length = evenHex(size);
  return (offset + 55 + length.length / 2).toString(16) + length + content;
}

function encodeItem(value) {
  if (Array.isArray(value)) return bytesWithLength(0xc0, value.map(encodeItem).join(''));
  const content = value.slice(2);
  return content.length === 2 && content < '80' ? content : bytesWithLength(0x80, content);
}

/** Encodes hex strings and lists of them. */
export function encodeRlp(value) {
  return `0x${encodeItem(value)}`;
}
