//! Blocks, receipts and transactions in their consensus encodings.

use alloy_primitives::{B256, Bytes};
use tetrad_chain::BlockId;

use crate::rpc::{Context, OnFork, RpcError, Table, eth::found_block};

pub(super) fn methods(table: &mut Table) {
    table
        .execute("debug_getRawBlock", block, OnFork::Block)
        .describe(["block"], "The RLP of a block.");

    table
        .read("debug_getRawHeader", header, OnFork::Block)
        .describe(["block"], "The RLP of a header.");

    table
        .execute("debug_getRawReceipts", receipts, OnFork::Block)
        .describe(["block"], "The encodings of a block's receipts (EIP-2718).");

    table
        .read("debug_getRawTransaction", transaction, OnFork::Transaction)
        .describe(
            ["transaction hash"],
            "The encoding of a transaction (EIP-2718); empty if it is not known.",
        );

    table
        .read(
            "debug_getRawBlockAccessList",
            block_access_list,
            OnFork::Block,
        )
        .describe(
            ["block"],
            "The encoding of a block's access list (EIP-7928): an error for blocks whose fork has \
             none, which are all so far.",
        );

    table
        .read("debug_getBadBlocks", bad_blocks, OnFork::Node)
        .describe(
            [],
            "Invalid blocks that the node received: none, since it builds the chain itself.",
        );
}

/// The RLP of a block.
fn block(context: &Context, (id,): (BlockId,)) -> Result<Bytes, RpcError> {
    Ok(found_block(context, id)?.encode())
}

/// The RLP of a header.
fn header(context: &Context, (id,): (BlockId,)) -> Result<Bytes, RpcError> {
    Ok(alloy_rlp::encode(&found_block(context, id)?.header).into())
}

/// The encodings of a block's receipts (EIP-2718).
fn receipts(context: &Context, (id,): (BlockId,)) -> Result<Vec<Bytes>, RpcError> {
    let block = found_block(context, id)?;
    let encoded = block.receipts.iter().map(|receipt| {
        let mut out = Vec::new();
        receipt.encode_2718(&mut out);
        Bytes::from(out)
    });
    Ok(encoded.collect())
}

/// The encoding of a transaction in the chain or the pool (EIP-2718); empty if it is in neither.
fn transaction(context: &Context, (hash,): (B256,)) -> Result<Bytes, RpcError> {
    // The pool first: a transaction leaves it only after it is in the chain, so none is missed.
    let pooled = context.chain.pool().get(hash);
    let head = context.chain.head();
    let encoded = match context.chain.transaction(&head, hash) {
        Some((block, index)) => block.transactions[index].encode(),
        None => pooled
            .map(|pooled| pooled.transaction.encode())
            .unwrap_or_default(),
    };
    Ok(encoded.into())
}

/// The encoding of a block's access list (EIP-7928), which no fork has so far.
fn block_access_list(context: &Context, (id,): (BlockId,)) -> Result<Bytes, RpcError> {
    found_block(context, id)?;
    Err(RpcError::resource_not_found(
        "the block has no access list: its fork does not define one",
    ))
}

/// Invalid blocks that the node received: none, since it builds the chain itself.
fn bad_blocks(_: &Context, (): ()) -> Result<Vec<Bytes>, RpcError> {
    Ok(Vec::new())
}
