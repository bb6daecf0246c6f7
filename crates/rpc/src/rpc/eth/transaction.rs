//! Transactions and receipts by hash or position.

use alloy_primitives::B256;
use tetrad_chain::BlockId;

use super::{
    block::find,
    render::{RpcReceipt, RpcTransaction},
};
use crate::rpc::{Context, OnFork, RpcError, Table};

pub(super) fn methods(table: &mut Table) {
    table
        .read("eth_getTransactionByHash", by_hash, OnFork::Transaction)
        .describe(
            ["transaction hash"],
            "A transaction in the chain or the pool; null if it is in neither.",
        );
    table
        .read("eth_getTransactionReceipt", receipt, OnFork::Transaction)
        .describe(
            ["transaction hash"],
            "The receipt; null while the transaction is in no block.",
        );
    table
        .read(
            "eth_getTransactionByBlockNumberAndIndex",
            by_number_and_index,
            OnFork::Block,
        )
        .describe(
            ["block", "index"],
            "The transaction at an index of a block; null if there is none.",
        );
    table
        .read(
            "eth_getTransactionByBlockHashAndIndex",
            by_hash_and_index,
            OnFork::Block,
        )
        .describe(
            ["block hash", "index"],
            "The transaction at an index of a block, by the block's hash; null if there is none.",
        );
}

/// The transaction in the chain or the pool; null if it is in neither.
fn by_hash(context: &Context, (hash,): (B256,)) -> Result<Option<RpcTransaction>, RpcError> {
    // The pool first: a transaction leaves it only after it is in the chain, so none is missed on
    // its way.
    let pooled = context.chain.pool().get(hash);

    let head = context.chain.head();
    if let Some((block, index)) = context.chain.transaction(&head, hash) {
        return Ok(Some(RpcTransaction::Mined(block, index)));
    }
    Ok(pooled.map(|pooled| RpcTransaction::Waiting(pooled.transaction.clone())))
}

/// The receipt; null while the transaction is in no block.
pub(super) fn receipt(context: &Context, (hash,): (B256,)) -> Result<Option<RpcReceipt>, RpcError> {
    let head = context.chain.head();
    let Some((block, index)) = context.chain.transaction(&head, hash) else {
        return Ok(None);
    };

    let blob_base_fee = head.environment_of(&block).blob_base_fee();
    Ok(Some(RpcReceipt {
        block,
        index,
        blob_base_fee,
    }))
}

fn by_number_and_index(
    context: &Context,
    (id, index): (BlockId, u64),
) -> Result<Option<RpcTransaction>, RpcError> {
    let Some((_, block)) = find(context, id)? else {
        return Ok(None);
    };
    let Some(index) = usize::try_from(index)
        .ok()
        .filter(|index| *index < block.transactions.len())
    else {
        return Ok(None);
    };

    if id == BlockId::Pending {
        let transaction = block.transactions[index].clone();
        let base_fee = block.header.base_fee_per_gas;
        return Ok(Some(RpcTransaction::Pending(transaction, base_fee)));
    }
    Ok(Some(RpcTransaction::Mined(block, index)))
}

fn by_hash_and_index(
    context: &Context,
    (hash, index): (B256, u64),
) -> Result<Option<RpcTransaction>, RpcError> {
    by_number_and_index(context, (BlockId::Hash(hash), index))
}
