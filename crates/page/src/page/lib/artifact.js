// What a compiler produced, as a deployment needs it: creation code with the ABI that belongs to
// it.

import { isHex } from './bytes.js';

/** Most characters that are read. Build files of large projects have this much. */
const LONGEST = 20_000_000;
/** Most contracts of one file that are offered. */
const MAX_CONTRACTS = 500;

/**
 * Creation code as hex with 0x. Artifacts have it with and without, as text or as the `object` of
 * solc.
 */
function codeOf(given) {
  const text = typeof given === 'object' ? given?.object : given;
  if (typeof text !== 'string' || text === '' || text === '0x') return null;
  return text.startsWith('0x') ? text : `0x${text}`;
}

/** An ABI, which `--combined-json` of older compilers has as text. */
function abiOf(given) {
  const abi = typeof given === 'string' ? JSON.parse(given) : given;
  return Array.isArray(abi) ? abi : [];
}

function contract(name, abi, bytecode) {
  const code = codeOf(bytecode);
  return code && { name, abi: abiOf(abi), bytecode: code };
}

/** The name in the metadata of a forge artifact, whose JSON has none at the top. */
function targetOf({ metadata }) {
  const target = metadata?.settings?.compilationTarget;
  return target && typeof target === 'object' ? Object.values(target)[0] : null;
}

/**
 * The contracts of the compiler's output: by file and name, or of `--combined-json`, by
 * `file:name`.
 */
function ofCompiler(contracts) {
  const found = [];
  for (const [place, given] of Object.entries(contracts)) {
    if (given?.bin !== undefined)
      found.push(contract(place.split(':').at(-1), given.abi, given.bin));
    else
      for (const [name, one] of Object.entries(given ?? {}))
        found.push(contract(name, one?.abi, one?.evm?.bytecode));
  }
  return found;
}

function parseJson(text) {
  let parsed;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new Error(`not valid JSON: ${error.message}`);
  }
  // The build files of hardhat have the compiler's output in them.
  const contracts = parsed?.output?.contracts ?? parsed?.contracts;
  if (contracts && typeof contracts === 'object') return ofCompiler(contracts);
  const name = parsed?.contractName ?? targetOf(parsed ?? {}) ?? 'Contract';
  return [
    contract(String(name), parsed?.abi, parsed?.bytecode ?? parsed?.evm?.bytecode ?? parsed?.bin),
  ];
}

/**
 * The contracts in a text, as `{ name, abi, bytecode }`: creation code in hex, an artifact of
 * hardhat, forge or solc, or the compiler's whole output. What has no code, such as an interface,
 * is left out.
 */
export function parseArtifact(text) {
  if (text.length > LONGEST) throw new Error(`the text is longer than ${LONGEST / 1e6} MB`);
  const trimmed = text.trim();
  if (!/^[{[]/.test(trimmed))
    return [{ name: 'Contract', abi: [], bytecode: codeOf(trimmed.replace(/\s/g, '')) ?? '0x' }];
  const found = parseJson(trimmed).filter(Boolean).slice(0, MAX_CONTRACTS);
  if (!found.length) throw new Error('no contract in this JSON has creation code');
  return found;
}

/** Throws what is wrong with creation code. */
export function checkCode(bytecode) {
  const library = /__\$[0-9a-f]{34}\$__|__[^_].{0,36}__/i.exec(bytecode)?.[0];
  if (library)
    throw new Error(`the code is not linked: it needs the address of the library ${library}`);
  if (!isHex(bytecode))
    throw new Error('expected creation code in hex, or the JSON of an artifact');
  if (bytecode === '0x') throw new Error('enter creation code, or the JSON of an artifact');
}
