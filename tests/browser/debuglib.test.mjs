// Source maps, storage layouts and steps of the debugger, with the compiler's output for a
// contract. Needs no browser and no node.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { debugInfo } from '../../crates/page/src/page/lib/debuginfo.js';
import { ofCall } from '../../crates/page/src/page/lib/debugsession.js';
import {
  CodeLines,
  instructionNumbers,
  readSourceMap,
  SourceFile,
} from '../../crates/page/src/page/lib/sourcemap.js';
import { failingStep, Stops } from '../../crates/page/src/page/lib/stepping.js';
import { keysBySlot, variables } from '../../crates/page/src/page/lib/storagelayout.js';
import {
  readSteps,
  slotsUsed,
  Steps,
  writtenBefore,
} from '../../crates/page/src/page/lib/steptrace.js';
import { keccak256 } from '../../crates/page/src/page/vendor/ethers.js';

const build = JSON.parse(readFileSync(new URL('contracts/bank.json', import.meta.url), 'utf8'));
const [FILE] = Object.keys(build.input.sources);
const SOURCE = build.input.sources[FILE].content;
const { Bank, Limits } = build.output.contracts[FILE];

const word = (number) => `0x${BigInt.asUintN(256, BigInt(number)).toString(16).padStart(64, '0')}`;
const join = (...words) => `0x${words.map((one) => one.slice(2)).join('')}`;
const lineOf = (text) => 1 + SOURCE.split('\n').findIndex((line) => line.includes(text));

test('entries of a source map inherit omitted fields', () => {
  const { starts, files, jumps } = readSourceMap('10:5:0:-:0;;20:1;:::i;3:1:2:o;-1:-1:-1;4', 8);
  assert.deepEqual([...starts], [10, 10, 20, 20, 3, -1, 4, -1]);
  assert.deepEqual([...files], [0, 0, 0, 0, 2, -1, -1, -1]);
  assert.deepEqual([...jumps], [0, 0, 0, 1, -1, -1, -1, 0]);
});

test('the data of a push is not an instruction', () => {
  // PUSH2 0x6161, ADD, PUSH1 at the end without its data.
  assert.deepEqual([...instructionNumbers('0x6161610160')], [0, -1, -1, 1, 2, 3]);
});

test('lines are found by byte offsets, also after characters of several bytes', () => {
  const file = new SourceFile('a.sol', '// é €\ncontract A {\n\tuint a; // 𝄞\n}');
  const offset = (text) => Buffer.from(file.text.slice(0, file.text.indexOf(text))).length;
  assert.equal(file.lineAt(0), 1);
  assert.equal(file.lineAt(offset('contract')), 2);
  assert.equal(file.lineAt(offset('uint')), 3);
  assert.equal(file.lineAt(offset('}')), 4);
  assert.equal(file.lineAt(10_000), 0);
  assert.ok(file.isWholeContract(offset('contract')));
  assert.ok(!file.isWholeContract(offset('uint')));
});

test('instructions of compiled code lead to their lines', () => {
  const files = new Map([[build.output.sources[FILE].id, new SourceFile(FILE, SOURCE)]]);
  const code = `0x${Limits.evm.deployedBytecode.object}`;
  const lines = new CodeLines(code, Limits.evm.deployedBytecode.sourceMap, files);
  const numbers = instructionNumbers(code);
  const places = [...numbers.keys()]
    .filter((at) => numbers[at] >= 0)
    .map((at) => lines.placeAt(at))
    .filter(Boolean);
  assert.deepEqual([...new Set(places.map(({ file }) => file.path))], [FILE]);
  const found = new Set(places.map(({ line }) => line));
  assert.ok(found.has(lineOf('if (amount > limit)')));
  assert.ok(found.has(lineOf('revert TooLarge')));
  assert.ok(!found.has(lineOf('contract Limits')));
  assert.equal(lines.placeAt(1_000_000), null);
  assert.equal(lines.jumpAt(1_000_000), 0);
});

test('hostile source maps and sources are read within limits', () => {
  const file = new SourceFile('a.sol', 'x'.repeat(1_000_000));
  for (const map of [
    '',
    ';',
    ':::::;'.repeat(10),
    `${'9'.repeat(1_000_000)}:1:0`,
    '-5:0:0;0x10:1:0;1e3:1:0',
    '1:1:99;1:1:-7',
    ';'.repeat(1_000_000),
    '\0\u202e:a:b',
  ]) {
    const lines = new CodeLines('0x6001600201', map, new Map([[0, file]]));
    for (const at of [0, 1, 2, 3, 4, 5])
      assert.ok([null, 1].includes(lines.placeAt(at)?.line ?? null));
  }
});

/** The variables of the contract with these words by slot. */
function read(words, { layout = Bank.storageLayout, preimages = {}, used = [] } = {}) {
  const found = variables(layout, {
    read: (slot) => words[slot] ?? word(0),
    keys: keysBySlot(preimages),
    used: new Set(used),
  });
  return { ...found, values: Object.fromEntries(found.rows.map(({ name, text }) => [name, text])) };
}

test('variables that share a slot, arrays, strings and structs have their values by name', () => {
  const owner = '0x90f79bf6eb2c4f870365e785982e1f101e93b906';
  const packed = (1n << 200n) | (1n << 192n) | (7n << 128n) | 5_000n;
  const offsets = (0xfed4n << 32n) | (2n << 16n) | 0xffffn;
  const text = Buffer.from('A bank');
  const words = {
    [word(0)]: word(packed),
    [word(1)]: word(owner),
    [word(3)]: word(offsets),
    [word(4)]:
      `0x${text.toString('hex').padEnd(62, '0')}${(2 * text.length).toString(16).padStart(2, '0')}`,
    [word(5)]: word(2),
    [keccak256(word(5))]: word(11),
  };
  const { values, rows, isComplete } = read(words);
  assert.deepEqual(
    [values.total, values.count, values.open, values.status, values.owner],
    ['5000', '7', 'true', '1', owner],
  );
  assert.deepEqual(
    [values['offsets[0]'], values['offsets[1]'], values['offsets[2]']],
    ['-1', '2', '-300'],
  );
  assert.equal(values.name, '"A bank"');
  assert.deepEqual(
    [values['history.length'], values['history[0]'], values['history[1]']],
    ['2', '11', '0'],
  );
  assert.equal(rows.find(({ name }) => name === 'owner').kind, 'address');
  assert.equal(rows.find(({ name }) => name === 'count').type, 'uint64');
  assert.ok(isComplete);
});

test('elements of mappings are those whose keys the execution hashed and whose slots it used', () => {
  const who = word('0x90f79bf6eb2c4f870365e785982e1f101e93b906');
  const account = keccak256(join(who, word(6)));
  const inner = keccak256(join(who, word(7)));
  const tag = keccak256(join(word(5), inner));
  const note = `0x${Buffer.from('last deposit').toString('hex')}${word(8).slice(2)}`;
  const unused = join(word(1), word(6));
  const preimages = {
    [account]: join(who, word(6)),
    [inner]: join(who, word(7)),
    [tag]: join(word(5), inner),
    [keccak256(note)]: note,
    [keccak256(unused)]: unused,
  };
  const words = {
    [account]: word((1n << 192n) | (7n << 128n) | 40n),
    [tag]: word(0x70616964),
    [keccak256(note)]: word(9),
  };
  const { values } = read(words, { preimages, used: [account, tag, keccak256(note)] });
  const address = '0x90f79bf6eb2c4f870365e785982e1f101e93b906';
  assert.equal(values[`accounts[${address}].balance`], '40');
  assert.equal(values[`accounts[${address}].active`], 'true');
  assert.equal(values[`tags[${address}][5]`], '0x70616964');
  assert.equal(values['notes["last deposit"]'], '9');
  assert.equal(Object.keys(values).filter((name) => name.startsWith('accounts[')).length, 4);
});

test('long strings are read from the slots after their hash', () => {
  const text = 'a long name '.repeat(5);
  const bytes = Buffer.from(text);
  const words = { [word(4)]: word(2 * bytes.length + 1) };
  for (let at = 0; 32 * at < bytes.length; at++)
    words[word(BigInt(keccak256(word(4))) + BigInt(at))] = `0x${bytes
      .subarray(32 * at, 32 * at + 32)
      .toString('hex')
      .padEnd(64, '0')}`;
  assert.equal(read(words).values.name, JSON.stringify(text));
});

test('an unknown slot has no value', () => {
  const { rows } = variables(Bank.storageLayout, {
    read: () => null,
    keys: new Map(),
    used: new Set(),
  });
  assert.ok(rows.every(({ kind, text }) => kind === 'unknown' && text === null));
});

test('malicious layouts are decoded within limits', () => {
  const one = (type, more = {}) => ({ label: 'a', slot: '0', offset: 0, type, ...more });
  const itself = {
    encoding: 'inplace',
    label: 'struct A',
    numberOfBytes: '32',
    members: Array.from({ length: 100 }, () => one('t')),
  };
  const huge = {
    encoding: 'inplace',
    label: `uint8[${'9'.repeat(70)}]`,
    numberOfBytes: '9'.repeat(70),
    base: 'u',
  };
  const u = { encoding: 'inplace', label: 'uint8', numberOfBytes: '1' };
  const many = Array.from({ length: 5_000 }, () => one('u'));
  const layouts = [
    null,
    {},
    [],
    { storage: 1, types: 2 },
    { storage: [null, 1, {}], types: {} },
    { storage: [one('t')], types: { t: null } },
    { storage: [one('t')], types: { t: itself } },
    { storage: [one('t')], types: { t: huge, u } },
    { storage: many, types: { u } },
    { storage: [one('__proto__'), one('constructor'), one('toString')], types: {} },
    {
      storage: [
        one('u', { offset: -5 }),
        one('u', { offset: 1.5 }),
        one('u', { offset: 40 }),
        one('u', { slot: '-1' }),
        one('u', { slot: '9'.repeat(1_000) }),
      ],
      types: { u },
    },
    {
      storage: [one('m')],
      types: { m: { encoding: 'mapping', key: 'm', value: 'm', label: 'm', numberOfBytes: '32' } },
    },
    {
      storage: [one('d')],
      types: { d: { encoding: 'dynamic_array', base: 'd', label: 'd', numberOfBytes: '0' } },
    },
    {
      storage: [one('d')],
      types: { d: { encoding: 'dynamic_array', base: 'd', label: 'd[]', numberOfBytes: '32' } },
    },
  ];
  for (const layout of layouts) {
    const full = `0x${'f'.repeat(64)}`;
    const { rows } = variables(layout, {
      read: () => full,
      keys: keysBySlot({ [full]: join(full, word(0)) }),
      used: new Set([word(0), full]),
    });
    assert.ok(rows.length <= 400);
  }
});

test('structs that contain themselves are decoded within limits', () => {
  let lookups = 0;
  const itself = {
    get encoding() {
      lookups++;
      return 'inplace';
    },
    label: 'struct A',
    numberOfBytes: '32',
    members: Array.from({ length: 500 }, () => ({ label: 'a', slot: '0', offset: 0, type: 't' })),
  };
  const { rows, isComplete } = variables(
    { storage: [{ label: 'a', slot: '0', offset: 0, type: 't' }], types: { t: itself } },
    { read: () => word(0), keys: new Map(), used: new Set() },
  );
  assert.deepEqual([rows, isComplete], [[], false]);
  assert.ok(lookups < 10_000, `${lookups} lookups`);
});

test('keys of hidden mappings are decoded within limits', () => {
  const who = word(1);
  const slots = Array.from({ length: 500 }, (_, at) => word(1_000 + at));
  const preimages = Object.fromEntries(slots.map((slot) => [slot, join(who, word(0))]));
  let lookups = 0;
  const types = {
    m: { encoding: 'mapping', label: 'm', numberOfBytes: '32', key: 'k', value: 'v' },
    v: { encoding: 'inplace', label: 'v', numberOfBytes: '32' },
    get k() {
      lookups++;
      return { encoding: 'inplace', label: 'k', numberOfBytes: '32' };
    },
  };
  const storage = Array.from({ length: 400 }, () => ({
    label: 'a',
    slot: '0',
    offset: 0,
    type: 'm',
  }));
  const { rows, isComplete } = variables(
    { storage, types },
    { read: () => word(0), keys: keysBySlot(preimages), used: new Set([word(5)]) },
  );
  assert.deepEqual([rows, isComplete], [[], false]);
  assert.ok(lookups < 10_000, `${lookups} lookups`);
});

const A = `0x${'aa'.repeat(20)}`;
const B = `0x${'bb'.repeat(20)}`;
const C = `0x${'cc'.repeat(20)}`;

/**
 * An execution of A that calls B, which writes and fails, then delegates to C, which writes A's
 * slot.
 */
function nested() {
  const trace = {
    type: 'CALL',
    from: C,
    to: A,
    calls: [
      { type: 'CALL', from: A, to: B, error: 'execution reverted', output: '0x' },
      { type: 'DELEGATECALL', from: A, to: C },
    ],
  };
  const line = (depth, op, stack = []) => ({ pc: 0, op, gas: 9, gasCost: 1, depth, stack });
  const lines = [
    line(1, 'PUSH0'),
    line(1, 'CALL', [B, '0x1']),
    line(2, 'SSTORE', ['0x7', '0x0']),
    line(2, 'REVERT'),
    line(1, 'DELEGATECALL', [C, '0x1']),
    line(2, 'SLOAD', ['0x2']),
    line(2, 'SSTORE', ['0x5', '0x1']),
    line(2, 'STOP'),
    line(1, 'STOP'),
  ];
  const steps = new Steps(trace);
  steps.add(lines);
  return steps;
}

test('steps have the frames of the calls in which they ran', () => {
  const steps = nested();
  assert.deepEqual(
    steps.frames.map(({ code, account, first, last, caller, depth }) => [
      code,
      account,
      first,
      last,
      caller,
      depth,
    ]),
    [
      [A, A, 0, 8, null, 1],
      [B, B, 2, 3, 1, 2],
      [C, A, 5, 7, 4, 2],
    ],
  );
  assert.equal(steps.frame(6).code, C);
  assert.equal(steps.op(3), 'REVERT');
});

test('storage at a step excludes the writes of failed calls', () => {
  const steps = nested();
  assert.deepEqual([...writtenBefore(steps, B, 3)], [[word(0), word(7)]]);
  assert.deepEqual([...writtenBefore(steps, B, 4)], []);
  assert.deepEqual([...writtenBefore(steps, A, 6)], []);
  assert.deepEqual([...writtenBefore(steps, A, 7)], [[word(1), word(5)]]);
  assert.deepEqual([...slotsUsed(steps, A)], [word(2), word(1)]);
});

test('nested frames are visited once, however many slots they write', () => {
  const depth = 300;
  const trace = { type: 'CALL', to: A, error: 'execution reverted' };
  let innermost = trace;
  for (let at = 1; at < depth; at++) {
    innermost.calls = [{ type: 'CALL', from: A, to: A }];
    [innermost] = innermost.calls;
  }
  const line = (level, op, stack) => ({ pc: 0, op, gas: 1, gasCost: 1, depth: level, stack });
  const calls = Array.from({ length: depth - 1 }, (_, at) => line(at + 1, 'CALL', [A, '0x0']));
  const writes = Array.from({ length: 1_000 }, (_, at) =>
    line(depth, 'SSTORE', ['0x1', `0x${at.toString(16)}`]),
  );
  const found = new Steps(trace);
  const ends = Array.from({ length: depth }, (_, at) => line(depth - at, 'REVERT', []));
  found.add([...calls, ...writes, ...ends]);

  let lookups = 0;
  for (const frame of found.frames) {
    const { parent } = frame;
    Object.defineProperty(frame, 'parent', {
      get() {
        lookups++;
        return parent;
      },
    });
  }
  assert.equal(writtenBefore(found, A, found.count - 1).size, 1_000);
  assert.equal(writtenBefore(found, A, found.count).size, 0);
  assert.ok(lookups <= 2 * depth, `${lookups} lookups`);
});

test('a trace is read in parts, up to the limit', async () => {
  const asked = [];
  const endless = async ({ offset, limit }) => {
    if (limit > 1) asked.push(offset);
    return {
      structLogs: Array.from({ length: limit }, () => ({
        pc: 7,
        op: 'JUMPDEST',
        gas: 1,
        gasCost: 1,
        depth: 1,
        stack: [],
      })),
    };
  };
  const steps = await readSteps(endless, { type: 'CALL', to: A, error: 'out of gas' });
  assert.equal(steps.count, 400_000);
  assert.equal(steps.isComplete, false);
  assert.deepEqual(asked.slice(0, 3), [0, 40_000, 80_000]);
  assert.equal(steps.pc(399_999), 7);
  assert.equal(failingStep(steps, [steps.trace]), null);
});

test('a node that ignores the offset is not read in parts', async () => {
  const run = async () => ({
    structLogs: [{ pc: 0, op: 'STOP', gas: 1, gasCost: 1, depth: 1, stack: [] }],
  });
  await assert.rejects(
    readSteps(run, { type: 'CALL', to: A }),
    /does not return a part of the steps/,
  );
});

/** Lines of code whose position says the line, with entries and exits of functions by position. */
const script = (jumps = {}) => ({
  placeAt: (pc) => (pc ? { file: FILE, line: pc } : null),
  jumpAt: (pc) => jumps[pc] ?? 0,
});

function steps(...lines) {
  const found = new Steps({ type: 'CALL', to: A, calls: [{ type: 'CALL', to: B }] });
  found.add(
    lines.map(([depth, pc, op = 'ADD']) => ({
      pc,
      op,
      gas: 1,
      gasCost: 1,
      depth,
      stack: op === 'CALL' ? [B, '0x0'] : [],
    })),
  );
  return found;
}

test('steps lead into, over and out of functions and calls, and back', () => {
  // Line 1 calls a function with lines 10 and 11; line 2 calls another contract with lines 20 and
  // 21.
  const all = steps(
    [1, 1],
    [1, 1, 'JUMP'],
    [1, 10],
    [1, 11, 'JUMP'],
    [1, 2],
    [1, 2, 'CALL'],
    [2, 20],
    [2, 21],
    [1, 2],
    [1, 3],
  );
  const code = script({ 1: 1, 11: -1 });
  const stops = new Stops(all, () => code);
  const path = (step, next) => {
    const found = [step];
    for (let at = next(step); at !== found.at(-1); at = next(at)) found.push(at);
    return found;
  };
  assert.deepEqual(
    path(0, (at) => stops.into(at)),
    [0, 2, 3, 4, 6, 7, 9],
  );
  assert.deepEqual(
    path(0, (at) => stops.over(at)),
    [0, 4, 9],
  );
  assert.equal(stops.out(2), 4);
  assert.equal(stops.out(6), 9);
  assert.deepEqual(
    path(9, (at) => stops.back(at)),
    [9, 7, 6, 4, 3, 2, 0],
  );
  assert.equal(stops.placeOf(8).line, 2);
  assert.equal(
    stops.breakpoint(0, ({ line }) => line === 21),
    7,
  );
  assert.equal(
    stops.breakpoint(7, ({ line }) => line === 21),
    null,
  );
  assert.equal(
    stops.breakpoint(9, ({ line }) => line === 10, -1),
    2,
  );
});

test('without a source each instruction is a stop', () => {
  const all = steps([1, 1], [1, 2, 'CALL'], [2, 3], [2, 4], [1, 5]);
  const stops = new Stops(all, () => null);
  assert.equal(stops.byInstruction, true);
  assert.deepEqual(
    [stops.into(1), stops.over(1), stops.out(2), stops.back(1), stops.out(4)],
    [2, 4, 4, 0, 4],
  );
  assert.equal(stops.placeOf(2), null);
});

test('the failing step is the last one of the innermost call that failed', () => {
  const all = nested();
  assert.equal(failingStep(all, [all.trace, all.trace.calls[0]]), 3);
  assert.equal(failingStep(all, []), null);
});

/**
 * Answers the page's requests to the node during a test: `rpc(method, params)` returns results,
 * `sources(path)` the known source of a contract.
 */
function answering(t, { rpc, sources = () => null }) {
  t.mock.method(globalThis, 'fetch', async (path, { body } = {}) => {
    if (path.startsWith('api/')) return Response.json({ is_verified: true });
    if (path.startsWith('sourcify/')) return Response.json(sources(path));
    const requests = JSON.parse(body);
    const results = [requests]
      .flat()
      .map(({ id, method, params }) => ({ jsonrpc: '2.0', id, result: rpc(method, params) }));
    return Response.json(Array.isArray(requests) ? results : results[0]);
  });
}

const frameOf = (code) => ({ code, isCreation: false, call: {} });
const addressOf = (number) => `0x${BigInt(number).toString(16).padStart(40, '0')}`;

test('contracts whose sources are too long together are treated as ones without a source', async (t) => {
  const asked = [];
  const content = 'x'.repeat(5_000_000);
  answering(t, {
    rpc: () => '0x00',
    sources: (path) => {
      asked.push(path);
      return {
        sources: { a: { content: `${content}${asked.length}` } },
        sourceIds: { a: { id: 0 } },
      };
    },
  });
  const frames = Array.from({ length: 50 }, (_, at) => frameOf(addressOf(at + 1)));
  const { contracts } = await debugInfo(frames, new Set());
  // Responses that are read at the same time may share the remaining budget.
  assert.ok(contracts.size >= 1 && contracts.size <= 6, `${contracts.size} contracts`);
  assert.ok(asked.length <= 12, `${asked.length} responses`);
});

test('one contract whose source is too long does not affect others', async (t) => {
  const sources = (path) => ({
    compilation: { name: path.includes(A) ? 'x'.repeat(24_000_001) : 'Other' },
  });
  answering(t, { rpc: () => '0x00', sources });
  const { contracts } = await debugInfo([frameOf(A), frameOf(B)], new Set());
  assert.deepEqual(
    [...contracts].map(([address, { name }]) => [address, name]),
    [[B, 'Other']],
  );
});

test('a contract whose code a call overrides has no source, directly or as what an account delegates to', async (t) => {
  answering(t, {
    rpc: (_method, [address]) => (address === C ? `0xef0100${B.slice(2)}` : '0x00'),
    sources: () => ({}),
  });
  const { replaced } = ofCall({}, '0x1', {
    stateOverrides: {
      [B.toUpperCase().replace('X', 'x')]: { code: '0x00' },
      [A]: { balance: '0x1' },
    },
  });
  const { contracts } = await debugInfo([frameOf(A), frameOf(B), frameOf(C)], replaced);
  assert.deepEqual([...contracts.keys()], [A]);
});

test('slots of a call at a position in a block have their values before that position', async (t) => {
  const asked = [];
  const stored = { [word(1)]: word(7) };
  answering(t, {
    rpc: (method, params) => {
      asked.push([method, ...params]);
      if (method === 'eth_getStorageAt') return word(8);
      const [slot] = Object.keys(stored);
      return { storage: { [keccak256(slot)]: { key: slot, value: stored[slot] } }, nextKey: null };
    },
  });
  const within = ofCall({}, '0x9', {
    txIndex: '0x1',
    stateOverrides: { [B]: { stateDiff: { '0x1': '0x5' } } },
  });
  assert.equal(await within.readSlot(A, word(1)), word(7));
  assert.equal(await within.readSlot(A, word(2)), word(0));
  assert.equal(await within.readSlot(B, word(1)), word(5));
  assert.equal(await ofCall({}, '0x9', {}).readSlot(A, word(1)), word(8));
  assert.deepEqual(asked, [
    ['debug_storageRangeAt', '0x9', 1, A, keccak256(word(1)), 1],
    ['debug_storageRangeAt', '0x9', 1, A, keccak256(word(2)), 1],
    ['eth_getStorageAt', A, word(1), '0x9'],
  ]);
});

test('the fixture has the source of contracts/Bank.sol', () => {
  assert.equal(readFileSync(new URL('contracts/Bank.sol', import.meta.url), 'utf8'), SOURCE);
});
