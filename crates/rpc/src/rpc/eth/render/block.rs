//! Blocks and headers.

use std::sync::Arc;

use alloy_eips::eip4895::Withdrawal;
use serde_json::Value;
use tetrad_primitives::block::Block;

use super::{
    schema,
    transaction::{write_mined, write_waiting},
};
use crate::rpc::{
    hex::Quantity,
    json::{Json, JsonWriter, Object, array},
};

/// A block in geth's format.
#[derive(Clone, Debug)]
pub(crate) struct RpcBlock {
    /// The block.
    pub block: Arc<Block>,
    /// Whole transactions, or their hashes.
    pub full: bool,
    /// Whether the block is not sealed: then it has neither hash nor nonce.
    pub pending: bool,
}

/// The header of a block.
#[derive(Clone, Debug)]
pub(crate) struct RpcHeader {
    /// The block.
    pub block: Arc<Block>,
    /// Whether the block is not sealed: then it has neither hash nor nonce.
    pub pending: bool,
}

impl Json for RpcHeader {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        write_header(&self.block, self.pending, &mut object);
        object.end();
    }

    fn schema(_: Option<&Value>) -> Value {
        schema::header()
    }
}

impl Json for RpcBlock {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        self.write_members(&mut object);
        object.end();
    }

    fn schema(_: Option<&Value>) -> Value {
        schema::block()
    }
}

impl RpcBlock {
    /// Writes the header's members and the block's size.
    pub(crate) fn write_header_members(&self, object: &mut Object<'_>) {
        write_header(&self.block, self.pending, object);
        object.member("size", &Quantity(self.block.size()));
    }

    /// Writes the block's members into an object that may have others.
    pub(crate) fn write_members(&self, object: &mut Object<'_>) {
        let block = &*self.block;
        self.write_header_members(object);

        let out = object.name("transactions");
        if !self.full {
            array(out, &block.transactions, |transaction, out| {
                transaction.hash().write(out)
            });
        } else if self.pending {
            array(out, &block.transactions, |transaction, out| {
                write_waiting(transaction, block.header.base_fee_per_gas, out);
            });
        } else {
            array(out, 0..block.transactions.len(), |index, out| {
                write_mined(block, index, out)
            });
        }

        array(object.name("uncles"), &block.ommers, |ommer, out| {
            ommer.hash_slow().write(out)
        });
        if let Some(withdrawals) = &block.withdrawals {
            array(object.name("withdrawals"), withdrawals, write_withdrawal);
        }
    }
}

fn write_header(block: &Block, pending: bool, object: &mut Object<'_>) {
    let header = &block.header;
    object
        .member("number", &Quantity(header.number))
        // A block that is not sealed has neither hash nor nonce, as in geth.
        .member("hash", &(!pending).then_some(block.hash))
        .member("parentHash", &header.parent_hash)
        .member("nonce", &(!pending).then_some(header.nonce))
        .member("mixHash", &header.mix_hash)
        .member("sha3Uncles", &header.ommers_hash)
        .member("logsBloom", &header.logs_bloom)
        .member("transactionsRoot", &header.transactions_root)
        .member("stateRoot", &header.state_root)
        .member("receiptsRoot", &header.receipts_root)
        .member("miner", &header.beneficiary)
        .member("difficulty", &Quantity(header.difficulty))
        .member("extraData", &header.extra_data)
        .member("gasLimit", &Quantity(header.gas_limit))
        .member("gasUsed", &Quantity(header.gas_used))
        .member("timestamp", &Quantity(header.timestamp))
        .optional("baseFeePerGas", &header.base_fee_per_gas.map(Quantity))
        .optional("withdrawalsRoot", &header.withdrawals_root)
        .optional("blobGasUsed", &header.blob_gas_used.map(Quantity))
        .optional("excessBlobGas", &header.excess_blob_gas.map(Quantity))
        .optional("parentBeaconBlockRoot", &header.parent_beacon_block_root)
        .optional("requestsHash", &header.requests_hash);
}

/// Writes a withdrawal.
pub(crate) fn write_withdrawal(withdrawal: &Withdrawal, out: &mut JsonWriter) {
    Object::begin(out)
        .member("index", &Quantity(withdrawal.index))
        .member("validatorIndex", &Quantity(withdrawal.validator_index))
        .member("address", &withdrawal.address)
        .member("amount", &Quantity(withdrawal.amount))
        .end();
}
