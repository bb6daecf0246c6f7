// web3.py 7 and cosmpy, in the virtual environment of the interpreter CLIENTS_PYTHON.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { start } from './support/node.mjs';
import * as probe from './support/probe.mjs';

const python = process.env.CLIENTS_PYTHON;
const skip =
  !python &&
  !process.env.CI &&
  'CLIENTS_PYTHON is not set to an interpreter with web3.py and cosmpy';

const run = (suite, ...args) => {
  assert.ok(python, 'CLIENTS_PYTHON has to name an interpreter with web3.py and cosmpy');
  return promisify(execFile)(python, [path.join(import.meta.dirname, 'python', suite), ...args], {
    timeout: 60_000,
  });
};

test('web3.py', { skip }, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tetrad-python-'));
  const artifact = path.join(folder, 'Probe.json');
  await writeFile(artifact, JSON.stringify({ abi: probe.abi, bytecode: probe.bytecode }));
  const node = await start();
  try {
    await run('suite.py', node.rpc, node.ws, node.rest, artifact);
  } finally {
    await node.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

test('cosmpy', { skip }, async () => {
  const node = await start(
    '--network-account-type',
    '/cosmos.auth.v1beta1.BaseAccount',
    '--grpc-listen',
    '127.0.0.1:0',
  );
  try {
    // The main listener serves gRPC as well.
    for (const grpc of [node.grpc, node.rest])
      await run('cosmpy_suite.py', node.rpc, grpc, node.rest);
  } finally {
    await node.stop();
  }
});
