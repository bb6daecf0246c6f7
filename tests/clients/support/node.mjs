// Starts a node for a suite, on free ports that are read from the ready file.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { watch } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');
export const binary = process.env.TETRAD ?? path.join(root, 'target/release/tetrad');
export const MNEMONIC = 'test test test test test test test test test test test junk';

/** Starts the binary. Prices do not move, so that only the test's own transactions are mined. */
export async function start(...args) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tetrad-'));
  const ready = path.join(folder, 'ready.json');
  const flags = [
    '--listen',
    '127.0.0.1:0',
    '--ws-listen',
    'off',
    '--exchange-price-tick',
    '0',
    '--ready-file',
    ready,
  ];
  const child = spawn(binary, [...flags, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const node = { output: '', child };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => (node.output += text));

  const ended = new Promise((resolve) => child.once('close', resolve));
  let watcher;
  const urls = await new Promise((resolve, reject) => {
    const look = () =>
      readFile(ready, 'utf8').then(
        (text) => resolve(JSON.parse(text)),
        () => {},
      );
    watcher = watch(folder, look);
    ended.then(() => reject(new Error(`the node exited: ${node.output}`)));
    child.once('error', reject);
    look();
  });
  watcher.close();

  node.stop = async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  return Object.assign(node, urls);
}

/** The addresses of the network's contracts. */
export async function network(node) {
  return (await fetch(`${node.rest}/api/network`)).json();
}

/** Sends one JSON-RPC request, without a client library. */
export async function rpc(node, method, params = []) {
  const url = typeof node === 'string' ? node : node.rpc;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { result, error } = await answer.json();
  if (error) throw Object.assign(new Error(error.message), error);
  return result;
}
