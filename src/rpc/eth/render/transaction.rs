//! Transactions.

use alloy_consensus::{Transaction as _, TxType, Typed2718};
use alloy_eips::{eip2930::AccessList, eip7702::SignedAuthorization};
use alloy_primitives::{Address, B256, Bytes, U256};
use serde::Serialize;

use crate::{
    block::{Block, Transaction},
    rpc::hex::Quantity,
};

/// A transaction, in a block or not yet.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcTransaction<'a> {
    block_hash: Option<B256>,
    block_number: Option<Quantity<u64>>,
    block_timestamp: Option<Quantity<u64>>,
    from: Address,
    gas: Quantity<u64>,
    gas_price: Quantity<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_fee_per_gas: Option<Quantity<u128>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_priority_fee_per_gas: Option<Quantity<u128>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_fee_per_blob_gas: Option<Quantity<u128>>,
    hash: B256,
    input: &'a Bytes,
    nonce: Quantity<u64>,
    to: Option<Address>,
    transaction_index: Option<Quantity<u64>>,
    value: Quantity<U256>,
    #[serde(rename = "type")]
    transaction_type: Quantity<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    access_list: Option<&'a AccessList>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain_id: Option<Quantity<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob_versioned_hashes: Option<&'a [B256]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authorization_list: Option<&'a [SignedAuthorization]>,
    v: Quantity<U256>,
    r: Quantity<U256>,
    s: Quantity<U256>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y_parity: Option<Quantity<u8>>,
}

impl<'a> RpcTransaction<'a> {
    /// The transaction at `index` of a sealed block.
    pub fn mined(block: &'a Block, index: usize) -> Self {
        let header = &block.header;
        let transaction = &block.transactions[index];
        Self {
            block_hash: Some(block.hash),
            block_number: Some(Quantity(header.number)),
            block_timestamp: Some(Quantity(header.timestamp)),
            transaction_index: Some(Quantity(index as u64)),
            gas_price: Quantity(transaction.effective_gas_price(header.base_fee_per_gas)),
            ..Self::pending(transaction, None)
        }
    }

    /// A transaction that is in no block. Its price is what it would pay at `base_fee`, or its maximum.
    pub fn pending(transaction: &'a Transaction, base_fee: Option<u64>) -> Self {
        let tx = &transaction.envelope;
        let signature = tx.signature();
        let y_parity = u8::from(signature.v());
        let (typed, dynamic) = (tx.tx_type() != TxType::Legacy, tx.is_dynamic_fee());
        Self {
            block_hash: None,
            block_number: None,
            block_timestamp: None,
            from: transaction.sender,
            gas: Quantity(tx.gas_limit()),
            gas_price: Quantity(base_fee.map_or(tx.max_fee_per_gas(), |_| transaction.effective_gas_price(base_fee))),
            max_fee_per_gas: dynamic.then(|| Quantity(tx.max_fee_per_gas())),
            max_priority_fee_per_gas: tx.max_priority_fee_per_gas().map(Quantity),
            max_fee_per_blob_gas: tx.max_fee_per_blob_gas().map(Quantity),
            hash: transaction.hash(),
            input: tx.input(),
            nonce: Quantity(tx.nonce()),
            to: tx.to(),
            transaction_index: None,
            value: Quantity(tx.value()),
            transaction_type: Quantity(tx.ty()),
            access_list: tx.access_list(),
            chain_id: tx.chain_id().map(Quantity),
            blob_versioned_hashes: tx.blob_versioned_hashes(),
            authorization_list: tx.authorization_list(),
            v: Quantity(match tx.chain_id() {
                _ if typed => U256::from(y_parity),
                Some(chain_id) => U256::from(chain_id) * U256::from(2) + U256::from(35 + y_parity),
                None => U256::from(27 + y_parity),
            }),
            r: Quantity(signature.r()),
            s: Quantity(signature.s()),
            y_parity: typed.then_some(Quantity(y_parity)),
        }
    }
}
