// Forks of anvil by this node, and of this node by anvil.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startAnvil } from './support/anvil.mjs';
import { abi, bytecode } from './support/probe.mjs';
import { rpc, start } from './support/node.mjs';
import { Interface } from 'ethers';

const owner = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const other = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const unused = '0x00000000000000000000000000000000000000aa';
const word = (number) => `0x${number.toString(16).padStart(64, '0')}`;
let anvil, node;

/** Creates history: a contract, a storage slot, a transfer, empty blocks. */
async function live(side) {
  const deployed = await rpc(side, 'eth_sendTransaction', [
    { from: owner, data: bytecode + word(1).slice(2) },
  ]);
  const { contractAddress } = await rpc(side, 'eth_getTransactionReceipt', [deployed]);
  await rpc(side, 'anvil_setStorageAt', [unused, '0x1', word(42)]);
  await rpc(side, 'anvil_setBalance', [unused, '0x77']);
  await rpc(side, 'anvil_mine', ['0x3']);
  const transfer = await rpc(side, 'eth_sendTransaction', [
    { from: owner, to: other, value: '0x5' },
  ]);
  return { contractAddress, transfer };
}

before(async () => {
  [anvil, node] = await Promise.all([startAnvil(), start()]);
});
after(() => Promise.all([anvil.stop(), node.stop()]));

test('forks anvil', async () => {
  const { contractAddress, transfer } = await live(anvil);
  const fork = await start('--fork-url', anvil.rpc);
  try {
    const same = [
      ['eth_chainId'],
      ['eth_blockNumber'],
      ['eth_getCode', [contractAddress, 'latest']],
      ['eth_getBalance', [unused, 'latest']],
      ['eth_getStorageAt', [unused, '0x1', 'latest']],
      ['eth_getTransactionCount', [owner, 'latest']],
      ['eth_getBlockByNumber', ['0x2', true]],
      ['eth_getBlockByNumber', ['0x5', true]],
      ['eth_getTransactionReceipt', [transfer]],
      ['eth_getTransactionByHash', [transfer]],
      ['eth_getBalance', [other, '0x1']],
    ];
    for (const [method, params] of same) {
      const [ours, theirs] = await Promise.all(
        [fork, anvil].map((side) => rpc(side, method, params)),
      );
      assert.deepEqual(ours, theirs, method);
    }
    const { forkConfig } = await rpc(fork, 'anvil_nodeInfo');
    assert.equal(forkConfig.forkBlockNumber, 5);
    // Transactions on the fork do not affect the origin.
    const data = new Interface(abi).encodeFunctionData('store', [7n]);
    const hash = await rpc(fork, 'eth_sendTransaction', [
      { from: other, to: contractAddress, data },
    ]);
    const { status, blockNumber, logs } = await rpc(fork, 'eth_getTransactionReceipt', [hash]);
    assert.deepEqual([status, blockNumber, logs.length], ['0x1', '0x6', 1]);
    assert.equal(await rpc(fork, 'eth_getStorageAt', [contractAddress, '0x0', 'latest']), word(7));
    assert.equal(await rpc(anvil, 'eth_getStorageAt', [contractAddress, '0x0', 'latest']), word(1));
    assert.equal(await rpc(anvil, 'eth_blockNumber'), '0x5');
    await rpc(fork, 'anvil_reset', [{ forking: { jsonRpcUrl: anvil.rpc, blockNumber: 2 } }]);
    assert.equal(await rpc(fork, 'eth_blockNumber'), '0x2');
  } finally {
    await fork.stop();
  }
});

test('is forked by anvil', async () => {
  const { contractAddress } = await live(node);
  const fork = await startAnvil('--fork-url', node.rpc);
  try {
    for (const [method, params] of [
      ['eth_chainId'],
      ['eth_getCode', [contractAddress, 'latest']],
      ['eth_getStorageAt', [unused, '0x1', 'latest']],
      ['eth_getBalance', [unused, 'latest']],
    ]) {
      const [ours, theirs] = await Promise.all(
        [node, fork].map((side) => rpc(side, method, params)),
      );
      assert.deepEqual(theirs, ours, method);
    }
    const receipt = await rpc(fork, 'eth_sendTransactionSync', [
      { from: owner, to: unused, value: '0x1' },
    ]);
    assert.equal(receipt.status, '0x1');
    assert.equal(await rpc(fork, 'eth_getBalance', [unused, 'latest']), '0x78');
    assert.equal(await rpc(node, 'eth_getBalance', [unused, 'latest']), '0x77');
  } finally {
    await fork.stop();
  }
});
