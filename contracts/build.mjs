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
 * The artifacts of one file, by path below artifacts/, the source maps of those that are deployed,
 * the variants of the enumerations that it can name, and the files that it read; throws with the
 * compiler's messages if it finds a fault. Each file is compiled on its own, so that its bytecode
 * depends on nothing it does not import. A warning about our own sources is a fault, too, unless
 * `lenient`; the library's warnings are not ours to mend.
 */
export function build(target, sources, { lenient = false } = {}) {
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
    settings: {
      ...SETTINGS,
      outputSelection: { [target]: { '*': OUTPUTS }, '*': { '': ['ast'] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport }));
  const faults = (output.errors ?? []).filter(
    (message) =>
      message.severity === 'error' || !(lenient || message.sourceLocation?.file.startsWith('@')),
  );
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'));

  const directory = target.startsWith('test/') ? 'test/' : '';
  const artifacts = {};
  const maps = {};
  for (const [name, contract] of Object.entries(output.contracts[target])) {
    if (contract.evm.bytecode.object.length === 0) continue;
    artifacts[`${directory}${name}.json`] =
      `${JSON.stringify(artifact(name, contract), null, 2)}\n`;
    if (directory === '')
      maps[`source-maps/${name}.json`] =
        `${JSON.stringify(sourceMap(contract, output.sources), null, 2)}\n`;
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

/**
 * One Solidity file with the interfaces of these contracts (`[name, abi]`). It is made from the
 * ABIs, and has two things that they lack: a struct that several contracts use is one type, and
 * enumerations have their variants. A contract's errors are in an interface of their own, since one
 * of them may have the name of an event.
 */
function interfaces(contracts, enums) {
  const shared = new Map();
  const blocks = contracts.flatMap(([contractName, abi]) => {
    const own = new Map();
    /** A type as Solidity spells it. Takes down the definition of a struct or enumeration. */
    const type = ({ internalType, type: plain, components }) => {
      const [, kind, scope, name, array] =
        /^(struct|enum) (?:(\w+)\.)?(\w+)((?:\[\d*\])*)$/.exec(internalType) ?? [];
      if (kind === undefined) return plain;
      const definitions = scope === undefined ? shared : own;
      if (kind === 'enum') {
        const variants = enums[scope === undefined ? name : `${scope}.${name}`];
        definitions.set(name, `enum ${name} { ${variants.join(', ')} }`);
      } else {
        const fields = components.map((field) => `${type(field)} ${field.name};`);
        definitions.set(name, block(`struct ${name}`, fields));
      }
      return `${name}${array}`;
    };
    const parameter = (one) =>
      [type(one), ...(one.indexed ? ['indexed'] : []), one.name].join(' ').trimEnd();
    const list = (parameters) => `(${parameters.map(parameter).join(', ')})`;
    const line = (entry) => {
      if (entry.type === 'constructor') return `constructor${list(entry.inputs)};`;
      if (entry.type !== 'function') return `${entry.type} ${entry.name}${list(entry.inputs)};`;
      const mutability = entry.stateMutability === 'nonpayable' ? '' : ` ${entry.stateMutability}`;
      const returns = entry.outputs.length > 0 ? ` returns ${list(entry.outputs)}` : '';
      return `function ${entry.name}${list(entry.inputs)} external${mutability}${returns};`;
    };
    const lines = (...types) => abi.filter((entry) => types.includes(entry.type)).map(line);
    const body = lines('constructor', 'event', 'function');
    return [
      block(`interface ${contractName}Errors`, lines('error')),
      block(`interface ${contractName}`, [...sorted(own), ...body]),
    ];
  });
  const parts = [...sorted(shared), ...blocks.filter((text) => text !== '')];
  return `// The contracts' interfaces, written by build.mjs.\n\n${parts.join('\n\n')}\n`;
}

/** An ABI leaves out the constructor that every contract has that declares none. */
function withConstructor(abi) {
  const declared = abi.some((entry) => entry.type === 'constructor');
  return declared ? abi : [{ type: 'constructor', inputs: [] }, ...abi];
}

function sorted(definitions) {
  return [...definitions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
}

function block(head, lines) {
  const indented = lines.map((line) => `    ${line.replaceAll('\n', '\n    ')}\n`);
  return lines.length === 0 ? '' : `${head} {\n${indented.join('')}}`;
}

/**
 * The two files of interfaces: of the contracts that are deployed, and of what those of the tests
 * have in addition.
 */
function allInterfaces(artifacts, enums) {
  const all = Object.entries(artifacts).map(([path, text]) => [path, JSON.parse(text)]);
  const contracts = (inTests) =>
    all
      .filter(([path]) => path.startsWith('test/') === inTests)
      .map(([, { contractName, abi }]) => [contractName, withConstructor(abi)])
      .sort(([a], [b]) => (a < b ? -1 : 1));
  const deployed = contracts(false);
  const known = new Set(deployed.flatMap(([, abi]) => abi.map((entry) => JSON.stringify(entry))));
  const added = contracts(true).map(([name, abi]) => [
    name,
    abi.filter((entry) => !known.has(JSON.stringify(entry))),
  ]);
  return {
    'interfaces.sol': interfaces(deployed, enums),
    'test/interfaces.sol': interfaces(added, enums),
  };
}

function filesBelow(directory, ending) {
  return readdirSync(join(root, directory), { recursive: true })
    .map((path) => `${directory}/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith(ending))
    .sort();
}

function main() {
  const check = process.argv.includes('--check');
  const sources = readSources();
  const builds = targets(sources).map((target) => build(target, sources));
  const artifacts = Object.assign({}, ...builds.map((built) => built.artifacts));
  const maps = Object.assign({}, ...builds.map((built) => built.maps));
  const enums = Object.assign({}, ...builds.map((built) => built.enums));
  const written = { ...artifacts, ...maps, ...allInterfaces(artifacts, enums) };
  const present = ['.json', '.sol'].flatMap((ending) => filesBelow('artifacts', ending));
  const stale = present.filter((path) => !(path.slice('artifacts/'.length) in written));
  if (!check) stale.splice(0).forEach((path) => rmSync(join(root, path)));
  for (const [name, text] of Object.entries(written)) {
    const file = join(root, 'artifacts', name);
    if (check) {
      if (!existsSync(file) || readFileSync(file, 'utf8') !== text) stale.push(`artifacts/${name}`);
    } else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
  for (const [name, text] of Object.entries(artifacts).filter(
    ([name]) => !name.startsWith('test/'),
  )) {
    const size = (JSON.parse(text).deployedBytecode.length - 2) / 2;
    console.log(`${name.padEnd(18)} ${String(size).padStart(6)} bytes`);
  }
  if (stale.length > 0) {
    console.error(`not what the sources compile to: ${stale.join(', ')}`);
    process.exit(1);
  }
}

if (process.argv[1] && relative(process.argv[1], fileURLToPath(import.meta.url)) === '') main();
