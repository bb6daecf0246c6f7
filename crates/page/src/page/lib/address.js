// Addresses: hex with checksum (EIP-55), and bech32 (BIP-173) as in the Cosmos interface.

import { getAddress } from '../vendor/ethers.js';
import { fromBech32, ROLES, toBech32 } from './bech32.js';
import { isHex, toBytes, toHex } from './bytes.js';

/** The address with its checksum, in mixed case (EIP-55). */
export function checksum(address) {
  return getAddress(address.toLowerCase());
}

/** The address in a word of 32 bytes, or null without one: zero is none. */
export function addressIn(word) {
  return /^0x0{24}[0-9a-f]{40}$/.test(word ?? '') && !/^0x0{64}$/.test(word)
    ? checksum(`0x${word.slice(26)}`)
    : null;
}

/** The address that an account with this code delegates to (EIP-7702), or null. */
export function delegateOf(code) {
  return /^0xef0100[0-9a-f]{40}$/.test(code) ? `0x${code.slice(8)}` : null;
}

/**
 * Parses an address in hex in any case; mixed case must match the checksum. Returns it with its
 * checksum.
 */
export function parseHex(text) {
  const hex = `0x${text.slice(2)}`;
  if (!/^0x/i.test(text) || !isHex(hex, 20))
    throw new Error(`expected an address of 0x and 40 hex digits, got ${text.slice(0, 50)}`);
  const address = checksum(hex);
  const digits = hex.slice(2);
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (mixed && hex !== address)
    throw new Error('invalid address checksum (EIP-55): check for a typo');
  return address;
}

/**
 * Parses an address: hex in any case (mixed case must match the checksum), or bech32 with any of
 * the prefixes. Returns it as checksummed hex, or throws an error with the reason.
 */
export function parseAddress(text, prefix) {
  const given = text.trim();
  if (!given) throw new Error('enter an address');
  if (/^0x/i.test(given)) return parseHex(given);
  const decoded = fromBech32(given);
  const known = Object.values(ROLES).map((role) => prefix + role);
  if (!known.includes(decoded.prefix)) {
    throw new Error(`the prefix is ${decoded.prefix}, expected ${prefix}`);
  }
  if (decoded.bytes.length !== 20)
    throw new Error(`expected an address of 20 bytes, got ${decoded.bytes.length}`);
  return checksum(toHex(decoded.bytes));
}

/**
 * Parses the address of a recipient, who has to be able to spend what arrives: the key of a
 * validator's consensus address only signs blocks.
 */
export function parseRecipient(text, prefix) {
  const address = parseAddress(text, prefix);
  const isConsensus = text.trim().toLowerCase().startsWith(`${prefix}${ROLES.consensus}1`);
  if (isConsensus) throw new Error('this is a validator’s consensus address, which no account has');
  return address;
}

/** An address in all formats: hex, and bech32 for each role. */
export function forms(address, prefix) {
  const bytes = toBytes(address);
  const bech32Forms = Object.entries(ROLES).map(([role, suffix]) => [
    role,
    toBech32(prefix + suffix, bytes),
  ]);
  return { hex: checksum(address), ...Object.fromEntries(bech32Forms) };
}
