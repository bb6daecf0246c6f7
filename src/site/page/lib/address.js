// Addresses: hex with checksum (EIP-55), and bech32 (BIP-173) as in the Cosmos interface.

import { isHex, toBytes, toHex, utf8 } from './bytes.js';
import { keccak256 } from './keccak.js';

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** Suffixes that the network's bech32 prefix takes, by role. */
export const ROLES = { account: '', operator: 'valoper', consensus: 'valcons' };

/** The address with its checksum, in mixed case (EIP-55). */
export function checksum(address) {
  const digits = address.slice(2).toLowerCase();
  const hash = toHex(keccak256(utf8(digits))).slice(2);
  return '0x' + [...digits].map((digit, at) => (parseInt(hash[at], 16) > 7 ? digit.toUpperCase() : digit)).join('');
}

function polymod(values) {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (let bit = 0; bit < 5; bit++) if ((top >>> bit) & 1) sum ^= GENERATOR[bit];
  }
  return sum >>> 0;
}

function expand(prefix) {
  const codes = [...prefix].map((letter) => letter.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

function regroup(values, from, to, pad) {
  let [held, bits] = [0, 0];
  const out = [];
  for (const value of values) {
    held = (held << from) | value;
    bits += from;
    while (bits >= to) {
      bits -= to;
      out.push((held >> bits) & ((1 << to) - 1));
    }
    held &= (1 << bits) - 1;
  }
  if (pad && bits) out.push((held << (to - bits)) & ((1 << to) - 1));
  if (!pad && (bits >= from || held)) throw new Error('invalid bech32: non-zero padding');
  return out;
}

/** The bech32 encoding of bytes. */
export function toBech32(prefix, bytes) {
  const words = regroup(bytes, 8, 5, true);
  const sum = polymod([...expand(prefix), ...words, 0, 0, 0, 0, 0, 0]) ^ 1;
  const check = Array.from({ length: 6 }, (_, at) => (sum >>> (5 * (5 - at))) & 31);
  return `${prefix}1${[...words, ...check].map((word) => ALPHABET[word]).join('')}`;
}

/** The prefix and the bytes of a bech32 string. Throws if it is invalid. */
export function fromBech32(text) {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) throw new Error('invalid bech32: mixed upper and lower case');
  const split = lower.lastIndexOf('1');
  if (split < 1 || lower.length - split < 7 || lower.length > 200) throw new Error('not an address: neither hex nor bech32');
  const prefix = lower.slice(0, split);
  const words = [...lower.slice(split + 1)].map((letter) => ALPHABET.indexOf(letter));
  if (words.includes(-1)) throw new Error('invalid bech32: unexpected character');
  if (polymod([...expand(prefix), ...words]) !== 1) throw new Error('invalid bech32 checksum: check for a typo');
  return { prefix, bytes: Uint8Array.from(regroup(words.slice(0, -6), 5, 8, false)) };
}

/**
 * Parses an address: hex in any case (mixed case must match the checksum), or bech32 with any of the prefixes.
 * Returns it as checksummed hex, or throws an error with the reason.
 */
export function parseAddress(text, prefix) {
  const given = text.trim();
  if (/^0x/i.test(given)) {
    const hex = '0x' + given.slice(2);
    if (!isHex(hex, 20)) throw new Error(`expected 0x and 40 hex digits, got ${given.slice(0, 50)}`);
    const address = checksum(hex);
    const digits = hex.slice(2);
    const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
    if (mixed && hex !== address) throw new Error('invalid address checksum (EIP-55): check for a typo');
    return address;
  }
  const decoded = fromBech32(given);
  const known = Object.values(ROLES).map((role) => prefix + role);
  if (!known.includes(decoded.prefix)) {
    throw new Error(`the prefix is ${decoded.prefix}, expected ${prefix}`);
  }
  if (decoded.bytes.length !== 20) throw new Error(`expected an address of 20 bytes, got ${decoded.bytes.length}`);
  return checksum(toHex(decoded.bytes));
}

/** An address in all formats: hex, and bech32 for each role. */
export function forms(address, prefix) {
  const bytes = toBytes(address);
  const bech32 = Object.entries(ROLES).map(([role, suffix]) => [role, toBech32(prefix + suffix, bytes)]);
  return { hex: checksum(address), ...Object.fromEntries(bech32) };
}

