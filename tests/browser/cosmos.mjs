// A Cosmos transaction that sends coins, written without a library for Cosmos.

import { createECDH } from 'node:crypto';

import { forms } from '../../crates/page/src/page/lib/address.js';
import { KNOWN_KEYS } from '../../crates/page/src/page/lib/keys.js';
import { keccak256 as keccak } from '../../crates/page/src/page/vendor/ethers.js';

/** The order of the curve secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const GWEI = 10n ** 9n;
const GAS = 200_000;

/** The hash of bytes, as bytes. */
function keccak256(bytes) {
  return Buffer.from(keccak(bytes).slice(2), 'hex');
}

function modulo(value, by) {
  return ((value % by) + by) % by;
}

/** The inverse of a number modulo a prime, by Euclid's algorithm. */
function inverse(value, by) {
  let a = modulo(value, by);
  let b = by;
  let x = 1n;
  let y = 0n;
  while (a > 1n) [a, b, x, y] = [b % a, a, y - (b / a) * x, x];
  return modulo(x, by);
}

function numberOf(bytes) {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

/** A number as 32 bytes. */
function bytesOf(number) {
  return Buffer.from(number.toString(16).padStart(64, '0'), 'hex');
}

/**
 * A signature over a digest with secp256k1, as 64 bytes. The nonce is derived from key and digest,
 * which suffices for tests.
 */
function sign(digest, key) {
  const nonce = modulo(numberOf(keccak256(Buffer.concat([key, digest]))), ORDER);
  const curve = createECDH('secp256k1');
  curve.setPrivateKey(bytesOf(nonce));

  const r = modulo(numberOf(curve.getPublicKey().subarray(1, 33)), ORDER);
  const s = modulo(inverse(nonce, ORDER) * (numberOf(digest) + r * numberOf(key)), ORDER);
  return Buffer.concat([bytesOf(r), bytesOf(s > ORDER / 2n ? ORDER - s : s)]);
}

/** A number as a varint of protobuf. */
function varint(number) {
  const bytes = [];
  for (let left = BigInt(number); ; left >>= 7n) {
    if (left < 128n) return Buffer.from([...bytes, Number(left)]);
    bytes.push(Number(left & 127n) | 128);
  }
}

/** A field of a protobuf message; a list repeats it. */
function encodeField(tag, value) {
  if (typeof value === 'number' || typeof value === 'bigint')
    return value ? [varint(tag << 3), varint(value)] : [];
  return [value]
    .flat()
    .map((one) => Buffer.from(one))
    .flatMap((one) => [varint((tag << 3) | 2), varint(one.length), one]);
}

/**
 * Fields of a protobuf message: numbers as varints, texts and bytes with their length; empty ones
 * are left out.
 */
function message(fields) {
  return Buffer.concat(Object.entries(fields).flatMap(([tag, value]) => encodeField(tag, value)));
}

function any(url, value) {
  return message({ 1: url, 2: value });
}

/** Number and sequence of an account. */
async function accountOf(node, address) {
  const response = await fetch(`${node.url}/cosmos/auth/v1beta1/accounts/${address}`);
  const { account } = await response.json();
  return account.base_account ?? account;
}

/** A transaction that sends coins, signed, as bytes. */
async function signedSend(node, network, { from, to, amount, memo, keyType }) {
  const secret = Buffer.from(KNOWN_KEYS[from.toLowerCase()].slice(2), 'hex');
  const curve = createECDH('secp256k1');
  curve.setPrivateKey(secret);
  const sender = forms(from, network.bech32Prefix).account;
  const recipient = forms(to, network.bech32Prefix).account;
  const { account_number: number, sequence } = await accountOf(node, sender);

  const coin = (value) => message({ 1: network.nativeCoin.denomination, 2: value.toString() });
  const send = message({ 1: sender, 2: recipient, 3: coin(amount) });
  const body = message({ 1: any('/cosmos.bank.v1beta1.MsgSend', send), 2: memo });

  const publicKey = any(
    `/${keyType}.crypto.v1.ethsecp256k1.PubKey`,
    message({ 1: curve.getPublicKey(null, 'compressed') }),
  );
  const signDirect = message({ 1: message({ 1: 1 }) });
  const signer = message({ 1: publicKey, 2: signDirect, 3: Number(sequence) });
  const fee = message({ 1: coin(BigInt(GAS) * 10n * GWEI), 2: GAS });
  const auth = message({ 1: signer, 2: fee });

  const document = message({ 1: body, 2: auth, 3: network.cosmosChainId, 4: Number(number) });
  return message({ 1: body, 2: auth, 3: sign(keccak256(document), secret) });
}

/** Waits until a Cosmos transaction is in a block, and returns the block's number. */
async function heightOf(node, hash) {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const found = await fetch(`${node.url}/cosmos/tx/v1beta1/txs/${hash}`);
    if (found.ok) return Number((await found.json()).tx_response.height);
    if (Date.now() > deadline) throw new Error('the Cosmos transaction is in no block');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/**
 * Sends coins from an account of the node by a Cosmos transaction. `keyType` begins the type of
 * its public key, which has several names. Returns the transaction's hash on the EVM side, and
 * that on the Cosmos side.
 */
export async function cosmosSend(
  node,
  network,
  { from, to, amount, memo, keyType = 'hyperpaxeer' },
) {
  const raw = await signedSend(node, network, { from, to, amount, memo, keyType });
  const response = await fetch(`${node.url}/cosmos/tx/v1beta1/txs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tx_bytes: raw.toString('base64'), mode: 'BROADCAST_MODE_SYNC' }),
  });
  const answer = await response.json();
  if (answer.tx_response?.code !== 0)
    throw new Error(`the Cosmos transaction was refused: ${JSON.stringify(answer)}`);

  const cosmosHash = answer.tx_response.txhash;
  const height = await heightOf(node, cosmosHash);
  const block = await node.rpc('eth_getBlockByNumber', `0x${height.toString(16)}`, true);
  const isCosmos = ({ v, r, s }) => [v, r, s].every((part) => part === '0x0');
  return { hash: block.transactions.find(isCosmos).hash, cosmosHash };
}
