// The page of a node in a cluster, over a real NATS server.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { startBrowser, startNode } from './node.mjs';

const PATH = `${process.env.PATH}:/usr/sbin`;
const missing =
  spawnSync('nats-server', ['--version'], { env: { ...process.env, PATH } }).error &&
  'nats-server is not installed';
if (missing && process.env.CI) throw new Error(missing);

/** Starts a NATS server with JetStream on a free port. */
async function startNats(folder) {
  const options = [
    '-a',
    '127.0.0.1',
    '-p',
    '-1',
    '-js',
    '-sd',
    join(folder, 'jetstream'),
    '--ports_file_dir',
    folder,
  ];
  const child = spawn('nats-server', options, { env: { ...process.env, PATH }, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const ports = () => readdirSync(folder).find((name) => name.endsWith('.ports'));
  while (!ports() || !readFileSync(join(folder, ports()), 'utf8').endsWith('}')) {
    if (child.exitCode !== null) throw new Error(`nats-server exited with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { nats } = JSON.parse(readFileSync(join(folder, ports()), 'utf8'));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url: nats[0], stop };
}

test('the Network view shows the nodes and leader of a cluster', { skip: missing }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tetrad-cluster-'));
  const nats = await startNats(folder);
  const start = (name) =>
    startNode(
      '--cluster',
      nats.url,
      '--cluster-name',
      'page',
      '--node-name',
      name,
      '--data-dir',
      join(folder, name),
    );
  const [browser, first] = await Promise.all([startBrowser(), start('first')]);
  const second = await start('second');
  const page = await browser.open(second.url);
  const roles = () =>
    page.$$eval('section.card:has(h2:text-is("Nodes")) tbody tr', (rows) =>
      Object.fromEntries(
        rows.map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent.trim())),
      ),
    );
  const until = async (expected) => {
    const end = Date.now() + 30_000;
    while (JSON.stringify(await roles()) !== JSON.stringify(expected)) {
      assert.ok(Date.now() < end, JSON.stringify(await roles()));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  await until({ first: 'leader', second: 'follower' });
  await browser.picture(page, 'nodes');
  await first.stop();
  await until({ second: 'leader' });
  assert.deepEqual(page.problems, []);
  await browser.stop();
  await second.stop();
  await nats.stop();
  rmSync(folder, { recursive: true, force: true });
});
