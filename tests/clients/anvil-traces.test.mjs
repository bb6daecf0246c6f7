// Cases of anvil's own tests: traces, Otterscan's methods, and the configurations of hardforks.
import assert from 'node:assert/strict';
import {
  ContractFactory,
  ZeroHash,
  concat,
  getCreate2Address,
  keccak256,
  toBeHex,
  toQuantity as hex,
} from 'ethers';
import solc from 'solc';
import { both } from './support/anvil.mjs';
import { rpc } from './support/node.mjs';

const source = `
contract Store {
    address public last; string public value;
    event Changed(address indexed by, string value);
    error Refused(string reason);
    constructor(string memory first) { value = first; }
    function set(string calldata next) external { value = next; last = msg.sender; emit Changed(msg.sender, next); }
    function refuse() external pure { revert Refused("because"); }
}
contract Relay { function relay(address to, bytes calldata data) external { (bool passed,) = to.call(data); require(passed); } }
contract Ender {
    address payable heir;
    constructor(address payable to) payable { heir = to; }
    function end() external { selfdestruct(heir); }
}
contract Tree {
    address owner = msg.sender;
    function run() external payable { this.look(); this.pay(); }
    function look() external pure returns (bool) { return true; }
    function pay() external { owner.call{value: address(this).balance}(""); address(this).delegatecall(abi.encodeCall(this.leaf, ())); }
    function leaf() external {}
}`;
// An old version of the EVM, whose code all hardforks run.
const settings = {
  evmVersion: 'london',
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
};
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
const fourth = '0x90f79bf6eb2c4f870365e785982e1f101e93b906';
const unused = '0x00000000000000000000000000000000000000aa';
const GENESIS = 10_000n * 10n ** 18n;
const MAX_UINT256 = 2n ** 256n - 1n;
const word = (number) => toBeHex(number, 32);
const send = (node, tx) => rpc(node, 'eth_sendTransactionSync', [{ from: owner, ...tx }]);
const pay = (node, value = 100, from = owner, to = other) =>
  send(node, { from, to, value: hex(value) });
const height = async (node) => Number(await rpc(node, 'eth_blockNumber'));
const balance = async (node, address) =>
  BigInt(await rpc(node, 'eth_getBalance', [address, 'latest']));
const block = (node) => rpc(node, 'eth_getBlockByNumber', ['latest', false]);

async function deploy(node, contract, args = [], tx = {}) {
  const receipt = await send(node, {
    data: (await factories[contract].getDeployTransaction(...args)).data,
    ...tx,
  });
  return { receipt, address: receipt.contractAddress };
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
/** A store, a relay, and calls that set the store's value, one of them through the relay. */
async function relayed(node) {
  const relay = (await deploy(node, 'Relay')).address;
  const store = (await deploy(node, 'Store', ['first'])).address;
  const inner = { from: other, to: store, data: data('Store', 'set', 'bar') };
  return {
    relay,
    store,
    inner,
    outer: { from: other, to: relay, data: data('Relay', 'relay', store, inner.data) },
  };
}

both('traces a transfer alike by transaction and by block', [], async (node) => {
  const { transactionHash, blockNumber } = await pay(node, GENESIS / 2n);
  const traces = await rpc(node, 'trace_transaction', [transactionHash]);
  const { from, to, value } = traces[0].action;
  assert.deepEqual([traces[0].type, from, to, BigInt(value)], ['call', owner, other, GENESIS / 2n]);
  assert.deepEqual(await rpc(node, 'trace_block', [blockNumber]), traces);
});

both('traces the end of a contract', ['--hardfork', 'shanghai'], async (node) => {
  const { address } = await deploy(node, 'Ender', [owner]);
  const call = { from: other, to: address, data: data('Ender', 'end') };
  const { failed, structLogs } = await rpc(node, 'debug_traceCall', [call, 'latest', {}]);
  assert.deepEqual([failed, structLogs.at(-1).op], [false, 'SELFDESTRUCT']);
  const traces = await rpc(node, 'trace_transaction', [(await send(node, call)).transactionHash]);
  assert.deepEqual(
    traces.map(({ type }) => type),
    ['call', 'suicide'],
  );
  assert.deepEqual([traces[1].action.address, traces[1].action.refundAddress], [address, owner]);
});

both('traces a call over other code, with a balance that has a leading zero', [], async (node) => {
  const stateOverrides = { [unused]: { balance: '0x01', code: '0x30315f5260205ff3' } };
  const trace = await rpc(node, 'debug_traceCall', [
    { from: other, to: unused },
    'latest',
    { stateOverrides },
  ]);
  assert.equal(trace.returnValue, word(1));
});

both('traces the frames of a call, with its logs, or the first frame only', [], async (node) => {
  const { store, inner, outer } = await relayed(node);
  const traced = (tx, tracerConfig) =>
    rpc(node, 'debug_traceCall', [tx, 'latest', { tracer: 'callTracer', tracerConfig }]);
  const { calls } = await traced(outer, { withLog: true });
  assert.deepEqual(
    calls.map(({ to, logs }) => [to, logs.length]),
    [[store, 1]],
  );
  assert.deepEqual((await traced(outer, { withLog: true, onlyTopCall: true })).calls ?? [], []);
  const direct = await traced(inner, { withLog: true });
  assert.deepEqual([direct.calls ?? [], direct.to, direct.logs.length], [[], store, 1]);
});

for (const ranged of [false, true]) {
  const start = ranged ? { fromBlock: '0x1' } : {};
  both(
    `filters traces ${ranged ? 'by blocks, addresses and pages' : 'from the first block on'}`,
    [],
    async (node) => {
      const filter = (parts) =>
        rpc(node, 'trace_filter', [{ fromAddress: [], toAddress: [], mode: 'union', ...parts }]);
      const repeat = async (times, ...ways) => {
        for (let i = 0; i < times; i++) for (const way of ways) await pay(node, i, ...way);
      };
      await repeat(6, [owner, other]);
      assert.equal((await filter({ mode: 'intersection', ...start })).length, 6);
      if (!ranged) return;
      const fromBlock = hex(await height(node));
      await repeat(6, [owner, other], [third, fourth]);
      assert.equal(
        (
          await filter({
            fromBlock,
            fromAddress: [third],
            toAddress: [fourth],
            mode: 'intersection',
          })
        ).length,
        6,
      );
      const { address, receipt } = await deploy(node, 'Ender', [owner]);
      await send(node, { to: address, data: data('Ender', 'end') });
      await repeat(6, [third, fourth]);
      const ours = await filter({ fromBlock: receipt.blockNumber, fromAddress: [owner, address] });
      assert.deepEqual(
        ours.map(({ type }) => type),
        ['create', 'call', 'suicide'],
      );
      const last = await height(node);
      assert.equal((await filter({ fromBlock: hex(last), toBlock: hex(last) })).length, 1);
      await assert.rejects(filter({ fromBlock: hex(last + 10), toBlock: hex(last) }));
      await repeat(11, [owner, other]);
      assert.equal((await filter({ fromBlock: hex(last), after: 3, count: 5 })).length, 5);
    },
  );
}

both('filters the traces of 300 blocks at most', [], async (node) => {
  await assert.rejects(rpc(node, 'trace_filter', [{ fromBlock: '0x0', toBlock: hex(301) }]));
});

both(
  'runs tracers in JavaScript over calls and transactions',
  ['--hardfork', 'prague'],
  async (node) => {
    // Adds one to slot 0.
    await rpc(node, 'anvil_setCode', [unused, '0x5f546001015f5500']);
    const tracer = `{
        seen: [],
        step: function (log) {
            var op = log.op.toString(), at = log.getPC() + ' ' + op + ' ' + log.contract.getAddress();
            if (op === 'SLOAD') this.seen.push(at + ':' + log.stack.peek(0));
            if (op === 'SSTORE') this.seen.push(at + ':' + log.stack.peek(0) + '=' + log.stack.peek(1));
        },
        fault: function () {}, result: function () { return this.seen; },
    }`;
    const tx = {
      from: other,
      to: (await deploy(node, 'Relay')).address,
      data: data('Relay', 'relay', unused, '0x'),
    };
    const place = [...Array(19).fill(0), 0xaa].join(',');
    const expected = [`1 SLOAD ${place}:0`, `6 SSTORE ${place}:0=1`];
    assert.deepEqual(await rpc(node, 'debug_traceCall', [tx, 'latest', { tracer }]), expected);
    assert.deepEqual(
      await rpc(node, 'debug_traceTransaction', [
        (await send(node, tx)).transactionHash,
        { tracer },
      ]),
      expected,
    );
  },
);

both(
  'traces the state before a call and before a transaction',
  ['--hardfork', 'prague'],
  async (node) => {
    const { relay, store, outer } = await relayed(node);
    await rpc(node, 'anvil_addBalance', [other, hex(MAX_UINT256)]);
    const { miner } = await block(node);
    const tips = await balance(node, miner);
    const check = (state) => {
      assert.deepEqual(
        Object.keys(state).filter((address) => ![miner, other, relay, store].includes(address)),
        [],
      );
      assert.deepEqual(
        [other, relay, store].map((address) => BigInt(state[address].balance)),
        [MAX_UINT256, 0n, 0n],
      );
      assert.equal(BigInt(state[miner]?.balance ?? tips), tips);
      assert.deepEqual(
        [relay, store].map((address) => state[address].nonce),
        [1, 1],
      );
      const short = `0x${Buffer.from('first').toString('hex').padEnd(62, '0')}0a`;
      assert.deepEqual(state[store].storage, { [word(0)]: word(0), [word(1)]: short });
    };
    check(await rpc(node, 'debug_traceCall', [outer, 'latest', { tracer: 'prestateTracer' }]));
    const { transactionHash } = await send(node, {
      ...outer,
      maxFeePerGas: '0x174876e800',
      maxPriorityFeePerGas: '0x174876e800',
    });
    check(
      await rpc(node, 'debug_traceTransaction', [transactionHash, { tracer: 'prestateTracer' }]),
    );
  },
);

both('replays the transactions of a block, and traces their frames', [], async (node) => {
  const hashes = await together(node, 2, other, '0xf4240');
  const results = await rpc(node, 'trace_replayBlockTransactions', [
    '0x1',
    ['trace', 'vmTrace', 'stateDiff'],
  ]);
  assert.deepEqual(
    results.map(({ transactionHash }) => transactionHash),
    hashes,
  );
  for (const { trace, vmTrace, stateDiff } of results) {
    assert.deepEqual([trace[0].action.from, trace[0].action.to], [owner, other]);
    assert.ok(vmTrace);
    const { from, to } = stateDiff[other].balance['*'];
    assert.equal(BigInt(to) - BigInt(from), 1_000_000n);
  }
  for (const [method, at] of [
    ['debug_traceBlockByNumber', '0x1'],
    ['debug_traceBlockByHash', (await block(node)).hash],
  ]) {
    const frames = await rpc(node, method, [at, { tracer: 'callTracer' }]);
    const expected = hashes.map((hash) => [hash, owner, other, '0xf4240']);
    assert.deepEqual(
      frames.map(({ txHash, result }) => [txHash, result.from, result.to, result.value]),
      expected,
      method,
    );
  }
});

for (const hardfork of ['london', 'cancun']) {
  both(
    `lists the internal operations of transactions of ${hardfork}`,
    ['--hardfork', hardfork],
    async (node) => {
      const transfer = 0;
      const end = 1;
      const create = 2;
      const create2 = 3;
      const { receipt, address } = await deploy(node, 'Relay');
      const deployer = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
      const created = getCreate2Address(deployer, ZeroHash, keccak256(ZeroHash)).toLowerCase();
      const ender = (await deploy(node, 'Ender', [unused], { value: '0x45' })).address;
      const receipts = [
        await send(node, {
          to: address,
          data: data('Relay', 'relay', deployer, concat([ZeroHash, ZeroHash])),
        }),
        await send(node, { to: ender, data: data('Ender', 'end') }),
        receipt,
        await pay(node, 1000),
      ];
      const operations = receipts.map(({ transactionHash }) =>
        rpc(node, 'ots_getInternalOperations', [transactionHash]),
      );
      const listed = (await Promise.all(operations))
        .flat()
        .map(({ type, from, to, value }) => [type, from, to, Number(value)]);
      assert.deepEqual(listed, [
        [create2, deployer, created, 0],
        [end, ender, unused, 69],
        [create, owner, address, 0],
        [transfer, owner, other, 1000],
      ]);
    },
  );
}

both('serves Otterscan headers, blocks, contracts and transactions', [], async (node) => {
  const { blockHash, transactionHash } = await pay(node);
  assert.equal(await rpc(node, 'ots_getApiLevel'), 8);
  for (const at of ['0x0', '0x1'])
    assert.equal((await rpc(node, 'erigon_getHeaderByNumber', [at])).number, at);
  const details = [
    await rpc(node, 'ots_getBlockDetails', ['0x1']),
    await rpc(node, 'ots_getBlockDetailsByHash', [blockHash]),
  ];
  assert.deepEqual(
    details.map((found) => Number(found.block.transactionCount)),
    [1, 1],
  );
  const { address, receipt } = await deploy(node, 'Store', ['']);
  const has = (at) => rpc(node, 'ots_hasCode', [address, at]);
  assert.deepEqual([await has('0x1'), await has('0x2')], [false, true]);
  assert.deepEqual(await rpc(node, 'ots_getContractCreator', [address]), {
    hash: receipt.transactionHash,
    creator: owner,
  });
  const by = (at) => rpc(node, 'ots_getTransactionBySenderAndNonce', [owner, at]);
  assert.deepEqual([await by('0x0'), await by('0x1')], [transactionHash, receipt.transactionHash]);
  const refused = await send(node, { to: address, data: data('Store', 'refuse'), gas: '0x20000' });
  const error = (hash) => rpc(node, 'ots_getTransactionError', [hash]);
  const expected = factories.Store.interface.encodeErrorResult('Refused', ['because']);
  assert.deepEqual(
    [await error(refused.transactionHash), await error(transactionHash)],
    [expected, '0x'],
  );
});

both('traces a transaction as Otterscan shows it', [], async (node) => {
  const { address } = await deploy(node, 'Tree');
  const { transactionHash } = await send(node, {
    to: address,
    data: data('Tree', 'run'),
    value: '0x539',
  });
  const entries = await rpc(node, 'ots_traceTransaction', [transactionHash]);
  assert.deepEqual(
    entries.map(({ type, depth, from, to, value, input, output }) => [
      type,
      depth,
      from,
      to,
      Number(value),
      input,
      output,
    ]),
    [
      ['CALL', 0, owner, address, 1337, data('Tree', 'run'), '0x'],
      ['STATICCALL', 1, address, address, 0, data('Tree', 'look'), word(1)],
      ['CALL', 1, address, address, 0, data('Tree', 'pay'), '0x'],
      ['CALL', 2, address, owner, 1337, '0x', '0x'],
      ['DELEGATECALL', 2, address, address, 0, data('Tree', 'leaf'), '0x'],
    ],
  );
});

both("lists a block's transactions in pages", [], async (node) => {
  const hashes = await together(node, 10, unused, '0x64');
  const listed = [];
  const counts = [];
  for (let page = 0; page < 4; page++) {
    const { fullblock, receipts } = await rpc(node, 'ots_getBlockTransactions', [1, page, 3]);
    listed.push(receipts.map(({ transactionHash }) => transactionHash));
    assert.deepEqual(
      fullblock.transactions.map((tx) => tx.hash ?? tx),
      listed.at(-1),
    );
    counts.push(Number(fullblock.transactionCount));
  }
  assert.deepEqual(listed.flat(), hashes);
  assert.deepEqual(
    [counts, listed.map(({ length }) => length)],
    [
      [3, 3, 3, 1],
      [3, 3, 3, 1],
    ],
  );
});

both("searches an account's transactions before and after a block", [], async (node) => {
  const hashes = [];
  for (let i = 0; i < 7; i++) hashes.unshift((await pay(node)).transactionHash);
  for (const before of [true, false]) {
    let found = [];
    let at = 0;
    for (let page = 0; page < 4; page++) {
      const method = before ? 'ots_searchTransactionsBefore' : 'ots_searchTransactionsAfter';
      const { txs, firstPage, lastPage } = await rpc(node, method, [owner, at, 2]);
      assert.deepEqual(
        [firstPage, lastPage],
        [page === (before ? 0 : 3), page === (before ? 3 : 0)],
        method,
      );
      const shown = txs.map(({ hash }) => hash);
      found = before ? [...found, ...shown] : [...shown, ...found];
      at = Number(txs.at(before ? -1 : 0).blockNumber);
    }
    assert.deepEqual(found, hashes);
  }
});

for (const [hardfork, flags, blobs, simple, special, contracts] of [
  ['cancun', [], [3338477, 6, 3], 10, [], ['BEACON_ROOTS_ADDRESS']],
  ['prague', [], [5007716, 9, 6], 17, []],
  ['prague', ['--celo'], [5007716, 9, 6], 17, [0xfd]],
  ['osaka', [], [5007716, 9, 6], 17, [0x100]],
]) {
  both(
    `has the configuration of ${[hardfork, ...flags].join(' ')}`,
    ['--hardfork', hardfork, ...flags],
    async (node) => {
      const { current, next, last } = await rpc(node, 'eth_config');
      const { baseFeeUpdateFraction, max, target } = current.blobSchedule;
      assert.deepEqual([baseFeeUpdateFraction, max, target], blobs);
      const precompiles = Object.values(current.precompiles)
        .map(Number)
        .sort((a, b) => a - b);
      assert.deepEqual(precompiles, [...[...Array(simple).keys()].map((i) => i + 1), ...special]);
      assert.deepEqual(
        Object.keys(current.systemContracts).sort(),
        contracts ?? [
          'BEACON_ROOTS_ADDRESS',
          'CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS',
          'DEPOSIT_CONTRACT_ADDRESS',
          'HISTORY_STORAGE_ADDRESS',
          'WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS',
        ],
      );
      assert.deepEqual(
        [next, last, current.activationTime, Number(current.chainId), current.forkId],
        [null, null, 0, 31337, '0x00000000'],
      );
    },
  );
}
