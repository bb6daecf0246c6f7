// Tracers in JavaScript: those that go-ethereum documents and those of bundlers, and scripts that
// attack the node.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { rpc, start } from './support/node.mjs';

const owner = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
// Adds one to slot 0.
const counter = `0x${'d0'.padStart(40, '0')}`;
// Hashes a word, calls the counter and the identity precompile, and stores the hash of the block
// before.
const caller = `0x${'c0'.padStart(40, '0')}`;
const codes = {
  [counter]: '0x5f546001015f5500',
  [caller]: `0x60205f20505f5f5f5f5f73${counter.slice(2)}5af1505f5f5f5f60045afa5060014303405f5500`,
};
// Endless, so that only the gas limits its steps.
const endless = `0x${'e0'.padStart(40, '0')}`;
codes[endless] = '0x5b5f56';
let node, hash, receipt;

const traced = (script, options) =>
  rpc(node, 'debug_traceTransaction', [hash, { tracer: script, ...options }]);
const called = (script, options, to = counter) =>
  rpc(node, 'debug_traceCall', [{ to }, 'latest', { tracer: script, ...options }]);
const returning = (expression) => `{ fault() {}, result(context, db) { return ${expression} } }`;
/** The message of the error of a call of `to` with this script. */
async function failure(script, options, to) {
  return called(script, options, to).then(
    (result) => assert.fail(`returned ${JSON.stringify(result).slice(0, 100)}`),
    (error) => error.data ?? error.message,
  );
}

before(async () => {
  node = await start();
  for (const [address, code] of Object.entries(codes))
    await rpc(node, 'anvil_setCode', [address, code]);
  hash = await rpc(node, 'eth_sendTransaction', [{ from: owner, to: caller, gas: '0x30000' }]);
  receipt = await rpc(node, 'eth_getTransactionReceipt', [hash]);
  assert.equal(receipt.status, '0x1');
});
after(() => node.stop());

test('counts opcodes and gas as the opcode tracer does', async () => {
  const { structLogs, gas } = await rpc(node, 'debug_traceTransaction', [hash]);
  const seen = await traced(`{
        counts: {}, steps: [],
        step: function (log) {
            var op = log.op.toString();
            this.counts[op] = (this.counts[op] || 0) + 1;
            this.steps.push({ pc: log.getPC(), op: op, depth: log.getDepth(), gas: log.getGas(), gasCost: log.getCost(), top: log.stack.length() ? '0x' + log.stack.peek(0).toString(16) : null });
        },
        fault: function (log) {},
        result: function (ctx) { return { counts: this.counts, steps: this.steps, gasUsed: ctx.gasUsed, type: ctx.type, to: toHex(ctx.to), value: ctx.value } },
    }`);
  const expected = {};
  for (const { op } of structLogs) expected[op] = (expected[op] ?? 0) + 1;
  assert.deepEqual(seen.counts, expected);
  assert.deepEqual(
    seen.steps.map(({ pc, op, depth, gas, top }) => ({ pc, op, depth, gas, top })),
    structLogs.map(({ pc, op, depth, gas, stack }) => ({
      pc,
      op,
      depth,
      gas,
      top: stack.at(-1) ?? null,
    })),
  );
  assert.equal(seen.gasUsed, Number(receipt.gasUsed));
  assert.equal(seen.gasUsed, gas);
  assert.deepEqual([seen.type, seen.to, String(seen.value)], ['CALL', caller, '0']);
});

test('follows calls with enter and exit as the call tracer does', async () => {
  const expected = await traced('callTracer');
  const seen = await traced(`{
        stack: [{ calls: [] }],
        enter: function (frame) {
            this.stack.push({ type: frame.getType(), from: toHex(frame.getFrom()), to: toHex(frame.getTo()), input: toHex(frame.getInput()), gas: '0x' + frame.getGas().toString(16), calls: [] });
        },
        exit: function (result) {
            var frame = this.stack.pop();
            frame.gasUsed = '0x' + result.getGasUsed().toString(16);
            this.stack[this.stack.length - 1].calls.push(frame);
        },
        fault: function () {},
        result: function () { return this.stack[0].calls },
    }`);
  const fields = ({ type, from, to, input, gas, gasUsed }) => ({
    type,
    from,
    to,
    input,
    gas,
    gasUsed,
  });
  assert.deepEqual(seen.map(fields), expected.calls.map(fields));
});

test('reads the state before, during and after the transaction', async () => {
  const seen = await traced(`{
        before: null,
        read: function (db) {
            var address = toAddress('${counter}');
            return [toHex(db.getState(address, toWord('0x0'))), toHex(db.getCode(address)), db.getNonce(toAddress('${owner}')), db.exists(address), db.exists(toAddress('0x1234'))];
        },
        step: function (log, db) { if (!this.before) this.before = this.read(db) },
        fault: function () {},
        result: function (ctx, db) { return [this.before, this.read(db), '0x' + db.getBalance(ctx.from).toString(16)] },
    }`);
  const [first, second] = seen;
  assert.deepEqual([first[1], first[3], first[4]], [codes[counter], true, false]);
  assert.equal(BigInt(second[0]), BigInt(first[0]) + 1n);
  const balance = await rpc(node, 'eth_getBalance', [owner, receipt.blockNumber]);
  assert.ok(BigInt(seen[2]) >= BigInt(balance), 'fees are taken at the end');
});

test('collects the data that bundlers check of a user operation (ERC-4337, ERC-7562)', async () => {
  const collector = `{
        callsFromEntryPoint: [], calls: [], keccak: [], last: '', level: null,
        topLevelTarget: function () { return { topLevelTargetAddress: null, opcodes: {}, access: {}, contractSize: {}, oog: false } },
        fault: function (log) { this.calls.push({ fault: log.op.toString(), depth: log.getDepth() }) },
        result: function () { return { callsFromEntryPoint: this.callsFromEntryPoint, keccak: this.keccak, calls: this.calls } },
        enter: function (frame) { this.calls.push({ type: frame.getType(), from: toHex(frame.getFrom()), to: toHex(frame.getTo()), method: toHex(frame.getInput()).slice(0, 10), value: frame.getValue(), gas: frame.getGas() }) },
        exit: function (frame) { this.calls.push({ type: frame.getError() != null ? 'REVERT' : 'RETURN', gasUsed: frame.getGasUsed(), data: toHex(frame.getOutput()).slice(0, 4000) }) },
        step: function (log, db) {
            var op = log.op.toString();
            if (log.getDepth() === 1) {
                if (op === 'CALL' || op === 'STATICCALL') {
                    this.level = this.topLevelTarget();
                    this.level.topLevelTargetAddress = toHex(toAddress(log.stack.peek(1).toString(16)));
                    this.callsFromEntryPoint.push(this.level);
                }
                if (op === 'KECCAK256' || op === 'SHA3') {
                    var offset = parseInt(log.stack.peek(0).toString()), length = parseInt(log.stack.peek(1).toString());
                    this.keccak.push(toHex(log.memory.slice(offset, offset + length)));
                }
                return;
            }
            if (op === 'SLOAD' || op === 'SSTORE') {
                var slot = toWord(log.stack.peek(0).toString(16)), slotHex = toHex(slot), address = log.contract.getAddress(), addressHex = toHex(address);
                var access = this.level.access[addressHex] || (this.level.access[addressHex] = { reads: {}, writes: {} });
                if (op === 'SLOAD') access.reads[slotHex] = toHex(db.getState(address, slot));
                else access.writes[slotHex] = (access.writes[slotHex] || 0) + 1;
            }
            this.level.opcodes[op] = (this.level.opcodes[op] || 0) + 1;
        },
    }`;
  const slot = `0x${'0'.repeat(64)}`;
  for (const seen of [await traced(collector), await called(collector, {}, caller)]) {
    const [first, second] = seen.callsFromEntryPoint;
    assert.deepEqual(
      [first.topLevelTargetAddress, second.topLevelTargetAddress],
      [counter, `0x${'4'.padStart(40, '0')}`],
    );
    assert.deepEqual(first.opcodes, { PUSH0: 2, SLOAD: 1, PUSH1: 1, ADD: 1, SSTORE: 1, STOP: 1 });
    assert.equal(first.access[counter].writes[slot], 1);
    assert.ok(slot in first.access[counter].reads);
    assert.deepEqual(seen.keccak, [slot]);
    assert.deepEqual(
      seen.calls.map(({ type }) => type),
      ['CALL', 'RETURN', 'STATICCALL', 'RETURN'],
    );
  }
});

test('has its position in the block and its configuration', async () => {
  const place =
    '{ fault() {}, result(ctx) { return [toHex(ctx.blockHash), toHex(ctx.txHash), ctx.txIndex, ctx.block] } }';
  const expected = [receipt.blockHash, hash, 0, Number(receipt.blockNumber)];
  assert.deepEqual(await traced(place), expected);
  const [{ result, txHash }] = await rpc(node, 'debug_traceBlockByHash', [
    receipt.blockHash,
    { tracer: place },
  ]);
  assert.deepEqual([result, txHash], [expected, hash]);
  const configured =
    '{ setup: function (config) { this.config = JSON.parse(config) }, fault: function () {}, result: function () { return this.config.names[1] } }';
  assert.equal(await traced(configured, { tracerConfig: { names: ['a', 'b'] } }), 'b');
});

test('reports the errors of scripts', async () => {
  const script = (members) => `{ fault() {}, result() { return 1 }, ${members} }`;
  for (const [code, expected] of [
    [
      script("step() { throw new Error('boom') }"),
      /^Error: boom in server-side tracer function 'step'$/,
    ],
    [script('step(log) { log.stack.peek(100) }'), /in server-side tracer function 'step'$/],
    [script('exit() {}'), /either both or none of enter\(\) and exit\(\)/],
    [script('step() { throw { toString() { throw 1 } } }'), /an error without text/],
    [
      returning('(() => { const a = []; a.push(a); return a })()'),
      /in server-side tracer function 'result'$/,
    ],
    ['{ fault() {} }', /must expose a function result\(\)/],
    ['{ step( }', /SyntaxError/],
    ['(', /SyntaxError/],
  ])
    assert.match(await failure(code), expected, code);
  assert.equal(await called(returning('undefined')), null);
  let nested = await called(
    returning('(() => { let at = 0; for (let i = 0; i < 1024; i++) at = [at]; return at })()'),
  );
  let depth = 0;
  for (; Array.isArray(nested); [nested] = nested) depth += 1;
  assert.equal(depth, 1024);
});

test('stops endless scripts', async () => {
  const timeout = '500ms';
  const loop = 'while (true) {}';
  for (const [script, to] of [
    [`{ step() { ${loop} }, fault() {}, result() {} }`],
    [`{ fault() {}, result() { ${loop} } }`],
    [`{ enter() { ${loop} }, exit() {}, fault() {}, result() {} }`, caller],
    // Each function has iterations of its own.
    [
      '{ setup() { const f = (n) => { for (let i = 0; i < 1e5; i++) n && f(n - 1) }; f(4) }, fault() {}, result() {} }',
    ],
    ['(() => { const f = (n) => { for (let i = 0; i < 1e5; i++) n && f(n - 1) }; f(4) })()'],
    ['{ fault() {}, result() { const f = (n) => { while (n) f(n - 1) }; f(50) } }'],
    ['{ fault() {}, result() { return { toJSON() { while (true) {} } } } }'],
    ["{ fault() {}, result() { return /(a*)*b/.test('a'.repeat(100)) } }"],
    ['{ fault() {}, result() { return [3n ** 30000000n].length } }'],
    // Slow steps of an execution that takes all its gas.
    ['{ step() { for (let i = 0; i < 1000; i++); }, fault() {}, result() {} }', endless],
  ])
    assert.match(
      await failure(script, { timeout }, to),
      /execution timeout after 500ms|RangeError/,
      script,
    );
  // The limit of the node itself.
  assert.match(await failure(returning(`(() => { ${loop} })()`)), /execution timeout after 5s/);
});

test('stops scripts that fill the memory', async () => {
  for (const script of [
    returning("'a'.repeat(2 ** 29).length"),
    returning("'a'.repeat(2 ** 30)"),
    returning('new Array(2 ** 28).fill(1)'),
    returning(
      '(() => { const all = []; while (true) all.push(new Uint8Array(1 << 24).fill(1)) })()',
    ),
    returning('(() => { const all = new Map(); for (let i = 0; ; i++) all.set(i, {}) })()'),
    returning("(() => { let text = 'a'; while (true) text += text })()"),
    '(() => { const all = []; const f = (n) => { for (let i = 0; i < 1e5; i++) n ? f(n - 1) : all.push({ i }) }; f(3) })()',
    '{ all: [], fault() {}, result() {}, step(log) { for (let i = 0; i < 1e4; i++) this.all.push({ i }) } }',
    '{ fault() {}, result() { const f = () => f() + 1; return f() } }',
    '{ fault() {}, result() { const o = { get x() { return this.x + 1 } }; return o.x } }',
  ]) {
    const message = await failure(script, { timeout: '60s' }, endless);
    assert.match(
      message,
      /more than 256 MiB of memory|execution timeout after 5s|RangeError|too deeply|recursive calls/,
      script,
    );
  }
  assert.match(
    await failure(returning("'a'.repeat(70e6)")),
    /the trace exceeds 67108864 bytes; return less from result\(\)|more than 256 MiB/,
  );
});

// The following tests inspect processes.
const isLinux = { skip: process.platform !== 'linux' && 'needs /proc' };
const stat = (pid) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
const rss = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
function children(parent) {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && Number(stat(pid)[1]) === parent;
    } catch {
      return false;
    }
  });
}
/** Waits until `check` returns something. */
async function until(check) {
  for (;;) {
    const result = check();
    if (result) return result;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('serves other clients while many scripts attack it, within its memory', isLinux, async () => {
  const before = rss(node.child.pid);
  const scripts = [
    returning('(() => { while (true) {} })()'),
    returning(
      '(() => { const all = []; while (true) all.push(new Uint8Array(1 << 20).fill(1)) })()',
    ),
    returning("'a'.repeat(60e6)"),
  ];
  let most = 0,
    processes = 0,
    ended = 0,
    served = 0;
  const attack = (script) =>
    called(script, { timeout: '2s' })
      .catch((error) => error.message)
      .finally(() => (ended += 1));
  const attacks = Array.from({ length: 24 }, (_, i) => attack(scripts[i % 3]));
  const watched = (async () => {
    while (ended < attacks.length) {
      await rpc(node, 'eth_call', [{ to: counter }]);
      await rpc(node, 'eth_blockNumber');
      if (ended < attacks.length) served += 1;
      most = Math.max(most, rss(node.child.pid));
      processes = Math.max(processes, children(node.child.pid).length);
    }
  })();
  await Promise.all(attacks);
  await watched;
  assert.ok(served > 0, 'others were served only after the attack');
  const { availableParallelism } = await import('node:os');
  assert.ok(processes <= Math.max(2, availableParallelism()), `${processes} processes`);
  // Results of 64 MiB each are passed on by as many threads as processes may run.
  assert.ok(most - before < 1_500_000, `grew by ${most - before} kB`);
  await until(() => children(node.child.pid).length === 0);
});

test('cancels a script whose client has disconnected', isLinux, async () => {
  const gone = new AbortController();
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'debug_traceCall',
    params: [{ to: counter }, 'latest', { tracer: returning('(() => { while (true) {} })()') }],
  });
  const request = fetch(node.rpc, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: gone.signal,
  });
  await until(() => children(node.child.pid).length === 1);
  gone.abort();
  await assert.rejects(request);
  await until(() => children(node.child.pid).length === 0);
});

test('leaves no process when the node is killed', isLinux, async () => {
  const killed = await start();
  await rpc(killed, 'anvil_setCode', [counter, codes[counter]]);
  const requests = Array.from({ length: 2 }, () =>
    rpc(killed, 'debug_traceCall', [
      { to: counter },
      'latest',
      { tracer: returning('(() => { while (true) {} })()') },
    ]).catch(() => {}),
  );
  const pids = await until(() => {
    const pids = children(killed.child.pid);
    return pids.length === 2 && pids;
  });
  // They inherit neither files nor environment of the node.
  const inherited = readdirSync('/proc/self/fd');
  for (const pid of pids) {
    const own = readdirSync(`/proc/${pid}/fd`).filter(
      (fd) => Number(fd) > 2 && !inherited.includes(fd),
    );
    assert.deepEqual(own, []);
    assert.doesNotMatch(readFileSync(`/proc/${pid}/environ`, 'utf8'), /PATH=/);
  }
  killed.child.kill('SIGKILL');
  await Promise.all(requests);
  await until(() =>
    pids.every((pid) => {
      try {
        // A zombie has ended; its new parent has not collected it yet.
        return stat(pid)[0] === 'Z';
      } catch {
        return true;
      }
    }),
  );
  await killed.stop();
});
