// The page's encodings and formats against published vectors. Needs no browser and no node.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import {
  decode,
  decodeCall,
  decodeLog,
  encode,
  encodeCall,
  fragment,
  selector,
  signature,
  topic,
} from '../../crates/page/src/page/lib/abi.js';
import {
  checksum,
  forms,
  parseAddress,
  parseRecipient,
} from '../../crates/page/src/page/lib/address.js';
import { fromBech32, toBech32 } from '../../crates/page/src/page/lib/bech32.js';
import { toBytes, toHex } from '../../crates/page/src/page/lib/bytes.js';
import {
  amount,
  counted,
  fee,
  fromUnits,
  toUnits,
  usd,
} from '../../crates/page/src/page/lib/format.js';
import { parseExactly, parseMetadata } from '../../crates/page/src/page/lib/metadata.js';
import { joinCandles, withPrice } from '../../crates/page/src/page/lib/prices.js';
import { parseInterface } from '../../crates/page/src/page/lib/signature.js';
import { turns } from '../../crates/page/src/page/lib/turns.js';

const vectors = JSON.parse(readFileSync(new URL('../data/accounts.json', import.meta.url), 'utf8'));
const artifact = (name) =>
  readFileSync(new URL(`../../contracts/artifacts/${name}.json`, import.meta.url), 'utf8');
const TRANSFER = 'event Transfer(address indexed from, address indexed to, uint256 value)';

test('addresses are parsed and written in every format', () => {
  for (const pair of vectors.address_pairs) {
    const all = forms(pair.hex, 'pax');
    assert.deepEqual(
      [all.hex, all.account, all.operator, all.consensus],
      [pair.eip55, pair.pax, pair.paxvaloper, pair.paxvalcons],
    );
    for (const form of [pair.hex, pair.eip55, pair.pax, pair.pax.toUpperCase(), pair.paxvaloper]) {
      assert.equal(parseAddress(` ${form} `, 'pax'), pair.eip55);
    }
    assert.equal(toBech32('cosmos', toBytes(pair.hex)), pair.cosmos);
  }
  const { s, decodes_to } = vectors.valid_bech32_uppercase;
  assert.equal(toHex(fromBech32(s).bytes), decodes_to);
});

test('an invalid address is rejected with a reason', () => {
  for (const { s } of vectors.invalid_hex)
    assert.throws(() => parseAddress(s, 'evmos'), { message: /.{10}/ }, s);
  // The page trims spaces, and accepts operator addresses.
  const wrong = vectors.invalid_bech32.filter(({ why }) => !/space|operator/.test(why));
  for (const { s, why } of wrong)
    assert.throws(() => parseAddress(s, 'evmos'), { message: /.{10}/ }, why);
  assert.throws(
    () => parseAddress('cosmos1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnrql8a', 'pax'),
    /prefix is cosmos/,
  );
});

test('nothing is sent to the consensus address of a validator', () => {
  for (const pair of vectors.address_pairs) {
    for (const form of [pair.eip55, pair.pax, pair.paxvaloper])
      assert.equal(parseRecipient(form, 'pax'), pair.eip55);
    for (const form of [pair.paxvalcons, ` ${pair.paxvalcons.toUpperCase()}`])
      assert.throws(() => parseRecipient(form, 'pax'), /consensus address/);
  }
});

test('call data matches the ABI specification', () => {
  // The examples in the Solidity documentation.
  assert.equal(selector(fragment('baz(uint32,bool)')), '0xcdcd77c0');
  assert.equal(
    encodeCall(fragment('sam(bytes,bool,uint256[])'), ['0x64617665', true, [1n, 2n, 3n]]).slice(
      0,
      10,
    ),
    '0xa5643bf2',
  );
  const word = (number) => number.toString(16).padStart(64, '0');
  const expected = [
    word(0x60),
    word(1),
    word(0xa0),
    word(4),
    '64617665'.padEnd(64, '0'),
    word(3),
    word(1),
    word(2),
    word(3),
  ];
  assert.equal(
    encodeCall(fragment('sam(bytes,bool,uint256[])'), ['0x64617665', true, [1n, 2n, 3n]]).slice(10),
    expected.join(''),
  );
});

test('encoded values are decoded unchanged', () => {
  const called = fragment(
    'f(uint256 a,(string name,uint256[] list)[2] pairs,bytes data,int8[3] small,bytes4 four,address who) returns (bool)',
  );
  const values = [
    5n,
    [
      ['hi', [1n, 2n]],
      ['héllo', []],
    ],
    '0x1234',
    [-1n, 2n, -128n],
    '0x01020304',
    checksum(`0x${'ab'.repeat(20)}`),
  ];
  const decoded = decodeCall(called, encodeCall(called, values));
  assert.deepEqual(
    JSON.stringify(decoded, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  );
  assert.equal(decoded.pairs[1].name, 'héllo');
  // A text may be any bytes.
  assert.equal(
    decode([{ type: 'string', name: '' }], encode([{ type: 'bytes', name: '' }], ['0xff']))[0],
    '0xff',
  );
  assert.equal(signature(called), 'f(uint256,(string,uint256[])[2],bytes,int8[3],bytes4,address)');
});

test('values that do not fit their type are rejected', () => {
  const type = (name) => [{ type: name, name: '' }];
  assert.throws(() => encode(type('uint8'), [256n]), /does not fit/);
  assert.throws(() => encode(type('int8'), [-129n]), /does not fit/);
  assert.throws(() => encode(type('address'), ['0x12']), /address/);
  assert.throws(() => encode(type('bytes4'), ['0x12']), /4 bytes/);
  assert.throws(() => encode(type('bool'), ['maybe']), /true or false/);
  assert.throws(() => encode(type('uint256'), ['']), /missing/);
  assert.throws(
    () => encode(type('address'), ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92267']),
    /checksum/,
  );
  assert.throws(
    () =>
      encodeCall(fragment('f((address who,uint8 age)[] people)'), [
        [[`0x${'11'.repeat(20)}`, 256]],
      ]),
    /people: age: /,
  );
  assert.throws(() => encode(type('uint256[2]'), [[1n]]), /length/);
});

test('malicious data is rejected quickly', () => {
  const list = fragment('f((uint256,bytes)[] list)');
  const far = `0x00000000${'f'.repeat(64)}`;
  const huge = `0x00000000${'20'.padStart(64, '0')}${'f'.repeat(64)}`;
  // A list whose elements all point back to it.
  const loops = `0x00000000${'20'.padStart(64, '0')}${'ffff'.padStart(64, '0')}${'00'.repeat(1_000)}`;
  for (const data of [far, huge, loops, '0x00000000']) {
    const start = performance.now();
    assert.throws(() => decodeCall(list, data));
    assert.ok(performance.now() - start < 1_000);
  }
  assert.throws(() => decode([{ type: 'uint256[0][1000000000]', name: '' }], '0x'));
});

test('events with indexed arguments are decoded', () => {
  const event = fragment(TRANSFER);
  const from = `0x${'00'.repeat(12)}${'11'.repeat(20)}`;
  const log = {
    topics: [topic(event), from, from],
    data: `0x${(7).toString(16).padStart(64, '0')}`,
  };
  const values = decodeLog(event, log);
  assert.deepEqual([values.from, values.value], [checksum(`0x${'11'.repeat(20)}`), 7n]);
  assert.throws(
    () => decodeLog(event, { ...log, topics: log.topics.slice(0, 2) }),
    /number of indexed/,
  );
});

test('ABIs are parsed from artifacts, JSON and Solidity', () => {
  const whole = parseInterface(artifact('LendingLens'));
  const pools = whole.find((one) => one.name === 'getPools');
  assert.match(signature(pools), /^getPools\(\)$/);
  assert.equal(pools.outputs[0].type, 'tuple[]');
  assert.deepEqual(
    parseInterface(`[${JSON.stringify(TRANSFER)}]`),
    parseInterface(`interface X {\n${TRANSFER};\n}`),
  );
  const [fn] = parseInterface(
    'function f(uint a, bytes memory b) external view returns (uint256 c, address)',
  );
  assert.deepEqual(
    [signature(fn), fn.stateMutability, fn.outputs[0].name, fn.outputs.length],
    ['f(uint256,bytes)', 'view', 'c', 2],
  );
  assert.equal(parseInterface('event E(string indexed s, uint n) anonymous;')[0].anonymous, true);
  for (const wrong of [
    '{}',
    '[{"type":"function","name":"f","inputs":[{"type":"uint7x"}]}]',
    'function f(',
    'event (int x)(',
  ]) {
    assert.throws(() => parseInterface(wrong), wrong);
  }
});

test('amounts are exact', () => {
  assert.equal(toUnits(1_234_500n, 6), '1.2345');
  assert.equal(toUnits(-1n, 18), '-0.000000000000000001');
  assert.equal(fromUnits('1,000.5', 6), 1_000_500_000n);
  assert.equal(fromUnits('.5', 1), 5n);
  assert.equal(fromUnits('1,000,000', 0), 1_000_000n);
  for (const comma of [
    '1,5',
    '0,5',
    '1,50',
    '1,0000',
    '1.5,0',
    '1,000,5',
    ',5',
    '1,',
    '0,000',
    '1.000,5',
  ])
    assert.throws(() => fromUnits(comma, 18), /Use a point for decimals/, comma);
  for (const wrong of ['', '.', 'x', '1.2.3', '-1', '1e5'])
    assert.throws(() => fromUnits(wrong, 18), wrong);
  assert.throws(() => fromUnits('0.1234567', 6), /6 decimal places/);
  assert.equal(amount(123_456_789_123_456_789_012n, 18, 6), '123.456');
  assert.equal(amount(1_000n, 18, 6), '0.000000000000001');
  assert.equal(amount(0n, 18), '0');
  assert.deepEqual(
    [usd(3512.3456), usd(0.17), usd(0.99999), usd(0.00001234)],
    ['$3,512.35', '$0.17', '$1.00', '$0.00001234'],
  );
});

test('a count of one is in the singular', () => {
  assert.deepEqual(
    [0, 1, 1_000].map((number) => counted(number, 'key')),
    ['0 keys', '1 key', '1,000 keys'],
  );
  assert.deepEqual(
    [1, 2].map((number) => counted(number, 'address', 'addresses')),
    ['1 address', '2 addresses'],
  );
});

test('candles are joined without gaps, and the current price moves the last one', () => {
  const candle = ([timestamp, open, high, low, close, volume]) => ({
    timestamp,
    open,
    high,
    low,
    close,
    volume,
  });
  const series = [
    [0, 5, 7, 4, 4, 1],
    [30, 4, 6, 3, 6, 2],
    [60, 8, 9, 8, 9, 0],
    [180, 9, 9, 9, 9, 4],
  ].map(candle);
  const joined = joinCandles(series, 60);
  assert.deepEqual(joined, [
    { time: 0, open: 5, high: 7, low: 3, close: 6, volume: 3 },
    { time: 60, open: 6, high: 9, low: 6, close: 9, volume: 0 },
    { time: 180, open: 9, high: 9, low: 9, close: 9, volume: 4 },
  ]);
  assert.deepEqual(withPrice(joined, { timestamp: 200, price: 12 }, 60).at(-1), {
    time: 180,
    open: 9,
    high: 12,
    low: 9,
    close: 12,
    volume: 4,
  });
  assert.deepEqual(
    withPrice(joined, { timestamp: 250, price: 8 }, 60)
      .slice(-2)
      .map(({ time, close }) => [time, close]),
    [
      [180, 9],
      [240, 8],
    ],
  );
  assert.equal(
    withPrice(joined, { timestamp: 10, price: 1 }, 60),
    joined,
    'a price before the last candle is ignored',
  );
});

test('small fees are in wei', () => {
  assert.deepEqual(
    [0n, 999n, 1_103n, 999_999n, 1_000_000n, 1_449_400_000n, 250_000_000_000n].map(fee),
    ['0 wei', '999 wei', '1,103 wei', '999,999 wei', '0.001 gwei', '1.449 gwei', '250 gwei'],
  );
});

test('turns are taken in order, and leave no listeners', async () => {
  const { take, end } = turns(1);
  const held = new AbortController();
  const given = new AbortController();
  await take(held.signal);
  const order = [];
  const second = take(held.signal).then(() => order.push('second'));
  const third = take(given.signal).then(
    () => order.push('third'),
    () => order.push('aborted'),
  );
  const fourth = take(held.signal).then(() => order.push('fourth'));
  assert.equal(getEventListeners(held.signal, 'abort').length, 2);

  given.abort();
  await third;
  end();
  await second;
  end();
  await fourth;
  assert.deepEqual(order, ['aborted', 'second', 'fourth']);
  assert.equal(getEventListeners(held.signal, 'abort').length, 0);

  // The last turn is free again.
  end();
  await take(held.signal);
  await assert.rejects(take(given.signal));
});

test('whole numbers in metadata are not rounded silently', () => {
  const hasSource = JSON.parse('1', (_, __, context) => context?.source) === '1';
  const shown = (exact, rounded) => (hasSource ? exact : `≈${rounded}`);
  const text =
    '{"a":[12345678901234567890,-9007199254740993,9007199254740991,0.5,1e400,"9007199254740993"]}';
  const { a } = parseMetadata(text);
  assert.deepEqual(a, [
    shown('12345678901234567890', '12345678901234567000'),
    shown('-9007199254740993', '-9007199254740992'),
    9007199254740991,
    0.5,
    shown('1e400', 'Infinity'),
    '9007199254740993',
  ]);
  assert.deepEqual(parseExactly(text).a, a);
});
