// Compiles src/ and test/ and writes one artifact for each deployable contract.
//
//   node build.mjs            rebuild artifacts/
//   node build.mjs --check    fail if a committed artifact differs from its source by a byte
//
// mutate.mjs calls `readSources`, `targets` and `build` with changed sources.

import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const solc = createRequire(import.meta.url)("solc");

/** The files that hold something to deploy; every other one is a part of these. */
const DEPLOYABLE = [
  "src/exchange/Vault.sol",
  "src/lending/LendingLens.sol",
  "src/lending/LendingPool.sol",
  "src/lending/PToken.sol",
  "src/multicall/Multicall3.sol",
  "src/oracle/PriceOracle.sol",
  "src/token/Token.sol",
];

const SETTINGS = {
  evmVersion: "osaka",
  viaIR: true,
  optimizer: { enabled: true, runs: 200 },
  // No metadata: the bytecode must depend on the code alone, not on comments or file names.
  metadata: { bytecodeHash: "none", appendCBOR: false },
};

const OUTPUTS = [
  "abi",
  "evm.bytecode.object",
  "evm.deployedBytecode.object",
  "evm.deployedBytecode.immutableReferences",
  "storageLayout",
];

/** Every Solidity file of the project, by its path below contracts/. */
export function readSources() {
  const sources = {};
  for (const directory of ["src", "test"]) {
    for (const path of filesBelow(directory, ".sol")) sources[path] = readFileSync(join(root, path), "utf8");
  }
  return sources;
}

/** The files to compile. */
export function targets(sources) {
  return [...DEPLOYABLE, ...Object.keys(sources).filter((path) => path.startsWith("test/"))];
}

/** The artifacts of one file, by path below artifacts/; throws with the compiler's messages if it finds a fault. Each file
 * is compiled on its own, so that its bytecode depends on nothing it does not import. Also says what it read. A warning about
 * our own sources is a fault, too, unless `lenient`; what the library's authors live with is theirs. */
export function build(target, sources, { lenient = false } = {}) {
  const read = new Set([target]);
  const findImport = (path) => {
    if (path in sources) {
      read.add(path);
      return { contents: sources[path] };
    }
    const file = join(root, "node_modules", path);
    return existsSync(file) ? { contents: readFileSync(file, "utf8") } : { error: `${path}: not found` };
  };
  const input = {
    language: "Solidity",
    sources: { [target]: { content: sources[target] } },
    settings: { ...SETTINGS, outputSelection: { [target]: { "*": OUTPUTS } } },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport }));
  const faults = (output.errors ?? []).filter(
    (message) => message.severity === "error" || !(lenient || message.sourceLocation?.file.startsWith("@")),
  );
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.formattedMessage).join("\n"));

  const directory = target.startsWith("test/") ? "test/" : "";
  const artifacts = {};
  for (const [name, contract] of Object.entries(output.contracts[target])) {
    if (contract.evm.bytecode.object.length === 0) continue;
    artifacts[`${directory}${name}.json`] = `${JSON.stringify(artifact(name, contract), null, 2)}\n`;
  }
  return { artifacts, read };
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

// The compiler numbers the nodes of its syntax tree and the numbers show up here; without them a comment changes nothing.
function withoutNodeIds(layout) {
  const text = JSON.stringify(layout, (key, value) => (key === "astId" ? undefined : value));
  return JSON.parse(text.replace(/(t_(?:struct|contract|enum)\(\w+\))\d+/g, "$1"));
}

function filesBelow(directory, ending) {
  return readdirSync(join(root, directory), { recursive: true })
    .map((path) => `${directory}/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(ending))
    .sort();
}

function main() {
  const check = process.argv.includes("--check");
  const sources = readSources();
  const built = Object.assign({}, ...targets(sources).map((target) => build(target, sources).artifacts));
  const stale = filesBelow("artifacts", ".json").filter((path) => !(path.slice("artifacts/".length) in built));
  if (!check) stale.splice(0).forEach((path) => rmSync(join(root, path)));
  for (const [name, text] of Object.entries(built)) {
    const file = join(root, "artifacts", name);
    if (check) {
      if (!existsSync(file) || readFileSync(file, "utf8") !== text) stale.push(`artifacts/${name}`);
    } else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    const size = (JSON.parse(text).deployedBytecode.length - 2) / 2;
    if (!name.startsWith("test/")) console.log(`${name.padEnd(18)} ${String(size).padStart(6)} bytes`);
  }
  if (stale.length > 0) {
    console.error(`not what the sources compile to: ${stale.join(", ")}`);
    process.exit(1);
  }
}

if (process.argv[1] && relative(process.argv[1], fileURLToPath(import.meta.url)) === "") main();
