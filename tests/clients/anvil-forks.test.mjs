// Cases of anvil's own tests of forks, here of a local chain.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import {
  ContractFactory,
  JsonRpcProvider,
  Wallet,
  ZeroAddress,
  ZeroHash,
  toQuantity as hex,
} from 'ethers';
import solc from 'solc';
import { both, startAnvil } from './support/anvil.mjs';
import { rpc } from './support/node.mjs';

const source = `
contract Store {
    string public value;
    error Refused(string reason);
    constructor(string memory first) { value = first; }
    function refuse() external pure { revert Refused("because"); }
}
contract Tree {
    address owner = msg.sender;
    function run() external payable { this.look(); this.pay(); }
    function look() external pure returns (bool) { return true; }
    function pay() external { owner.call{value: address(this).balance}(""); address(this).delegatecall(abi.encodeCall(this.leaf, ())); }
    function leaf() external {}
}
contract Token {
    mapping(address => uint256) public balanceOf; mapping(address => mapping(address => uint256)) public allowance;
    constructor(address holder) { balanceOf[holder] = 1000; }
    function transfer(address to, uint256 amount) external { balanceOf[msg.sender] -= amount; balanceOf[to] += amount; }
}`;
const settings = { outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } };
const output = JSON.parse(
  solc.compile(
    JSON.stringify({ language: 'Solidity', sources: { 'a.sol': { content: source } }, settings }),
  ),
);
const factories = Object.fromEntries(
  Object.entries(output.contracts['a.sol']).map(([name, { abi, evm }]) => [
    name,
    new ContractFactory(abi, evm.bytecode.object),
  ]),
);
const data = (contract, name, ...args) =>
  factories[contract].interface.encodeFunctionData(name, args);

const owner = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const other = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const third = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const [unused, holder, dead] = ['aa', 'bb', 'dead'].map((end) => `0x${end.padStart(40, '0')}`);
const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const GENESIS = 10_000n * 10n ** 18n;
const MAX_UINT256 = 2n ** 256n - 1n;
const send = (node, tx) => rpc(node, 'eth_sendTransactionSync', [{ from: owner, ...tx }]);
const pay = (node, value = 100, from = owner, to = other) =>
  send(node, { from, to, value: hex(value) });
const number = async (node, method, ...params) => Number(await rpc(node, method, params));
const height = (node) => number(node, 'eth_blockNumber');
const nonce = (node) => number(node, 'eth_getTransactionCount', owner, 'latest');
const balance = async (node, address, block = 'latest') =>
  BigInt(await rpc(node, 'eth_getBalance', [address, block]));
const block = (node, at = 'latest') => rpc(node, 'eth_getBlockByNumber', [at, false]);
const environment = async (node) => (await rpc(node, 'anvil_nodeInfo')).environment;
const receiver = () => Wallet.createRandom().address.toLowerCase();

async function deploy(node, contract, ...args) {
  const { data } = await factories[contract].getDeployTransaction(...args);
  return (await send(node, { data })).contractAddress;
}
/** Queues transfers, and seals them in one block; their hashes. */
async function together(node, count, to, value) {
  const hashes = [];
  await rpc(node, 'evm_setAutomine', [false]);
  for (let i = 0; i < count; i++)
    hashes.push(await rpc(node, 'eth_sendTransaction', [{ from: owner, to, value }]));
  await rpc(node, 'evm_mine');
  await rpc(node, 'evm_setAutomine', [true]);
  return hashes;
}

// The chain that is forked at HEAD, with one more transaction after it.
const HEAD = 8;
const LIMIT = 100_000_000;
const origin = await startAnvil('--timestamp', 1_650_274_250, '--gas-limit', LIMIT);
const token = await deploy(origin, 'Token', holder);
const store = await deploy(origin, 'Store', 'first');
const three = await together(origin, 3, dead, '0x7');
const tree = await deploy(origin, 'Tree');
await rpc(origin, 'anvil_mine', ['0x3']);
const at = await pay(origin, 5, owner, dead);
const later = await pay(origin, 5, owner, dead);
const second = await startAnvil('--chain-id', '1234');
await rpc(second, 'anvil_setCode', [unused, '0x602a5f5260205ff3']);
// Its blobs are expensive.
const folder = mkdtempSync(path.join(tmpdir(), 'anvil-'));
const zeros = {
  difficulty: '0x0',
  nonce: '0x0',
  extraData: '0x',
  coinbase: ZeroAddress,
  mixHash: ZeroHash,
  blobGasUsed: '0x0',
  alloc: {},
};
const genesis = {
  ...zeros,
  config: { chainId: 31337 },
  gasLimit: '0x1c9c380',
  timestamp: '0x62605b8a',
  excessBlobGas: '0x5000000',
};
writeFileSync(path.join(folder, 'genesis.json'), JSON.stringify(genesis));
const costly = await startAnvil('--init', path.join(folder, 'genesis.json'));
await rpc(costly, 'evm_mine');
after(async () => {
  await Promise.all([origin, second, costly].map((node) => node.stop()));
  rmSync(folder, { recursive: true });
});
const of = (node, ...flags) => ['--fork-url', node.rpc, '--no-storage-caching', ...flags];
const fork = (name, flags, check) =>
  both(name, of(origin, '--fork-block-number', HEAD, ...flags), check);
const reset = (node, forking) => rpc(node, 'anvil_reset', [{ forking }]);

fork(
  'forks a chain at a block, with its balances, nonces, code, receipts and fees',
  [],
  async (node) => {
    const same = async (...requests) => {
      for (const [method, ...params] of requests)
        assert.deepEqual(
          await rpc(node, method, params),
          await rpc(origin, method, params),
          method,
        );
    };
    assert.equal(await height(node), HEAD);
    const { forkConfig } = await rpc(node, 'anvil_nodeInfo');
    assert.deepEqual([forkConfig.forkUrl, forkConfig.forkBlockNumber], [origin.rpc, HEAD]);
    const head = hex(HEAD);
    const state = ['eth_getBalance', 'eth_getCode', 'eth_getTransactionCount'].flatMap((method) =>
      [unused, dead, token, receiver()].map((address) => [method, address, head]),
    );
    await same(
      ...state,
      ['eth_getCode', token, '0x3'],
      ['eth_getCode', token, '0x0'],
      ['eth_getBlockByNumber', '0x3', true],
      ['eth_call', { to: token, data: data('Token', 'balanceOf', holder) }, head],
      ['eth_getBlockByNumber', head, true],
      ['eth_getTransactionReceipt', at.transactionHash],
      ['eth_getBlockReceipts', head],
      ['eth_getBlockReceipts', at.blockHash],
      ['eth_feeHistory', '0x5', head, []],
      ['eth_getUncleCountByBlockNumber', '0x3'],
    );
    assert.equal(
      await rpc(node, 'eth_getCode', [token, 'latest']),
      await rpc(origin, 'eth_getCode', [token, 'latest']),
    );
    // Later transactions are not part of the fork.
    assert.equal(await rpc(node, 'eth_getTransactionReceipt', [later.transactionHash]), null);
    assert.equal(await rpc(node, 'eth_getBlockReceipts', [later.blockNumber]), null);
    const call = rpc(node, 'eth_call', [
      { to: store, data: data('Store', 'refuse') },
      hex(HEAD - 1),
    ]);
    await assert.rejects(call, /execution reverted/);
    await rpc(node, 'evm_mine');
    await same(...state, ['eth_getCode', token, '0x1']);
    await rpc(node, 'eth_feeHistory', ['0x5', 'latest', []]);
  },
);

fork(
  'funds the development accounts of a fork, and keeps its changes to itself',
  [],
  async (node) => {
    assert.equal(await balance(node, owner), GENESIS);
    await rpc(node, 'anvil_setBalance', [dead, '0x539']);
    await rpc(node, 'anvil_addBalance', [dead, '0x1']);
    assert.deepEqual([await balance(node, dead), await balance(origin, dead)], [1338n, 31n]);
    await rpc(node, 'anvil_setCode', [token, '0x']);
    assert.equal(await rpc(node, 'eth_getCode', [token, 'latest']), '0x');
    await rpc(node, 'evm_mine');
    await rpc(node, 'anvil_setBalance', [holder, '0x1']);
    assert.equal(await balance(node, holder, hex(HEAD)), 0n);
  },
);

fork('has the gas limit and the base fee of the chain', [], async (node) => {
  const { gasLimit, baseFeePerGas } = await block(node);
  assert.deepEqual([Number((await environment(node)).gasLimit), Number(gasLimit)], [LIMIT, LIMIT]);
  assert.equal(baseFeePerGas, (await block(origin, hex(HEAD))).baseFeePerGas);
  await rpc(node, 'evm_mine');
  assert.ok(BigInt((await block(node)).baseFeePerGas) < BigInt(baseFeePerGas));
  await rpc(node, 'anvil_setNextBlockBaseFeePerGas', ['0x0']);
  await pay(node);
});

fork('has the gas limit of a flag', ['--gas-limit', '10000000'], async (node) => {
  assert.equal(Number((await environment(node)).gasLimit), 10_000_000);
});

fork('mines without a limit of gas', ['--disable-block-gas-limit'], async (node) => {
  for (let i = 0; i < 2; i++) assert.equal((await pay(node)).status, '0x1');
  assert.equal((await environment(node)).gasLimit, '0xffffffffffffffff');
});

for (const [name, flags] of [
  ['', []],
  [' and a base fee of its own', ['--base-fee', '5']],
]) {
  both(`forks a chain with its fee for blobs${name}`, of(costly, ...flags), async (node) => {
    if (flags.length) assert.equal(Number((await environment(node)).baseFee), 5);
    assert.ok((await number(node, 'eth_blobBaseFee')) > 1);
  });
}

both(
  'forks before a transaction, and mines it and those that precede it',
  of(origin, '--fork-transaction-hash', three[1]),
  async (node) => {
    assert.equal(await height(node), 2);
    await pay(node, 1, third);
    assert.deepEqual((await block(node, '0x3')).transactions.slice(0, 2), three.slice(0, 2));
    assert.equal((await rpc(node, 'eth_getTransactionByHash', [three[1]])).from, owner);
  },
);

fork('resets to blocks, and to the latest', [], async (node) => {
  const to = receiver();
  const before = await nonce(node);
  const { transactionIndex, transactionHash } = await pay(node, 1000, owner, to);
  assert.deepEqual(
    [transactionIndex, await nonce(node), await balance(node, to)],
    ['0x0', before + 1, 1000n],
  );
  await reset(node, { blockNumber: HEAD });
  assert.deepEqual(
    [await height(node), await nonce(node), await balance(node, to), await balance(node, owner)],
    [HEAD, before, 0n, GENESIS],
  );
  assert.equal(await rpc(node, 'eth_getTransactionByHash', [transactionHash]), null);
  await reset(node, { blockNumber: 2 });
  assert.deepEqual([await height(node), await nonce(node)], [2, 2]);
  assert.equal((await pay(node, 0, owner, owner)).status, '0x1');
  await reset(node, { blockNumber: HEAD - 1 });
  await rpc(node, 'evm_mine');
  // The base fee follows from the parent block, as on the chain.
  assert.equal((await block(node)).baseFeePerGas, (await block(origin, hex(HEAD))).baseFeePerGas);
  await reset(node, {});
  assert.equal(await height(node), HEAD + 1);
});

both('becomes a fork by a reset', [], async (node) => {
  assert.deepEqual([await height(node), await balance(node, dead)], [0, 0n]);
  await reset(node, { jsonRpcUrl: origin.rpc, blockNumber: HEAD });
  assert.deepEqual([await height(node), await balance(node, dead)], [HEAD, 26n]);
});

fork('resets to another chain, and remembers its address', [], async (node) => {
  const url = async () => (await rpc(node, 'anvil_nodeInfo')).forkConfig.forkUrl;
  assert.equal(await rpc(node, 'eth_call', [{ to: unused, data: '0x54fd4d50' }, 'latest']), '0x');
  await reset(node, { jsonRpcUrl: second.rpc });
  assert.deepEqual(
    [await url(), await rpc(node, 'eth_getCode', [unused, 'latest'])],
    [second.rpc, '0x602a5f5260205ff3'],
  );
  assert.equal((await pay(node)).status, '0x1');
  await rpc(node, 'anvil_setRpcUrl', [origin.rpc]);
  assert.equal(await url(), origin.rpc);
});

fork('reverts to snapshots once', [], async (node) => {
  const before = await nonce(node);
  const snapshot = await rpc(node, 'evm_snapshot');
  const to = receiver();
  await pay(node, 1000, owner, to);
  await rpc(node, 'evm_snapshot');
  assert.equal(await rpc(node, 'evm_revert', [snapshot]), true);
  assert.deepEqual(
    [await height(node), await nonce(node), await balance(node, to), await balance(node, owner)],
    [HEAD, before, 0n, GENESIS],
  );
  await pay(node, 1000, owner, to);
  assert.equal(await rpc(node, 'evm_revert', [snapshot]), false);
  assert.deepEqual(
    [await height(node), await nonce(node), await balance(node, to)],
    [HEAD + 1, before + 1, 1000n],
  );
});

fork('continues the time of the chain', [], async (node) => {
  const began = Number((await block(origin, hex(HEAD))).timestamp);
  const since = async () => Number((await block(node)).timestamp) - began;
  const soon = (passed) => assert.ok(passed >= 0 && passed < 60, `${passed}`);
  for (let i = 0; i < 2; i++) {
    assert.equal(await since(), 0);
    await pay(node);
    soon(await since());
    await reset(node, { blockNumber: HEAD });
  }
  await rpc(node, 'evm_setNextBlockTimestamp', [began + 1]);
  await pay(node);
  assert.equal(await since(), 1);
  const snapshot = await rpc(node, 'evm_snapshot');
  await rpc(node, 'anvil_mine', ['0x1']);
  const passed = await since();
  soon(passed);
  await rpc(node, 'evm_revert', [snapshot]);
  await rpc(node, 'evm_setNextBlockTimestamp', [began + passed]);
  await rpc(node, 'anvil_mine', ['0x1']);
  assert.equal(await since(), passed);
});

fork(
  'has the chain id of a flag, also for signed deployments',
  ['--chain-id', '5'],
  async (node) => {
    assert.deepEqual(
      [await number(node, 'eth_chainId'), (await environment(node)).chainId],
      [5, 5],
    );
    const provider = new JsonRpcProvider(node.rpc, undefined, {
      cacheTimeout: -1,
      pollingInterval: 50,
    });
    try {
      for (let i = 0; i < 2; i++) {
        const contract = await (
          await factories.Store.connect(new Wallet(key, provider)).deploy('Hello World!')
        ).waitForDeployment();
        assert.equal(await contract.value(), 'Hello World!');
      }
    } finally {
      provider.destroy();
    }
  },
);

fork(
  'sends the transactions of impersonated accounts at an interval',
  ['--block-time', '0.3'],
  async (node) => {
    const to = receiver();
    await rpc(node, 'anvil_setBalance', [holder, hex(MAX_UINT256)]);
    assert.equal(await balance(node, holder), MAX_UINT256);
    await assert.rejects(pay(node, 1337, holder, to));
    await rpc(node, 'anvil_impersonateAccount', [holder]);
    const { from, status } = await pay(node, 1337, holder, to);
    assert.deepEqual([from, status, await balance(node, to)], [holder, '0x1', 1337n]);
    const transfer = await send(node, {
      from: holder,
      to: token,
      data: data('Token', 'transfer', to, 400),
      gasPrice: '0x12a05f200',
      gas: '0x20000',
    });
    const amount = await number(
      node,
      'eth_call',
      { to: token, data: data('Token', 'balanceOf', to) },
      'latest',
    );
    assert.deepEqual([transfer.status, amount], ['0x1', 400]);
    await rpc(node, 'anvil_stopImpersonatingAccount', [holder]);
    await assert.rejects(pay(node, 1337, holder, to));
  },
);

fork('deals tokens of the chain, and allowances', [], async (node) => {
  await rpc(node, 'anvil_dealERC20', [owner, token, '0x1f4']);
  await rpc(node, 'anvil_setERC20Allowance', [owner, other, token, '0x1f4']);
  const call = (...parts) =>
    number(node, 'eth_call', { to: token, data: data('Token', ...parts) }, 'latest');
  assert.deepEqual(
    [await call('balanceOf', owner), await call('allowance', owner, other)],
    [500, 500],
  );
});

fork('counts the transactions of blocks, pending ones too', [], async (node) => {
  await rpc(node, 'evm_setAutomine', [false]);
  await rpc(node, 'eth_sendTransaction', [{ from: owner, value: '0x2a', gas: '0x186a0' }]);
  const count = (at) => number(node, 'eth_getBlockTransactionCountByNumber', at);
  const hashed = (hash) => number(node, 'eth_getBlockTransactionCountByHash', hash);
  assert.equal(await count('pending'), 1);
  await rpc(node, 'anvil_mine');
  assert.deepEqual([await count('pending'), await count('latest'), await count('0x3')], [0, 1, 3]);
  assert.deepEqual(
    [await hashed((await block(node)).hash), await hashed((await block(origin, '0x3')).hash)],
    [1, 3],
  );
});

fork('has accounts of the chain as they were at each block', [], async (node) => {
  const account = async (at) => rpc(node, 'eth_getAccount', [owner, at]);
  const before = await account('latest');
  assert.deepEqual(
    [BigInt(before.balance), Number(before.nonce)],
    [await balance(node, owner), await nonce(node)],
  );
  const { gasUsed, effectiveGasPrice, blockNumber } = await pay(node, 142);
  const now = await account('latest');
  assert.deepEqual([Number(blockNumber), Number(now.nonce)], [HEAD + 1, Number(before.nonce) + 1]);
  assert.equal(
    BigInt(now.balance),
    BigInt(before.balance) - 142n - BigInt(gasUsed) * BigInt(effectiveGasPrice),
  );
  assert.deepEqual(await account(hex(HEAD)), before);
  for (const [at, wei] of [
    [HEAD - 1, 21],
    [HEAD, 26],
    [HEAD + 1, 26],
  ]) {
    const info = await rpc(node, 'eth_getAccountInfo', [dead, hex(at)]);
    assert.deepEqual([Number(info.balance), Number(info.nonce), info.code], [wei, 0, '0x']);
  }
});

fork('traces nested calls of a contract of the chain', [], async (node) => {
  await rpc(node, 'anvil_impersonateAccount', [holder]);
  await rpc(node, 'anvil_setBalance', [holder, '0xde0b6b3a7640000']);
  const { transactionHash } = await send(node, {
    from: holder,
    to: tree,
    data: data('Tree', 'run'),
  });
  const traces = await rpc(node, 'trace_transaction', [transactionHash]);
  assert.deepEqual(
    traces.map(({ action, traceAddress, subtraces }) => [
      action.callType,
      action.from,
      action.to,
      traceAddress,
      subtraces,
    ]),
    [
      ['call', holder, tree, [], 2],
      ['staticcall', tree, tree, [0], 0],
      ['call', tree, tree, [1], 2],
      ['call', tree, owner, [1, 0], 0],
      ['delegatecall', tree, tree, [1, 1], 0],
    ],
  );
});
