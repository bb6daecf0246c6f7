// Comparison with anvil: the same results of development methods, and dumps that each loads from
// the other.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startAnvil } from './support/anvil.mjs';
import { rpc, start } from './support/node.mjs';

const owner = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const other = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const unused = '0x00000000000000000000000000000000000000aa';
const word = (number) => `0x${number.toString(16).padStart(64, '0')}`;
let node, anvil;

before(async () => {
  [node, anvil] = await Promise.all([start(), startAnvil()]);
});
after(() => Promise.all([node.stop(), anvil.stop()]));

test('returns the same results as anvil', async () => {
  const steps = [
    ['anvil_setChainId', [31337]],
    ['eth_chainId'],
    ['anvil_mine'],
    ['anvil_mine', [3]],
    ['hardhat_mine', ['0x2', '0x3c']],
    ['evm_mine'],
    ['eth_blockNumber'],
    ['anvil_setBalance', [unused, '0x10']],
    ['anvil_addBalance', [unused, '0x1']],
    ['eth_getBalance', [unused, 'latest']],
    ['anvil_setCode', [unused, '0x6000']],
    ['anvil_setNonce', [unused, '0x5']],
    ['evm_setAccountNonce', [unused, '0x4']],
    ['anvil_setStorageAt', [unused, '0x0', word(2)]],
    ['anvil_setCoinbase', [unused]],
    ['eth_coinbase'],
    ['anvil_setBlockTimestampInterval', [5]],
    ['anvil_removeBlockTimestampInterval'],
    ['anvil_removeBlockTimestampInterval'],
    ['evm_setBlockGasLimit', ['0x1c9c380']],
    ['anvil_setNextBlockBaseFeePerGas', ['0x10']],
    ['anvil_getAutomine'],
    ['evm_setAutomine', [false]],
    ['anvil_getAutomine'],
    ['anvil_setIntervalMining', [1000]],
    ['anvil_getIntervalMining'],
    ['anvil_setIntervalMining', [0]],
    ['anvil_getIntervalMining'],
    ['anvil_dropTransaction', [word(1)]],
    ['anvil_removePoolTransactions', [owner]],
    ['anvil_dropAllTransactions'],
    ['evm_setAutomine', [true]],
    ['anvil_impersonateAccount', [unused]],
    ['anvil_setCode', [unused, '0x']],
    ['anvil_setBalance', [unused, '0xde0b6b3a7640000']],
    ['eth_accounts'],
    ['anvil_stopImpersonatingAccount', [unused]],
    ['anvil_autoImpersonateAccount', [true]],
    ['anvil_autoImpersonateAccount', [false]],
    ['evm_snapshot'],
    ['anvil_snapshot'],
    ['evm_revert', ['0x0']],
    ['evm_revert', ['0x5']],
    ['anvil_setLoggingEnabled', [true]],
    ['anvil_reorg', [2, []]],
    ['anvil_rollback', [1]],
    ['eth_blockNumber'],
    ['anvil_reset'],
    ['eth_blockNumber'],
  ];
  for (const [method, params] of steps) {
    const [ours, theirs] = await Promise.all(
      [node, anvil].map((side) => rpc(side, method, params)),
    );
    assert.deepEqual(ours, theirs, `${method} ${JSON.stringify(params)}`);
  }
  const shape = (value) =>
    value && typeof value === 'object' ? Object.keys(value).sort() : typeof value;
  for (const method of ['anvil_nodeInfo', 'anvil_metadata', 'anvil_getGenesisTime']) {
    const [ours, theirs] = await Promise.all([node, anvil].map((side) => rpc(side, method)));
    assert.deepEqual(shape(ours), shape(theirs), method);
  }
  const refused = [
    ['anvil_setMinGasPrice', ['0x10']],
    ['anvil_rollback', [1000]],
    ['evm_setNextBlockTimestamp', [1]],
    ['anvil_setBalance', [unused]],
    ['evm_mine', [{ timestamp: 1 }]],
  ];
  for (const [method, params] of refused) {
    const code = (side) =>
      rpc(side, method, params).then(
        () => assert.fail(`${method} passed`),
        (error) => error.code,
      );
    assert.equal(await code(node), await code(anvil), method);
  }
});

test('loads the dumps of anvil, and anvil loads its dumps', async () => {
  for (const [from, to] of [
    [anvil, node],
    [node, anvil],
  ]) {
    await rpc(from, 'anvil_setStorageAt', [unused, '0x1', word(42)]);
    const hash = await rpc(from, 'eth_sendTransaction', [{ from: owner, to: other, value: '0x5' }]);
    await rpc(from, 'anvil_mine', ['0x3']);
    const height = await rpc(from, 'eth_blockNumber');
    assert.equal(await rpc(to, 'anvil_loadState', [await rpc(from, 'anvil_dumpState')]), true);
    assert.equal(await rpc(to, 'eth_blockNumber'), height);
    assert.equal(await rpc(to, 'eth_getStorageAt', [unused, '0x1', 'latest']), word(42));
    const [there, here] = await Promise.all(
      [from, to].map((side) => rpc(side, 'eth_getTransactionReceipt', [hash])),
    );
    for (const field of ['status', 'gasUsed', 'blockNumber', 'blockHash', 'from', 'to']) {
      assert.equal(here[field], there[field], field);
    }
    const nonces = await Promise.all(
      [from, to].map((side) => rpc(side, 'eth_getTransactionCount', [owner, 'latest'])),
    );
    assert.equal(nonces[0], nonces[1]);
    await rpc(to, 'anvil_mine', ['0x2']);
    await rpc(from, 'anvil_reset');
    await rpc(to, 'anvil_reset');
  }
});
