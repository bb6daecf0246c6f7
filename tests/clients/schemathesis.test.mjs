// Conformance of a live node to its /openapi.json, tested by schemathesis in the virtual
// environment of the interpreter CLIENTS_PYTHON.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { start } from './support/node.mjs';

const python = process.env.CLIENTS_PYTHON;
const skip =
  !python && !process.env.CI && 'CLIENTS_PYTHON is not set to an interpreter with schemathesis';

test('the node conforms to its OpenAPI document', { skip }, async () => {
  assert.ok(python, 'CLIENTS_PYTHON has to name an interpreter with schemathesis');
  const node = await start('--exchange-rate-limit', '0', '--quiet');
  try {
    const folder = path.join(import.meta.dirname, 'python');
    const config = path.join(folder, 'schemathesis.toml');
    const args = [
      '-m',
      'schemathesis.cli',
      '--config-file',
      config,
      'run',
      `${node.rest}/openapi.json`,
    ];
    // Killed if it takes far too long.
    const child = spawn(python, [...args, '--no-color'], { cwd: folder, timeout: 240_000 });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => (output += text));
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.equal(code, 0, output);
  } finally {
    await node.stop();
  }
});
