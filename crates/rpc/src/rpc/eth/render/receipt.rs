//! Receipts and logs.

use std::sync::Arc;

use alloy_consensus::{Transaction as _, Typed2718};
use serde_json::Value;
use tetrad_primitives::block::{Block, LogPosition, Status};

use super::schema;
use crate::rpc::{
    hex::Quantity,
    json::{Json, JsonWriter, Object, array},
};

/// The receipt at an index of a block, in geth's format.
#[derive(Clone, Debug)]
pub(crate) struct RpcReceipt {
    /// The block.
    pub block: Arc<Block>,
    /// The transaction's index in it.
    pub index: usize,
    /// Wei per blob gas in the block; none before Cancun.
    pub blob_base_fee: Option<u128>,
}

impl Json for RpcReceipt {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        self.write_members(&mut object);
        object.end();
    }

    fn schema(_: Option<&Value>) -> Value {
        schema::receipt()
    }
}

impl RpcReceipt {
    /// Writes the receipt's members into an object that may have others.
    pub(crate) fn write_members(&self, object: &mut Object<'_>) {
        let block = &*self.block;
        let receipt = &block.receipts[self.index];
        let transaction = &block.transactions[self.index];

        self.write_outcome(object);
        array(
            object.name("logs"),
            receipt.logs.iter().zip(receipt.first_log_index..),
            |(log, log_index), out| {
                let at = LogPosition {
                    log,
                    log_index,
                    transaction,
                    transaction_index: self.index as u64,
                };
                write_log(block, at, false, out);
            },
        );
        object.member("logsBloom", &receipt.bloom());
    }

    /// Writes all members but the logs and their bloom filter.
    pub(crate) fn write_outcome(&self, object: &mut Object<'_>) {
        let block = &*self.block;
        let transaction = &block.transactions[self.index];
        let receipt = &block.receipts[self.index];
        let tx = &transaction.envelope;
        let blob_gas_used = tx.blob_gas_used();

        object
            .optional(
                "blobGasPrice",
                &blob_gas_used.and(self.blob_base_fee).map(Quantity),
            )
            .optional("blobGasUsed", &blob_gas_used.map(Quantity))
            .member("blockHash", &block.hash)
            .member("blockNumber", &Quantity(block.number()))
            .member("contractAddress", &transaction.creates())
            .member("cumulativeGasUsed", &Quantity(receipt.cumulative_gas_used))
            .member(
                "effectiveGasPrice",
                &Quantity(transaction.effective_gas_price(block.header.base_fee_per_gas)),
            )
            .member("from", &transaction.sender)
            .member("gasUsed", &Quantity(receipt.gas_used));

        match &receipt.status {
            Status::Success => object.member("status", &Quantity(1u8)),
            Status::Failure => object.member("status", &Quantity(0u8)),
            // Receipts had a state root until Byzantium (EIP-658).
            Status::Root(root) => object.member("root", root),
        };

        object
            .member("to", &tx.to())
            .member("transactionHash", &transaction.hash())
            .member("transactionIndex", &Quantity(self.index))
            .member("type", &Quantity(tx.ty()));
    }
}

/// Writes a log of `block` in geth's format; `removed` if the block is no longer in the chain.
pub(crate) fn write_log(block: &Block, at: LogPosition<'_>, removed: bool, out: &mut JsonWriter) {
    Object::begin(out)
        .member("address", &at.log.address)
        .member("topics", at.log.topics())
        .member("data", &at.log.data.data)
        .member("blockNumber", &Quantity(block.number()))
        .member("transactionHash", &at.transaction.hash())
        .member("transactionIndex", &Quantity(at.transaction_index))
        .member("blockHash", &block.hash)
        .member("blockTimestamp", &Quantity(block.header.timestamp))
        .member("logIndex", &Quantity(at.log_index))
        .member("removed", &removed)
        .end();
}
