// viem: public, wallet and test client.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  getContract,
  http,
  InsufficientFundsError,
  NonceTooLowError,
  parseAbi,
  parseEther,
  parseEventLogs,
  parseGwei,
  recoverTypedDataAddress,
  webSocket,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { MNEMONIC, network, start } from './support/node.mjs';
import * as abi from './support/abi.mjs';
import * as probe from './support/probe.mjs';

let node, chain, client, sockets, tester, wallet, addresses;
const accounts = [0, 1, 2, 3].map((addressIndex) => mnemonicToAccount(MNEMONIC, { addressIndex }));
const [alice, bob, carol, dora] = accounts;
const UNUSED = '0x00000000000000000000000000000000000000aa';

before(async () => {
  node = await start();
  addresses = await network(node);
  const rpcUrls = { default: { http: [node.rpc], webSocket: [node.ws] } };
  chain = defineChain({
    id: 125,
    name: 'tetrad',
    nativeCurrency: { name: 'HPX', symbol: 'HPX', decimals: 18 },
    rpcUrls,
  });
  const options = { chain, transport: http(), pollingInterval: 20, cacheTime: 0 };
  client = createPublicClient(options);
  sockets = createPublicClient({ ...options, transport: webSocket(node.ws) });
  wallet = createWalletClient({ ...options, account: alice });
  tester = createTestClient({ ...options, mode: 'anvil' });
});
after(async () => {
  (await sockets.transport.getRpcClient()).close();
  await node.stop();
});

const mined = (hash) => client.waitForTransactionReceipt({ hash });
const deploy = async () => {
  const receipt = await mined(
    await wallet.deployContract({ abi: probe.abi, bytecode: probe.bytecode, args: [7n] }),
  );
  return getContract({
    abi: probe.abi,
    address: receipt.contractAddress,
    client: { public: client, wallet },
  });
};
const failure = (promise) => assert.rejects(promise).then(() => promise.catch((error) => error));

test('connects, sends and waits', async () => {
  assert.equal(await client.getChainId(), 125);
  const receipt = await mined(await wallet.sendTransaction({ to: bob.address, value: 5n }));
  assert.equal(receipt.status, 'success');
  assert.equal(receipt.type, 'eip1559');
  const block = await client.getBlock({ includeTransactions: true });
  assert.equal(block.transactions[0].value, 5n);
  const history = await client.getFeeHistory({ blockCount: 4, rewardPercentiles: [25, 75] });
  assert.ok(history.baseFeePerGas.length >= 2);
  const { maxFeePerGas } = await client.estimateFeesPerGas();
  assert.ok(maxFeePerGas > 0n);
});

test('deploys, reads, simulates, writes and decodes errors', async () => {
  const contract = await deploy();
  assert.equal(await contract.read.value(), 7n);
  const receipt = await mined(await contract.write.store([42n]));
  const [event] = parseEventLogs({ abi: probe.abi, logs: receipt.logs, eventName: 'Stored' });
  assert.deepEqual(event.args, { who: alice.address, value: 42n });
  let reason = (await failure(contract.simulate.store([13n]))).walk(
    (error) => error instanceof ContractFunctionRevertedError,
  );
  assert.equal(reason.reason, 'unlucky');
  reason = (await failure(contract.write.store([2000n]))).walk(
    (error) => error instanceof ContractFunctionRevertedError,
  );
  assert.equal(reason.data.errorName, 'TooLarge');
  assert.deepEqual(reason.data.args, [2000n, 1000n]);
  reason = (await failure(contract.read.divide([0n]))).walk(
    (error) => error instanceof ContractFunctionRevertedError,
  );
  assert.match(reason.reason ?? reason.shortMessage, /zero/);
  const overridden = await client.readContract({
    ...contract,
    functionName: 'value',
    stateOverride: [
      {
        address: contract.address,
        stateDiff: [{ slot: `0x${'0'.repeat(64)}`, value: `0x${'0'.repeat(62)}ff` }],
      },
    ],
  });
  assert.equal(overridden, 255n);
});

test('distinguishes errors by type', async () => {
  const kinds = (error) => {
    const all = [];
    error.walk((cause) => {
      all.push(cause.constructor);
      return false;
    });
    return all;
  };
  let error = await failure(wallet.sendTransaction({ to: bob.address, nonce: 0, gas: 21_000n }));
  assert.ok(error instanceof BaseError && kinds(error).includes(NonceTooLowError), error.message);
  const poor = mnemonicToAccount(MNEMONIC, { addressIndex: 900 });
  error = await failure(wallet.sendTransaction({ account: poor, to: bob.address, value: 1n }));
  assert.ok(kinds(error).includes(InsufficientFundsError), error.message);
  error = await failure(client.request({ method: 'no_such', params: [] }));
  assert.equal(error.code, -32601);
});

test('watches blocks, events and pending transactions', async () => {
  const contract = await deploy();
  for (const watcher of [client, sockets]) {
    const stop = [];
    const height = await client.getBlockNumber();
    const once = (begin) => new Promise((resolve, reject) => stop.push(begin(resolve, reject)));
    const seen = Promise.all([
      once((onLogs, onError) =>
        watcher.watchContractEvent({
          ...contract,
          onLogs: ([log]) => onLogs(log.args.value),
          onError,
        }),
      ),
      once((resolve, onError) =>
        watcher.watchBlocks({
          onBlock: (block) => block.number > height && resolve(block),
          onError,
        }),
      ),
      once((resolve, onError) =>
        watcher.watchPendingTransactions({ onTransactions: ([hash]) => resolve(hash), onError }),
      ),
    ]);
    // The start of a watcher cannot be observed: it sees one of several transactions.
    const receipts = [];
    let all;
    while (all === undefined && receipts.length < 100) {
      receipts.push(await mined(await contract.write.store([BigInt(receipts.length)])));
      all = await Promise.race([seen, new Promise((resolve) => setTimeout(resolve, 200))]);
    }
    const [value, block, pending] = all;
    assert.ok(value < receipts.length);
    assert.ok(receipts.some((receipt) => receipt.blockHash === block.hash));
    assert.ok(receipts.some((receipt) => receipt.transactionHash === pending));
    stop.forEach((end) => end());
  }
});

test('signs typed data, locally and on the node', async () => {
  const data = {
    domain: { name: 'Mail', version: '1', chainId: 125, verifyingContract: UNUSED },
    types: {
      Mail: [
        { name: 'to', type: 'address' },
        { name: 'body', type: 'string' },
      ],
    },
    primaryType: 'Mail',
    message: { to: bob.address, body: 'hello' },
  };
  const signature = await wallet.signTypedData(data);
  assert.equal(await recoverTypedDataAddress({ ...data, signature }), alice.address);
  assert.ok(await client.verifyTypedData({ ...data, address: alice.address, signature }));
});

test('batches and multicalls', async () => {
  const contract = await deploy();
  const batched = createPublicClient({ chain, transport: http(undefined, { batch: true }) });
  const [number, price, balance] = await Promise.all([
    batched.getBlockNumber(),
    batched.getGasPrice(),
    batched.getBalance({ address: UNUSED }),
  ]);
  assert.ok(number > 0n && price > 0n && balance === 0n);
  const results = await client.multicall({
    multicallAddress: '0xcA11bde05977b3631167028862bE2a173976CA11',
    contracts: [
      { ...contract, functionName: 'value' },
      { ...contract, functionName: 'divide', args: [0n] },
    ],
  });
  assert.equal(results[0].result, 7n);
  assert.equal(results[1].status, 'failure');
});

test('changes accounts', async () => {
  await tester.setBalance({ address: UNUSED, value: parseEther('3') });
  assert.equal(await client.getBalance({ address: UNUSED }), parseEther('3'));
  await tester.setNonce({ address: UNUSED, nonce: 9 });
  assert.equal(await client.getTransactionCount({ address: UNUSED }), 9);
  await tester.setCode({ address: UNUSED, bytecode: '0x6001' });
  assert.equal(await client.getCode({ address: UNUSED }), '0x6001');
  const value = `0x${'0'.repeat(63)}5`;
  await tester.setStorageAt({ address: UNUSED, index: 2, value });
  assert.equal(await client.getStorageAt({ address: UNUSED, slot: '0x2' }), value);
  await tester.setCode({ address: UNUSED, bytecode: '0x' });
  assert.equal(await client.getCode({ address: UNUSED }), undefined);
  await tester.setCoinbase({ address: carol.address });
  await tester.mine({ blocks: 1 });
  assert.equal((await client.getBlock()).miner, carol.address.toLowerCase());
});

test('impersonates accounts and contracts', async () => {
  const contract = await deploy();
  await tester.setBalance({ address: contract.address, value: parseEther('1') });
  await failure(wallet.sendTransaction({ account: contract.address, to: bob.address, value: 1n }));
  await tester.impersonateAccount({ address: contract.address });
  const hash = await wallet.sendTransaction({
    account: contract.address,
    to: bob.address,
    value: 1n,
  });
  assert.equal((await mined(hash)).status, 'success');
  assert.equal((await client.getTransaction({ hash })).from, contract.address);
  await tester.stopImpersonatingAccount({ address: contract.address });
  const error = await failure(
    wallet.sendTransaction({ account: contract.address, to: bob.address, value: 1n }),
  );
  assert.match(error.message, /unknown account/);
  const unsigned = await tester.sendUnsignedTransaction({
    from: contract.address,
    to: bob.address,
    value: 1n,
  });
  assert.equal((await mined(unsigned)).from, contract.address);
});

test('controls mining', async () => {
  assert.equal(await tester.getAutomine(), true);
  await tester.setAutomine(false);
  const hash = await wallet.sendTransaction({ account: dora, to: bob.address, value: 1n });
  assert.equal((await client.getTransaction({ hash })).blockNumber, null);
  await tester.dropTransaction({ hash });
  await failure(client.getTransaction({ hash }));
  await tester.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('20') });
  await tester.setBlockGasLimit({ gasLimit: 40_000_000n });
  await tester.mine({ blocks: 1 });
  let block = await client.getBlock();
  assert.equal(block.baseFeePerGas, parseGwei('20'));
  assert.equal(block.gasLimit, 40_000_000n);
  const height = block.number;
  await tester.mine({ blocks: 5000, interval: 12 });
  const later = await client.getBlock();
  assert.equal(later.number, height + 5000n);
  assert.ok(later.timestamp - block.timestamp >= 5000n * 12n);
  await tester.setIntervalMining({ interval: 1 });
  const sent = await wallet.sendTransaction({ account: dora, to: bob.address, value: 1n });
  assert.equal((await mined(sent)).status, 'success');
  await tester.setIntervalMining({ interval: 0 });
  await tester.setBlockTimestampInterval({ interval: 100 });
  block = await client.getBlock();
  await tester.mine({ blocks: 2 });
  assert.equal((await client.getBlock()).timestamp, block.timestamp + 200n);
  await tester.removeBlockTimestampInterval();
  await tester.setAutomine(true);
});

test('reverts to a snapshot, including its time', async () => {
  const before = await client.getBlock();
  const id = await tester.snapshot();
  await tester.increaseTime({ seconds: 1_000_000 });
  await tester.mine({ blocks: 3 });
  await tester.revert({ id });
  assert.equal((await client.getBlock()).hash, before.hash);
  await tester.setNextBlockTimestamp({ timestamp: before.timestamp + 500n });
  await tester.mine({ blocks: 1 });
  assert.equal((await client.getBlock()).timestamp, before.timestamp + 500n);
});

test('resets the chain', async () => {
  await tester.reset();
  assert.equal(await client.getBlockNumber(), 0n);
  assert.equal(await client.getTransactionCount({ address: alice.address }), 0);
});

test('swaps like a wallet', async () => {
  const { USDC, WETH } = addresses.tokens;
  const token = parseAbi(abi.token);
  const amount = 1_000_000_000n;
  await mined(
    await wallet.writeContract({
      address: USDC,
      abi: token,
      functionName: 'approve',
      args: [addresses.vault, amount],
    }),
  );
  const args = [USDC, WETH, amount, 1n];
  const { request } = await client.simulateContract({
    account: alice,
    address: addresses.vault,
    abi: parseAbi(abi.vault),
    functionName: 'swapExactTokensForTokens',
    args,
  });
  const receipt = await mined(await wallet.writeContract(request));
  const [swap] = parseEventLogs({
    abi: parseAbi(abi.vault),
    logs: receipt.logs,
    eventName: 'Swap',
  });
  assert.equal(swap.args.amountIn, amount);
});
