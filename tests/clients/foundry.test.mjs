// cast and forge: the command line of Foundry.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { MNEMONIC, network, start } from './support/node.mjs';
import { tool } from './support/tool.mjs';

let node, addresses;
const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const project = path.join(import.meta.dirname, 'forge');

const run = async (program, args) => {
  const env = {
    ...process.env,
    ETH_RPC_URL: node.rpc,
    NO_COLOR: '1',
    FOUNDRY_DISABLE_NIGHTLY_WARNING: '1',
  };
  const { stdout } = await promisify(execFile)(tool(program), args, { cwd: project, env });
  return stdout.trim();
};
const cast = (...args) => run('cast', args.map(String));
const forge = (...args) => run('forge', args.map(String));
const failure = (promise) =>
  promise.then(
    (text) => assert.fail(`it passed: ${text}`),
    (error) => error.stderr,
  );

before(async () => {
  node = await start();
  addresses = await network(node);
});
after(() => node.stop());

const deploy = async () => {
  const text = await forge(
    'create',
    'src/Probe.sol:Probe',
    '--rpc-url',
    node.rpc,
    '--private-key',
    key,
    '--broadcast',
    '--json',
    '--constructor-args',
    7,
  );
  return JSON.parse(text).deployedTo;
};

test('cast reads', async () => {
  assert.equal(await cast('chain-id'), '125');
  assert.equal(await cast('balance', other, '--ether'), '10000.000000000000000000');
  assert.equal(await cast('nonce', other), '0');
  assert.match(await cast('client'), /^anvil\/tetrad/);
  assert.ok(BigInt(await cast('gas-price')) > 0n);
  assert.ok(Number(await cast('block', 'latest', '--field', 'timestamp')) > 1_600_000_000);
  assert.equal(await cast('call', addresses.tokens.USDC, 'symbol()(string)'), '"USDC"');
  assert.equal(await cast('call', addresses.vault, 'SWAP_FEE_BPS()(uint256)'), '30');
  assert.ok((await cast('code', addresses.vault)).length > 1000);
  assert.match(await cast('rpc', 'eth_blockNumber'), /0x/);
});

test('cast sends', async () => {
  const receipt = JSON.parse(
    await cast('send', other, '--value', '1ether', '--private-key', key, '--json'),
  );
  assert.equal(receipt.status, '0x1');
  const transaction = JSON.parse(await cast('tx', receipt.transactionHash, '--json'));
  assert.equal(BigInt(transaction.value), 10n ** 18n);
  const legacy = JSON.parse(
    await cast('send', other, '--value', 1, '--legacy', '--mnemonic', MNEMONIC, '--json'),
  );
  assert.equal(legacy.type, '0x0');
  const unlocked = JSON.parse(
    await cast('send', other, '--value', 1, '--from', owner, '--unlocked', '--json'),
  );
  assert.equal(unlocked.status, '0x1');
  assert.equal(
    JSON.parse(await cast('receipt', unlocked.transactionHash, '--json')).blockHash,
    unlocked.blockHash,
  );
});

test('cast calls a contract that forge deployed', async () => {
  const probe = await deploy();
  assert.equal(await cast('call', probe, 'value()(uint256)'), '7');
  assert.ok(Number(await cast('estimate', probe, 'store(uint256)', 42, '--from', owner)) > 21_000);
  const receipt = JSON.parse(
    await cast('send', probe, 'store(uint256)', 42, '--private-key', key, '--json'),
  );
  assert.equal(receipt.logs.length, 1);
  assert.equal(await cast('call', probe, 'value()(uint256)'), '42');
  assert.equal(BigInt(await cast('storage', probe, 0)), 42n);
  const logs = JSON.parse(
    await cast(
      'logs',
      '--from-block',
      0,
      '--address',
      probe,
      'Stored(address indexed who, uint256 value)',
      '--json',
    ),
  );
  assert.equal(logs.length, 1);
  assert.match(
    await failure(cast('call', probe, 'store(uint256)', 13)),
    /execution reverted: unlucky/,
  );
  assert.match(
    await failure(cast('send', probe, 'store(uint256)', 2000, '--private-key', key)),
    /TooLarge|677fd0e3/,
  );
});

test('cast uses the development methods', async () => {
  await cast('rpc', 'anvil_setBalance', other, '0x1');
  assert.equal(await cast('balance', other), '1');
  const height = Number(await cast('block-number'));
  await cast('rpc', 'anvil_mine', '0x64');
  assert.equal(Number(await cast('block-number')), height + 100);
  await cast('rpc', 'anvil_impersonateAccount', addresses.vault);
  await cast('rpc', 'anvil_setBalance', addresses.vault, '0xde0b6b3a7640000');
  const receipt = JSON.parse(
    await cast('send', other, '--value', 1, '--from', addresses.vault, '--unlocked', '--json'),
  );
  assert.equal(receipt.from.toLowerCase(), addresses.vault.toLowerCase());
  await cast('rpc', 'anvil_dealERC20', other, addresses.tokens.USDC, '0x2a');
  assert.equal(
    await cast('call', addresses.tokens.USDC, 'balanceOf(address)(uint256)', other),
    '42',
  );
});

test('forge broadcasts a script', async () => {
  const text = await forge(
    'script',
    'script/Store.s.sol:Store',
    '--rpc-url',
    node.rpc,
    '--private-key',
    key,
    '--broadcast',
    '--slow',
  );
  assert.match(text, /ONCHAIN EXECUTION COMPLETE & SUCCESSFUL/);
  const together = await forge(
    'script',
    'script/Store.s.sol:Store',
    '--rpc-url',
    node.rpc,
    '--private-key',
    key,
    '--broadcast',
  );
  assert.match(together, /ONCHAIN EXECUTION COMPLETE & SUCCESSFUL/);
});
