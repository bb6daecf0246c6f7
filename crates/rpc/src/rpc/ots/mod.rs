//! The `ots` namespace of the block explorer Otterscan, and the one `erigon` method that it needs.

mod block;
mod search;
mod transaction;

use super::{
    Context, OnFork, RpcError, Table,
    json::{Json, JsonWriter},
};

pub(super) fn methods(table: &mut Table) {
    table
        .read("ots_getApiLevel", api_level, OnFork::Node)
        .describe([], "The version of the namespace.");
    block::methods(table);
    search::methods(table);
    transaction::methods(table);
}

/// A number as Otterscan computes with it: one of JSON, where the other namespaces have a quantity.
struct PlainNumber(u64);

impl Json for PlainNumber {
    fn write(&self, out: &mut JsonWriter) {
        out.extend_from_slice(self.0.to_string().as_bytes());
    }
}

/// The version of the namespace.
fn api_level(_: &Context, (): ()) -> Result<i64, RpcError> {
    Ok(8)
}
