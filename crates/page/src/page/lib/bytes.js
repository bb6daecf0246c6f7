// Bytes, hex strings and UTF-8.

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const encoder = new TextEncoder();

/**
 * Whether a text is 0x and an even number of hex digits, and `size` bytes long if that is given.
 */
export function isHex(text, size) {
  if (typeof text !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(text)) return false;
  return size === undefined || text.length === 2 + 2 * size;
}

/** The bytes of a hex string. */
export function toBytes(hex) {
  if (!isHex(hex))
    throw new Error(
      `expected 0x and an even number of hex digits, got ${String(hex).slice(0, 40)}`,
    );
  return Uint8Array.from({ length: hex.length / 2 - 1 }, (_, at) =>
    parseInt(hex.substr(2 + 2 * at, 2), 16),
  );
}

/** The hex string of bytes, with the prefix 0x. */
export function toHex(bytes) {
  let text = '0x';
  for (const byte of bytes) text += DIGITS[byte];
  return text;
}

/** A number, or its hex string, as a word of 32 bytes in hex; of a longer one the last 32 bytes. */
export function toWord(number) {
  return `0x${BigInt.asUintN(256, BigInt(number)).toString(16).padStart(64, '0')}`;
}

/** The UTF-8 bytes of a text. */
export function utf8(text) {
  return encoder.encode(text);
}

/** The text of UTF-8 bytes, or null if they are not valid UTF-8. */
export function utf8Text(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
