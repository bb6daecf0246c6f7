// Transactions, logs, signatures, blobs, delegations, subscriptions and proofs: cases of anvil's
// own integration tests, as requests to anvil and to the node in its place.
import assert from 'node:assert/strict';
import { EventEmitter, on, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import * as ethers from 'ethers';
import solc from 'solc';
import { createPublicClient } from 'viem';
import { ipc } from 'viem/node';
import { WebSocket } from 'ws';
import { both } from './support/anvil.mjs';
import { MNEMONIC, rpc } from './support/node.mjs';

const content = `contract Store {
    event Changed(address indexed author, string text);
    address last;
    string public text;
    constructor(string memory first) { set(first); }
    function set(string memory next) public { (text, last) = (next, msg.sender); emit Changed(msg.sender, next); }
}
contract Reader {
    function timestamp() external view returns (uint256) { return block.timestamp; }
    function balance(address account) external view returns (uint256) { return account.balance; }
    function forward(address target, bytes calldata data) external { (bool ok,) = target.call(data); require(ok); }
}`;
// Berlin is the oldest hardfork of the cases.
const settings = {
  evmVersion: 'berlin',
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
};
const { contracts } = JSON.parse(
  solc.compile(JSON.stringify({ language: 'Solidity', sources: { a: { content } }, settings })),
);
const [Store, Reader] = ['Store', 'Reader'].map(
  (name) => new ethers.Interface(contracts.a[name].abi),
);
const code = (name) => `0x${contracts.a[name].evm.bytecode.object}`;
const creation = (text) => ethers.concat([code('Store'), Store.encodeDeploy([text])]);
const set = (text) => Store.encodeFunctionData('set', [text]);

const wallets = [0, 1, 2].map((index) =>
  ethers.HDNodeWallet.fromPhrase(MNEMONIC, '', `m/44'/60'/0'/0/${index}`),
);
const [owner, other, third] = wallets.map(({ address }) => address.toLowerCase());
const hex = ethers.toQuantity;
const word = (number) => ethers.toBeHex(number, 32);
const anyone = () => ethers.Wallet.createRandom().address.toLowerCase();
const ether = 10n ** 18n;
const half = hex(5000n * ether);
const fees = { maxFeePerGas: hex(10n ** 10n), maxPriorityFeePerGas: hex(10n ** 9n) };

async function until(read) {
  for (let tries = 0; tries < 500; tries++) {
    const found = await read();
    if (found) return found;
    await delay(20);
  }
  throw new Error('did not happen');
}
const send = (node, transaction) =>
  rpc(node, 'eth_sendTransaction', [{ from: owner, ...transaction }]);
const mined = (node, hash) => until(() => rpc(node, 'eth_getTransactionReceipt', [hash]));
const sent = async (node, transaction) => mined(node, await send(node, transaction));
const sentRaw = async (node, raw) => mined(node, await rpc(node, 'eth_sendRawTransaction', [raw]));
const deployed = async (node, data = creation('first')) =>
  (await sent(node, { data })).contractAddress;
const call = (node, to, data, at = 'latest', more = {}) =>
  rpc(node, 'eth_call', [{ to, data, ...more }, at]);
const text = async (node, store, at, more) =>
  Store.decodeFunctionResult(
    'text',
    await call(node, store, Store.encodeFunctionData('text'), at, more),
  )[0];
const block = (node, number = 'latest') => rpc(node, 'eth_getBlockByNumber', [number, false]);
const nonce = (node, account, at = 'latest') => rpc(node, 'eth_getTransactionCount', [account, at]);
const refused = (answer, message) =>
  assert.rejects(answer, (error) => message.test(error.message) || assert.fail(error.message));

/** A WebSocket of the node, whose notifications come one by one. */
async function connect(node) {
  const socket = new WebSocket(node.rpc.replace('http', 'ws'));
  const bus = new EventEmitter().setMaxListeners(0);
  const notifications = on(bus, 'notification');
  let requests = 0;
  socket
    .on('error', () => {})
    .on('message', (message) => {
      const { id, params, ...answer } = JSON.parse(message);
      bus.emit(id ?? 'notification', id ? answer : params.result);
    });
  await once(socket, 'open');
  const request = async (method, params = []) => {
    const id = ++requests;
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const [{ result, error }] = await once(bus, id);
    if (error) throw new Error(error.message);
    return result;
  };
  const take = async (count) => {
    const taken = [];
    while (taken.length < count) taken.push((await notifications.next()).value[0]);
    return taken;
  };
  return { request, take, subscribe: (...params) => request('eth_subscribe', params) };
}

both(
  'transfers move the balance and the nonce, and earlier blocks keep theirs',
  [],
  async (node) => {
    const balance = (account, at) => rpc(node, 'eth_getBalance', [account, at]).then(BigInt);
    const receipt = await sent(node, { to: other, value: half });
    assert.deepEqual([receipt.blockNumber, receipt.transactionIndex], ['0x1', '0x0']);
    assert.deepEqual([await nonce(node, owner, '0x0'), await nonce(node, owner)], ['0x0', '0x1']);
    assert.ok((await balance(owner, 'latest')) < (await balance(owner, '0x0')));
    assert.equal(await balance(other, 'latest'), (await balance(other, '0x0')) + BigInt(half));
  },
);

both('a sender is in the order of its nonces', [], async (node) => {
  const later = await send(node, { to: other, value: '0x1', nonce: '0x1' });
  assert.equal((await rpc(node, 'txpool_status')).queued, '0x1');
  assert.equal(await rpc(node, 'eth_blockNumber'), '0x0');
  const first = await send(node, { to: other, value: '0x1', nonce: '0x0' });
  await mined(node, later);
  assert.deepEqual((await block(node, '0x1')).transactions, [first, later]);
});

both(
  'a higher price goes first and replaces, a lower one does not',
  ['--no-mining'],
  async (node) => {
    const price = BigInt(await rpc(node, 'eth_gasPrice'));
    const offer = (gasPrice, from = owner) =>
      send(node, { from, to: third, value: half, nonce: '0x0', gasPrice: hex(gasPrice) });
    const cheap = await offer(price);
    const dear = await offer(price + 1n, other);
    await rpc(node, 'evm_mine');
    assert.deepEqual((await block(node)).transactions, [dear, cheap]);
    const again = (gasPrice) =>
      send(node, { to: third, value: '0x1', nonce: '0x1', gasPrice: hex(gasPrice) });
    await again(price);
    const better = await again(price + 1n);
    await refused(again(price), /replacement transaction underpriced/);
    await rpc(node, 'evm_mine');
    assert.deepEqual((await block(node)).transactions, [better]);
  },
);

const transfer = (node, gas) => sent(node, { to: other, value: '0x1', gas: hex(gas) });
both('the gas of a transaction covers the intrinsic gas', [], (node) =>
  refused(transfer(node, 20_999), /intrinsic gas too low/),
);
both('the gas of a transaction is within that of the block', [], async (node) => {
  const limit = BigInt((await block(node)).gasLimit);
  await transfer(node, limit);
  await refused(transfer(node, limit + 1n), /gas too high/);
  await rpc(node, 'anvil_setBalance', [owner, hex(2n ** 256n - 1n)]);
  await transfer(node, limit);
});
both(
  'a transaction takes 30 million gas in a block without a limit',
  ['--disable-block-gas-limit'],
  (node) => transfer(node, 30_000_000),
);
for (const [does, flags] of [
  ['refuses', ['--enable-tx-gas-limit']],
  ['takes', []],
]) {
  both(
    `Osaka ${does} more gas than the cap with ${flags[0] ?? 'no flag'}`,
    ['--hardfork', 'osaka', ...flags],
    async (node) => {
      const cap = 2 ** 24;
      for (const gas of [cap - 1, cap]) assert.equal((await transfer(node, gas)).status, '0x1');
      const above = transfer(node, cap + 1);
      if (flags.length)
        await refused(
          above,
          /intrinsic gas too high -- tx\.gas_limit > env\.cfg\.tx_gas_limit_cap/,
        );
      else assert.equal((await above).status, '0x1');
    },
  );
}

both(
  'calls read any block, with more gas than a usual one holds',
  ['--gas-limit', '100000000'],
  async (node) => {
    const store = await deployed(node);
    assert.equal(await text(node, store, 'latest', { gas: hex(60_000_000) }), 'first');
    assert.equal((await sent(node, { to: store, data: set('second') })).status, '0x1');
    await rpc(node, 'evm_mine');
    assert.equal(await text(node, store), 'second');
    const { hash } = await block(node, '0x1');
    for (const at of ['0x1', { blockHash: hash }])
      assert.equal(await text(node, store, at), 'first');
  },
);

both('blocks are mined by hand, and again by themselves', [], async (node) => {
  await rpc(node, 'evm_mine');
  await rpc(node, 'evm_setAutomine', [false]);
  await rpc(node, 'evm_mine');
  const byHand = async (transaction) =>
    [await send(node, transaction), await rpc(node, 'evm_mine')][0];
  const { contractAddress: store } = await mined(node, await byHand({ data: creation('first') }));
  await byHand({ to: store, data: set('second') });
  assert.equal(await text(node, store), 'second');
  const waiting = await send(node, { data: creation('third') });
  await rpc(node, 'evm_setAutomine', [true]);
  assert.equal((await mined(node, waiting)).blockNumber, '0x5');
});

both('a WebSocket deploys, reads balances and the height', [], async (node) => {
  const { request } = await connect(node);
  assert.equal(await request('eth_blockNumber'), '0x0');
  for (const account of await request('eth_accounts')) {
    assert.equal(await request('eth_getBalance', [account, 'latest']), hex(10_000n * ether));
  }
  const hash = await request('eth_sendTransaction', [{ from: owner, data: creation('hello') }]);
  const { contractAddress: store } = await until(() =>
    request('eth_getTransactionReceipt', [hash]),
  );
  assert.notEqual(await request('eth_getCode', [store, 'latest']), '0x');
  assert.equal(await text(node, store), 'hello');
});

both('calls see the time of their block, and the set time in the pending one', [], async (node) => {
  const reader = await deployed(node, code('Reader'));
  const read = (at) => call(node, reader, Reader.encodeFunctionData('timestamp'), at).then(Number);
  const now = Number((await block(node)).timestamp);
  assert.deepEqual([await read(), await read()], [now, now]);
  await rpc(node, 'evm_setNextBlockTimestamp', [now + 1337]);
  assert.deepEqual([await read('pending'), await read('pending')], [now + 1337, now + 1337]);
});

both('one of many simultaneous transactions with the same nonce succeeds', [], async (node) => {
  const { request } = await connect(node);
  const change = { to: await deployed(node), data: set('new'), gas: hex(900_000) };
  const deployment = { data: creation('other'), gas: hex(900_000) };
  const kinds = [
    [{ to: other, value: '0x64', gas: hex(21_000) }],
    [deployment],
    [deployment, change],
  ];
  for (const [round, kind] of kinds.entries()) {
    const offer = (index) =>
      request('eth_sendTransaction', [
        { from: owner, nonce: hex(round + 1), ...kind[index % kind.length] },
      ]);
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => offer(index)),
    );
    const hashes = answers.filter(({ status }) => status === 'fulfilled').map(({ value }) => value);
    assert.equal(hashes.length, 1);
    await mined(node, hashes[0]);
    assert.equal(await nonce(node, owner), hex(round + 2));
  }
});

both('the pending nonce counts the pool, for each sender', ['--no-mining'], async (node) => {
  assert.equal(await nonce(node, owner, 'pending'), '0x0');
  for (let count = 1; count <= 10; count++) {
    for (const from of [owner, other]) {
      await send(node, { from, to: anyone(), value: hex(1337) });
      assert.equal(await nonce(node, from, 'pending'), hex(count));
    }
  }
  await rpc(node, 'evm_mine');
  assert.equal(await nonce(node, owner, 'pending'), '0xa');
});

both(
  'transactions are found by hash and by nonce, pending and mined, equal creations too',
  ['--no-mining'],
  async (node) => {
    const hashes = [
      await send(node, {}),
      await send(node, {}),
      await send(node, { to: other, value: '0x5' }),
    ];
    const raw = () =>
      Promise.all(hashes.map((hash) => rpc(node, 'eth_getRawTransactionByHash', [hash])));
    const pending = await raw();
    const byNonce = (sender, number) =>
      rpc(node, 'eth_getTransactionBySenderAndNonce', [sender, hex(number)]);
    const check = async (blockNumber) => {
      for (const [number, hash] of hashes.entries()) {
        const expected = {
          nonce: hex(number),
          from: owner,
          to: number === 2 ? other : null,
          hash,
          blockNumber,
        };
        for (const found of [
          await rpc(node, 'eth_getTransactionByHash', [hash]),
          await byNonce(owner, number),
        ]) {
          assert.deepEqual({ ...found, ...expected }, found);
        }
      }
    };
    await check(null);
    await rpc(node, 'anvil_mine', ['0x1', '0x0']);
    await check('0x1');
    assert.deepEqual([(await block(node)).transactions, await raw()], [hashes, pending]);
    assert.deepEqual([await byNonce(owner, 999), await byNonce(third, 0)], [null, null]);
  },
);

both(
  'receipts distinguish calls and creations, also reverted ones; the first account sends by default',
  [],
  async (node) => {
    const failed = await sent(node, { data: '0x60006000fd', gas: hex(100_000) });
    assert.deepEqual([failed.status, failed.to], ['0x0', null]);
    assert.equal(
      ethers.getAddress(failed.contractAddress),
      ethers.getCreateAddress({ from: owner, nonce: 0 }),
    );
    const created = await sent(node, { data: creation('first') });
    assert.deepEqual([created.to, typeof created.contractAddress], [null, 'string']);
    const receipt = await sent(node, { from: undefined, to: other, value: hex(1337) });
    assert.deepEqual([receipt.from, receipt.to, receipt.contractAddress], [owner, other, null]);
  },
);

both(
  'pending transactions reach filters and subscriptions, as hashes and in full',
  ['--block-time', '1'],
  async (node) => {
    const hashes = await connect(node);
    const full = await connect(node);
    await hashes.subscribe('newPendingTransactions');
    await full.subscribe('newPendingTransactions', true);
    const filter = await rpc(node, 'eth_newPendingTransactionFilter');
    const all = await Promise.all(
      [0, 1, 2, 3, 4].map((index) => send(node, { to: owner, value: '0x1', nonce: hex(index) })),
    );
    const polled = [];
    await until(
      async () => polled.push(...(await rpc(node, 'eth_getFilterChanges', [filter]))) >= 5,
    );
    const whole = (await full.take(5)).map(({ hash }) => hash);
    for (const seen of [polled, await hashes.take(5), whole])
      assert.deepEqual(seen.toSorted(), all.toSorted());
    for (const hash of all) assert.equal((await mined(node, hash)).status, '0x1');
  },
);

both('access lists hold what a call touches, without its own addresses', [], async (node) => {
  const reader = await deployed(node, code('Reader'));
  const store = await deployed(node);
  const list = async (to, data) => {
    const { accessList } = await rpc(node, 'eth_createAccessList', [
      { from: anyone(), to, data },
      'latest',
    ]);
    return accessList.map(({ address, storageKeys }) => [address, storageKeys.toSorted()]);
  };
  // A string of more than 31 bytes begins at the hash of its slot.
  const change = set('a text that does not fit in one word');
  const start = BigInt(ethers.keccak256(word(1)));
  const touched = [[store, [word(0), word(1), word(start), word(start + 1n)]]];
  assert.deepEqual(await list(store, change), touched);
  assert.deepEqual(await list(reader, Reader.encodeFunctionData('balance', [other])), [
    [other, []],
  ]);
  assert.deepEqual(
    await list(reader, Reader.encodeFunctionData('forward', [store, change])),
    touched,
  );
});

both(
  'estimates run on the pending block, and need the value or an override',
  ['--hardfork', 'prague', '--no-mining'],
  async (node) => {
    const estimate = async (...params) =>
      assert.ok(BigInt(await rpc(node, 'eth_estimateGas', params)) >= 21_000n);
    await estimate({ from: owner, to: other, data: '0xcafebabe' });
    const from = anyone();
    const request = { from, to: owner, value: '0x5', data: '0x42' };
    await estimate(request, 'latest', { [from]: { balance: hex(ether) } });
    const refusal = refused(estimate(request), /Insufficient funds for gas \* price \+ value/);
    await refusal.finally(() => send(node, { to: from, value: hex(ether) }));
    await estimate(request);
  },
);

both('calls and simulations override the state and the block', [], async (node) => {
  const from = anyone();
  // The code returns the number of the block.
  const state = { [other]: { code: '0x4360005260206000f3' }, [from]: { balance: hex(ether) } };
  assert.equal(
    await rpc(node, 'eth_call', [{ from, to: other }, 'latest', state, { number: '0x63' }]),
    word(99),
  );
  const simulated = {
    blockOverrides: { baseFeePerGas: '0x9' },
    stateOverrides: state,
    calls: [{ from, to: from, value: '0x1' }],
  };
  const options = {
    blockStateCalls: [simulated],
    traceTransfers: true,
    validation: false,
    returnFullTransactions: true,
  };
  const [{ baseFeePerGas, calls, transactions }] = await rpc(node, 'eth_simulateV1', [
    options,
    'latest',
  ]);
  assert.deepEqual(
    [baseFeePerGas, calls[0].status, calls[0].logs.length, transactions[0].from],
    ['0x9', '0x1', 1, from],
  );
});

both('Berlin refuses the fees of London', ['--hardfork', 'berlin'], async (node) => {
  const price = await rpc(node, 'eth_gasPrice');
  const { gasLimit: gas } = await block(node);
  const dynamic = {
    data: creation('first'),
    gas,
    maxFeePerGas: price,
    maxPriorityFeePerGas: price,
  };
  await refused(send(node, dynamic), /not supported by the current hardfork/);
  const { contractAddress: store } = await sent(node, {
    data: creation('first'),
    gas,
    gasPrice: price,
  });
  assert.equal(await text(node, store), 'first');
});

const logText = ({ topics, data }) => Store.parseLog({ topics, data }).args.text;
both(
  'logs are found by address, topic and block, and are those of the receipts',
  [],
  async (node) => {
    const store = await deployed(node);
    for (let count = 0; count < 11; count++) await sent(node, { to: store, data: set('hi') });
    const query = (filter) => rpc(node, 'eth_getLogs', [filter]);
    const byAuthor = { address: store, topics: [null, ethers.zeroPadValue(owner, 32)] };
    assert.deepEqual(
      (await query({ ...byAuthor, fromBlock: '0x0', toBlock: '0x2' })).map(logText),
      ['first', 'hi'],
    );
    assert.deepEqual(
      (await query({ ...byAuthor, blockHash: (await block(node, '0x1')).hash })).map(logText),
      ['first'],
    );
    const all = await query({ fromBlock: 'earliest' });
    assert.equal(all.length, 12);
    assert.deepEqual(
      (await Promise.all(all.map((log) => mined(node, log.transactionHash)))).flatMap(
        ({ logs }) => logs,
      ),
      all,
    );
    await refused(query({ blockHash: word(1) }), /unknown block/);
  },
);

both(
  'log filters and subscriptions yield what receipts hold, for any kind of sender',
  [],
  async (node) => {
    const store = await deployed(node);
    const from = anyone();
    const { take, subscribe } = await connect(node);
    await rpc(node, 'anvil_setBalance', [from, hex(ether)]);
    await rpc(node, 'anvil_impersonateAccount', [from]);
    const filter = await rpc(node, 'eth_newFilter', [{ address: store }]);
    await subscribe('logs', { address: store });
    for (const [index, kind] of [{}, { gasPrice: fees.maxFeePerGas }, { from }].entries()) {
      const { logs } = await sent(node, { to: store, data: set(String(index)), ...kind });
      const changes = await until(() =>
        rpc(node, 'eth_getFilterChanges', [filter]).then((found) => found.length && found),
      );
      assert.deepEqual([changes, await take(1)], [logs, logs]);
      assert.deepEqual(
        [logText(logs[0]), logs[0].blockHash],
        [String(index), (await block(node, hex(index + 2))).hash],
      );
      assert.equal(ethers.dataSlice(logs[0].topics[1], 12), kind.from ?? owner);
    }
  },
);

const heads = async (taken) => (await taken).map(({ number }) => Number(number));
both('new heads are announced in order, however fast', [], async (node) => {
  const { request, subscribe, take } = await connect(node);
  await subscribe('newHeads');
  for (let number = 1; number <= 1000; number++) {
    await request('evm_mine');
    assert.deepEqual(await heads(take(1)), [number]);
  }
  await request('evm_setIntervalMining', [1]);
  assert.deepEqual(await heads(take(3)), [1001, 1002, 1003]);
});
both(
  'new heads are announced at the interval of the command line',
  ['--block-time', '1'],
  async (node) => {
    const { subscribe, take } = await connect(node);
    await subscribe('newHeads');
    assert.deepEqual(await heads(take(3)), [1, 2, 3]);
  },
);

const folder = mkdtempSync(path.join(tmpdir(), 'anvil-ipc-'));
after(() => rmSync(folder, { recursive: true }));
both(
  'a Unix socket reads the height and announces blocks',
  ['--ipc', path.join(folder, 'ipc')],
  async (node) => {
    const client = createPublicClient({ transport: ipc(path.join(folder, 'ipc')) });
    assert.equal(await client.getBlockNumber(), 0n);
    const bus = new EventEmitter();
    const notifications = on(bus, 'head');
    await client.transport.subscribe({
      params: ['newHeads'],
      onData: ({ result }) => bus.emit('head', result),
      onError: assert.fail,
    });
    await rpc(node, 'evm_setIntervalMining', [1]);
    for (const number of [1, 2, 3])
      assert.equal(Number((await notifications.next()).value[0].number), number);
    (await client.transport.getRpcClient()).close();
  },
);

both(
  'typed data is signed as by a wallet, with numbers as texts and members beyond the type',
  [],
  async (node) => {
    const fields = (names) => Object.entries(names).map(([name, type]) => ({ name, type }));
    const EIP712Domain = fields({
      name: 'string',
      version: 'string',
      chainId: 'uint256',
      verifyingContract: 'address',
    });
    const types = {
      Order: fields({
        from: 'Person',
        items: 'Item[]',
        kind: 'uint8',
        salt: 'uint256',
        zone: 'bytes32',
        note: 'string',
      }),
      Person: fields({ name: 'string', wallet: 'address' }),
      Item: fields({ token: 'address', identifier: 'uint256' }),
    };
    const items = [
      { token: other, identifier: String(2n ** 255n + 1n) },
      { token: third, identifier: '0' },
    ];
    const message = {
      from: { name: 'Cow', wallet: owner },
      items,
      kind: '3',
      salt: '1617',
      zone: word(0),
      note: 'Hello!',
      total: '2',
    };
    for (const chainId of [1, '1', '137']) {
      const domain = { name: 'Seaport', version: '1.1', chainId, verifyingContract: owner };
      const data = { domain, message, primaryType: 'Order', types: { EIP712Domain, ...types } };
      assert.equal(
        await rpc(node, 'eth_signTypedData_v4', [owner, data]),
        await wallets[0].signTypedData(domain, types, message),
      );
    }
  },
);

both('a transaction is signed although its tip is above its fee', [], async (node) => {
  const request = {
    from: owner,
    to: other,
    nonce: '0xa',
    maxFeePerGas: '0x64',
    maxPriorityFeePerGas: '0x65',
    value: '0x3e9',
  };
  const fields = '0x02f866827a690a65648252089470997970c51812dc3a010c7d01b50e0d17dc79c88203e980c0';
  const r = 'e4de88aefcf87ccb04466e60de66a83192e46aa26177d5ea35efbfd43fd0ecdc';
  const s = '0e3148e0e8e0b9a6f9b329efd6e30c4a461920f3a27497be3dbefaba996601da';
  assert.equal(await rpc(node, 'eth_signTransaction', [request]), `${fields}01a0${r}a0${s}`);
});

both('transactions for another chain are refused', [], async (node) => {
  for (const chainId of [1, 99]) {
    const raw = await wallets[0].signTransaction({
      type: 2,
      to: other,
      nonce: 0,
      gasLimit: 21_000,
      chainId,
      ...fees,
    });
    await refused(rpc(node, 'eth_sendRawTransaction', [raw]), /chain/i);
  }
});

// The commitment of a polynomial that is everywhere k is k times the generator, and its proofs are
// the point at infinity.
const infinity = `0xc0${'0'.repeat(94)}`;
const multiples = [
  '97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb',
  'a572cbea904d67468808c8eb50a9450c9721db309128012543902d0ac358a62ae28f75bb8f1c7c42c39a8c5529bf0f4e',
  '89ece308f9d1f0131765212deca99697b112d61f9be9a5f1f3780a51335b3ff981747a0b2ca2179b96d2c0c9024e5224',
].map((point) => `0x${point}`);
const versioned = (k) => `0x01${ethers.sha256(multiples[k - 1]).slice(4)}`;
const blob = (k) => `0x${word(k).slice(2).repeat(4096)}`;
const sidecar = (count, k = 1, proofs = { proofs: Array(count).fill(infinity) }) => ({
  blobs: Array(count).fill(blob(k)),
  commitments: Array(count).fill(multiples[k - 1]),
  ...proofs,
});
const blobFees = { to: other, ...fees, maxFeePerBlobGas: '0x77359401' };
const blobGas = (count) => hex(count * 131_072);
const cancun = ['--hardfork', 'cancun'];

both('Cancun takes one to six blobs in a transaction', cancun, async (node) => {
  const genesis = await block(node);
  assert.deepEqual([genesis.blobGasUsed, genesis.excessBlobGas], ['0x0', '0x0']);
  for (const count of [1, 6]) {
    const receipt = await sent(node, { ...blobFees, value: '0x5', ...sidecar(count) });
    assert.deepEqual([receipt.blobGasUsed, receipt.blobGasPrice], [blobGas(count), '0x1']);
  }
  await refused(send(node, { ...blobFees, ...sidecar(7) }), /too many blobs/);
});

both(
  'blobs beyond the space of a block wait for the next',
  [...cancun, '--no-mining'],
  async (node) => {
    const hashes = [];
    for (const count of [4, 3]) hashes.push(await send(node, { ...blobFees, ...sidecar(count) }));
    for (const [index, count] of [4, 3].entries()) {
      await rpc(node, 'evm_mine');
      const { blobGasUsed, transactions } = await block(node);
      assert.deepEqual([blobGasUsed, transactions], [blobGas(count), [hashes[index]]]);
    }
  },
);

const signedBlob = async (node, k = 1) =>
  wallets[0].signTransaction({
    type: 3,
    chainId: 31337,
    nonce: Number(await nonce(node, owner, 'pending')),
    gasLimit: 21_000,
    ...blobFees,
    blobs: [{ data: blob(k), commitment: multiples[k - 1], proof: infinity }],
  });
both('the node fills in the fees of a blob transaction', cancun, async (node) => {
  const receipt = await sent(node, { from: undefined, to: other, ...sidecar(1) });
  assert.deepEqual([receipt.from, receipt.to, receipt.blobGasUsed], [owner, other, blobGas(1)]);
  assert.ok(
    BigInt(
      (await rpc(node, 'eth_getTransactionByHash', [receipt.transactionHash])).maxFeePerBlobGas,
    ) >= 1n,
  );
});
both('a wallet signs a blob transaction', cancun, async (node) => {
  const receipt = await sentRaw(node, await signedBlob(node));
  assert.deepEqual([receipt.from, receipt.to, receipt.blobGasUsed], [owner, other, blobGas(1)]);
});

both(
  'blobs are found by transaction and by versioned hash',
  ['--hardfork', 'prague'],
  async (node) => {
    const { transactionHash } = await sentRaw(node, await signedBlob(node));
    assert.deepEqual(await rpc(node, 'anvil_getBlobsByTransactionHash', [transactionHash]), [
      blob(1),
    ]);
    assert.equal(await rpc(node, 'anvil_getBlobByHash', [versioned(1)]), blob(1));
  },
);
both('Osaka takes blobs with cell proofs', ['--hardfork', 'osaka'], async (node) => {
  const { transactionHash } = await sent(node, {
    to: other,
    ...sidecar(1, 1, { cellProofs: Array(128).fill(infinity) }),
  });
  assert.deepEqual(await rpc(node, 'anvil_getBlobsByTransactionHash', [transactionHash]), [
    blob(1),
  ]);
});

both(
  'an impersonated blob transaction needs no blobs',
  [...cancun, '--auto-impersonate'],
  async (node) => {
    const from = anyone();
    await rpc(node, 'anvil_setBalance', [from, hex(ether)]);
    const receipt = await sent(node, {
      ...blobFees,
      from,
      nonce: '0x0',
      type: '0x3',
      blobVersionedHashes: [versioned(1)],
    });
    assert.deepEqual([receipt.status, receipt.type], ['0x1', '0x3']);
  },
);

both(
  'the beacon API has the blobs of a block and the genesis',
  [...cancun, '--no-mining'],
  async (node) => {
    for (const k of [1, 2, 3])
      await rpc(node, 'eth_sendRawTransaction', [await signedBlob(node, k)]);
    await rpc(node, 'evm_mine');
    const get = (route, headers) => fetch(`${node.rpc}/eth/v1/beacon/${route}`, { headers });
    const json = async (route) => (await get(route)).json();
    const data = [1, 2, 3].map(blob);
    assert.deepEqual(await json('blobs/1'), {
      execution_optimistic: false,
      finalized: false,
      data,
    });
    const binary = await get('blobs/1', { accept: 'application/octet-stream' });
    assert.equal(binary.headers.get('content-type'), 'application/octet-stream');
    assert.equal(ethers.hexlify(new Uint8Array(await binary.arrayBuffer())), ethers.concat(data));
    for (const [hashes, found] of [
      [[versioned(2)], [blob(2)]],
      [
        [versioned(1), versioned(3)],
        [blob(1), blob(3)],
      ],
      [[word(1)], []],
    ]) {
      assert.deepEqual((await json(`blobs/1?versioned_hashes=${hashes}`)).data, found);
    }
    for (const id of ['latest', 'finalized', 'safe', 'earliest', '0x1'])
      assert.equal((await get(`blobs/${id}`)).status, 200);
    for (const id of ['pending', '999999']) assert.equal((await get(`blobs/${id}`)).status, 404);
    const message =
      'This endpoint is deprecated. Use `GET /eth/v1/beacon/blobs/{block_id}` instead.';
    assert.deepEqual(await json('blob_sidecars/latest'), { code: 410, message });
    const { data: genesis } = await json('genesis');
    assert.ok(genesis.genesis_time > 0);
    assert.deepEqual(
      [genesis.genesis_validators_root, genesis.genesis_fork_version],
      [word(0), '0x00000000'],
    );
  },
);

for (const kind of ['signed', 'impersonated']) {
  both(
    `a delegation with an authorization that is ${kind} runs its code as the account`,
    ['--hardfork', 'prague'],
    async (node) => {
      // The code logs its input.
      const address = await deployed(node, '0x66365f5f37365fa05f5260076019f3');
      const authorize = async () => {
        const unsigned = { address, chainId: 31337, nonce: Number(await nonce(node, owner)) };
        if (kind === 'signed') return wallets[0].authorize(unsigned);
        const signature = ethers.Signature.from({ r: word(0), s: word(0), yParity: 1 });
        await rpc(node, 'anvil_impersonateSignature', [[signature.serialized, owner]]);
        return { ...unsigned, signature };
      };
      const request = {
        type: 4,
        to: owner,
        gasLimit: 100_000,
        data: '0x11112222',
        ...fees,
        chainId: 31337,
      };
      const check = ({ logs: [log] }) =>
        assert.deepEqual([log.address, log.topics, log.data], [owner, [], '0x11112222']);
      check(
        await sentRaw(
          node,
          await wallets[1].signTransaction({ ...request, authorizationList: [await authorize()] }),
        ),
      );
      const {
        signature: { yParity, r, s },
        ...rest
      } = await authorize();
      const authorizationList = [
        { ...rest, chainId: hex(31337), nonce: hex(rest.nonce), yParity: hex(yParity), r, s },
      ];
      await rpc(node, 'anvil_impersonateAccount', [other]);
      check(
        await sent(node, {
          from: other,
          to: owner,
          gas: hex(100_000),
          data: '0x11112222',
          ...fees,
          authorizationList,
        }),
      );
    },
  );
}

const history = '0x0000f90827f1c53a10cb7a02335b175320002935';
both(
  'Prague keeps the hashes of parents in the history contract',
  ['--hardfork', 'prague'],
  async (node) => {
    assert.notEqual(await rpc(node, 'eth_getCode', [history, 'latest']), '0x');
    assert.equal(await rpc(node, 'eth_getStorageAt', [history, '0x0', 'latest']), word(0));
    await rpc(node, 'anvil_mine', ['0x3']);
    assert.equal(await call(node, history, word(1)), (await block(node, '0x1')).hash);
  },
);
both('Cancun has no history contract', cancun, async (node) => {
  assert.equal(await rpc(node, 'eth_getCode', [history, 'latest']), '0x');
});

/** The value that a Merkle proof gives the key under the root; null if it proves absence. */
function proven(root, key, proof) {
  const walk = (node, nibbles, [encoded, ...rest]) => {
    if (node === '0x') return null;
    if (typeof node === 'string') {
      assert.equal(ethers.keccak256(encoded), node);
      return walk(ethers.decodeRlp(encoded), nibbles, rest);
    }
    if (node.length === 17)
      return walk(node[parseInt(nibbles[0], 16)], nibbles.slice(1), [encoded, ...rest]);
    const kind = parseInt(node[0][2], 16);
    const part = node[0].slice(kind & 1 ? 3 : 4);
    if (!nibbles.startsWith(part)) return null;
    return kind & 2
      ? ethers.decodeRlp(node[1])
      : walk(node[1], nibbles.slice(part.length), [encoded, ...rest]);
  };
  return walk(root, ethers.keccak256(key).slice(2), proof);
}
both('proofs hold for accounts and slots, present and absent', [], async (node) => {
  const accounts = Array.from({ length: 14 }, anyone);
  const balances = ['0x1', hex(45n * ether), hex((11n * ether) / 10n), hex(ether / 8n)];
  for (const [index, balance] of balances.entries())
    await rpc(node, 'anvil_setBalance', [accounts[index], balance]);
  for (let slot = 1; slot < 64; slot++)
    await rpc(node, 'anvil_setStorageAt', [accounts[0], hex(slot), word(slot * 1000)]);
  await rpc(node, 'evm_mine');
  const { stateRoot } = await block(node);
  const prove = (account, slots = []) => rpc(node, 'eth_getProof', [account, slots, 'latest']);
  for (const [index, account] of accounts.entries()) {
    const { accountProof, storageHash, codeHash } = await prove(account);
    const leaf = balances[index]
      ? ['0x', ethers.toBeHex(balances[index]), storageHash, codeHash]
      : null;
    assert.deepEqual(proven(stateRoot, account, accountProof), leaf);
  }
  const { storageHash, storageProof } = await prove(
    accounts[0],
    [0x22, 0x23, 0x24, 0x100].map(word),
  );
  for (const { key, value, proof } of storageProof) {
    assert.equal(
      proven(storageHash, word(key), proof),
      BigInt(key) < 64n ? ethers.toBeHex(value) : null,
    );
    assert.equal(BigInt(value), BigInt(key) < 64n ? BigInt(key) * 1000n : 0n);
  }
});
