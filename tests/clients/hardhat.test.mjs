// Hardhat 3: a project that compiles and runs its tests with the node as `--network`.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { start } from './support/node.mjs';

test('builds a project and runs its tests', async () => {
  const node = await start();
  try {
    // Hardhat requires a newer Node.js than the other suites, which is installed as a package.
    const [runtime, hardhat] = [
      'node_modules/node/bin/node',
      'hardhat/node_modules/hardhat/dist/src/cli.js',
    ].map((file) => path.join(import.meta.dirname, file));
    const run = (...args) =>
      promisify(execFile)(runtime, [hardhat, ...args], {
        cwd: path.join(import.meta.dirname, 'hardhat'),
        env: {
          ...process.env,
          NODE_URL: node.rpc,
          HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
          NO_COLOR: '1',
        },
      });
    await run('build');
    const { stdout } = await run('run', 'suite.mjs', '--network', 'tetrad');
    assert.equal(stdout.match(/^ok: /gm)?.length, 6, stdout);
  } finally {
    await node.stop();
  }
});
