//! Transactions and receipts by hash or position.

use alloy_primitives::B256;
use serde_json::value::RawValue;

use super::{
    block::{find, rendered},
    render::{RpcReceipt, RpcTransaction},
};
use crate::{
    chain::BlockId,
    rpc::{Context, RpcError, Table},
};

pub(super) fn methods(table: &mut Table) {
    table.read("eth_getTransactionByHash", by_hash);
    table.read("eth_getTransactionReceipt", receipt);
    table.read("eth_getTransactionByBlockNumberAndIndex", by_number_and_index);
    table.read("eth_getTransactionByBlockHashAndIndex", by_hash_and_index);
}

/// The transaction in the chain or the pool; null if it is in neither.
fn by_hash(context: &Context, (hash,): (B256,)) -> Result<Option<Box<RawValue>>, RpcError> {
    // The pool first: a transaction leaves it only after it is in the chain, so none is missed on its way.
    let pooled = context.chain.pool().get(hash);
    let head = context.chain.head();
    if let Some((block, index)) = context.chain.transaction(&head, hash) {
        return rendered(&RpcTransaction::mined(&block, index)).map(Some);
    }
    pooled.map(|pooled| rendered(&RpcTransaction::pending(&pooled.transaction, None))).transpose()
}

/// The receipt; null while the transaction is in no block.
fn receipt(context: &Context, (hash,): (B256,)) -> Result<Option<Box<RawValue>>, RpcError> {
    let head = context.chain.head();
    let Some((block, index)) = context.chain.transaction(&head, hash) else { return Ok(None) };
    rendered(&RpcReceipt::new(&head, &block, index)).map(Some)
}

fn by_number_and_index(context: &Context, (id, index): (BlockId, u64)) -> Result<Option<Box<RawValue>>, RpcError> {
    let Some((_, block)) = find(context, id)? else { return Ok(None) };
    let Some(transaction) = usize::try_from(index).ok().and_then(|index| block.transactions.get(index)) else {
        return Ok(None);
    };
    match id {
        BlockId::Pending => rendered(&RpcTransaction::pending(transaction, block.header.base_fee_per_gas)),
        _ => rendered(&RpcTransaction::mined(&block, index as usize)),
    }
    .map(Some)
}

fn by_hash_and_index(context: &Context, (hash, index): (B256, u64)) -> Result<Option<Box<RawValue>>, RpcError> {
    by_number_and_index(context, (BlockId::Hash(hash), index))
}
