//! Snapshots of the chain.

use std::sync::Arc;

use super::number::SmallNumber;
use crate::rpc::{Context, OnFork, RpcError, Table, hex::Quantity};

pub(super) fn methods(table: &mut Table) {
    table
        .change("evm_snapshot", snapshot, OnFork::Node)
        .aliases(&["anvil_snapshot"])
        .describe(
            [],
            "Takes a snapshot of the chain; the result is its id for `evm_revert`.",
        );

    table
        .change("evm_revert", revert, OnFork::Node)
        .aliases(&["anvil_revert"])
        .describe(
            ["snapshot"],
            "Restores state, blocks, pool and time of a snapshot, and deletes it with all later \
             ones.",
        );
}

/// Takes a snapshot of the chain; the result is its id for `evm_revert`.
async fn snapshot(context: Arc<Context>, (): ()) -> Result<Quantity<u64>, RpcError> {
    Ok(Quantity(context.chain.snapshot().await?))
}

/// Restores state, blocks, pool and time of a snapshot, and deletes it with all later ones.
async fn revert(context: Arc<Context>, (id,): (SmallNumber,)) -> Result<bool, RpcError> {
    Ok(context.chain.revert(id.0).await?)
}
