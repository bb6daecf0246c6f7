// Packs target/release/tetrad, or the program that TETRAD names, for npm and PyPI, for the platform
// that this script runs on:
//
//   node packages/build.mjs [FOLDER]
//
// writes three files into FOLDER (target/packages by default): the npm package `tetrad`, the npm
// package with the binary, on which the former depends optionally, and the wheel, which has the
// same binary. PYTHON names an interpreter with pip.
//
// The version is the one in Cargo.toml, which the binary has to report as well. The same sources
// give the same files.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(import.meta.dirname, '..');
export const binary = process.env.TETRAD ?? path.join(root, 'target/release/tetrad');

/** Platforms with a binary, named as in Node.js: those of the release workflow. */
export const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64'];

/** The version of the crate. */
export const version = /^version = "(.+)"$/m.exec(
  readFileSync(path.join(root, 'Cargo.toml'), 'utf8'),
)[1];

// npm accepts a package with provenance only if it names the repository that the workflow runs in.
const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: slug } = process.env;
const repository = slug && { type: 'git', url: `git+${server}/${slug}.git` };

/** The manifest of the package `tetrad`. */
export function mainManifest() {
  const manifest = JSON.parse(readFileSync(path.join(root, 'packages/npm/package.json'), 'utf8'));
  const optionalDependencies = Object.fromEntries(
    PLATFORMS.map((platform) => [`tetrad-${platform}`, version]),
  );
  return { ...manifest, version, repository, optionalDependencies };
}

/** The manifest of the package with the binary for a platform. */
export function platformManifest(platform) {
  const [os, cpu] = platform.split('-');
  return {
    name: `tetrad-${platform}`,
    version,
    description: `The binary of tetrad for ${platform}; install the package tetrad instead`,
    license: mainManifest().license,
    repository,
    os: [os],
    cpu: [cpu],
    ...(os === 'linux' && { libc: ['glibc'] }),
    // Yarn's Plug'n'Play would keep the binary in an archive.
    preferUnplugged: true,
  };
}

/**
 * The platform that this script runs on. Throws if there is no package for it, or the binary has
 * another version.
 */
function checkedPlatform() {
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.includes(platform))
    throw new Error(`no package for ${platform}, only for ${PLATFORMS.join(', ')}`);
  const reported = execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim();
  if (reported !== `tetrad ${version}`)
    throw new Error(`${binary} is ${reported}, but Cargo.toml has ${version}`);
  return platform;
}

/** Packs a folder, with its manifest and the licences, for npm. */
function packNpm(directory, manifest, folder) {
  addLicences(directory);
  writeFileSync(path.join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const flags = ['pack', '--silent', '--pack-destination', folder];
  execFileSync('npm', flags, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Packs the package `tetrad` for npm. */
function packMain(staged, folder) {
  const directory = path.join(staged, 'tetrad');
  cpSync(path.join(root, 'packages/npm'), directory, { recursive: true });
  packNpm(directory, mainManifest(), folder);
}

/** Packs the package with the binary for npm. */
function packPlatform(platform, staged, folder) {
  const manifest = platformManifest(platform);
  const directory = path.join(staged, manifest.name);
  addBinary(directory);
  writeFileSync(
    path.join(directory, 'README.md'),
    `# ${manifest.name}\n\n${manifest.description}.\n`,
  );
  packNpm(directory, manifest, folder);
}

/** Packs the wheel. */
function packWheel(staged, folder) {
  const directory = path.join(staged, 'python');
  cpSync(path.join(root, 'packages/python'), directory, {
    recursive: true,
    filter: (file) => !file.includes('__pycache__'),
  });
  addBinary(directory);
  addLicences(directory);

  const pip = ['-m', 'pip', 'wheel', '--quiet', '--disable-pip-version-check', '--no-deps'];
  execFileSync(process.env.PYTHON ?? 'python3', [...pip, '--wheel-dir', folder, directory], {
    env: { ...process.env, TETRAD_VERSION: version },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

function build(folder) {
  const platform = checkedPlatform();
  rmSync(folder, { recursive: true, force: true });

  const staged = path.join(folder, 'staged');
  packMain(staged, folder);
  packPlatform(platform, staged, folder);
  packWheel(staged, folder);
  rmSync(staged, { recursive: true });
}

function addBinary(directory) {
  const copy = path.join(directory, 'bin/tetrad');
  cpSync(binary, copy);
  chmodSync(copy, 0o755);
}

function addLicences(directory) {
  for (const name of ['LICENSE-APACHE', 'LICENSE-MIT'])
    cpSync(path.join(root, name), path.join(directory, name));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = path.resolve(process.argv[2] ?? path.join(root, 'target/packages'));
  build(folder);
  for (const name of readdirSync(folder).sort()) console.log(path.join(folder, name));
}
