// Signed transactions as they are broadcast: their fields, their hash and their sender.

import { keccak256 } from '../vendor/ethers.js';
import { addressIn, checksum } from './address.js';
import { isHex } from './bytes.js';
import { node } from './node.js';
import { decodeRlp, encodeRlp, evenHex } from './rlp.js';

/** Most characters that are read: a transaction with six blobs has 1.6 MB. */
const LONGEST = 2_000_000;
/** The precompiled contract that recovers the signer of a hash. */
const ECRECOVER = '0x0000000000000000000000000000000000000001';

const LEGACY = ['nonce', 'gasPrice', 'gas', 'to', 'value', 'input', 'v', 'r', 's'];
const SIGNATURE = ['v', 'r', 's'];
const DYNAMIC = [
  'chainId',
  'nonce',
  'maxPriorityFeePerGas',
  'maxFeePerGas',
  'gas',
  'to',
  'value',
  'input',
  'accessList',
];
/** The fields of typed transactions in their order, by type. */
const FIELDS = {
  1: ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'input', 'accessList', ...SIGNATURE],
  2: [...DYNAMIC, ...SIGNATURE],
  3: [...DYNAMIC, 'maxFeePerBlobGas', 'blobVersionedHashes', ...SIGNATURE],
  4: [...DYNAMIC, 'authorizationList', ...SIGNATURE],
};
/** Most characters of a number or an address, which have 32 bytes at most. */
const LONGEST_WORD = 66;
const LISTS = ['accessList', 'blobVersionedHashes', 'authorizationList'];
/**
 * Number of fields of an authorization (EIP-7702), and what precedes those that its signature is
 * of.
 */
const AUTHORIZATION_FIELDS = 6;
const AUTHORIZATION_MAGIC = '0x05';

const number = (hex) => (hex === '0x' ? 0n : BigInt(hex));

function named(names, values) {
  if (!Array.isArray(values) || values.length !== names.length)
    throw new Error(`expected ${names.length} fields, got ${values?.length ?? 'none'}`);
  const found = Object.fromEntries(names.map((name, at) => [name, values[at]]));
  for (const name of names) {
    const isList = Array.isArray(found[name]);
    if (isList !== LISTS.includes(name))
      throw new Error(`the field ${name} is not what it has to be`);
    if (!isList && name !== 'input' && found[name].length > LONGEST_WORD)
      throw new Error(`the field ${name} is too long`);
  }
  if (found.to !== '0x' && !isHex(found.to, 20)) throw new Error('the recipient is no address');
  return found;
}

/**
 * What a legacy transaction's signature is of: since EIP-155 with the chain ID, which its `v` has
 * in it.
 */
function legacy(values) {
  const fields = named(LEGACY, values);
  const v = number(fields.v);
  const chainId = v >= 35n ? (v - 35n) / 2n : null;
  const chain = chainId === null ? [] : [`0x${evenHex(chainId)}`, '0x', '0x'];
  const signed = encodeRlp([...values.slice(0, -SIGNATURE.length), ...chain]);
  const parity = chainId === null ? v - 27n : (v - 35n) % 2n;
  return { type: 0, fields, chainId, signed, parity };
}

function typed(raw) {
  const type = Number(raw.slice(0, 4));
  if (!FIELDS[type]) throw new Error(`transactions of type ${type} are unknown here`);
  const body = decodeRlp(`0x${raw.slice(4)}`);
  // On the network a transaction with blobs has them beside it; its hash and signature are without
  // them.
  const values = type === 3 && Array.isArray(body[0]) ? body[0] : body;
  const fields = named(FIELDS[type], values);
  const prefix = raw.slice(0, 4);
  const signed = prefix + encodeRlp(values.slice(0, -SIGNATURE.length)).slice(2);
  const whole = prefix + encodeRlp(values).slice(2);
  return { type, fields, chainId: number(fields.chainId), signed, parity: number(fields.v), whole };
}

/** What an account delegates, with what `senderOf` needs to recover the account. */
function authorizationOf(values) {
  const isWord = (value) => typeof value === 'string' && value.length <= LONGEST_WORD;
  if (!Array.isArray(values) || values.length !== AUTHORIZATION_FIELDS || !values.every(isWord))
    throw new Error('an authorization is not what it has to be');
  const [chainId, address, nonce, parity, r, s] = values;
  if (!isHex(address, 20)) throw new Error('an authorization delegates to no address');
  const digest = keccak256(AUTHORIZATION_MAGIC + encodeRlp([chainId, address, nonce]).slice(2));
  return {
    chainId: number(chainId),
    address: checksum(address),
    nonce: number(nonce),
    signature: { digest, parity: number(parity), r, s },
  };
}

function accessOf(values) {
  const [address, storageKeys] = Array.isArray(values) ? values : [];
  if (!isHex(address, 20) || !Array.isArray(storageKeys))
    throw new Error('the access list is not what it has to be');
  return { address: checksum(address), storageKeys };
}

/**
 * Decodes a signed transaction: `type`, `hash`, `chainId` (null without one), `nonce`, `gas`, `to`
 * (null for a creation), `value`, `input`, its fees, `accessList`, `authorizations`, the number of
 * `blobs`, and what `senderOf` needs.
 */
export function decodeTransaction(text) {
  const raw = text.trim().toLowerCase();
  if (raw.length > LONGEST) throw new Error('the transaction is too long');
  if (!isHex(raw) || raw === '0x')
    throw new Error('expected a signed transaction in hex, such as 0x02f8…');

  const {
    type,
    fields,
    chainId,
    signed,
    parity,
    whole = raw,
  } = parseInt(raw.slice(2, 4), 16) >= 0xc0 ? legacy(decodeRlp(raw)) : typed(raw);
  if (parity !== 0n && parity !== 1n) throw new Error('the transaction is not signed');

  const fee = (name) => (fields[name] === undefined ? null : number(fields[name]));
  return {
    type,
    chainId,
    hash: keccak256(whole),
    nonce: number(fields.nonce),
    gas: number(fields.gas),
    to: fields.to === '0x' ? null : checksum(fields.to),
    value: number(fields.value),
    input: fields.input,
    gasPrice: fee('gasPrice'),
    maxFeePerGas: fee('maxFeePerGas'),
    maxPriorityFeePerGas: fee('maxPriorityFeePerGas'),
    maxFeePerBlobGas: fee('maxFeePerBlobGas'),
    accessList: (fields.accessList ?? []).map(accessOf),
    authorizations: (fields.authorizationList ?? []).map(authorizationOf),
    blobs: fields.blobVersionedHashes?.length ?? 0,
    signature: { digest: keccak256(signed), parity, r: fields.r, s: fields.s },
  };
}

/**
 * The account that signed a decoded transaction or an authorization, which the node recovers; null
 * if the signature is not valid.
 */
export async function senderOf({ signature: { digest, parity, r, s } }) {
  const word = (value) => BigInt(value).toString(16).padStart(64, '0');
  const data = digest + word(27n + parity) + word(number(r)) + word(number(s));
  return addressIn(await node.call('eth_call', { to: ECRECOVER, data }, 'latest'));
}
