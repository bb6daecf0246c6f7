//! Transactions.

use std::sync::Arc;

use alloy_consensus::{Transaction as _, TxType, Typed2718};
use alloy_eips::{eip2930::AccessList, eip7702::SignedAuthorization};
use alloy_primitives::{B256, Bytes, U256};
use serde_json::Value;
use tetrad_primitives::block::{Block, Envelope, Transaction};

use super::schema;
use crate::rpc::{
    hex::Quantity,
    json::{Json, JsonWriter, Object, array},
};

/// A transaction in geth's format.
#[derive(Clone, Debug)]
pub(crate) enum RpcTransaction {
    /// At an index of a sealed block.
    Mined(Arc<Block>, usize),
    /// In no block; its gas price is its maximum fee.
    Waiting(Arc<Transaction>),
    /// In the pending block with this base fee.
    Pending(Arc<Transaction>, Option<u64>),
}

impl Json for RpcTransaction {
    fn write(&self, out: &mut JsonWriter) {
        match self {
            Self::Mined(block, index) => write_mined(block, *index, out),
            Self::Waiting(transaction) => write_waiting(transaction, None, out),
            Self::Pending(transaction, base_fee) => write_waiting(transaction, *base_fee, out),
        }
    }

    fn schema(_: Option<&Value>) -> Value {
        schema::transaction()
    }
}

/// The position of a transaction.
struct BlockPosition {
    block: B256,
    number: u64,
    timestamp: u64,
    index: usize,
}

/// Writes the transaction at `index` of a sealed block.
pub(super) fn write_mined(block: &Block, index: usize, out: &mut JsonWriter) {
    let input = block.transactions[index].envelope.input();
    write_mined_with(block, index, input, out);
}

/// Writes the transaction at `index` of a sealed block with no more of its input than a function's
/// selector.
pub(crate) fn write_mined_briefly(block: &Block, index: usize, out: &mut JsonWriter) {
    let input = block.transactions[index].envelope.input();
    write_mined_with(block, index, &input.slice(..input.len().min(4)), out);
}

fn write_mined_with(block: &Block, index: usize, input: &Bytes, out: &mut JsonWriter) {
    let header = &block.header;
    let transaction = &block.transactions[index];
    let place = BlockPosition {
        block: block.hash,
        number: header.number,
        timestamp: header.timestamp,
        index,
    };
    let gas_price = transaction.effective_gas_price(header.base_fee_per_gas);
    write(transaction, input, Some(place), gas_price, out);
}

/// Writes a transaction that is in no sealed block.
pub(super) fn write_waiting(
    transaction: &Transaction,
    base_fee: Option<u64>,
    out: &mut JsonWriter,
) {
    let gas_price = if base_fee.is_some() {
        transaction.effective_gas_price(base_fee)
    } else {
        // As in geth, the price is the fee cap until a block fixes it.
        transaction.envelope.max_fee_per_gas()
    };
    let input = transaction.envelope.input();
    write(transaction, input, None, gas_price, out);
}

fn write(
    transaction: &Transaction,
    input: &Bytes,
    place: Option<BlockPosition>,
    gas_price: u128,
    out: &mut JsonWriter,
) {
    let mut object = Object::begin(out);
    write_fields(transaction, input, place, gas_price, &mut object);
    write_typed_fields(&transaction.envelope, &mut object);
    write_signature(&transaction.envelope, &mut object);
    object.end();
}

/// Writes the members of transactions of every type, and the fees of each.
fn write_fields(
    transaction: &Transaction,
    input: &Bytes,
    place: Option<BlockPosition>,
    gas_price: u128,
    object: &mut Object<'_>,
) {
    let tx = &transaction.envelope;
    object
        .member("blockHash", &place.as_ref().map(|place| place.block))
        .member(
            "blockNumber",
            &place.as_ref().map(|place| Quantity(place.number)),
        )
        .member(
            "blockTimestamp",
            &place.as_ref().map(|place| Quantity(place.timestamp)),
        )
        .member("from", &transaction.sender)
        .member("gas", &Quantity(tx.gas_limit()))
        .member("gasPrice", &Quantity(gas_price))
        .optional(
            "maxFeePerGas",
            &tx.is_dynamic_fee().then(|| Quantity(tx.max_fee_per_gas())),
        )
        .optional(
            "maxPriorityFeePerGas",
            &tx.max_priority_fee_per_gas().map(Quantity),
        )
        .optional("maxFeePerBlobGas", &tx.max_fee_per_blob_gas().map(Quantity))
        .member("hash", &transaction.hash())
        .member("input", input)
        .member("nonce", &Quantity(tx.nonce()))
        .member("to", &tx.to())
        .member(
            "transactionIndex",
            &place.map(|place| Quantity(place.index)),
        )
        .member("value", &Quantity(tx.value()))
        .member("type", &Quantity(tx.ty()));
}

/// Writes the members that not every type has.
fn write_typed_fields(tx: &Envelope, object: &mut Object<'_>) {
    if let Some(list) = tx.access_list() {
        write_access_list(list, object.name("accessList"));
    }
    object.optional("chainId", &tx.chain_id().map(Quantity));
    if let Some(hashes) = tx.blob_versioned_hashes() {
        object.member("blobVersionedHashes", hashes);
    }
    if let Some(authorizations) = tx.authorization_list() {
        array(
            object.name("authorizationList"),
            authorizations,
            write_authorization,
        );
    }
}

fn write_signature(tx: &Envelope, object: &mut Object<'_>) {
    let signature = tx.signature();
    let parity = u8::from(signature.v());
    let typed = tx.tx_type() != TxType::Legacy;

    // A simulated transaction has no signature.
    let unsigned = signature.r().is_zero() && signature.s().is_zero();
    let v = if unsigned {
        U256::ZERO
    } else if typed {
        U256::from(parity)
    } else if let Some(chain_id) = tx.chain_id() {
        // EIP-155.
        U256::from(chain_id) * U256::from(2) + U256::from(35 + parity)
    } else {
        U256::from(27 + parity)
    };

    object
        .member("v", &Quantity(v))
        .member("r", &Quantity(signature.r()))
        .member("s", &Quantity(signature.s()))
        .optional("yParity", &typed.then_some(Quantity(parity)));
}

/// Writes an access list (EIP-2930).
pub(crate) fn write_access_list(list: &AccessList, out: &mut JsonWriter) {
    array(out, list.iter(), |item, out| {
        Object::begin(out)
            .member("address", &item.address)
            .member("storageKeys", &item.storage_keys)
            .end();
    });
}

fn write_authorization(signed: &SignedAuthorization, out: &mut JsonWriter) {
    Object::begin(out)
        .member("chainId", &Quantity(signed.chain_id))
        .member("address", &signed.address)
        .member("nonce", &Quantity(signed.nonce))
        .member("yParity", &Quantity(signed.y_parity()))
        .member("r", &Quantity(signed.r()))
        .member("s", &Quantity(signed.s()))
        .end();
}
