//! Accounts that send Ethereum transactions.

use alloy::{
    consensus::{TxEip1559, TxEip4844},
    eips::eip4844::builder::{SidecarBuilder, SimpleCoder},
    primitives::{Address, B256, Bytes, TxKind, U256, keccak256},
    signers::local::PrivateKeySigner,
};
use serde_json::json;

use super::{super::api::Api, contracts::deployment};
use crate::support::sign;

/// Blobs of a transaction (EIP-7594), and the bytes in each blob of the test.
const BLOBS: usize = 6;
const BLOB_BYTES: usize = 120_000;
/// The maximum gas of a transaction (EIP-7825).
pub(super) const GAS: u64 = 16_000_000;
/// The maximum fee per gas of every transaction, in wei: above the base fee after full blocks.
pub(super) const GAS_PRICE: u128 = 1_000_000_000_000;
/// The recipient of all transactions that fill the chain.
pub(super) const RECIPIENT: Address = Address::repeat_byte(0xda);

/// A key that only this test has.
pub(crate) fn key(n: u8) -> PrivateKeySigner {
    PrivateKeySigner::from_slice(keccak256([n]).as_slice()).unwrap()
}

/// A sender of transactions.
pub(super) struct Account<'a> {
    api: &'a Api,
    pub(super) key: PrivateKeySigner,
    nonce: u64,
}

impl Account<'_> {
    pub(super) async fn new(api: &Api, n: u8) -> Account<'_> {
        let key = key(n);

        for _ in 0..2 {
            let paid = api
                .post("/api/faucet", &json!({"address": key.address()}))
                .await;
            assert_eq!(paid["success"], true, "{paid}");
        }
        api.until_paid(key.address()).await;

        Account { api, key, nonce: 0 }
    }

    pub(super) fn signed(&mut self, to: TxKind, input: Vec<u8>, gas_limit: u64) -> Bytes {
        let tx = TxEip1559 {
            to,
            input: input.into(),
            gas_limit,
            max_fee_per_gas: GAS_PRICE,
            value: U256::ZERO,
            ..sign::transfer(self.nonce)
        };
        self.nonce += 1;

        sign::raw_of(tx, &self.key)
    }

    /// Sends a transaction, which must be accepted. Returns its hash.
    pub(super) async fn send(&mut self, to: TxKind, input: Vec<u8>, gas_limit: u64) -> String {
        let raw = self.signed(to, input, gas_limit);
        self.api
            .rpc("eth_sendRawTransaction", json!([raw]))
            .await
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Sends a transaction with the maximum number of blobs. Returns its hash and the blobs'
    /// hashes.
    pub(super) async fn send_blobs(&mut self, to: Address) -> (String, Vec<B256>) {
        let tx = TxEip4844 {
            chain_id: 125,
            nonce: self.nonce,
            to,
            gas_limit: 21_000,
            max_fee_per_gas: GAS_PRICE,
            max_priority_fee_per_gas: 1_000_000_000,
            max_fee_per_blob_gas: GAS_PRICE,
            ..TxEip4844::default()
        };

        let sidecar = SidecarBuilder::<SimpleCoder>::from_slice(&[1; BLOBS * BLOB_BYTES])
            .build_7594()
            .unwrap();
        let (raw, hashes) = sign::raw_with_blobs(tx, sidecar, &self.key);

        let hash = self.api.rpc("eth_sendRawTransaction", json!([raw])).await;
        self.nonce += 1;

        (hash.as_str().unwrap().to_owned(), hashes)
    }

    /// Deploys a contract. Returns its address and the hash of the transaction.
    pub(super) async fn deploy(&mut self, runtime: &[u8]) -> (Address, String) {
        let address = self.key.address().create(self.nonce);
        let hash = self.send(TxKind::Create, deployment(runtime), GAS).await;
        (address, hash)
    }
}
