// Bundles the parts of published libraries that the page uses into `page/vendor`, and writes their
// checksums. The bundles are committed, so that building the program needs no npm. With `--check`
// nothing is written: it fails if a bundle differs.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const OUTPUT = new URL('../page/vendor/', import.meta.url);
const CHECKSUMS = new URL('SHA256SUMS', import.meta.url);

/**
 * The bundles: the file, the package it is made of, and its exports by the module that has them.
 */
const BUNDLES = [
  {
    file: 'ethers.js',
    name: 'ethers',
    exports: {
      'ethers/abi': ['AbiCoder', 'Fragment', 'ParamType'],
      'ethers/address': ['getAddress'],
      'ethers/crypto': ['keccak256'],
    },
  },
  { file: 'bech32.js', name: '@scure/base', exports: { '@scure/base': ['bech32'] } },
];

function manifest(name) {
  return JSON.parse(
    readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8'),
  );
}

async function bundle({ name, exports }) {
  const { version, license } = manifest(name);
  const lines = Object.entries(exports).map(
    ([module, names]) => `export { ${names.join(', ')} } from '${module}';`,
  );
  const { outputFiles } = await build({
    stdin: { contents: lines.join('\n'), resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    banner: {
      js: `// Parts of ${name} ${version} (${license}), bundled by crates/page/src/vendor/build.mjs.`,
    },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    write: false,
  });
  return outputFiles[0].text;
}

const check = process.argv.includes('--check');
const sums = [];
for (const one of BUNDLES) {
  const text = await bundle(one);
  sums.push(`${createHash('sha256').update(text).digest('hex')}  ${one.file}\n`);
  const path = new URL(one.file, OUTPUT);
  if (!check) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text)
    throw new Error(`${one.file} is not what its package bundles to: run npm run build`);
}
if (!check) writeFileSync(CHECKSUMS, sums.join(''));
else if (readFileSync(CHECKSUMS, 'utf8') !== sums.join(''))
  throw new Error('SHA256SUMS does not match: run npm run build');
