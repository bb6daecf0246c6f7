//! Blobs of transactions (EIP-4844), which blocks do not hold.

use alloy_primitives::{B256, Bytes};

use crate::rpc::{Context, OnFork, RpcError, Table};

pub(super) fn methods(table: &mut Table) {
    table
        .read("anvil_getBlobByHash", by_hash, OnFork::Kept)
        .describe(
            ["versioned hash"],
            "A blob of a transaction (EIP-4844); null if it is not among the newest 512.",
        );

    table
        .read(
            "anvil_getBlobsByTransactionHash",
            by_transaction_hash,
            OnFork::Kept,
        )
        .describe(
            ["transaction hash"],
            "The blobs of a transaction; null if it has none, or they are not among the newest \
             512.",
        );
}

/// The blob with this versioned hash; null if it is not held.
fn by_hash(context: &Context, (hash,): (B256,)) -> Result<Option<Bytes>, RpcError> {
    Ok(context
        .chain
        .blobs()
        .with_hash(hash)
        .map(|blob| Bytes::copy_from_slice(blob.as_slice())))
}

/// The blobs of a transaction; null if it has none or they are not held.
fn by_transaction_hash(
    context: &Context,
    (hash,): (B256,),
) -> Result<Option<Vec<Bytes>>, RpcError> {
    let kept = context.chain.blobs().transaction(hash);
    Ok(kept.map(|pooled| {
        pooled
            .blobs()
            .iter()
            .map(|blob| Bytes::copy_from_slice(blob.as_slice()))
            .collect()
    }))
}
