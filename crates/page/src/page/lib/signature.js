// Parsing of ABIs: Solidity signatures, which ethers parses, and compiler JSON.

import { Fragment } from '../vendor/ethers.js';

/** Words of Solidity that say nothing about the ABI. */
const WORDS = /\b(virtual|override|memory|calldata|storage)\b/g;

function checkedType(type) {
  if (
    !/^(address|bool|string|bytes([1-9]|[12]\d|3[0-2])?|u?int\d{1,3}|function|tuple)((\[\d*\])*)$/.test(
      type,
    )
  ) {
    throw new Error(`unknown type ${type.slice(0, 40)}`);
  }
  return type;
}

/** A parameter with what an ABI needs of it. */
function parameter({ type, name, components, indexed }) {
  return {
    type: checkedType(type),
    name: name ?? '',
    ...(/^tuple/.test(type) && { components: (components ?? []).map(parameter) }),
    ...(indexed && { indexed: true }),
  };
}

/** A fragment from an entry of a JSON ABI. */
function fromJson(entry) {
  return {
    type: entry.type ?? 'function',
    name: entry.name ?? '',
    inputs: (entry.inputs ?? []).map(parameter),
    outputs: (entry.outputs ?? []).map(parameter),
    anonymous: entry.anonymous === true,
    stateMutability: entry.stateMutability ?? 'nonpayable',
  };
}

/**
 * Parses one declaration, such as `event Transfer(address indexed from, address indexed to, uint256
 * value)`.
 */
export function parseFragment(text) {
  const anonymous = /\)\s*anonymous\s*;?\s*$/.test(text);
  const line = text
    .trim()
    .replace(/(\)\s*anonymous)?\s*;?$/, anonymous ? ')' : '')
    .replace(WORDS, ' ')
    .replace(/\bstruct\s*\(/g, 'tuple(');
  let parsed;
  try {
    parsed = Fragment.from(line);
  } catch (error) {
    throw new Error(
      `expected a function, event or error, got ${line.slice(0, 60)} (${error.shortMessage ?? error.message})`,
    );
  }
  return { ...fromJson(JSON.parse(parsed.format('json'))), anonymous };
}

/** Parses an ABI: JSON, a compiler artifact, or Solidity declarations, one per line. */
export function parseInterface(text) {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) {
    const parsed = JSON.parse(trimmed);
    const list = Array.isArray(parsed) ? parsed : parsed.abi;
    if (!Array.isArray(list)) throw new Error('expected a JSON ABI or an artifact with one');
    const entries = list.map((entry) =>
      typeof entry === 'string' ? parseFragment(entry) : fromJson(entry),
    );
    return entries.filter((entry) => entry.name !== '');
  }
  const lines = trimmed.split(/[\n;]/).map((line) => line.replace(/\/\/.*/, '').trim());
  return lines.filter((line) => /^(function|event|error)\b/.test(line)).map(parseFragment);
}

/** The constructor in the entries of a JSON ABI; one without arguments if they have none. */
export function constructorOf(entries) {
  return fromJson(
    entries.find((entry) => entry?.type === 'constructor') ?? { type: 'constructor' },
  );
}
