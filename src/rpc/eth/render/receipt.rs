//! Receipts and logs.

use alloy_consensus::{Transaction as _, Typed2718};
use alloy_primitives::{Address, B256, Bloom, Bytes};
use serde::{Serialize, Serializer};

use crate::{
    block::{Block, LogPosition, Status},
    chain::Head,
    rpc::hex::Quantity,
};

/// A receipt with its place in the chain.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcReceipt<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    blob_gas_price: Option<Quantity<u128>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob_gas_used: Option<Quantity<u64>>,
    block_hash: B256,
    block_number: Quantity<u64>,
    contract_address: Option<Address>,
    cumulative_gas_used: Quantity<u64>,
    effective_gas_price: Quantity<u128>,
    from: Address,
    gas_used: Quantity<u64>,
    logs: Vec<RpcLog<'a>>,
    logs_bloom: Bloom,
    #[serde(flatten)]
    status: RpcStatus,
    to: Option<Address>,
    transaction_hash: B256,
    transaction_index: Quantity<u64>,
    #[serde(rename = "type")]
    transaction_type: Quantity<u8>,
}

#[derive(Debug)]
struct RpcStatus(Status);

impl Serialize for RpcStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Status::Success => serializer.collect_map([("status", "0x1")]),
            Status::Failure => serializer.collect_map([("status", "0x0")]),
            Status::Root(root) => serializer.collect_map([("root", root)]),
        }
    }
}

impl<'a> RpcReceipt<'a> {
    /// The receipt at `index` of a block.
    pub fn new(head: &Head, block: &'a Block, index: usize) -> Self {
        let (transaction, receipt) = (&block.transactions[index], &block.receipts[index]);
        let tx = &transaction.envelope;
        let blob_gas_used = tx.blob_gas_used();
        let logs = receipt.logs.iter().zip(receipt.first_log_index..).map(|(log, log_index)| {
            let at = LogPosition { log, log_index, transaction, transaction_index: index as u64 };
            RpcLog::new(block, at, false)
        });
        Self {
            blob_gas_price: blob_gas_used.and_then(|_| head.environment_of(block).blob_base_fee()).map(Quantity),
            blob_gas_used: blob_gas_used.map(Quantity),
            block_hash: block.hash,
            block_number: Quantity(block.number()),
            contract_address: transaction.creates(),
            cumulative_gas_used: Quantity(receipt.cumulative_gas_used),
            effective_gas_price: Quantity(transaction.effective_gas_price(block.header.base_fee_per_gas)),
            from: transaction.sender,
            gas_used: Quantity(receipt.gas_used),
            logs: logs.collect(),
            logs_bloom: receipt.bloom(),
            status: RpcStatus(receipt.status),
            to: tx.to(),
            transaction_hash: transaction.hash(),
            transaction_index: Quantity(index as u64),
            transaction_type: Quantity(tx.ty()),
        }
    }
}

/// A log with its place in the chain.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcLog<'a> {
    address: Address,
    topics: &'a [B256],
    data: &'a Bytes,
    block_number: Quantity<u64>,
    transaction_hash: B256,
    transaction_index: Quantity<u64>,
    block_hash: B256,
    block_timestamp: Quantity<u64>,
    log_index: Quantity<u64>,
    removed: bool,
}

impl<'a> RpcLog<'a> {
    /// A log of `block`; `removed` if the chain no longer has that block.
    pub fn new(block: &Block, at: LogPosition<'a>, removed: bool) -> Self {
        Self {
            address: at.log.address,
            topics: at.log.topics(),
            data: &at.log.data.data,
            block_number: Quantity(block.number()),
            transaction_hash: at.transaction.hash(),
            transaction_index: Quantity(at.transaction_index),
            block_hash: block.hash,
            block_timestamp: Quantity(block.header.timestamp),
            log_index: Quantity(at.log_index),
            removed,
        }
    }
}
