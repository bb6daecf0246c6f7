// Keccak-256 with Ethereum's padding, which differs from that of SHA-3.
//
// A 64-bit lane is two unsigned 32-bit halves: engines keep these in registers, and allocate for BigInt.

const RATE = 136;
const ROTATIONS = [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44];
const PATH = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1];
const ROUND_LOW = new Uint32Array(24);
const ROUND_HIGH = new Uint32Array(24);

// The round constants are the output of a linear feedback shift register (FIPS 202, 3.2.5).
let register = 1;
for (let round = 0; round < 24; round++) {
  for (let j = 0; j <= 6; j++) {
    const position = (1 << j) - 1;
    if (register & 1) {
      if (position < 32) ROUND_LOW[round] |= 1 << position;
      else ROUND_HIGH[round] |= 1 << (position - 32);
    }
    register = register & 0x80 ? (register << 1) ^ 0x171 : register << 1;
  }
}

function permute(low, high) {
  const sumLow = new Uint32Array(5);
  const sumHigh = new Uint32Array(5);
  for (let round = 0; round < 24; round++) {
    for (let x = 0; x < 5; x++) {
      sumLow[x] = low[x] ^ low[x + 5] ^ low[x + 10] ^ low[x + 15] ^ low[x + 20];
      sumHigh[x] = high[x] ^ high[x + 5] ^ high[x + 10] ^ high[x + 15] ^ high[x + 20];
    }
    for (let x = 0; x < 5; x++) {
      const left = (x + 4) % 5;
      const right = (x + 1) % 5;
      const mixLow = sumLow[left] ^ ((sumLow[right] << 1) | (sumHigh[right] >>> 31));
      const mixHigh = sumHigh[left] ^ ((sumHigh[right] << 1) | (sumLow[right] >>> 31));
      for (let y = x; y < 25; y += 5) {
        low[y] ^= mixLow;
        high[y] ^= mixHigh;
      }
    }
    let carriedLow = low[1];
    let carriedHigh = high[1];
    for (let step = 0; step < 24; step++) {
      const to = PATH[step];
      const by = ROTATIONS[step];
      const [fromLow, fromHigh] = by < 32 ? [carriedLow, carriedHigh] : [carriedHigh, carriedLow];
      const shift = by % 32;
      [carriedLow, carriedHigh] = [low[to], high[to]];
      low[to] = shift ? (fromLow << shift) | (fromHigh >>> (32 - shift)) : fromLow;
      high[to] = shift ? (fromHigh << shift) | (fromLow >>> (32 - shift)) : fromHigh;
    }
    for (let y = 0; y < 25; y += 5) {
      const rowLow = low.slice(y, y + 5);
      const rowHigh = high.slice(y, y + 5);
      for (let x = 0; x < 5; x++) {
        low[y + x] = rowLow[x] ^ (~rowLow[(x + 1) % 5] & rowLow[(x + 2) % 5]);
        high[y + x] = rowHigh[x] ^ (~rowHigh[(x + 1) % 5] & rowHigh[(x + 2) % 5]);
      }
    }
    low[0] ^= ROUND_LOW[round];
    high[0] ^= ROUND_HIGH[round];
  }
}

/** The 32-byte hash of a byte array. */
export function keccak256(bytes) {
  const low = new Uint32Array(25);
  const high = new Uint32Array(25);
  const padded = new Uint8Array((Math.floor(bytes.length / RATE) + 1) * RATE);
  padded.set(bytes);
  padded[bytes.length] ^= 0x01;
  padded[padded.length - 1] ^= 0x80;
  const view = new DataView(padded.buffer);
  for (let block = 0; block < padded.length; block += RATE) {
    for (let lane = 0; lane < RATE / 8; lane++) {
      low[lane] ^= view.getUint32(block + 8 * lane, true);
      high[lane] ^= view.getUint32(block + 8 * lane + 4, true);
    }
    permute(low, high);
  }
  const out = new DataView(new ArrayBuffer(32));
  for (let lane = 0; lane < 4; lane++) {
    out.setUint32(8 * lane, low[lane], true);
    out.setUint32(8 * lane + 4, high[lane], true);
  }
  return new Uint8Array(out.buffer);
}
