// The npm packages, installed from the packed files.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { binary, version } from '../../packages/build.mjs';
import {
  closed,
  examples,
  folder,
  packages,
  platform,
  registry,
  root,
  run,
  succeed,
} from './support.mjs';

const tsc = path.join(root, 'tests/clients/node_modules/typescript/bin/tsc');
let project, npm;
before(async () => {
  const url = await registry();
  project = path.join(folder(), 'project');
  await mkdir(project);
  await writeFile(path.join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const settings = {
    registry: url,
    cache: path.join(project, '../cache'),
    audit: false,
    fund: false,
    update_notifier: false,
  };
  npm = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`npm_config_${name}`, String(value)]),
  );
  await succeed('npm', ['install', 'tetrad'], { cwd: project, env: npm });
});

/** Runs a module in the project, which has `start`; returns what it prints as JSON. */
async function evaluate(script, options) {
  const module = `import { binary, start } from 'tetrad'; const print = (value) => console.log(JSON.stringify(value)); ${script}`;
  return JSON.parse(
    await succeed('node', ['--input-type=module', '--eval', module], { cwd: project, ...options }),
  );
}

test('the packages have the program, its licences and nothing else', async () => {
  const files = async (name) =>
    (await succeed('tar', ['tzf', path.join(packages, `${name}-${version}.tgz`)]))
      .trim()
      .split('\n')
      .sort();
  const common = ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'package.json'].map(
    (name) => `package/${name}`,
  );
  const main = ['cli.js', 'index.d.ts', 'index.js'].map((name) => `package/${name}`);
  assert.deepEqual(await files('tetrad'), [...common, ...main].sort());
  assert.deepEqual(await files(`tetrad-${platform}`), [...common, 'package/bin/tetrad'].sort());
});

test('npx runs the program', async () => {
  const env = { ...npm, npm_config_yes: 'true' };
  assert.equal(
    await succeed('npx', ['tetrad', '--version'], { cwd: project, env }),
    `tetrad ${version}\n`,
  );
  // Without an installation.
  const empty = folder();
  assert.equal(
    await succeed('npx', ['tetrad', '--version'], { cwd: empty, env }),
    `tetrad ${version}\n`,
  );
});

test('anvil is a link to the program on demand', async () => {
  const commands = path.join(project, 'node_modules/.bin');
  await succeed(path.join(commands, 'tetrad'), ['link-anvil', commands]);
  assert.match(await succeed(path.join(commands, 'anvil'), ['--version']), /^anvil Version: /);
});

test('the command has the exit code and the output of the program', async () => {
  const command = path.join(project, 'node_modules/.bin/tetrad');
  const expected = await run(binary, ['--block-time', 'soon']);
  assert.notEqual(expected.code, 0);
  assert.deepEqual(await run(command, ['--block-time', 'soon']), expected);
});

test('the command passes signals on', async () => {
  const command = path.join(project, 'node_modules/.bin/tetrad');
  const child = spawn(command, ['--listen', '127.0.0.1:0', '--ws-listen', 'off'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [text] = await once(child.stdout, 'data');
  assert.match(text.toString(), /\S/);
  child.stdout.resume();
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('the examples run', async () => {
  const found = await examples('js', 'packages/npm/README.md', 'docs/src/start/tests.md');
  assert.equal(found.length, 2);
  for (const [at, example] of found.entries())
    await writeFile(path.join(project, `example-${at}.test.js`), example);
  const output = await succeed('node', ['--test', '--test-reporter=tap'], { cwd: project });
  assert.doesNotMatch(output, /^# pass 0$/m);
});

test('nodes run side by side until they are stopped', async () => {
  const { urls, refused } = await evaluate(`
        const nodes = await Promise.all([start(), start({ args: ['--chain-id', '229'] })]);
        const chains = await Promise.all(nodes.map((node) => node.request('eth_chainId')));
        const prices = await (await fetch(nodes[0].rest + '/api/prices')).json();
        await Promise.all(nodes.map((node) => node.stop()));
        await nodes[0].stop();
        const refused = await nodes[0].request('eth_chainId').then(() => false, () => true);
        print({ urls: nodes.map(({ rpc, ws, rest, exchangeWs, pid }) => [rpc, ws, rest, exchangeWs, typeof pid]), chains, refused: refused && prices.success });`);
  assert.ok(refused);
  const [one, other] = urls;
  for (const [at, scheme] of ['http', 'ws', 'http', 'ws', 'number'].entries()) {
    assert.ok(
      one[at].startsWith(scheme) && other[at].startsWith(scheme),
      `${one[at]} ${other[at]}`,
    );
    if (at < 4) assert.notEqual(one[at], other[at]);
  }
});

test('require works as well as import', async () => {
  const script = `const { start } = require('tetrad');
        start().then(async (node) => { console.log(await node.request('eth_chainId')); await node.stop(); });`;
  assert.equal(
    await succeed('node', ['--input-type=commonjs', '--eval', script], { cwd: project }),
    '0x7d\n',
  );
});

test('an error response rejects with its code', async () => {
  const [code, message] = await evaluate(`
        const node = await start();
        const error = await node.request('eth_nothing').catch((error) => error);
        await node.stop();
        print([error.code, error.message]);`);
  assert.equal(code, -32601);
  assert.match(message, /\S/);
});

test('flags override the defaults, and the defaults override the environment', async () => {
  const env = { TETRAD_LISTEN: '127.0.0.1:1', TETRAD_ACCOUNTS: '4' };
  const accounts = await evaluate(
    `const node = await start({ args: ['--ws-listen', 'off'] });
        const accounts = await node.request('eth_accounts');
        await node.stop();
        print([accounts.length, node.exchangeWs.endsWith('/ws')]);`,
    { env },
  );
  assert.deepEqual(accounts, [4, true]);
});

test('the output is printed on demand', async () => {
  const script = (verbose) =>
    `import { start } from 'tetrad'; const node = await start({ verbose: ${verbose} }); await node.stop();`;
  const output = (verbose) =>
    succeed('node', ['--input-type=module', '--eval', script(verbose)], { cwd: project });
  assert.match(await output(true), /0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266/);
  assert.equal(await output(false), '');
});

test('a node that cannot start rejects with its own message', async () => {
  const messages = await evaluate(`
        const message = (options) => start(options).then(() => 'started', (error) => error.message);
        print([await message({ args: ['--block-time', 'soon'] }), await message({ binary: '/nowhere/tetrad' })]);`);
  assert.match(messages[0], /^the node exited with code 1:\nerror: --block-time: .*`soon`/);
  assert.match(messages[1], /^the node exited with code 127:\n.*\/nowhere\/tetrad/s);
});

test('a node that is not ready in time rejects and is stopped', async () => {
  const message = await evaluate(`
        const error = await start({ binary: '/bin/sleep', args: ['600'], timeout: 100 }).catch((error) => error);
        print(error.message);`);
  assert.equal(message, 'the node was not ready within 100 ms');
});

test('a platform without a binary is named', async () => {
  const messages = await evaluate(`
        const message = (arch) => {
            Object.defineProperty(process, 'arch', { value: arch });
            try { return binary(); } catch (error) { return error.message; }
        };
        print([message('mips'), message('${process.arch === 'x64' ? 'arm64' : 'x64'}')]);`);
  assert.match(messages[0], /^there is no binary for \w+-mips, only tetrad-linux-x64, /);
  if (process.platform === 'linux')
    assert.match(messages[1], /^the package tetrad-linux-\w+ is not installed/);
});

test('stopping a node that was killed rejects', async () => {
  const message = await evaluate(`
        const node = await start();
        process.kill(node.pid, 'SIGKILL');
        while (await node.request('eth_chainId').then(() => true, () => false));
        const error = await node.stop().catch((error) => error);
        print(error.message);`);
  assert.equal(message, 'the node was ended by SIGKILL');
});

/** Starts a module that starts a node, prints its URL and waits for `rest`. */
async function testProcess(rest) {
  const module = `import { start } from 'tetrad'; const node = await start(); console.log(node.rest); ${rest}`;
  const child = spawn('node', ['--input-type=module', '--eval', module], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = await once(child.stdout, 'data');
  return { child, url: url.toString().trim() };
}

test('a node ends with the test process', { timeout: 60_000 }, async () => {
  // At its end, although nothing stops the node.
  const forgetful = await testProcess('');
  if (forgetful.child.exitCode === null) await once(forgetful.child, 'exit');
  assert.equal(forgetful.child.exitCode, 0);
  await closed(forgetful.url);
  // By a signal that cannot be handled.
  const killed = await testProcess('setInterval(() => {}, 1000);');
  killed.child.kill('SIGKILL');
  await closed(killed.url);
  // By an exception.
  const failed = await testProcess(
    'process.on("uncaughtException", () => process.exit(7)); throw new Error();',
  );
  await closed(failed.url);
});

test('the types describe the interface', async () => {
  const source = `
        import { binary, start, type Node, type StartOptions } from 'tetrad';
        const options: StartOptions = { args: ['--accounts', '3'], binary: binary(), timeout: 1_000, verbose: true };
        await using node: Node = await start(options);
        const accounts: string[] = await node.request<string[]>('eth_accounts', []);
        const [rpc, ws, rest, exchangeWs]: string[] = [node.rpc, node.ws, node.rest, node.exchangeWs];
        const pid: number = node.pid;
        // @ts-expect-error A misspelt option.
        await start({ arguments: [] });
        await node.stop();
        export { accounts, rpc, ws, rest, exchangeWs, pid };`;
  await writeFile(path.join(project, 'types.ts'), source);
  const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', 'types.ts'];
  await succeed('node', [tsc, ...flags], { cwd: project });
});
