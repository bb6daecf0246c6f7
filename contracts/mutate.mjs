// Asks whether the tests would notice a fault: plants the faults of mutations.mjs in the sources
// one at a time, builds each into a directory of its own and runs the suite on that. A fault that
// no test notices survives and is listed.
//
//   node mutate.mjs              all of them; takes some minutes
//   node mutate.mjs Vault slack  those whose file or description contains one of the words

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, readSources, targets } from './build.mjs';
import { MUTATIONS } from './mutations.mjs';

const root = dirname(fileURLToPath(import.meta.url));
const sources = readSources();
const dependencies = Object.fromEntries(
  targets(sources).map((target) => [target, build(target, sources).read]),
);

function plant({ file, from, to }) {
  const path = `src/${file}`;
  const parts = sources[path].split(from);
  if (parts.length !== 2)
    throw new Error(`${path}: expected once, found ${parts.length - 1} times: ${from}`);
  return { path, mutated: { ...sources, [path]: parts.join(to) } };
}

function artifactsOf(mutation, directory) {
  const { path, mutated } = plant(mutation);
  cpSync(join(root, 'artifacts'), directory, { recursive: true });
  for (const [target, read] of Object.entries(dependencies)) {
    if (!read.has(path)) continue;
    for (const [name, text] of Object.entries(
      build(target, mutated, { lenient: true }).artifacts,
    )) {
      writeFileSync(join(directory, name), text);
    }
  }
}

/** The compiled test suite, so that each run starts at once and on the same tests. */
function compileSuite() {
  const options = { cwd: join(root, '..'), encoding: 'utf8', maxBuffer: 1 << 28 };
  const result = spawnSync(
    'cargo',
    ['test', '--test', 'it', '--no-run', '--message-format=json'],
    options,
  );
  const messages = result.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  const executable = messages.find(
    (message) => message.target?.name === 'it' && message.executable,
  )?.executable;
  if (!executable) throw new Error(`the suite does not compile:\n${result.stderr}`);
  return executable;
}

/** The tests that fail on the artifacts in a directory. */
function failures(executable, directory) {
  const result = spawnSync(executable, ['contracts::'], {
    cwd: join(root, '..'),
    env: { ...process.env, TETRAD_ARTIFACTS: directory, RUST_BACKTRACE: '0' },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    timeout: 600_000,
  });
  const failed = [...result.stdout.matchAll(/^test (\S+) \.\.\. FAILED$/gm)].map(
    (match) => match[1],
  );
  if (result.status !== 0 && failed.length === 0)
    throw new Error(`the suite did not run:\n${result.stderr}`);
  return failed;
}

function judge(executable, mutation) {
  const directory = mkdtempSync(join(tmpdir(), 'mutation-'));
  try {
    artifactsOf(mutation, directory);
    return failures(executable, directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const words = process.argv.slice(2);
const chosen = MUTATIONS.filter(
  ({ file, what }) => words.length === 0 || words.some((word) => `${file} ${what}`.includes(word)),
);
// Every mutation is checked against the sources before the first is tried, so that a stale one does
// not show up at the end.
chosen.forEach(plant);
const executable = compileSuite();
const survivors = [];
for (const [index, mutation] of chosen.entries()) {
  const failed = judge(executable, mutation);
  const verdict =
    failed.length > 0
      ? `noticed by ${failed.length}, ${failed[0].replace('contracts::', '')}`
      : 'SURVIVED';
  console.log(`${index + 1}/${chosen.length} ${mutation.file}: ${mutation.what}: ${verdict}`);
  if (failed.length === 0) survivors.push(mutation);
}
console.log(`${chosen.length - survivors.length} of ${chosen.length} noticed`);
for (const { file, what, equivalent } of survivors) {
  console.log(`survived: ${file}: ${what}${equivalent ? ` (expected: ${equivalent})` : ''}`);
}
process.exit(survivors.some(({ equivalent }) => !equivalent) ? 1 : 0);
