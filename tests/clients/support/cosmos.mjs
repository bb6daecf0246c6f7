// Signers of Cosmos transactions with Ethereum's keys, and the typed data that wallets sign for
// them.
import { encodeEthSecp256k1Signature, serializeSignDoc } from '@cosmjs/amino';
import { toBech32 } from '@cosmjs/encoding';
import { accountFromAny } from '@cosmjs/stargate';
import { BinaryReader } from 'cosmjs-types/binary';
import { BaseAccount } from 'cosmjs-types/cosmos/auth/v1beta1/auth';
import { ethers } from 'ethers';

export const PREFIX = 'pax';
export const DENOM = 'ahpx';

/** The coins that CosmJS takes. */
export const coins = (amount) => [{ denom: DENOM, amount: amount.toString() }];

/** The bech32 address of an account. */
export const bech32 = (address) => toBech32(PREFIX, ethers.getBytes(address));

/**
 * Parser of Ethermint accounts, as CosmJS users of such chains write it: the base account is the
 * first field.
 */
export function parseAccount(any) {
  if (any.typeUrl !== '/hyperpaxeer.types.v1.EthAccount') return accountFromAny(any);
  const reader = new BinaryReader(any.value);
  if (reader.uint32() >>> 3 !== 1) throw new Error('the first field is not the base account');
  const base = BaseAccount.decode(reader.bytes());
  return {
    address: base.address,
    pubkey: base.pubKey ?? null,
    accountNumber: Number(base.accountNumber),
    sequence: Number(base.sequence),
  };
}

/** A signer of Amino documents, which CosmJS has for keys of Cosmos only. */
export class AminoSigner {
  constructor(wallet) {
    this.wallet = wallet;
    this.address = bech32(wallet.address);
    this.pubkey = ethers.getBytes(wallet.signingKey.compressedPublicKey);
  }

  getAccounts() {
    return [{ address: this.address, algo: 'eth_secp256k1', pubkey: this.pubkey }];
  }

  /** Signs 32 bytes. */
  sign(digest) {
    const { r, s } = this.wallet.signingKey.sign(digest);
    return ethers.getBytes(ethers.concat([r, s]));
  }

  async signAmino(_, signed) {
    return {
      signed,
      signature: encodeEthSecp256k1Signature(
        this.pubkey,
        this.sign(ethers.keccak256(serializeSignDoc(signed))),
      ),
    };
  }
}

/**
 * A signer of the typed data that stands for an Amino document, as `typedData` makes it, with
 * `eth_signTypedData_v4`.
 */
export class TypedDataSigner extends AminoSigner {
  constructor(wallet, typedData, signTypedData) {
    super(wallet);
    Object.assign(this, { typedData, signTypedData });
  }

  async signAmino(_, signed) {
    const signature = await this.signTypedData(this.wallet.privateKey, this.typedData(signed));
    // Wallets append the recovery byte.
    return {
      signed,
      signature: encodeEthSecp256k1Signature(this.pubkey, ethers.getBytes(signature).slice(0, 64)),
    };
  }
}

const string = (...names) => names.map((name) => ({ name, type: 'string' }));
const COIN = string('denom', 'amount');

function typed(tx, fee, types, message) {
  const of = (name, type) => ({ name, type });
  return {
    types: {
      EIP712Domain: [
        ...string('name', 'version'),
        of('chainId', 'uint256'),
        ...string('verifyingContract', 'salt'),
      ],
      Tx: tx,
      Fee: fee,
      Coin: COIN,
      ...types,
    },
    primaryType: 'Tx',
    domain: {
      name: 'Cosmos Web3',
      version: '1.0.0',
      chainId: 125,
      verifyingContract: 'cosmos',
      salt: '0',
    },
    message,
  };
}

/**
 * The typed data of a `MsgSend` in the form of Ethermint, which Keplr signs: with the payer of the
 * fee.
 */
export function legacyTypedData(doc) {
  const tx = [
    ...string('account_number', 'chain_id'),
    { name: 'fee', type: 'Fee' },
    ...string('memo'),
    { name: 'msgs', type: 'Msg[]' },
    ...string('sequence'),
  ];
  const fee = [...string('feePayer'), { name: 'amount', type: 'Coin[]' }, ...string('gas')];
  const types = {
    Msg: [...string('type'), { name: 'value', type: 'MsgValue' }],
    MsgValue: [...string('from_address', 'to_address'), { name: 'amount', type: 'TypeAmount[]' }],
    TypeAmount: COIN,
  };
  return typed(tx, fee, types, {
    ...doc,
    fee: { ...doc.fee, feePayer: doc.msgs[0].value.from_address },
  });
}

/**
 * The typed data of messages `MsgSend` in the present form of Cosmos EVM: each message is a member
 * of its own.
 */
export function typedData({ msgs, ...doc }) {
  const tx = [
    ...string('account_number', 'chain_id'),
    { name: 'fee', type: 'Fee' },
    ...string('memo', 'sequence'),
    ...msgs.map((_, at) => ({ name: `msg${at}`, type: 'TypeMsgSend0' })),
  ];
  const types = {
    TypeMsgSend0: [{ name: 'value', type: 'TypeValue0' }, ...string('type')],
    TypeValue0: [
      ...string('to_address', 'from_address'),
      { name: 'amount', type: 'TypeValueAmount0[]' },
    ],
    TypeValueAmount0: string('denom', 'amount'),
  };
  return typed(tx, [{ name: 'amount', type: 'Coin[]' }, ...string('gas')], types, {
    ...doc,
    ...Object.fromEntries(msgs.map((message, at) => [`msg${at}`, message])),
  });
}
