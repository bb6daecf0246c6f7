//! Remembering the chain and going back.

use std::sync::Arc;

use super::number::SmallNumber;
use crate::rpc::{Context, OnFork, RpcError, Table, hex::Quantity};

pub(super) fn methods(table: &mut Table) {
    table
        .wait("evm_snapshot", snapshot, OnFork::Node)
        .aliases(&["anvil_snapshot"])
        .describe([], "Remembers the chain as it is. The result is what `evm_revert` takes.");
    table.wait("evm_revert", revert, OnFork::Node).aliases(&["anvil_revert"]).describe(
        ["snapshot"],
        "Goes back to a snapshot, which is used up with all later ones: state, blocks, pool and time.",
    );
}

/// Remembers the chain as it is. The result is what `evm_revert` takes.
async fn snapshot(context: Arc<Context>, (): ()) -> Result<Quantity<u64>, RpcError> {
    Ok(Quantity(context.chain.snapshot().await?))
}

/// Goes back to a snapshot, which is used up with all later ones: state, blocks, pool and time.
async fn revert(context: Arc<Context>, (id,): (SmallNumber,)) -> Result<bool, RpcError> {
    Ok(context.chain.revert(id.0).await?)
}
