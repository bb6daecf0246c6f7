// Compiles src/ and test/ and writes one artifact for each deployable contract, and the interfaces
// of all of them as Solidity, from which the node and its tests generate their bindings.
//
//   node build.mjs            rebuild artifacts/
//   node build.mjs --check    fail if a committed artifact differs from its source by a byte
//
// mutate.mjs calls `readSources`, `targets` and `build` with changed sources.

import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { allInterfaces } from './interfaces.mjs';

const root = dirname(fileURLToPath(import.meta.url));
const solc = createRequire(import.meta.url)('solc');

/** The files that hold something to deploy; every other one is a part of these. */
const DEPLOYABLE = [
  'src/exchange/Vault.sol',
  'src/lending/LendingLens.sol',
  'src/lending/LendingPool.sol',
  'src/lending/PToken.sol',
  'src/multicall/Multicall3.sol',
  'src/oracle/PriceOracle.sol',
  'src/token/Token.sol',
];

const SETTINGS = {
  evmVersion: 'osaka',
  viaIR: true,
  optimizer: { enabled: true, runs: 200 },
  // No metadata: the bytecode must depend on the code alone, not on comments or file names.
  metadata: { bytecodeHash: 'none', appendCBOR: false },
};

const OUTPUTS = [
  'abi',
  'evm.bytecode.object',
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.immutableReferences',
  'evm.deployedBytecode.sourceMap',
  'storageLayout',
];

/** Every Solidity file of the project, by its path below contracts/. */
export function readSources() {
  const sources = {};
  for (const directory of ['src', 'test']) {
    for (const path of filesBelow(directory, '.sol'))
      sources[path] = readFileSync(join(root, path), 'utf8');
  }
  return sources;
}

/** The files to compile. */
export function targets(sources) {
  return [...DEPLOYABLE, ...Object.keys(sources).filter((path) => path.startsWith('test/'))];
}

/**
 * What the compiler makes of one file, and the files that it read. `isFault` is whether one of its
 * messages is a fault; throws with those.
 */
export function compile(target, sources, settings, isFault) {
  const read = new Set([target]);
  const findImport = (path) => {
    if (path in sources) {
      read.add(path);
      return { contents: sources[path] };
    }
    const file = join(root, 'node_modules', path);
    return existsSync(file)
      ? { contents: readFileSync(file, 'utf8') }
      : { error: `${path}: not found` };
  };

  const input = {
    language: 'Solidity',
    sources: { [target]: { content: sources[target] } },
    settings,
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport }));
  const faults = (output.errors ?? []).filter(isFault);
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'));
  return { output, read };
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * The artifacts of one file, by path below artifacts/, the source maps of those that are deployed,
 * the variants of the enumerations that it can name, and the files that it read; throws with the
 * compiler's messages if it finds a fault. Each file is compiled on its own, so that its bytecode
 * depends on nothing it does not import. A warning about our own sources is a fault, too, unless
 * `lenient`; the library's warnings are not ours to mend.
 */
export function build(target, sources, { lenient = false } = {}) {
  const settings = {
    ...SETTINGS,
    outputSelection: { [target]: { '*': OUTPUTS }, '*': { '': ['ast'] } },
  };
  const isFault = (message) =>
    message.severity === 'error' || !(lenient || message.sourceLocation?.file.startsWith('@'));
  const { output, read } = compile(target, sources, settings, isFault);

  const isTest = target.startsWith('test/');
  const artifacts = {};
  const maps = {};
  for (const [name, contract] of Object.entries(output.contracts[target])) {
    if (contract.evm.bytecode.object.length === 0) continue;
    artifacts[`${isTest ? 'test/' : ''}${name}.json`] = json(artifact(name, contract));
    if (!isTest) maps[`source-maps/${name}.json`] = json(sourceMap(contract, output.sources));
  }
  return { artifacts, maps, enums: enumerations(output.sources), read };
}

/**
 * Which part of which file each instruction of the runtime code was made from, and the numbers of
 * the files in the map. They change with every comment, hence are not part of the artifact.
 */
function sourceMap(contract, sources) {
  const ids = Object.fromEntries(Object.entries(sources).map(([path, { id }]) => [path, id]));
  return { sourceIds: ids, runtime: contract.evm.deployedBytecode.sourceMap };
}

function artifact(contractName, contract) {
  const references = contract.evm.deployedBytecode.immutableReferences ?? {};
  return {
    contractName,
    abi: contract.abi,
    bytecode: `0x${contract.evm.bytecode.object}`,
    deployedBytecode: `0x${contract.evm.deployedBytecode.object}`,
    storageLayout: withoutNodeIds(contract.storageLayout),
    ...(Object.keys(references).length > 0 ? { immutableReferences: references } : {}),
  };
}

// The compiler numbers the nodes of its syntax tree and the numbers show up here; without them a
// comment changes nothing.
function withoutNodeIds(layout) {
  const text = JSON.stringify(layout, (key, value) => (key === 'astId' ? undefined : value));
  return JSON.parse(text.replace(/(t_(?:struct|contract|enum)\(\w+\))\d+/g, '$1'));
}

/** The variants of every enumeration by its name, which an ABI does not have. */
function enumerations(sources) {
  const enums = {};
  for (const { ast } of Object.values(sources)) {
    for (const node of ast.nodes.flatMap((node) => [node, ...(node.nodes ?? [])])) {
      if (node.nodeType === 'EnumDefinition')
        enums[node.canonicalName] = node.members.map((member) => member.name);
    }
  }
  return enums;
}

function filesBelow(directory, ending) {
  return readdirSync(join(root, directory), { recursive: true })
    .map((path) => `${directory}/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith(ending))
    .sort();
}

/** All files below artifacts/, by their paths; `artifacts` are those of the contracts. */
function buildAll() {
  const sources = readSources();
  const builds = targets(sources).map((target) => build(target, sources));
  const artifacts = Object.assign({}, ...builds.map((built) => built.artifacts));
  const maps = Object.assign({}, ...builds.map((built) => built.maps));
  const enums = Object.assign({}, ...builds.map((built) => built.enums));
  return { artifacts, files: { ...artifacts, ...maps, ...allInterfaces(artifacts, enums) } };
}

/** The files below artifacts/ that are not made any longer, by their paths below contracts/. */
function leftovers(files) {
  const present = ['.json', '.sol'].flatMap((ending) => filesBelow('artifacts', ending));
  return present.filter((path) => !(path.slice('artifacts/'.length) in files));
}

/** Those of the files that are missing below artifacts/, or differ there. */
function differences(files) {
  return Object.entries(files)
    .filter(([name, text]) => {
      const file = join(root, 'artifacts', name);
      return !existsSync(file) || readFileSync(file, 'utf8') !== text;
    })
    .map(([name]) => `artifacts/${name}`);
}

function write(files) {
  for (const path of leftovers(files)) rmSync(join(root, path));
  for (const [name, text] of Object.entries(files)) {
    const file = join(root, 'artifacts', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function printSizes(artifacts) {
  for (const [name, text] of Object.entries(artifacts)) {
    if (name.startsWith('test/')) continue;
    const size = (JSON.parse(text).deployedBytecode.length - 2) / 2;
    console.log(`${name.padEnd(18)} ${String(size).padStart(6)} bytes`);
  }
}

function main() {
  const { artifacts, files } = buildAll();
  const isCheck = process.argv.includes('--check');
  const stale = isCheck ? [...leftovers(files), ...differences(files)] : [];
  if (!isCheck) write(files);

  printSizes(artifacts);
  if (stale.length > 0) {
    console.error(`not what the sources compile to: ${stale.join(', ')}`);
    process.exit(1);
  }
}

if (process.argv[1] && relative(process.argv[1], fileURLToPath(import.meta.url)) === '') main();
