// Bech32 (BIP-173), in which addresses of the Cosmos interface are written.

import { bech32 } from '../vendor/bech32.js';

/** Suffixes that the network's bech32 prefix takes, by role. */
export const ROLES = { account: '', operator: 'valoper', consensus: 'valcons' };
/**
 * The maximum length of a bech32 string. Those of Cosmos may be longer than the 90 characters of
 * BIP-173.
 */
const LONGEST = 200;

/** The bech32 encoding of bytes. */
export function toBech32(prefix, bytes) {
  return bech32.encode(prefix, bech32.toWords(bytes), LONGEST);
}

/** The prefix and the bytes of a bech32 string. Throws if it is invalid. */
export function fromBech32(text) {
  const split = text.lastIndexOf('1');
  if (split < 1 || text.length - split < 7 || text.length > LONGEST)
    throw new Error('not an address: neither hex nor bech32');
  const decoded = bech32.decodeUnsafe(text, LONGEST);
  const bytes = decoded && bech32.fromWordsUnsafe(decoded.words);
  if (bytes) return { prefix: decoded.prefix, bytes: Uint8Array.from(bytes) };
  if (text !== text.toLowerCase() && text !== text.toUpperCase())
    throw new Error('invalid bech32: mixed upper and lower case');
  throw new Error(
    decoded ? 'invalid bech32: non-zero padding' : 'invalid bech32 checksum: check for a typo',
  );
}
