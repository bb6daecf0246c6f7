// The JavaScript and the commands of Foundry in the book and the README, unchanged, and the output
// that they show.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { format, promisify } from 'node:util';
import { pathToFileURL } from 'node:url';
import { DirectEthSecp256k1HdWallet } from '@cosmjs/proto-signing';
import { DENOM } from './support/cosmos.mjs';
import { binary, MNEMONIC, rpc, start } from './support/node.mjs';
import { tool } from './support/tool.mjs';

const RECIPIENT = 'pax1wzvhjux9rqfdcwspp37srdgwp5tac7wghez4vw';
const root = path.join(import.meta.dirname, '../..');

let node, snapshot;

before(async () => {
  node = await start();
  snapshot = await rpc(node, 'evm_snapshot');
});
// Each page is written for a new node.
beforeEach(async () => {
  await rpc(node, 'evm_revert', [snapshot]);
  snapshot = await rpc(node, 'evm_snapshot');
});
after(() => node.stop());

/** The blocks of a page in a language, each with the output that stands right after it. */
async function blocks(page, language = 'js') {
  const text = await readFile(
    path.join(root, page.startsWith('README') ? page : `docs/src/${page}`),
    'utf8',
  );
  const all = text.matchAll(/^```([^\n]*)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?/gms);
  return [...all]
    .filter(([, info]) => info === language)
    .map(([, , code, output]) => ({ code, output }));
}

/** Compares output with what a page shows, where … stands for any text. */
function assertShown(output, shown) {
  const escaped = shown
    .trimEnd()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  assert.match(output.trimEnd(), new RegExp(`^${escaped.join('.*')}$`, 's'));
}

/** Runs blocks of JavaScript as one module, against the node. */
async function run(name, examples) {
  // In this directory, because it imports its packages.
  const file = path.join(import.meta.dirname, `.book-${process.pid}-${name}.mjs`);
  const code = examples.map(({ code }, at) => `${code}\nglobalThis.bookExample(${at});\n`).join('');
  await writeFile(file, code.replaceAll('localhost:8545', new URL(node.rest).host));
  const { log } = console;
  let lines = [];
  const outputs = [];
  console.log = (...words) => lines.push(format(...words));
  globalThis.bookExample = (at) => {
    outputs[at] = lines.join('\n');
    lines = [];
  };
  try {
    await import(pathToFileURL(file));
  } finally {
    console.log = log;
    await rm(file);
  }
  examples.forEach(({ output }, at) => output === undefined || assertShown(outputs[at], output));
}

/** Runs blocks of commands one after another in a directory, against a node. */
async function shell(examples, directory, url = node.rest) {
  const folders = [
    path.dirname(tool('cast')),
    path.dirname(tool('forge')),
    path.dirname(binary),
    process.env.PATH,
  ];
  const env = {
    ...process.env,
    PATH: folders.join(':'),
    NO_COLOR: '1',
    FOUNDRY_DISABLE_NIGHTLY_WARNING: '1',
  };
  // Variables of one block are used in the next.
  const marked = examples
    .map(({ code }) => `${code}\necho ---\n`)
    .join('')
    .replaceAll('localhost:8545', new URL(url).host);
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', marked], {
    cwd: directory,
    env,
    maxBuffer: 1 << 24,
  });
  const outputs = stdout.split('---\n');
  examples.forEach(({ output }, at) => output === undefined || assertShown(outputs[at], output));
  return outputs;
}

async function balance(address) {
  const answer = await fetch(
    `${node.rest}/cosmos/bank/v1beta1/balances/${address}/by_denom?denom=${DENOM}`,
  );
  return BigInt((await answer.json()).balance.amount);
}

test('CosmJS', async () => {
  const before = await balance(RECIPIENT);
  await run('cosmjs', await blocks('interfaces/cosmjs.md'));
  assert.equal(await balance(RECIPIENT), before + 2n * 10n ** 18n);
});

test('Keplr', async () => {
  const suggested = [];
  const wallet = await DirectEthSecp256k1HdWallet.fromMnemonic(MNEMONIC, { prefix: 'pax' });
  const signer = {
    // Keplr's signers print this on every chain.
    getAccounts: async () =>
      (await wallet.getAccounts()).map((account) => ({ ...account, algo: 'secp256k1' })),
    signDirect: (address, document) => wallet.signDirect(address, document),
  };
  globalThis.window = {
    keplr: {
      experimentalSuggestChain: async ({ chainId }) => suggested.push(chainId),
      enable: async (chainId) => assert.deepEqual(suggested, [chainId]),
      getOfflineSigner: (chainId) => (suggested.includes(chainId) ? signer : null),
    },
  };
  const [imports] = await blocks('interfaces/cosmjs.md');
  const before = await balance(RECIPIENT);
  await run('keplr', [imports, ...(await blocks('interfaces/keplr.md'))]);
  assert.equal(await balance(RECIPIENT), before + 10n ** 18n);
  delete globalThis.window;
});

test('a dapp', async () => {
  await run('dapp', await blocks('start/dapp.md'));
});

test('viem', async () => {
  await run('viem', await blocks('start/viem.md'));
});

/** The WETH of the first development account. */
async function weth() {
  const data = '0x70a08231000000000000000000000000f39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
  return BigInt(
    await rpc(node, 'eth_call', [
      { to: '0xD0C1a714c46c364DBDd4E0F7b0B6bA5354460dA7', data },
      'latest',
    ]),
  );
}

test('the README swaps with viem', async () => {
  const before = await weth();
  const swap = (await blocks('README.md')).filter(({ code }) => code.includes('viem'));
  assert.equal(swap.length, 1);
  await run('readme', swap);
  assert.ok((await weth()) > before);
});

test('the README swaps with cast', async () => {
  const before = await weth();
  const swap = (await blocks('README.md', 'sh')).filter(({ code }) => code.includes('cast send'));
  assert.equal(swap.length, 1);
  await shell(swap, root);
  assert.ok((await weth()) > before);
});

test('forge deploys a contract, which is verified with curl', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'book-'));
  const program = async (name, script) =>
    writeFile(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  // Like the file of `forge init`, with the compiler from npm.
  const compiler = path.join(import.meta.dirname, 'forge/solc.mjs');
  await mkdir(path.join(folder, 'src'));
  await mkdir(path.join(folder, 'compilers'));
  await program('compilers/solc-0.8.37', `exec "${process.execPath}" "${compiler}" "$@"`);
  const source = [
    '// SPDX-License-Identifier: UNLICENSED',
    'pragma solidity ^0.8.13;',
    '',
    'contract Counter {',
    '    uint256 public number;',
    '',
    '    function setNumber(uint256 newNumber) public {',
    '        number = newNumber;',
    '    }',
    '',
    '    function increment() public {',
    '        number++;',
    '    }',
    '}',
    '',
  ].join('\n');
  await writeFile(path.join(folder, 'src/Counter.sol'), source);
  await writeFile(
    path.join(folder, 'foundry.toml'),
    `[profile.default]\noffline = true\nlibs = []\nsolc = "${compiler}"\n`,
  );
  const verifier = await start('--solc-directory', path.join(folder, 'compilers'));
  try {
    const deployment = (await blocks('start/contracts.md', 'sh')).filter(({ code }) =>
      /^(forge create|cast)/.test(code),
    );
    assert.equal(deployment.length, 2);
    // The compiler's input is written as well.
    await shell([{ code: 'forge build --build-info' }], folder);
    await shell(deployment, folder, verifier.rest);
    const commands = await blocks('interfaces/verification.md', 'bash');
    assert.equal(commands.length, 5);
    // Otherwise forge would download the list of compilers.
    const [info] = await readdir(path.join(folder, 'out/build-info'));
    const { input } = JSON.parse(await readFile(path.join(folder, 'out/build-info', info), 'utf8'));
    await writeFile(path.join(folder, 'input.json'), JSON.stringify(input));
    commands[0].code = commands[0].code.replace(/^forge.*$/m, '');
    const [, , status] = commands;
    status.code = status.code.replace(
      /^(curl.*)$/m,
      'while $1 | tee status | grep -q Pending; do sleep 0.1; done; cat status',
    );
    await shell(commands, folder, verifier.rest);
  } finally {
    await verifier.stop();
    await rm(folder, { recursive: true });
  }
});

test('the treasury of a production node funds accounts', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'book-'));
  const production = await start(
    '--profile',
    'production',
    '--data-dir',
    path.join(folder, 'chain'),
  );
  try {
    await writeFile(path.join(folder, 'password'), 'only for this test\n', { mode: 0o600 });
    const commands = (await blocks('start/funding.md', 'sh')).filter(({ code }) =>
      /^(tetrad keys|TREASURY|cast)/.test(code),
    );
    assert.equal(commands.length, 3);
    await shell(commands, folder, production.rest);
  } finally {
    await production.stop();
    await rm(folder, { recursive: true });
  }
});
