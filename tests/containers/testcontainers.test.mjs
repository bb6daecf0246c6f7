// The book's example of Testcontainers. Requires Docker and the image `tetrad`: docker build -t
// tetrad .
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { examples, run, succeed } from '../packages/support.mjs';

const image = await run('docker', ['image', 'inspect', 'tetrad']);
// In CI a missing image is a failure.
const skip = !process.env.CI && image.code !== 0 && 'Docker does not run, or has no image tetrad';

test('the example starts the image', { skip }, async () => {
  const [example, ...others] = await examples('js,testcontainers', 'docs/src/start/tests.md');
  assert.deepEqual(others, []);
  // In this folder, where it finds the library.
  const file = path.join(import.meta.dirname, 'example.mjs');
  writeFileSync(file, example);
  try {
    assert.equal(await succeed('node', [file]), '0x7d\n');
  } finally {
    rmSync(file);
  }
});
