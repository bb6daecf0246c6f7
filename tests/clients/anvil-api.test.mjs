// The cases of anvil's own integration tests, as JSON-RPC requests. Each must pass on anvil and on
// the node in its place.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { HDNodeWallet, Interface, Wallet, getCreateAddress } from 'ethers';
import solc from 'solc';
import { both, each as eachProgram, startAnvil } from './support/anvil.mjs';
import { MNEMONIC, rpc } from './support/node.mjs';

const source = `contract Sample {
    address public writer;
    string public text = "first";
    error Refused(address who);
    function write(string calldata next) external { (text, writer) = (next, msg.sender); }
    function hashOf(uint256 number) external view returns (bytes32) { return blockhash(number); }
    function wealth(address who) external view returns (uint256) { return who.balance; }
    function here() external view returns (uint256, uint256, uint256, address) { return (block.number, block.timestamp, block.gaslimit, block.coinbase); }
    function buy(uint256 amount) external payable { if (amount > msg.value) revert("too little paid"); }
    function secret() external view returns (uint256) { require(writer == address(1), "!authorized"); return 123; }
    function refuse() external pure { revert Refused(address(1)); }
    function check(bytes32 hash, uint8 v, bytes32 r, bytes32 s, address signer) external {
        require(ecrecover(hash, v, r, s) == signer, "another signer");
        writer = signer;
    }
}`;
const settings = { outputSelection: { '*': { Sample: ['abi', 'evm.bytecode.object'] } } };
const compiled = solc.compile(
  JSON.stringify({ language: 'Solidity', sources: { s: { content: source } }, settings }),
);
const { abi, evm } = JSON.parse(compiled).contracts.s.Sample;
const sample = new Interface(abi);
const creation = `0x${evm.bytecode.object}`;

const root = HDNodeWallet.fromPhrase(MNEMONIC, undefined, "m/44'/60'/0'/0");
const wallets = Array.from({ length: 10 }, (_, index) => root.deriveChild(index));
const accounts = wallets.map((wallet) => wallet.address.toLowerCase());
const [owner, other, third] = accounts;
const ether = 10n ** 18n;
const gwei = 10n ** 9n;
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const hex = (number) => `0x${number.toString(16)}`;
const word = (value) => `0x${BigInt(value).toString(16).padStart(64, '0')}`;
const stranger = () => Wallet.createRandom().address.toLowerCase();
const now = () => Math.floor(Date.now() / 1000);
const data = (name, ...values) => sample.encodeFunctionData(name, values);
const same = async (expected, ...promises) =>
  assert.deepEqual(await Promise.all(promises), expected);

/** The sender of a case's requests: a call sends one, and its result or error is the outcome. */
function client(node) {
  const call = (method, ...params) => rpc(node, method, params);
  const block = (tag = 'latest', full = false) =>
    call('eth_getBlockByNumber', typeof tag === 'number' ? hex(tag) : tag, full);
  const submit = (transaction) => call('eth_sendTransaction', transaction);
  const receipt = async (hash) => {
    for (const end = Date.now() + 5000; Date.now() < end; await sleep(5)) {
      const found = await call('eth_getTransactionReceipt', hash);
      if (found) return found;
    }
    throw new Error(`${hash} was not mined`);
  };
  const send = async (transaction) => receipt(await submit(transaction));
  return Object.assign(call, {
    rpc: node.rpc,
    block,
    submit,
    receipt,
    send,
    height: async () => Number(await call('eth_blockNumber')),
    time: async (tag) => Number((await block(tag)).timestamp),
    baseFee: async (tag) => BigInt((await block(tag)).baseFeePerGas),
    mine: (blocks = 1) => call('anvil_mine', hex(blocks)),
    balance: async (who) => BigInt(await call('eth_getBalance', who, 'latest')),
    nonce: async (who) => Number(await call('eth_getTransactionCount', who, 'latest')),
    code: (who, tag = 'latest') => call('eth_getCode', who, tag),
    deploy: async () => (await send({ from: owner, data: creation })).contractAddress,
    write: (to, text) => send({ from: owner, to, data: data('write', text) }),
    read: async (to, name, values = [], { tag = 'latest', overrides, ...rest } = {}) => {
      const answer = await call(
        'eth_call',
        { to, data: data(name, ...values), ...rest },
        tag,
        ...(overrides ? [overrides] : []),
      );
      const results = sample
        .decodeFunctionResult(name, answer)
        .map((value) => (/^0x/.test(value) ? value.toLowerCase() : value));
      return results.length > 1 ? results : results[0];
    },
    refuses: (message, ...request) => assert.rejects(call(...request), { message }),
  });
}
const on = (name, args, check) => both(name, args, (node) => check(client(node)));

/**
 * A case that starts nodes of a kind by itself, and gets a function that writes a dump, or another
 * value, to a file.
 */
function each(name, check) {
  eachProgram(name, async (begin) => {
    const file = path.join(await mkdtemp(path.join(tmpdir(), 'anvil-api-')), 'file.json');
    const nodes = [];
    const starter =
      (start) =>
      async (...args) => {
        const node = await start(...args.map(String));
        nodes.push(node);
        return client(node);
      };
    const save = async (value) => {
      await writeFile(
        file,
        typeof value === 'string'
          ? gunzipSync(Buffer.from(value.slice(2), 'hex'))
          : JSON.stringify(value),
      );
      return file;
    };
    try {
      await check(starter(begin), save, starter(startAnvil));
    } finally {
      await Promise.all(nodes.map((node) => node.stop()));
      await rm(path.dirname(file), { recursive: true });
    }
  });
}

on(
  'sets the block gas limit and the gas price before London',
  ['--hardfork', 'berlin'],
  async (node) => {
    await same([true], node('evm_setBlockGasLimit', hex(1337)));
    await node.mine();
    assert.equal((await node.block()).gasLimit, hex(1337));
    await node('anvil_setMinGasPrice', hex(1337));
    assert.equal(await node('eth_gasPrice'), hex(1337));
  },
);

on('sets storage, empty code and the chain id', [], async (node) => {
  const contract = '0xe9e7CEA3DedcA5984780Bafc599bD69ADd087D56';
  const slot = word(0xa6eef7e35aben);
  await node('hardhat_setStorageAt', contract, slot, word(12345));
  await node('anvil_setCode', contract, '0x');
  await same(
    [word(12345), '0x', hex(31337)],
    node('eth_getStorageAt', contract, slot, 'latest'),
    node.code(contract),
    node('eth_chainId'),
  );
  await node('anvil_setChainId', 1234);
  assert.equal(await node('eth_chainId'), hex(1234));
});

for (const [kind, begin, end] of [
  [
    'an impersonated account',
    (who) => ['anvil_impersonateAccount', who],
    (who) => ['anvil_stopImpersonatingAccount', who],
  ],
  [
    'any account',
    () => ['anvil_autoImpersonateAccount', true],
    () => ['anvil_autoImpersonateAccount', false],
  ],
]) {
  on(`sends from ${kind}, also a contract, until that ends`, [], async (node) => {
    const contract = await node.deploy();
    for (const from of [stranger(), stranger(), contract]) {
      const to = stranger();
      const before = await node.nonce(from);
      const transaction = { from, to, value: hex(1337) };
      await node('anvil_setBalance', from, hex(ether));
      await node.refuses(/./, 'eth_sendTransaction', transaction);
      await node(...begin(from));
      assert.equal((await node.send(transaction)).from, from);
      await same([before + 1, 1337n], node.nonce(from), node.balance(to));
      assert.equal(await node.read(contract, 'text'), 'first');
      await node(...end(from));
      await node.refuses(/./, 'eth_sendTransaction', transaction);
      await node('anvil_impersonateAccount', from);
      assert.ok((await node('eth_accounts')).includes(from));
      await node('anvil_stopImpersonatingAccount', from);
    }
    assert.equal(await node.read(contract, 'text'), 'first');
  });
}

on('mines on demand, also when asked twice at once', [], async (node) => {
  for (let number = 1; number <= 10; number++) {
    await node('evm_mine');
    assert.equal(await node.height(), number);
  }
  await Promise.all([node.mine(100), node.mine(100)]);
  assert.equal(Number((await node.block()).number), 210);
});

on('sets the time of the next block, the time ahead, and an interval', [], async (node) => {
  const next = now() + 60;
  await node('evm_setNextBlockTimestamp', next);
  await node.mine();
  assert.equal(await node.time(), next);
  await node.mine();
  assert.ok((await node.time()) >= next);
  await node('evm_setTime', next + 60);
  await node.mine();
  const ahead = await node.time();
  assert.ok(ahead >= next + 60);
  await node('anvil_setBlockTimestampInterval', 10);
  await node.mine(2);
  assert.equal(await node.time(), ahead + 20);
  await node('evm_setNextBlockTimestamp', ahead + 70);
  await node.mine(2);
  await same([ahead + 70, ahead + 80], node.time(6), node.time(7));
  await same([true], node('anvil_removeBlockTimestampInterval'));
  await node.mine();
  await node.mine();
  const [first, second] = await Promise.all([node.time(8), node.time(9)]);
  assert.ok(first > ahead + 80 && second - first < 10);
});

on('sets the time back', [], async (node) => {
  const today = now();
  await node('evm_setTime', today - 120);
  await node.mine();
  const time = await node.time();
  assert.ok(time >= today - 120 && time < today, `${time - today}`);
});

on('takes a time after the year 9999', [], async (node) => {
  await node('evm_setNextBlockTimestamp', 317071597274);
  await node.mine();
  assert.equal(await node.time(), 317071597274);
});

on('gives a block the time of its parent, after which time continues', [], async (node) => {
  const first = await node.time();
  await node('evm_setNextBlockTimestamp', first);
  await node.mine();
  await same([1, first], node.height(), node.time());
  await node('evm_mine', { timestamp: first });
  await same([2, first], node.height(), node.time());
  await sleep(1000);
  await node.mine();
  assert.ok((await node.time()) > first);
});

on('mines several blocks with one time', [], async (node) => {
  const first = await node.time();
  await node.mine(4);
  const times = await Promise.all([1, 2, 3, 4].map((number) => node.time(number)));
  assert.ok(
    times.every((time) => time === times[0]) && times[0] - first <= 1,
    `${first}: ${times}`,
  );
});

on('mines several blocks an interval apart, from the first on', [], async (node) => {
  const first = await node.time();
  await node('anvil_mine', '0x2', hex(60));
  const times = await Promise.all([node.time(1), node.time(2)]);
  // A second may pass before each of them.
  assert.ok([60, 61].includes(times[1] - times[0]), `${times}`);
  assert.ok([60, 61, 62].includes(times[0] - first), `${first}: ${times}`);
});

on('changes the mining mode', [], async (node) => {
  const mode = () => [node('anvil_getAutomine'), node('anvil_getIntervalMining'), node.height()];
  await same([true, null, 0], ...mode());
  await node('anvil_setIntervalMining', 1);
  await same([false, 1, 0], ...mode());
  while (!(await node.height())) await sleep(20);
  await node('anvil_setIntervalMining', 0);
  await sleep(1100);
  await same([false, null, 1], ...mode());
});

on('describes itself', [], async (node) => {
  const [{ hash }, clientVersion] = await Promise.all([node.block(), node('web3_clientVersion')]);
  const { currentBlockTimestamp, hardFork, ...info } = await node('anvil_nodeInfo');
  const environment = {
    baseFee: hex(gwei),
    chainId: 31337,
    gasLimit: hex(30_000_000),
    gasPrice: hex(2n * gwei),
  };
  const forkConfig = { forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null };
  assert.deepEqual(info, {
    currentBlockNumber: '0x0',
    currentBlockHash: hash,
    transactionOrder: 'fees',
    environment,
    forkConfig,
  });
  const { instanceId, clientSemver, clientCommitSha, ...metadata } = await node('anvil_metadata');
  const latest = { latestBlockHash: hash, latestBlockNumber: 0 };
  assert.deepEqual(metadata, {
    ...latest,
    chainId: 31337,
    clientVersion,
    forkedNetwork: null,
    snapshots: {},
  });
  assert.match(clientVersion, /^anvil\//);
  assert.equal(hardFork, 'Bpo1');
});

on(
  'sends from the first account unless stated otherwise, also in a reorganization',
  [],
  async (node) => {
    assert.equal((await node.send({ to: other, value: '0x1' })).from, owner);
    await node('anvil_reorg', 1, [[{}, 0]]);
    assert.equal((await node.block('latest', true)).transactions[0].from, owner);
  },
);

on('keeps the price of a transaction in its receipt', [], async (node) => {
  await node('anvil_setNextBlockBaseFeePerGas', hex(1000));
  const receipt = await node.send({ from: owner, to: stranger(), value: hex(1337) });
  assert.equal(await node.baseFee(), 1000n);
  await node.mine();
  assert.deepEqual(await node.receipt(receipt.transactionHash), receipt);
});

on('removes the transactions of a sender from the pool', ['--block-time', '300'], async (node) => {
  await node.submit({ from: owner, to: other, value: '0x1' });
  assert.equal(Object.keys((await node('txpool_inspect')).pending).length, 1);
  await node('anvil_removePoolTransactions', owner);
  assert.deepEqual(await node('txpool_inspect'), { pending: {}, queued: {} });
});

on('reorganizes blocks with the given transactions', [], async (node) => {
  const transfer = (from, value) => ({
    from: accounts[from],
    to: accounts[from + 1],
    value: hex(value),
  });
  for (let value = 0; value < 20; value++) await node.send(transfer(1 + (value % 2), value));
  const pairs = [0, 1, 2].flatMap((index) =>
    [0, 1, 2, 3, 4].map((value) => [transfer(index, value), index]),
  );
  await node('anvil_reorg', 7, pairs);
  assert.equal(await node.height(), 20);
  for (let number = 0; number < 17; number++) {
    assert.equal(
      (await node.block(number, true)).transactions.length,
      number < 14 ? Math.min(number, 1) : 5,
    );
  }
  await node.send(transfer(1, 0));
  assert.equal(await node.height(), 21);
});

on(
  'reverts code and storage, and takes a signed transaction, in a reorganization',
  [],
  async (node) => {
    await node.mine(5);
    const gone = await node.deploy();
    await node('anvil_reorg', 5, []);
    assert.equal(await node.code(gone), '0x');
    const kept = await node.deploy();
    await node.mine(5);
    await node.write(kept, 'second');
    await node('anvil_reorg', 3, []);
    assert.equal(await node.read(kept, 'text'), 'first');
    await node.mine(2);
    const before = await node.balance(accounts[5]);
    const transaction = {
      chainId: 31337,
      nonce: 0,
      to: other,
      value: 100,
      gasLimit: 21000,
      maxFeePerGas: 10n ** 13n,
      maxPriorityFeePerGas: 10n ** 12n,
    };
    await node('anvil_reorg', 1, [[await wallets[5].signTransaction(transaction), 0]]);
    assert.ok((await node.balance(accounts[5])) < before);
    await node.refuses(/./, 'anvil_reorg', 100, []);
    await node.refuses(/./, 'anvil_reorg', 1, [[{}, 10]]);
  },
);

for (const [mined, depth, distances] of [
  [200, 5, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  [300, 50, [1, 10, 100, 200, 255]],
]) {
  on(
    `BLOCKHASH agrees with the chain after a reorganization of ${depth} blocks`,
    [],
    async (node) => {
      const contract = await node.deploy();
      await node.mine(mined);
      const tip = await node.height();
      const hash = async (number) => {
        const found = (await node.block(number)).hash;
        await same([found], node.read(contract, 'hashOf', [number]));
        return found;
      };
      const before = await Promise.all(distances.map((distance) => hash(tip - distance)));
      await node('anvil_reorg', depth, [[{ from: owner }, 0]]);
      await node.mine();
      for (const [index, distance] of distances.entries()) {
        assert.equal(
          (await hash(tip - distance)) === before[index],
          distance >= depth,
          `${distance}`,
        );
      }
      if (tip > 256)
        await same([word(0)], node.read(contract, 'hashOf', [(await node.height()) - 257]));
    },
  );
}

on('rolls back one block or several', ['--chain-id', '421611'], async (node) => {
  await node.mine(5);
  const [first, fourth] = await Promise.all([node.block(1), node.block(4)]);
  await node('anvil_rollback', null);
  await same([fourth], node.block());
  await node('anvil_rollback', 3);
  await same([first], node.block());
});

on('resets to its first block, as another instance', [], async (node) => {
  const { instanceId } = await node('anvil_metadata');
  const before = await node.balance(owner);
  const to = stranger();
  await node.mine(5);
  await node.send({ from: owner, to, value: hex(1337) });
  assert.ok((await node.balance(owner)) < before);
  await node('anvil_reset');
  await same([0, before, 0n], node.height(), node.balance(owner), node.balance(to));
  await node.mine();
  assert.equal(await node.height(), 1);
  assert.notEqual((await node('anvil_metadata')).instanceId, instanceId);
});

each(
  'forks a chain, reverts to snapshots on it, and leaves it as another instance',
  async (start, _save, startUpstream) => {
    const upstream = await startUpstream('--chain-id', 5);
    const contract = await upstream.deploy();
    await upstream.mine(9);
    const node = await start('--fork-url', upstream.rpc);
    const { hash } = await upstream.block();
    const { instanceId, ...metadata } = await node('anvil_metadata');
    assert.deepEqual(
      [metadata.chainId, metadata.latestBlockNumber, metadata.latestBlockHash],
      [5, 10, hash],
    );
    assert.deepEqual(metadata.forkedNetwork, {
      chainId: 5,
      forkBlockNumber: 10,
      forkBlockHash: hash,
    });
    await node('anvil_setStorageAt', contract, '0x0', word(other));
    assert.equal(await node.read(contract, 'writer'), other);
    for (const method of ['anvil_impersonateAccount', 'anvil_stopImpersonatingAccount']) {
      await node(method, contract);
      await same([await upstream.code(contract)], node.code(contract));
    }
    await node.mine();
    const latest = await node.block();
    const snapshot = await node('evm_snapshot');
    await node.mine();
    await node('evm_revert', snapshot);
    await same([latest], node.block());
    const [, ...here] = await node.read(contract, 'here');
    assert.deepEqual(here, [BigInt(latest.timestamp), BigInt(latest.gasLimit), latest.miner]);
    await node.mine();
    assert.ok((await node.time()) >= Number(latest.timestamp));
    await node('anvil_reset', { forking: {} });
    const again = await node('anvil_metadata');
    await node('anvil_reset');
    assert.deepEqual(
      [(await node('anvil_metadata')).forkedNetwork, await node.height()],
      [null, 0],
    );
    await node.mine();
    assert.equal(await node.height(), 1);
    assert.notEqual(again.instanceId, instanceId);
  },
);

const genesis = {
  config: {
    chainId: 19763,
    homesteadBlock: 0,
    eip150Block: 0,
    eip155Block: 0,
    eip158Block: 0,
    byzantiumBlock: 0,
    ethash: {},
  },
  nonce: '0xdeadbeefdeadbeef',
  timestamp: '0x0',
  extraData: word(0),
  gasLimit: '0x80000000',
  difficulty: '0x20000',
  mixHash: word(0),
  coinbase: `0x${'0'.repeat(40)}`,
  gasUsed: '0x0',
  parentHash: word(0),
  alloc: {
    '71562b71999873db5b286df957af199ec94617f7': { balance: '0xffffffffffffffffffffffffff' },
  },
};

each('begins with a genesis file, whose number it takes', async (start, save) => {
  const node = await start('--init', await save({ ...genesis, number: 73 }));
  const rich = '0x71562b71999873db5b286df957af199ec94617f7';
  await same(
    [hex(19763), 73, 2n ** 104n - 1n],
    node('eth_chainId'),
    node.height(),
    node.balance(rich),
  );
});

each(
  'takes the chain id of its arguments, else of the fork, else of the genesis file',
  async (start, save, startUpstream) => {
    const fork = ['--fork-url', (await startUpstream('--chain-id', 5)).rpc];
    const init = ['--init', await save(genesis)];
    for (const [args, id] of [
      [[], 31337],
      [['--chain-id', 777], 777],
      [init, 19763],
      [fork, 5],
      [[...fork, '--chain-id', 300], 300],
    ]) {
      const node = await start(...args);
      await same([hex(id), `${id}`], node('eth_chainId'), node('net_version'));
    }
    for (const [args, id] of [
      [[...fork, ...init], 5],
      [[...init, '--chain-id', 300], 300],
    ]) {
      await same([hex(id)], (await start(...args))('eth_chainId'));
    }
  },
);

on(
  'numbers and dates its first block as asked',
  ['--number', '4242', '--timestamp', '1000'],
  async (node) => {
    await same(
      [4242, 1000, hex(4242)],
      node.height(),
      node.time(4242),
      node.block(4242).then(({ number }) => number),
    );
    const target = stranger();
    await node('anvil_setCode', target, '0x435f5260205ff3');
    await same([word(4243)], node('eth_call', { to: target }, 'pending'));
  },
);

each('has the fields of a block of the hardfork', async (start) => {
  for (const [hardfork, blobs] of [
    ['shanghai', undefined],
    ['cancun', '0x0'],
  ]) {
    const node = await start('--hardfork', hardfork);
    await node.mine();
    const { withdrawalsRoot, withdrawals, blobGasUsed, excessBlobGas } = await node.block();
    assert.deepEqual(
      [withdrawalsRoot, withdrawals, blobGasUsed, excessBlobGas],
      [emptyRoot, [], blobs, blobs],
      hardfork,
    );
  }
});

for (const v of [0x1b, 0x11]) {
  on(`recovers the impersonated signer of a signature with the parity ${v}`, [], async (node) => {
    const contract = await node.deploy();
    const signer = '0x1234567890123456789012345678901234567890';
    const half = '11'.repeat(32);
    const request = {
      from: owner,
      to: contract,
      data: data('check', word(7), v, `0x${half}`, `0x${half}`, signer),
    };
    await node.refuses(/another signer/, 'eth_call', request, 'latest');
    await node('anvil_impersonateSignature', [`0x${half}${half}${v.toString(16)}`, signer]);
    assert.equal(await node('eth_call', request, 'latest'), '0x');
    assert.equal((await node.send(request)).status, '0x1');
    assert.equal(await node.read(contract, 'writer'), signer);
  });
}

each(
  'begins with a dump: its height, its finalized block and its base fee',
  async (start, save) => {
    const node = await start();
    await node.mine(2);
    await node.send({ from: owner, to: other, value: hex(ether) });
    const first = await node.block(0);
    const next = await node.baseFee('pending');
    assert.notEqual(next, gwei);
    const file = await save(await node('anvil_dumpState'));
    const loaded = await start('--timestamp', Number(first.timestamp) + 1000, '--load-state', file);
    await same(
      [3, '0x3', next],
      loaded.height(),
      loaded.block().then(({ number }) => number),
      loaded.baseFee('pending'),
    );
    for (const tag of [0, 'finalized', 'earliest'])
      assert.equal((await loaded.block(tag)).hash, first.hash, tag);
  },
);

each('keeps past states in a dump that asks for them', async (start, save) => {
  const node = await start();
  const contract = await node.deploy();
  await node.write(contract, 'second');
  await node.mine();
  const loaded = await start('--load-state', await save(await node('anvil_dumpState', true)));
  assert.notEqual(await node.code(contract, '0x2'), '0x');
  const read = (tag) => loaded.read(contract, 'text', [], { tag });
  await same([3, 'first', 'second'], loaded.height(), read('0x1'), read('0x2'));
});

each(
  'loads the dump of a fork into a fork of the same block, and of a later one',
  async (start, save, startUpstream) => {
    const upstream = await startUpstream();
    await upstream.mine(10);
    const fork = (number, ...args) =>
      start('--fork-url', upstream.rpc, '--fork-block-number', number, ...args);
    const node = await fork(5);
    const to = stranger();
    await node.send({ from: owner, to, value: hex(ether) });
    const file = await save(await node('anvil_dumpState'));
    assert.equal(await (await fork(5, '--load-state', file)).height(), 6);
    const loaded = await fork(9, '--load-state', file);
    await same([9, 1, ether], loaded.height(), loaded.nonce(owner), loaded.balance(to));
    for (const [count, rest] of [
      [2, {}],
      [3, { nonce: '0x2' }],
    ]) {
      await loaded.send({ from: owner, to, value: hex(ether), ...rest });
      await same([count, BigInt(count) * ether], loaded.nonce(owner), loaded.balance(to));
    }
  },
);

const oldEnvironment = {
  number: '0x1',
  coinbase: other,
  timestamp: '0x688c83b1',
  gas_limit: '0x1c9c380',
  basefee: '0x3b9aca00',
  difficulty: '0x0',
  prevrandao: word(9),
  blob_excess_gas_and_price: { excess_blob_gas: 0, blob_gasprice: 1 },
};
const { coinbase, blob_excess_gas_and_price: blob, ...partial } = oldEnvironment;
const numbers = { number: 1, timestamp: 0x688c83b1, gas_limit: 30_000_000, basefee: 1_000_000_000 };
const header = (number) => ({
  parentHash: word(0),
  sha3Uncles: word(1),
  miner: other,
  stateRoot: word(0),
  transactionsRoot: emptyRoot,
  receiptsRoot: word(0),
  logsBloom: `0x${'0'.repeat(512)}`,
  difficulty: '0x0',
  number: hex(number),
  gasLimit: '0x1c9c380',
  gasUsed: '0x0',
  timestamp: hex(0x688c83b0 + number),
  extraData: '0x',
  mixHash: word(0),
  nonce: `0x${'0'.repeat(16)}`,
  baseFeePerGas: '0x3b9aca00',
});

for (const [kind, environment, best] of [
  ['with a coinbase, as before 1.3', oldEnvironment, '0x1'],
  [
    'with a beneficiary and numbers',
    { ...partial, ...numbers, beneficiary: coinbase, blob_excess_gas_and_price: blob },
    1,
  ],
  ['with a coinbase and numbers', { ...oldEnvironment, ...numbers }, 1],
  ['without blob fees', { ...partial, coinbase }, '0x1'],
]) {
  each(`loads a dump ${kind}`, async (start, save) => {
    const contract = '0x5fbdb2315678afecb367f032d93f642f64180aa3';
    const blocks = [0, 1].map((number) => ({
      header: header(number),
      transactions: [],
      ommers: [],
    }));
    const held = { [contract]: { nonce: 1, balance: '0x5', code: '0x6000', storage: {} } };
    const state = {
      block: environment,
      accounts: held,
      best_block_number: best,
      blocks,
      transactions: [],
      historical_states: null,
    };
    const node = await start('--load-state', await save(state));
    await same(
      [1, 0x688c83b1, 1, 5n, '0x6000'],
      node.height(),
      node.time(),
      node.nonce(contract),
      node.balance(contract),
      node.code(contract),
    );
  });
}

each('applies its gas limit, and none when that is disabled', async (start) => {
  for (const [args, limit] of [
    [['--gas-limit', 10_000_000], hex(10_000_000)],
    [['--disable-block-gas-limit'], '0xffffffffffffffff'],
  ]) {
    const node = await start(...args);
    await node.mine();
    assert.deepEqual(
      [(await node('anvil_nodeInfo')).environment.gasLimit, (await node.block()).gasLimit],
      [limit, limit],
    );
  }
});

for (const [limit, next] of [
  [21000, gwei + 125_000_000n],
  [42000, gwei],
]) {
  on(
    `moves the base fee from a block of ${limit} gas with a transfer`,
    ['--base-fee', `${gwei}`, '--gas-limit', `${limit}`],
    async (node) => {
      for (const fee of [gwei, next]) {
        await node.send({ from: owner, to: stranger(), value: hex(1337) });
        assert.equal(await node.baseFee(), fee);
      }
    },
  );
}

on(
  'lowers the base fee after an empty block, to what the fee history foretells',
  ['--base-fee', '50'],
  async (node) => {
    await node.mine(2);
    assert.ok((await node.baseFee(2)) < (await node.baseFee(1)));
    for (let round = 0; round < 10; round++) {
      const [, gasPrice] = (await node('eth_feeHistory', '0x1', 'latest', [])).baseFeePerGas;
      assert.equal(
        (await node.send({ from: owner, to: stranger(), value: hex(100), gasPrice })).status,
        '0x1',
      );
      const [fee] = (await node('eth_feeHistory', '0x1', 'latest', [])).baseFeePerGas;
      assert.deepEqual([fee, (await node.block()).baseFeePerGas], [gasPrice, gasPrice]);
    }
  },
);

on(
  'refuses fees below the base fee, and a tip above the cap',
  ['--base-fee', '50'],
  async (node) => {
    const transfer = { from: owner, to: stranger(), value: hex(100) };
    await node.refuses(/max fee per gas less than block base fee/, 'eth_sendTransaction', {
      ...transfer,
      gasPrice: hex(49),
    });
    const tip = { maxFeePerGas: hex(50), maxPriorityFeePerGas: hex(51) };
    await node.refuses(
      /max priority fee per gas higher than max fee per gas/,
      'eth_sendTransaction',
      { ...transfer, ...tip },
    );
    assert.equal((await node.send({ ...transfer, gasPrice: hex(50) })).status, '0x1');
  },
);

on('estimates the gas of a transfer with and without data', [], async (node) => {
  const estimate = async (rest) =>
    Number(await node('eth_estimateGas', { from: owner, to: other, value: '0x1', ...rest }));
  await same([21000, 21000], estimate({}), estimate({ data: '0x' }));
  assert.ok((await estimate({ data: '0x1234' })) > 21000);
});

on('gives the reasons why calls revert', [], async (node) => {
  const to = await node.deploy();
  await node.refuses(
    /!authorized/,
    'eth_call',
    { from: owner, to, data: data('secret') },
    'latest',
  );
  await node.refuses(
    /too little paid/,
    'eth_call',
    { from: owner, to, data: data('buy', 100), value: '0x1' },
    'latest',
  );
  await node.refuses(
    /execution reverted/,
    'eth_call',
    { from: owner, to, data: data('refuse') },
    'latest',
  );
  await node.refuses(/execution reverted/, 'eth_fillTransaction', {
    from: owner,
    to,
    data: data('buy', 10),
  });
});

on('mines a transaction that reverts', [], async (node) => {
  const transaction = { from: owner, data: '0x5f5ffd' };
  await node.refuses(/execution reverted/, 'eth_call', transaction, 'latest');
  assert.equal((await node.send(transaction)).status, '0x0');
});

on(
  'lists the transactions of its pool, those that wait for others apart',
  ['--no-mining'],
  async (node) => {
    const gasPrice = hex(221435145689);
    const price = '21000 gas × 221435145689 wei';
    const send = (from, to, value, index) =>
      node.submit({ from, to, value: hex(value), gasPrice, nonce: hex(index) });
    for (let index = 0; index < 10; index++) await send(owner, owner, 42, index);
    await send(other, third, 42, 0);
    await send(other, third, 84, 2);
    assert.deepEqual(await node('txpool_status'), { pending: '0xb', queued: '0x1' });
    const lower = async (method) => JSON.parse(JSON.stringify(await node(method)).toLowerCase());
    const ten = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [index, `${owner}: 42 wei + ${price}`]),
    );
    const pending = { [owner]: ten, [other]: { 0: `${third}: 42 wei + ${price}` } };
    assert.deepEqual(await lower('txpool_inspect'), {
      pending,
      queued: { [other]: { 2: `${third}: 84 wei + ${price}` } },
    });
    const content = await lower('txpool_content');
    assert.deepEqual(Object.keys(content.pending[owner]), Object.keys(ten));
    assert.deepEqual(
      [content.pending[other], content.queued[other]].map((list) => Object.keys(list)),
      [['0'], ['2']],
    );
  },
);

on(
  'takes a transaction that one before it pays for, without balance checks',
  ['--no-mining', '--disable-pool-balance-checks'],
  async (node) => {
    const spender = stranger();
    await node('anvil_impersonateAccount', spender);
    const fund = await node.submit({
      from: owner,
      to: spender,
      value: hex(ether),
      gasPrice: hex(2000n * gwei),
    });
    const spend = await node.submit({
      from: spender,
      to: owner,
      value: hex(ether - 21000n * gwei),
      gasPrice: hex(gwei),
    });
    assert.deepEqual(await node('txpool_status'), { pending: '0x2', queued: '0x0' });
    await node.mine();
    for (const hash of [fund, spend]) assert.equal((await node.receipt(hash)).status, '0x1');
  },
);

on('begins with its accounts and its prices', [], async (node) => {
  await same(
    [0, accounts, hex(2n * gwei)],
    node.height(),
    node('eth_accounts'),
    node('eth_gasPrice'),
  );
  assert.equal((await node.block()).number, '0x0');
  assert.ok((await node.time()) > 0);
  for (const who of accounts) assert.equal(await node.balance(who), 10000n * ether);
});

on('returns a block by its number and by its hash', [], async (node) => {
  await node.send({ from: owner, to: other, value: hex(5000n * ether) });
  const first = await node.block(1, true);
  assert.equal(first.transactions.length, 1);
  await same([first], node('eth_getBlockByHash', first.hash, true));
});

on('returns the pending block', [], async (node) => {
  assert.deepEqual([(await node.block('pending')).number, await node.height()], ['0x1', 0]);
  await node('evm_setAutomine', false);
  const hash = await node.submit({ from: owner, to: other, value: hex(100) });
  const { number, transactions } = await node.block('pending');
  assert.deepEqual([await node.height(), number, transactions], [0, '0x1', [hash]]);
  assert.equal((await node.block('pending', true)).transactions[0].hash, hash);
});

on(
  'calls on the pending block, and on past ones with their values',
  ['--no-mining'],
  async (node) => {
    await node.submit({ from: owner, data: creation });
    const contract = getCreateAddress({ from: owner, nonce: 0 });
    assert.equal((await node.read(contract, 'here', [], { tag: 'pending' }))[0], 1n);
    for (let number = 1; number <= 9; number++) {
      await node('anvil_setCoinbase', accounts[number]);
      await node('evm_setBlockGasLimit', hex(30_000_000 + number));
      await node.mine();
    }
    for (let number = 1; number <= 9; number++) {
      const expected = [
        BigInt(number),
        BigInt(await node.time(number)),
        BigInt(30_000_000 + number),
        accounts[number],
      ];
      await same([expected], node.read(contract, 'here', [], { tag: hex(number) }));
    }
  },
);

on('calls and estimates with fees below the base fee', [], async (node) => {
  const contract = await node.deploy();
  const maxFeePerGas = '0x1';
  assert.ok((await node.baseFee()) > 1n);
  assert.equal(BigInt(await node.read(contract, 'writer', [], { from: owner, maxFeePerGas })), 0n);
  const request = { from: owner, to: contract, data: data('write', 'next'), maxFeePerGas };
  assert.ok(Number(await node('eth_estimateGas', request)) > 21000);
});

on('calls with other balances and storage', [], async (node) => {
  const contract = await node.deploy();
  await same(
    [42n],
    node.read(contract, 'wealth', [owner], { overrides: { [owner]: { balance: hex(42) } } }),
  );
  assert.equal(BigInt(await node.read(contract, 'writer')), 0n);
  for (const [field, text] of [
    ['stateDiff', 'first'],
    ['state', ''],
  ]) {
    const overrides = { [contract]: { [field]: { [word(0)]: word(owner) } } };
    await same(
      [owner, text],
      node.read(contract, 'writer', [], { overrides }),
      node.read(contract, 'text', [], { overrides }),
    );
  }
});

on('sends transactions and waits for their receipts', ['--hardfork', 'prague'], async (node) => {
  const request = {
    chainId: 31337,
    nonce: 0,
    to: owner,
    data: '0x11112222',
    gasLimit: 100000,
    maxFeePerGas: 3n * gwei,
    maxPriorityFeePerGas: gwei,
  };
  const receipt = await node(
    'eth_sendRawTransactionSync',
    await wallets[1].signTransaction(request),
  );
  assert.deepEqual([receipt.from, receipt.to, receipt.status], [other, owner, '0x1']);
  const created = await node('eth_sendTransactionSync', {
    from: owner,
    nonce: '0x0',
    data: '0x66365f5f37365fa05f5260076019f3',
  });
  assert.deepEqual([created.from, created.status], [owner, '0x1']);
});

on('fills the missing fields of a transaction, and keeps the given ones', [], async (node) => {
  const fill = async (rest) =>
    (await node('eth_fillTransaction', { from: owner, to: other, ...rest })).tx;
  await node.send({ from: owner, to: other, value: hex(100) });
  const { chainId, type, maxFeePerGas, maxPriorityFeePerGas, ...filled } = await fill({});
  assert.deepEqual(
    [chainId, type, filled.nonce, filled.gas, filled.maxFeePerBlobGas],
    [hex(31337), '0x2', '0x1', hex(21000), undefined],
  );
  assert.ok(BigInt(maxFeePerGas) > 0n && BigInt(maxPriorityFeePerGas) > 0n);
  const { nonce, gas, value } = await fill({ nonce: hex(100), gas: hex(50000), value: hex(1000) });
  assert.deepEqual([nonce, gas, value], [hex(100), hex(50000), hex(1000)]);
});

on(
  'fills the blob fee of a blob transaction unless given',
  ['--hardfork', 'cancun'],
  async (node) => {
    // A blob of zeros commits to the point at infinity, so that no library has to compute the
    // commitment.
    const infinity = `0xc0${'0'.repeat(94)}`;
    const request = {
      from: owner,
      to: other,
      type: '0x3',
      blobs: [`0x${'0'.repeat(262144)}`],
      commitments: [infinity],
      proofs: [infinity],
    };
    const { tx } = await node('eth_fillTransaction', request);
    assert.ok(BigInt(tx.maxFeePerBlobGas) > 0n);
    assert.deepEqual(tx.blobVersionedHashes, [
      '0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014',
    ]);
    const given = await node('eth_fillTransaction', {
      ...request,
      maxFeePerBlobGas: hex(5_000_000),
    });
    assert.equal(given.tx.maxFeePerBlobGas, hex(5_000_000));
  },
);
