// Source verification with real compilers and the verifiers' own clients: forge and hardhat-verify.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import solc from 'solc';
import { rpc, start } from './support/node.mjs';
import { releases } from './support/releases.mjs';
import { tool } from './support/tool.mjs';

const here = import.meta.dirname;
const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const version = /^[^.]+\.[^.]+\.[^.]+\.\w+/.exec(solc.version())[0];
const project = path.join(here, 'forge-verify');
let node, folder, list;

// The compiler from npm, in foundry's folder for compilers.
async function compilers() {
  const directory = path.join(folder, '.svm/0.8.37');
  await mkdir(directory, { recursive: true });
  const program = path.join(directory, 'solc-0.8.37');
  await writeFile(
    program,
    `#!/bin/sh\nexec "${process.execPath}" "${path.join(here, 'forge/solc.mjs')}" "$@"\n`,
  );
  await chmod(program, 0o755);
  return path.join(folder, '.svm');
}

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'verify-'));
  node = await start('--solc-directory', await compilers(), '--verbosity', '1');
  list = await releases(folder, version);
  // A copy, so that other suites build their own.
  await rm(project, { recursive: true, force: true });
  const isSource = (file) => !/\/(out|cache|broadcast)$/.test(file);
  await cp(path.join(here, 'forge'), project, {
    recursive: true,
    dereference: true,
    filter: isSource,
  });
});
after(async () => {
  list?.stop();
  await node?.stop();
  await rm(project, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
});

const forge = async (...args) => {
  const env = {
    ...process.env,
    ...list.env,
    HOME: folder,
    NO_COLOR: '1',
    FOUNDRY_DISABLE_NIGHTLY_WARNING: '1',
  };
  const { stdout, stderr } = await promisify(execFile)(tool('forge'), args, {
    cwd: project,
    env,
    timeout: 300_000,
  });
  return stdout + stderr;
};
const deploy = async (url = node.rpc) => {
  const text = await forge(
    'create',
    'src/Probe.sol:Probe',
    '--rpc-url',
    url,
    '--private-key',
    key,
    '--broadcast',
    '--json',
    '--constructor-args',
    '7',
  );
  return /"deployedTo":\s*"(0x\w+)"/.exec(text)[1];
};
const json = async (url, init) => (await fetch(`${node.rest}${url}`, init)).json();
const verifiers = {
  etherscan: () => ['--verifier-url', `${node.rest}/api`],
  blockscout: () => ['--verifier-url', `${node.rest}/api/`],
  sourcify: () => ['--verifier-url', `${node.rest}/sourcify/`],
};
for (const [verifier, options] of Object.entries(verifiers)) {
  test(`forge verifies with ${verifier}`, async () => {
    // With such a section forge uses Etherscan's interface, whatever its options.
    const section = `\n[etherscan]\ntetrad = { key = "any", chain = 125, url = "${node.rest}/api" }\n`;
    const settings = await readFile(path.join(here, 'forge/foundry.toml'), 'utf8');
    await writeFile(
      path.join(project, 'foundry.toml'),
      settings + (verifier === 'etherscan' ? section : ''),
    );
    const address = await deploy();
    const text = await forge(
      'verify-contract',
      address,
      'src/Probe.sol:Probe',
      '--chain',
      '125',
      '--watch',
      '--skip-is-verified-check',
      '--compiler-version',
      version,
      '--delay',
      '1',
      '--verifier',
      verifier,
      ...options(),
    );
    assert.match(text, /verified|Pass - Verified|exact_match/i, text);
    const found = await json(`/sourcify/v2/contract/125/${address}?fields=compilation,sources`);
    assert.equal(found.match, 'exact_match');
    assert.equal(found.creationMatch, 'exact_match');
    assert.equal(found.compilation.fullyQualifiedName, 'src/Probe.sol:Probe');
    assert.match(found.sources['src/Probe.sol'].content, /contract Probe/);
    const shown = await json(`/api/v2/smart-contracts/${address}`);
    assert.equal(shown.is_fully_verified, true);
    assert.deepEqual(
      shown.decoded_constructor_args.map(([value]) => value),
      ['7'],
    );
    const again = await forge(
      'verify-contract',
      address,
      'src/Probe.sol:Probe',
      '--chain',
      '125',
      '--compiler-version',
      version,
      '--verifier',
      verifier,
      ...options(),
    );
    assert.match(again, /already verified/i, again);
  });
}

test('failures of a verified contract have names and lines', async () => {
  const address = await deploy();
  const data = `0x6057361d${(2000).toString(16).padStart(64, '0')}`;
  const [from] = await rpc(node, 'eth_accounts');
  const hash = await rpc(node, 'eth_sendTransaction', [
    { from, to: address, data, gas: '0x30d40' },
  ]);
  const trace = await rpc(node, 'tetrad_stackTrace', [hash]);
  assert.equal(trace.reason, 'TooLarge(value: 2000, limit: 1000)');
  const [frame] = trace.frames;
  assert.deepEqual(
    [frame.contract, frame.function, frame.file],
    ['Probe', 'store', 'src/Probe.sol'],
  );
  assert.match(frame.source, /revert TooLarge\(next, 1000\)/);
  const shown =
    /Probe\.store\(next: 2000\).*reverted: TooLarge\(value: 2000, limit: 1000\)\n +at Probe\.store \(src\/Probe\.sol:\d+:\d+\)/s;
  // The terminal follows the chain.
  while (!shown.test(node.output)) await once(node.child.stdout, 'data');
});

test('hardhat-verify verifies with blockscout and sourcify', async () => {
  const [runtime, hardhat] = [
    'node_modules/node/bin/node',
    'hardhat/node_modules/hardhat/dist/src/cli.js',
  ].map((file) => path.join(here, file));
  const run = (...args) =>
    promisify(execFile)(runtime, [hardhat, ...args], {
      cwd: path.join(here, 'hardhat'),
      env: {
        ...process.env,
        NODE_URL: node.rpc,
        NODE_REST: node.rest,
        HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
        NO_COLOR: '1',
      },
    });
  await run('build');
  const { stdout: deployed } = await run('run', 'deploy.mjs', '--network', 'tetrad');
  const [first, second] = deployed.match(/0x[0-9a-fA-F]{40}/g);
  const blockscout = await run(
    'verify',
    'blockscout',
    '--build-profile',
    'default',
    '--network',
    'tetrad',
    first,
    '21',
  );
  assert.match(blockscout.stdout, /verified/i, blockscout.stdout);
  assert.equal((await json(`/sourcify/v2/contract/125/${first}`)).match, 'exact_match');
  const sourcify = await run(
    'verify',
    'sourcify',
    '--build-profile',
    'default',
    '--network',
    'tetrad',
    '--force',
    second,
    '22',
  );
  assert.match(sourcify.stdout, /verified/i, sourcify.stdout);
  assert.equal(
    (await json(`/api?module=contract&action=getsourcecode&address=${second}`)).result[0]
      .ContractName,
    'Probe',
  );
});

test('artifacts of forge identify contracts', async () => {
  await forge('build');
  const other = await start('--artifacts', path.join(project, 'out'));
  try {
    const address = await deploy(other.rpc);
    const contract = await (await fetch(`${other.rest}/api/v2/smart-contracts/${address}`)).json();
    assert.equal(contract.name, 'Probe');
    assert.match(contract.source_code, /contract Probe/);
    const [from] = await rpc(other, 'eth_accounts');
    const data = `0x6057361d${(13).toString(16).padStart(64, '0')}`;
    const hash = await rpc(other, 'eth_sendTransaction', [
      { from, to: address, data, gas: '0x30d40' },
    ]);
    const trace = await rpc(other, 'tetrad_stackTrace', [hash]);
    assert.equal(trace.reason, 'unlucky');
    assert.match(trace.frames[0].source, /require\(next != 13, "unlucky"\)/);
  } finally {
    await other.stop();
  }
});
