// ethers 6: the operations of a dapp and its tests.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ethers } from 'ethers';
import { MNEMONIC, network, rpc, start } from './support/node.mjs';
import * as abi from './support/abi.mjs';
import * as probe from './support/probe.mjs';

let node, provider, wallets, addresses;

before(async () => {
  node = await start();
  provider = new ethers.JsonRpcProvider(node.rpc, undefined, {
    pollingInterval: 20,
    cacheTimeout: -1,
  });
  wallets = [0, 1, 2, 3, 4].map((index) =>
    ethers.HDNodeWallet.fromPhrase(MNEMONIC, undefined, `m/44'/60'/0'/0/${index}`).connect(
      provider,
    ),
  );
  addresses = await network(node);
});
after(async () => {
  provider.destroy();
  await node.stop();
});

const deploy = async (wallet = wallets[0]) => {
  const contract = await new ethers.ContractFactory(probe.abi, probe.bytecode, wallet).deploy(7);
  return contract.waitForDeployment();
};
const codeOf = (promise) => assert.rejects(promise).then(() => promise.catch((error) => error));

test('connects, and reads the network and its accounts', async () => {
  assert.equal((await provider.getNetwork()).chainId, 125n);
  const accounts = await provider.listAccounts();
  assert.deepEqual(
    accounts.map((account) => account.address).slice(0, 5),
    wallets.map((wallet) => wallet.address),
  );
  assert.equal(await provider.getBalance(wallets[4]), ethers.parseEther('10000'));
  const fees = await provider.getFeeData();
  assert.ok(fees.maxFeePerGas > 0n && fees.gasPrice > 0n);
});

test('sends coins, and reads the transaction and its receipt', async () => {
  const sent = await wallets[0].sendTransaction({ to: wallets[1], value: 5n });
  const receipt = await sent.wait();
  assert.equal(receipt.status, 1);
  assert.equal(receipt.gasUsed, 21000n);
  const found = await provider.getTransaction(sent.hash);
  assert.equal(found.from, wallets[0].address);
  assert.equal(found.value, 5n);
  const block = await provider.getBlock(receipt.blockNumber, true);
  assert.equal(block.prefetchedTransactions[0].hash, sent.hash);
  assert.equal(ethers.Transaction.from(found).from, wallets[0].address);
});

test('sends every type of transaction', async () => {
  const to = wallets[1].address;
  const fee = (await provider.getFeeData()).gasPrice;
  for (const extra of [
    { type: 0, gasPrice: fee * 2n },
    { type: 1, gasPrice: fee * 2n, accessList: [{ address: to, storageKeys: [ethers.ZeroHash] }] },
    { type: 2, maxFeePerGas: fee * 2n, maxPriorityFeePerGas: 1n },
  ]) {
    const receipt = await (await wallets[2].sendTransaction({ to, value: 1n, ...extra })).wait();
    assert.equal(receipt.type, extra.type);
  }
  const contract = await deploy();
  const authorization = await wallets[3].authorize({ address: await contract.getAddress() });
  const sent = await wallets[2].sendTransaction({
    to: wallets[3],
    type: 4,
    authorizationList: [authorization],
  });
  assert.equal((await sent.wait()).type, 4);
  assert.match(await provider.getCode(wallets[3]), /^0xef0100/);
});

test('deploys, calls and listens', async () => {
  const contract = await deploy();
  const seen = new Promise((resolve) =>
    contract.once('Stored', (who, value) => resolve([who, value])),
  );
  await new Promise((resolve) => setTimeout(resolve, 60));
  await (await contract.store(42)).wait();
  assert.deepEqual(await seen, [wallets[0].address, 42n]);
  assert.equal(await contract.value(), 42n);
  assert.equal(await contract.value({ blockTag: (await provider.getBlockNumber()) - 1 }), 7n);
  const events = await contract.queryFilter(contract.filters.Stored(wallets[0].address), 0);
  assert.equal(events.at(-1).args.value, 42n);
  assert.equal(
    (await contract.queryFilter(contract.filters.Stored(wallets[1].address), 0)).length,
    0,
  );
});

test('decodes revert reasons', async () => {
  const contract = await deploy();
  let error = await codeOf(contract.store(13));
  assert.equal(error.code, 'CALL_EXCEPTION');
  assert.equal(error.reason, 'unlucky');
  error = await codeOf(contract.store.staticCall(2000));
  assert.equal(error.revert.name, 'TooLarge');
  assert.deepEqual([...error.revert.args], [2000n, 1000n]);
  error = await codeOf(contract.divide(0));
  assert.equal(error.revert.name, 'Panic');
  assert.equal(Number(error.revert.args[0]), 0x12);
  error = await codeOf(contract.bare());
  assert.equal(error.code, 'CALL_EXCEPTION');
  const sent = await contract.store(13, { gasLimit: 100_000 });
  error = await codeOf(sent.wait());
  assert.equal(error.code, 'CALL_EXCEPTION');
  assert.equal(error.receipt.status, 0);
});

test('distinguishes errors by code', async () => {
  const wallet = wallets[1];
  const nonce = await wallet.getNonce();
  await (await wallet.sendTransaction({ to: wallet, nonce })).wait();
  assert.equal(
    (await codeOf(wallet.sendTransaction({ to: wallet, nonce, gasLimit: 21000 }))).code,
    'NONCE_EXPIRED',
  );
  const poor = ethers.Wallet.createRandom().connect(provider);
  assert.equal(
    (await codeOf(poor.sendTransaction({ to: wallet, value: 1n, gasLimit: 21000 }))).code,
    'INSUFFICIENT_FUNDS',
  );
  await rpc(node, 'evm_setAutomine', [false]);
  try {
    const price = ethers.parseUnits('10', 'gwei');
    await wallet.sendTransaction({ to: wallet, nonce: nonce + 1, gasPrice: price });
    const error = await codeOf(
      wallet.sendTransaction({ to: wallet, nonce: nonce + 1, gasPrice: price + 1n }),
    );
    assert.equal(error.code, 'REPLACEMENT_UNDERPRICED');
    const replaced = await wallet.sendTransaction({
      to: wallet,
      nonce: nonce + 1,
      gasPrice: price * 2n,
    });
    await rpc(node, 'evm_mine');
    assert.equal((await replaced.wait()).status, 1);
  } finally {
    await rpc(node, 'evm_setAutomine', [true]);
  }
});

test('assigns nonces to concurrent transactions', async () => {
  const manager = new ethers.NonceManager(wallets[2]);
  const sent = await Promise.all(
    Array.from({ length: 50 }, () => manager.sendTransaction({ to: wallets[1], value: 1n })),
  );
  const receipts = await Promise.all(sent.map((transaction) => transaction.wait()));
  assert.ok(receipts.every((receipt) => receipt.status === 1));
  // The node assigns the nonces of transactions that it signs itself.
  const signer = await provider.getSigner(4);
  const before = await provider.getTransactionCount(signer);
  const hashes = await Promise.all(
    Array.from({ length: 50 }, () =>
      signer.sendUncheckedTransaction({ to: wallets[1], value: 1n }),
    ),
  );
  assert.equal(new Set(hashes).size, 50);
  assert.equal(await provider.getTransactionCount(signer), before + 50);
});

test('signs messages and typed data that contracts accept', async () => {
  const owner = wallets[0];
  const token = new ethers.Contract(addresses.tokens.USDC, abi.token, owner);
  assert.equal(ethers.verifyMessage('hello', await owner.signMessage('hello')), owner.address);
  const value = 123n;
  const deadline = 2n ** 40n;
  const domain = {
    name: await token.name(),
    version: '1',
    chainId: 125n,
    verifyingContract: addresses.tokens.USDC,
  };
  const types = {
    Permit: [
      'owner:address',
      'spender:address',
      'value:uint256',
      'nonce:uint256',
      'deadline:uint256',
    ].map((field) => ({ name: field.split(':')[0], type: field.split(':')[1] })),
  };
  const message = {
    owner: owner.address,
    spender: wallets[1].address,
    value,
    nonce: await token.nonces(owner),
    deadline,
  };
  const { v, r, s } = ethers.Signature.from(await owner.signTypedData(domain, types, message));
  await (await token.permit(owner, wallets[1], value, deadline, v, r, s)).wait();
  assert.equal(await token.allowance(owner, wallets[1]), value);
});

test('listens over WebSocket', async () => {
  const socket = new ethers.WebSocketProvider(node.ws);
  try {
    const contract = await deploy();
    const listening = contract.connect(socket);
    const stored = new Promise((resolve) =>
      listening.once('Stored', (_who, value) => resolve(value)),
    );
    const block = new Promise((resolve) => socket.once('block', resolve));
    await socket.getBlockNumber();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const receipt = await (await contract.store(9)).wait();
    assert.equal(await stored, 9n);
    assert.equal(await block, receipt.blockNumber);
    // The request that ethers sends at the end of a listener must be answered before the provider
    // is destroyed.
    await socket.send('eth_chainId', []);
  } finally {
    await socket.destroy();
  }
});

test('swaps like a wallet', async () => {
  const user = wallets[0];
  const [usdc, weth] = ['USDC', 'WETH'].map(
    (name) => new ethers.Contract(addresses.tokens[name], abi.token, user),
  );
  const vault = new ethers.Contract(addresses.vault, abi.vault, user);
  assert.equal(await vault.SWAP_FEE_BPS(), 30n);
  const amount = 1_000n * 10n ** (await usdc.decimals());
  const error = await codeOf(vault.swapExactTokensForTokens(usdc, weth, amount, 0));
  assert.equal(error.code, 'CALL_EXCEPTION');
  assert.equal(usdc.interface.parseError(error.data).name, 'ERC20InsufficientAllowance');
  await (await usdc.approve(vault, amount)).wait();
  const [out] = await vault.getAmountOut(usdc, weth, amount);
  const refused = await codeOf(vault.swapExactTokensForTokens(usdc, weth, amount, out + 1n));
  assert.equal(
    vault.interface.parseError(refused.data)?.name,
    'InsufficientOutputAmount',
    refused.message,
  );
  const before = await weth.balanceOf(user);
  const receipt = await (
    await vault.swapExactTokensForTokens(usdc, weth, amount, (out * 995n) / 1000n)
  ).wait();
  const swap = receipt.logs
    .map((log) => vault.interface.parseLog(log))
    .find((log) => log?.name === 'Swap');
  assert.deepEqual(
    [...swap.args],
    [user.address, usdc.target, weth.target, amount, out].map((value, at) =>
      at === 1 || at === 2 ? ethers.getAddress(value) : value,
    ),
  );
  assert.equal((await weth.balanceOf(user)) - before, out);
});

test('supplies and borrows like a wallet', async () => {
  const user = wallets[1];
  const [usdc, weth] = ['USDC', 'WETH'].map(
    (name) => new ethers.Contract(addresses.tokens[name], abi.token, user),
  );
  const pool = new ethers.Contract(addresses.lendingPool, abi.pool, user);
  const deposit = ethers.parseEther('1');
  const loan = 500n * 10n ** 6n;
  await (await weth.approve(pool, ethers.MaxUint256)).wait();
  await (await usdc.approve(pool, ethers.MaxUint256)).wait();
  await (await pool.deposit(weth, deposit)).wait();
  const before = await usdc.balanceOf(user);
  await (await pool.borrow(usdc, loan)).wait();
  assert.equal((await usdc.balanceOf(user)) - before, loan);
  const record = await (await fetch(`${node.rest}/api/user/${user.address}`)).json();
  assert.ok(Number(record.amountBorrowed) >= 499, JSON.stringify(record));
  await (await pool.repay(usdc, ethers.MaxUint256)).wait();
  const held = await weth.balanceOf(user);
  await (await pool.withdraw(weth, ethers.MaxUint256)).wait();
  assert.ok((await weth.balanceOf(user)) - held >= deposit - 1n);
});

test('advances time, and reverts it', async () => {
  const snapshot = await provider.send('evm_snapshot', []);
  const before = await provider.getBlock('latest');
  await provider.send('evm_increaseTime', [86_400]);
  await provider.send('evm_mine', []);
  assert.ok((await provider.getBlock('latest')).timestamp >= before.timestamp + 86_400);
  assert.equal(await provider.send('evm_revert', [snapshot]), true);
  await provider.send('evm_mine', []);
  const now = await provider.getBlock('latest');
  assert.equal(now.number, before.number + 1);
  assert.ok(now.timestamp < before.timestamp + 1_000);
});
