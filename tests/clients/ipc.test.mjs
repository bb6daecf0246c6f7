// JSON-RPC on a Unix socket without HTTP, with the clients that support it.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ethers } from 'ethers';
import { createPublicClient } from 'viem';
import { ipc } from 'viem/node';
import { MNEMONIC, rpc, start } from './support/node.mjs';

let folder, socket, node;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tetrad-ipc-'));
  socket = path.join(folder, 'node.ipc');
  node = await start('--ipc', socket);
});
after(async () => {
  await node.stop();
  await rm(folder, { recursive: true, force: true });
});

test('ethers sends, waits and receives blocks', async () => {
  const provider = new ethers.IpcSocketProvider(socket);
  const wallet = ethers.HDNodeWallet.fromPhrase(MNEMONIC).connect(provider);
  const block = new Promise((resolve) => provider.once('block', resolve));
  // The subscription must be active before the block is mined.
  await provider.getBlockNumber();
  const receipt = await (await wallet.sendTransaction({ to: wallet.address, value: 1n })).wait();
  assert.equal(receipt.status, 1);
  assert.ok((await block) >= 1);
  await provider.destroy();
});

test('viem reads and watches', async () => {
  const client = createPublicClient({ transport: ipc(socket) });
  assert.equal(await client.getChainId(), 125);
  const numbers = [];
  const seen = new Promise((resolve, reject) => {
    const stop = client.watchBlockNumber({
      onBlockNumber: (number) => {
        numbers.push(number);
        if (numbers.length === 2) resolve(stop());
      },
      onError: reject,
    });
  });
  const mining = setInterval(() => rpc(node, 'evm_mine'), 50);
  await seen;
  clearInterval(mining);
  assert.equal(numbers[1], numbers[0] + 1n);
  (await client.transport.getRpcClient()).close();
});
