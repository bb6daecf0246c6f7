// web3.js 4, over HTTP and WebSocket.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Web3 } from 'web3';
import { network, start } from './support/node.mjs';
import * as probe from './support/probe.mjs';

let node, web3, sockets, accounts, addresses;

before(async () => {
  node = await start();
  addresses = await network(node);
  web3 = new Web3(node.rpc);
  sockets = new Web3(node.ws);
  accounts = await web3.eth.getAccounts();
  for (const client of [web3, sockets]) client.eth.transactionPollingInterval = 20;
});
after(async () => {
  sockets.provider.disconnect();
  await node.stop();
});

const deploy = (client = web3) =>
  new client.eth.Contract(probe.abi)
    .deploy({ data: probe.bytecode, arguments: [7] })
    .send({ from: accounts[0] });
const failure = (promise) => assert.rejects(promise).then(() => promise.catch((error) => error));

test('connects and sends', async () => {
  assert.equal(await web3.eth.getChainId(), 125n);
  assert.equal(accounts.length, 10);
  const receipt = await web3.eth.sendTransaction({ from: accounts[0], to: accounts[1], value: 5 });
  assert.equal(receipt.status, 1n);
  assert.equal((await web3.eth.getTransaction(receipt.transactionHash)).value, 5n);
  assert.equal((await web3.eth.getBlock(receipt.blockNumber)).hash, receipt.blockHash);
});

test('signs with a local wallet', async () => {
  const account = web3.eth.accounts.create();
  await web3.eth.sendTransaction({
    from: accounts[0],
    to: account.address,
    value: web3.utils.toWei('1', 'ether'),
  });
  web3.eth.accounts.wallet.add(account);
  const receipt = await web3.eth.sendTransaction({
    from: account.address,
    to: accounts[1],
    value: 1,
  });
  assert.equal(receipt.from, account.address.toLowerCase());
  const { signature } = account.sign('hello');
  assert.equal(web3.eth.accounts.recover('hello', signature), account.address);
});

test('deploys, calls and reads past events', async () => {
  const contract = await deploy();
  await contract.methods.store(42).send({ from: accounts[0] });
  assert.equal(await contract.methods.value().call(), 42n);
  const [event] = await contract.getPastEvents('Stored', { fromBlock: 0 });
  assert.equal(event.returnValues.value, 42n);
  assert.ok((await contract.methods.store(1).estimateGas({ from: accounts[0] })) > 21000n);
});

test('decodes revert reasons', async () => {
  const contract = await deploy();
  let error = await failure(contract.methods.store(13).call({ from: accounts[0] }));
  assert.match(`${error.message} ${error.cause?.message} ${error.reason}`, /unlucky/);
  error = await failure(contract.methods.store(2000).call({ from: accounts[0] }));
  assert.equal(error.cause?.errorName ?? error.innerError?.errorName, 'TooLarge');
  error = await failure(contract.methods.store(13).send({ from: accounts[0] }));
  assert.match(`${error.message} ${error.cause?.message}`, /unlucky|revert/);
});

test('subscribes', async () => {
  const heads = await sockets.eth.subscribe('newBlockHeaders');
  const contract = await deploy(sockets);
  const logs = await sockets.eth.subscribe('logs', { address: contract.options.address });
  const pending = await sockets.eth.subscribe('pendingTransactions');
  const next = (subscription) => new Promise((resolve) => subscription.once('data', resolve));
  const seen = [next(heads), next(logs), next(pending)];
  const receipt = await contract.methods.store(3).send({ from: accounts[0] });
  const [head, log, hash] = await Promise.all(seen);
  assert.equal(head.number, receipt.blockNumber);
  assert.equal(log.transactionHash, receipt.transactionHash);
  assert.equal(hash, receipt.transactionHash);
  await sockets.eth.clearSubscriptions();
});

test("reads the network's contracts", async () => {
  const abi = [
    {
      name: 'SWAP_FEE_BPS',
      type: 'function',
      stateMutability: 'view',
      inputs: [],
      outputs: [{ type: 'uint256' }],
    },
  ];
  assert.equal(
    await new web3.eth.Contract(abi, addresses.vault).methods.SWAP_FEE_BPS().call(),
    30n,
  );
});
