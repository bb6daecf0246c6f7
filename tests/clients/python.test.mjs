// web3.py 7, in the virtual environment of the interpreter CLIENTS_PYTHON.
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
const skip = !python && !process.env.CI && 'CLIENTS_PYTHON is not set to an interpreter with web3.py';

test('web3.py', { skip }, async () => {
    assert.ok(python, 'CLIENTS_PYTHON has to name an interpreter with web3.py');
    const folder = await mkdtemp(path.join(tmpdir(), 'tetrad-python-'));
    const artifact = path.join(folder, 'Probe.json');
    await writeFile(artifact, JSON.stringify({ abi: probe.abi, bytecode: probe.bytecode }));
    const node = await start();
    try {
        const suite = path.join(import.meta.dirname, 'python/suite.py');
        await promisify(execFile)(python, [suite, node.rpc, node.ws, node.rest, artifact], { timeout: 60_000 });
    } finally {
        await node.stop();
        await rm(folder, { recursive: true, force: true });
    }
});
