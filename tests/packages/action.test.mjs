// The step of action.yml, with a server in place of GitHub's releases.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { before, test } from 'node:test';
import { PLATFORMS, binary, version } from '../../packages/build.mjs';
import { folder, platform, root, run, succeed } from './support.mjs';

const step = path.join(root, '.github/start-node');
const targets = {
  'linux-x64': 'x86_64-unknown-linux-gnu',
  'linux-arm64': 'aarch64-unknown-linux-gnu',
  'darwin-arm64': 'aarch64-apple-darwin',
};
const target = targets[platform];
const free = '--listen 127.0.0.1:0 --ws-listen 127.0.0.1:0';

/** Runs the step; returns its exit code and output, and the outputs and search path it sets. */
async function start(variables) {
  const temporary = folder();
  const files = {
    GITHUB_OUTPUT: path.join(temporary, 'outputs'),
    GITHUB_PATH: path.join(temporary, 'path'),
  };
  for (const file of Object.values(files)) writeFileSync(file, '');
  const env = { RUNNER_TEMP: temporary, ...files, ...variables };
  const { code, stdout } = await run(step, [], { env });
  const lines = readFileSync(files.GITHUB_OUTPUT, 'utf8').trim().split('\n');
  const outputs = Object.fromEntries(
    lines.map((line) => [line.split('=')[0], line.split('=').slice(1).join('=')]),
  );
  return { code, stdout, outputs, path: readFileSync(files.GITHUB_PATH, 'utf8').trim() };
}

const tag = `v${version}`;
const name = `tetrad-${tag}-${target}`;
let server, files;
before(async () => {
  const release = folder();
  mkdirSync(path.join(release, name));
  cpSync(binary, path.join(release, name, 'tetrad'));
  await succeed('tar', ['-czf', `${name}.tar.gz`, name], { cwd: release });
  const archive = readFileSync(path.join(release, `${name}.tar.gz`));
  const sums = `${createHash('sha256').update(archive).digest('hex')}  ${name}.tar.gz\n${'0'.repeat(64)}  other\n`;
  files = { [`${name}.tar.gz`]: archive, SHA256SUMS: sums };
  const releases = '/owner/tetrad/releases';
  const pages = http.createServer((request, response) => {
    if (request.url === `${releases}/latest`)
      return response.writeHead(302, { location: `${server}${releases}/tag/${tag}` }).end();
    const file =
      request.url.startsWith(`${releases}/download/${tag}/`) && files[path.basename(request.url)];
    return file ? response.end(file) : response.writeHead(404).end();
  });
  await new Promise((resolve) => pages.listen(0, '127.0.0.1', resolve));
  pages.unref();
  server = `http://127.0.0.1:${pages.address().port}`;
});
const released = (ACTION_VERSION) => ({
  GITHUB_SERVER_URL: server,
  ACTION_REPOSITORY: 'owner/tetrad',
  ACTION_VERSION,
  ACTION_ARGS: free,
});

test('starts a node and sets the outputs', async () => {
  const { code, stdout, outputs } = await start({
    ACTION_BINARY: binary,
    ACTION_ARGS: `${free} --accounts 3`,
  });
  assert.equal(code, 0, stdout);
  try {
    assert.deepEqual(Object.keys(outputs), ['rpc', 'ws', 'rest', 'exchange-ws', 'pid', 'log']);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_accounts', params: [] });
    const answer = await fetch(outputs.rpc, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    assert.equal((await answer.json()).result.length, 3);
    assert.equal((await fetch(`${outputs.rest}/ready`)).status, 200);
    assert.match(outputs.ws, /^ws:.*\/rpc$/);
    assert.match(outputs['exchange-ws'], /^ws:/);
    assert.match(readFileSync(outputs.log, 'utf8'), /\S/);
  } finally {
    process.kill(Number(outputs.pid));
  }
});

for (const [kind, ref] of [
  ['a tag', tag],
  ['a branch', 'main'],
  ['a short tag', 'v0'],
  ['no version', ''],
]) {
  test(`installs the release for ${kind}`, async () => {
    const { code, stdout, outputs, path: search } = await start(released(ref));
    assert.equal(code, 0, stdout);
    process.kill(Number(outputs.pid));
    assert.equal(await succeed(path.join(search, 'tetrad'), ['--version']), `tetrad ${version}\n`);
  });
}

test('refuses an archive that does not match its checksum', async () => {
  const { [`${name}.tar.gz`]: archive } = files;
  files[`${name}.tar.gz`] = Buffer.concat([archive, Buffer.from('x')]);
  const { code, stdout } = await start(released(tag));
  files[`${name}.tar.gz`] = archive;
  assert.notEqual(code, 0);
  assert.match(stdout, /::error::.* does not match the release's SHA256SUMS/);
});

test('names a release that does not exist', async () => {
  const { code, stdout } = await start(released('v9.9.9'));
  assert.notEqual(code, 0);
  assert.match(stdout, /::error::tetrad-v9\.9\.9-.* cannot be downloaded/);
});

test('prints the output of a node that does not start', async () => {
  const { code, stdout } = await start({ ACTION_BINARY: binary, ACTION_ARGS: '--block-time soon' });
  assert.notEqual(code, 0);
  assert.match(stdout, /--block-time: .*`soon`.*::error::tetrad did not start/s);
});

test('action.yml passes every variable that the step reads', () => {
  const action = readFileSync(path.join(root, 'action.yml'), 'utf8');
  const read = readFileSync(step, 'utf8').match(/ACTION_\w+/g);
  for (const variable of new Set(read)) assert.match(action, new RegExp(`^ +${variable}: `, 'm'));
});

test('releases, packages and the action have the same platforms', () => {
  const named = (file, pattern) =>
    Array.from(readFileSync(path.join(root, file), 'utf8').matchAll(pattern), ([, found]) => found);
  assert.deepEqual(Object.keys(targets), PLATFORMS);
  assert.deepEqual(
    named('.github/workflows/release.yml', /target: (\w+-[\w-]+)/g),
    Object.values(targets),
  );
  assert.deepEqual(named('.github/start-node', /target=([\w-]+)/g), Object.values(targets));
});
