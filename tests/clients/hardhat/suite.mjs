// The tests of a typical project, run by Hardhat with the node as its network.
import assert from 'node:assert/strict';
import { artifacts, network } from 'hardhat';
import {
  encodeDeployData,
  decodeErrorResult,
  encodeFunctionData,
  decodeFunctionResult,
  toHex,
} from 'viem';

const { provider, networkHelpers: helpers } = await network.connect();
const { abi, bytecode } = await artifacts.readArtifact('Probe');
const accounts = await provider.request({ method: 'eth_accounts' });
const [owner, other] = accounts;
const ask = (method, ...params) => provider.request({ method, params });

const cases = {
  async 'deploys and calls'() {
    const data = encodeDeployData({ abi, bytecode, args: [7n] });
    const hash = await ask('eth_sendTransaction', { from: owner, data });
    const { contractAddress } = await ask('eth_getTransactionReceipt', hash);
    const call = (functionName, args = []) =>
      ask(
        'eth_call',
        { to: contractAddress, data: encodeFunctionData({ abi, functionName, args }) },
        'latest',
      );
    const result = await call('value');
    assert.equal(decodeFunctionResult({ abi, functionName: 'value', data: result }), 7n);
    const error = await call('store', [2000n]).then(
      () => assert.fail('it reverts'),
      (error) => error,
    );
    const revert = error.data?.data ?? error.data;
    assert.equal(decodeErrorResult({ abi, data: revert }).errorName, 'TooLarge');
    const unlucky = await call('store', [13n]).then(
      () => assert.fail('it reverts'),
      (error) => error,
    );
    assert.match(unlucky.message, /execution reverted: unlucky/);
    assert.match(unlucky.stack, /suite\.mjs/);
    await helpers.setPrevRandao(5);
    await helpers.mine();
    const randomness = await call('randomness');
    assert.equal(BigInt(randomness), 5n);
  },
  async 'loads a fixture again and again'() {
    let loads = 0;
    async function fixture() {
      loads += 1;
      return ask('eth_sendTransaction', { from: owner, to: other, value: '0x1' });
    }
    const first = await helpers.loadFixture(fixture);
    const height = await helpers.time.latestBlock();
    await helpers.mine(10);
    assert.equal(await helpers.loadFixture(fixture), first);
    assert.equal(await helpers.time.latestBlock(), height);
    assert.equal(loads, 1);
  },
  async 'moves time'() {
    const now = await helpers.time.latest();
    await helpers.time.increase(3600);
    assert.ok((await helpers.time.latest()) >= now + 3600);
    await helpers.time.increaseTo(now + 10_000);
    assert.equal(await helpers.time.latest(), now + 10_000);
    await helpers.time.setNextBlockTimestamp(now + 20_000);
    await helpers.mine();
    assert.equal(await helpers.time.latest(), now + 20_000);
    const height = await helpers.time.latestBlock();
    await helpers.mineUpTo(height + 100);
    assert.equal(await helpers.time.latestBlock(), height + 100);
    await helpers.mine(1000, { interval: 60 });
    assert.equal(await helpers.time.latestBlock(), height + 1100);
  },
  async 'changes accounts'() {
    const address = '0x00000000000000000000000000000000000000ab';
    await helpers.setBalance(address, 10n ** 18n);
    assert.equal(await ask('eth_getBalance', address, 'latest'), toHex(10n ** 18n));
    await helpers.setNonce(address, 5);
    await helpers.setStorageAt(address, 1, 42);
    assert.equal(BigInt(await helpers.getStorageAt(address, 1)), 42n);
    await helpers.impersonateAccount(address);
    const hash = await ask('eth_sendTransaction', { from: address, to: owner, value: '0x1' });
    assert.equal((await ask('eth_getTransactionReceipt', hash)).from, address);
    await helpers.stopImpersonatingAccount(address);
    await assert.rejects(ask('eth_sendTransaction', { from: address, to: owner, value: '0x1' }));
    await helpers.setCode(address, '0x6001');
    assert.equal(await ask('eth_getCode', address, 'latest'), '0x6001');
  },
  async 'decides about blocks'() {
    await helpers.setCoinbase(other);
    await helpers.setNextBlockBaseFeePerGas(10n ** 10n);
    await helpers.setBlockGasLimit(50_000_000);
    await helpers.mine();
    const block = await ask('eth_getBlockByNumber', 'latest', false);
    assert.equal(block.miner, other);
    assert.equal(BigInt(block.baseFeePerGas), 10n ** 10n);
    assert.equal(Number(block.gasLimit), 50_000_000);
  },
  async 'takes snapshots and drops transactions'() {
    const snapshot = await helpers.takeSnapshot();
    await ask('evm_setAutomine', false);
    const hash = await ask('eth_sendTransaction', { from: owner, to: other, value: '0x1' });
    await helpers.dropTransaction(hash);
    assert.equal(await ask('eth_getTransactionByHash', hash), null);
    await ask('evm_setAutomine', true);
    await helpers.mine();
    await snapshot.restore();
    assert.equal(await helpers.time.latestBlock(), Number(await ask('eth_blockNumber')));
  },
};

for (const [name, run] of Object.entries(cases)) {
  await run().catch((error) => {
    console.error(`not ok: ${name}`);
    throw error;
  });
  console.log(`ok: ${name}`);
}
