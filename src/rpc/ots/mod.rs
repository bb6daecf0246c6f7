//! The `ots` namespace of the block explorer Otterscan, and the one `erigon` method that it needs.

mod block;
mod search;
mod transaction;

use super::{Context, OnFork, RpcError, Table};

pub(super) fn methods(table: &mut Table) {
    table.read("ots_getApiLevel", api_level, OnFork::Node).describe([], "The version of the namespace.");
    block::methods(table);
    search::methods(table);
    transaction::methods(table);
}

/// The version of the namespace.
fn api_level(_: &Context, (): ()) -> Result<i64, RpcError> {
    Ok(8)
}
