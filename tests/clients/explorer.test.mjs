// The explorer API: clients of Etherscan and Blockscout.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { ethers } from 'ethers';
import { MNEMONIC, network, start } from './support/node.mjs';
import { tool } from './support/tool.mjs';

let node, provider, wallet, addresses, folder;

// The library knows Etherscan's own URL only.
class Explorer extends ethers.EtherscanProvider {
  getUrl(module, params) {
    const query = Object.entries(params).filter(([, value]) => value != null);
    return `${node.rest}/api?${new URLSearchParams([['module', module], ...query])}`;
  }
}

before(async () => {
  node = await start();
  addresses = await network(node);
  provider = new ethers.JsonRpcProvider(node.rpc, undefined, {
    pollingInterval: 20,
    cacheTimeout: -1,
  });
  wallet = ethers.HDNodeWallet.fromPhrase(MNEMONIC).connect(provider);
  folder = await mkdtemp(path.join(tmpdir(), 'explorer-'));
});
after(async () => {
  provider.destroy();
  await node.stop();
  await rm(folder, { recursive: true, force: true });
});

const cast = async (...args) => {
  const env = { ...process.env, NO_COLOR: '1', FOUNDRY_DISABLE_NIGHTLY_WARNING: '1' };
  return (await promisify(execFile)(tool('cast'), args, { cwd: folder, env, maxBuffer: 1 << 24 }))
    .stdout;
};

test("ethers' EtherscanProvider reads blocks, accounts, transactions and contracts", async () => {
  const explorer = new Explorer('mainnet', 'key');
  const sent = await (
    await wallet.sendTransaction({ to: '0x00000000000000000000000000000000000000aa', value: 7n })
  ).wait();
  assert.equal(await explorer.getBlockNumber(), sent.blockNumber);
  assert.equal(await explorer.getBalance('0x00000000000000000000000000000000000000aa'), 7n);
  assert.equal(await explorer.getTransactionCount(wallet.address), 1);
  assert.equal((await explorer.getTransactionReceipt(sent.hash)).status, 1);
  assert.equal((await explorer.getTransaction(sent.hash)).value, 7n);
  assert.equal(
    (await explorer.getBlock(sent.blockNumber, true)).prefetchedTransactions[0].hash,
    sent.hash,
  );
  assert.ok((await explorer.getCode(addresses.vault)).length > 1_000);
  const vault = await explorer.getContract(addresses.vault);
  assert.ok(vault.interface.getFunction('quoteSwap'));
  assert.equal(await explorer.getContract(wallet.address), null);
});

test('cast gets the source and the interface of a contract', async () => {
  await writeFile(
    path.join(folder, 'foundry.toml'),
    `[etherscan]\nhere = { key = "x", chain = 125, url = "${node.rest}/api" }\n`,
  );
  const source = await cast(
    'source',
    addresses.vault,
    '--chain',
    '125',
    '--etherscan-api-key',
    'x',
    '--explorer-api-url',
    `${node.rest}/api`,
    '--explorer-url',
    node.rest,
  );
  assert.match(source, /contract Vault/);
  assert.match(await cast('interface', addresses.vault, '--chain', '125'), /function quoteSwap\(/);
});

test('a whole list is read through the pages of the REST API', async () => {
  for (let count = 0; count < 60; count++)
    await wallet.sendTransaction({ to: wallet.address, value: BigInt(count) });
  const found = [];
  for (let query = ''; ; ) {
    const answer = await (
      await fetch(`${node.rest}/api/v2/addresses/${wallet.address}/transactions?${query}`)
    ).json();
    found.push(...answer.items.map((item) => item.hash));
    if (answer.next_page_params === null) break;
    query = new URLSearchParams(answer.next_page_params);
  }
  assert.equal(new Set(found).size, found.length);
  assert.ok(found.length >= 60);
});
