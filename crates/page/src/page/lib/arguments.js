// Arguments of functions and events as text, in both directions. Lists and tuples are JSON.

import { typeName } from './abi.js';
import { parseAddress } from './address.js';

const quoted = (given) => `"${String(given).slice(0, 60)}"`;

function fail(path, text) {
  throw new Error(`${path}: ${text}`);
}

function parseInteger(type, given, path) {
  const text = String(given)
    .trim()
    .replace(/(?<=\d)[_,](?=\d)/g, '');

  const scaled = /^(-?\d+)(?:\.(\d+))?[eE]\+?(\d{1,3})$/.exec(text);
  const [, whole, decimals = '', exponent] = scaled ?? [];
  let number;
  if (scaled && decimals.length <= Number(exponent)) {
    number = BigInt(whole + decimals + '0'.repeat(Number(exponent) - decimals.length));
  } else if (/^-?\d+$|^0x[0-9a-f]+$/i.test(text)) {
    number = BigInt(text);
  } else {
    fail(path, text === '' ? 'enter a number' : `expected a whole number, got ${quoted(given)}`);
  }

  const bits = BigInt(/\d+$/.exec(type)?.[0] ?? 256);
  const [least, most] = type.startsWith('u')
    ? [0n, (1n << bits) - 1n]
    : [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
  if (number < least || number > most)
    fail(path, bits <= 64n ? `expected a number from ${least} to ${most}` : `does not fit ${type}`);
  return number;
}

function parseBytes(type, given, path) {
  const text = String(given).trim();
  if (!/^0x([0-9a-f]{2})*$/i.test(text))
    fail(path, `expected bytes in hex such as 0x1234, got ${quoted(given)}`);
  const size = /\d+$/.exec(type)?.[0];
  if (size && text.length !== 2 + 2 * Number(size))
    fail(path, `expected ${size} bytes, got ${text.length / 2 - 1}`);
  return text.toLowerCase();
}

function parseTuple(input, given, path, prefix) {
  const { components } = input;
  if (Array.isArray(given)) {
    if (given.length !== components.length)
      fail(path, `expected ${components.length} members, got ${given.length}`);
    return components.map((part, at) =>
      parseValue(part, given[at], `${path}.${part.name || at}`, prefix),
    );
  }
  if (!given || typeof given !== 'object')
    fail(path, `expected a JSON object or list for ${typeName(input)}`);
  const unknown = Object.keys(given).find((key) => !components.some((part) => part.name === key));
  if (unknown !== undefined)
    fail(
      path,
      `has no member ${quoted(unknown)}; its members are ${components.map((part) => part.name).join(', ')}`,
    );
  return components.map((part) => {
    if (!Object.hasOwn(given, part.name)) fail(path, `the member ${part.name} is missing`);
    return parseValue(part, given[part.name], `${path}.${part.name}`, prefix);
  });
}

function parseList(input, [, element, length], given, path, prefix) {
  if (!Array.isArray(given)) fail(path, `expected a JSON list for ${typeName(input)}`);
  if (length !== '' && given.length !== Number(length))
    fail(path, `expected ${length} elements, got ${given.length}`);
  return given.map((part, at) =>
    parseValue({ ...input, type: element }, part, `${path}[${at}]`, prefix),
  );
}

function parseBool(given, path) {
  const text = String(given).trim().toLowerCase();
  if (!['true', 'false', '1', '0'].includes(text))
    fail(path, `expected true or false, got ${quoted(given)}`);
  return text === 'true' || text === '1';
}

function parseAddressText(given, path, prefix) {
  const text = String(given).trim();
  if (text === '') fail(path, 'enter an address');
  try {
    return parseAddress(text, prefix);
  } catch (error) {
    return fail(path, error.message);
  }
}

function parseValue(input, given, path, prefix) {
  const list = /^(.*)\[(\d*)\]$/.exec(input.type);
  if (list) return parseList(input, list, given, path, prefix);
  if (input.components) return parseTuple(input, given, path, prefix);

  const { type } = input;
  if (given === null || typeof given === 'object') fail(path, `expected a value of type ${type}`);
  if (/^u?int\d*$/.test(type)) return parseInteger(type, given, path);
  if (/^bytes\d*$/.test(type)) return parseBytes(type, given, path);
  if (type === 'string') return String(given);
  if (type === 'bool') return parseBool(given, path);
  if (type === 'address') return parseAddressText(given, path, prefix);
  return fail(path, `the type ${type} cannot be entered here`);
}

/** The name of the parameter at a position, in labels and errors. */
export function argumentName(input, at) {
  return input.name || `argument ${at + 1}`;
}

/**
 * Parses the text of a field into a value of its parameter. Errors name the argument, and the
 * element in a list or tuple.
 */
export function parseArgument(input, text, at, prefix) {
  const path = argumentName(input, at);
  if (!/\]$/.test(input.type) && !input.components) return parseValue(input, text, path, prefix);
  if (text.trim() === '')
    fail(
      path,
      input.type.endsWith(']') ? 'enter a JSON list; [] is an empty one' : 'enter a JSON object',
    );
  let given;
  try {
    // Numbers become strings, so that large ones keep all of their digits; hex does not need
    // quotes.
    given = JSON.parse(
      text.replace(/"(?:[^"\\]|\\.)*"|0x[0-9a-f]*|-?\d[\w.+-]*/gi, (part) =>
        part.startsWith('"') ? part : `"${part}"`,
      ),
    );
  } catch {
    fail(path, `not valid JSON; example: ${exampleOf(input)}`);
  }
  return parseValue(input, given, path, prefix);
}

/** An example of a value, as a field takes it. */
export function exampleOf(input) {
  const list = /^(.*)\[(\d*)\]$/.exec(input.type);
  if (list) {
    const one = exampleOf({ ...input, type: list[1] });
    return `[${input.components || /^u?int|^bool|\]$/.test(list[1]) ? one : JSON.stringify(one)}]`;
  }
  if (input.components) {
    const part = (one) =>
      /^u?int|^bool|\]$|^tuple/.test(one.type) ? exampleOf(one) : JSON.stringify(exampleOf(one));
    return input.components.every((one) => one.name)
      ? `{${input.components.map((one) => `"${one.name}": ${part(one)}`).join(', ')}}`
      : `[${input.components.map(part).join(', ')}]`;
  }
  if (/^u?int/.test(input.type)) return '1';
  if (input.type === 'bool') return 'true';
  if (input.type === 'address') return '0x…';
  return input.type === 'string' ? 'text' : '0x';
}

function json(value, input) {
  const list = /^(.*)\[(\d*)\]$/.exec(input.type);
  if (list) return value.map((part) => json(part, { ...input, type: list[1] }));
  if (input.components) {
    const parts = input.components.map((part, at) => json(value[at], part));
    const names = input.components.map((part) => part.name);
    return names.every(Boolean) && new Set(names).size === names.length
      ? Object.fromEntries(names.map((name, at) => [name, parts[at]]))
      : parts;
  }
  return typeof value === 'bigint' ? value.toString() : value;
}

/** A decoded value as the text that `parseArgument` takes. */
export function formatArgument(value, input) {
  const plain = json(value, input);
  return typeof plain === 'object' ? JSON.stringify(plain) : String(plain);
}
