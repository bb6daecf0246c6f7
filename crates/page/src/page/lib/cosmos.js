// Cosmos transactions, whose bytes are the input of a transaction on the EVM side.

import { toBytes, utf8Text } from './bytes.js';

/**
 * The fields of a protobuf message, as [tag, bytes] pairs; null if the bytes are no such message.
 */
function fields(bytes) {
  const found = [];
  let at = 0;

  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      if (at >= bytes.length || scale > 2 ** 49) return null;
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };

  while (at < bytes.length) {
    const tag = varint();
    if (tag === null || (tag & 7) !== 2) return null;
    const size = varint();
    if (size === null || at + size > bytes.length) return null;
    found.push([tag >> 3, bytes.subarray(at, at + size)]);
    at += size;
  }
  return found;
}

/** The content of the first field, of a message that has fields of other types after it. */
function firstField(bytes) {
  let size = 0;
  let at = 1;
  let scale = 1;
  for (; at < bytes.length; scale *= 128) {
    const byte = bytes[at++];
    size += (byte & 127) * scale;
    if (byte < 128) break;
  }
  return at + size <= bytes.length ? bytes.subarray(at, at + size) : null;
}

/**
 * The message type of a Cosmos transaction, such as `/cosmos.bank.v1beta1.MsgSend`, whose bytes are
 * the input; null otherwise.
 */
export function cosmosMessage(input) {
  if (!input?.startsWith('0x0a') || input.length > 200_000) return null;
  const raw = fields(toBytes(input));
  if (!raw || raw.length < 3 || raw[0][0] !== 1 || raw[1][0] !== 2) return null;
  const body = raw[0][1];
  const message = body[0] === 10 ? firstField(body) : null;
  const url = message && fields(message)?.[0]?.[1];
  const text = url && utf8Text(url);
  return text?.startsWith('/') ? text : null;
}
