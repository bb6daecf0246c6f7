//! Keys and signed transactions. All transactions are signed before a measurement starts.

use alloy::{
    consensus::{SignableTransaction, TxEip1559},
    eips::eip2718::Encodable2718,
    primitives::{Address, B256, Bytes, TxKind, U256, hex, keccak256},
    signers::{SignerSync, local::PrivateKeySigner},
};

/// An account that signs transactions and counts its nonce.
pub(crate) struct Wallet {
    signer: PrivateKeySigner,
    chain_id: u64,
    nonce: u64,
}

/// The first two development accounts of every node.
const DEVELOPMENT: [&str; 2] = [
    "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
];

impl Wallet {
    /// A development account with nonce 0.
    pub(crate) fn development(index: usize, chain_id: u64) -> Self {
        Self {
            signer: DEVELOPMENT[index].parse().unwrap(),
            chain_id,
            nonce: 0,
        }
    }

    /// The n-th of an unlimited number of further accounts.
    pub(crate) fn numbered(n: u64, chain_id: u64) -> Self {
        let key: B256 = keccak256(n.to_be_bytes());
        Self {
            signer: PrivateKeySigner::from_bytes(&key).unwrap(),
            chain_id,
            nonce: 0,
        }
    }

    /// The address.
    pub(crate) fn address(&self) -> Address {
        self.signer.address()
    }

    /// The number of transactions signed so far.
    pub(crate) fn nonce(&self) -> u64 {
        self.nonce
    }

    /// Signs the next transaction.
    pub(crate) fn sign(
        &mut self,
        to: TxKind,
        value: u128,
        input: impl Into<Bytes>,
        gas_limit: u64,
    ) -> String {
        let transaction = TxEip1559 {
            chain_id: self.chain_id,
            nonce: self.nonce,
            gas_limit,
            max_fee_per_gas: 20_000_000_000,
            max_priority_fee_per_gas: 1_000_000_000,
            to,
            value: U256::from(value),
            input: input.into(),
            ..TxEip1559::default()
        };
        self.nonce += 1;
        let signature = self
            .signer
            .sign_hash_sync(&transaction.signature_hash())
            .unwrap();
        hex::encode_prefixed(transaction.into_signed(signature).encoded_2718())
    }
}

/// The n-th of an unlimited number of addresses without a known key.
pub(crate) fn address_at(n: u64) -> Address {
    Address::from_word(keccak256(
        [b"somebody".as_slice(), &n.to_be_bytes()].concat(),
    ))
}
