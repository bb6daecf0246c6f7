//! Snapshots with names, and the list of all snapshots.

use std::sync::Arc;

use alloy_primitives::B256;
use serde::Serialize;
use serde_json::{Value, json};
use tetrad_chain::{BlockId, block_in_place};
use tetrad_store::store::SnapshotInfo;

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    hex::Quantity,
    json::Serialized,
    params::{Param, ParamRules},
};

/// The longest name, in characters. No name is longer than 255 bytes.
const MAX_NAME: usize = 60;
/// The most snapshots that are listed.
const MAX_LISTED: usize = 1_000;

pub(super) fn methods(table: &mut Table) {
    table
        .wait("tetrad_snapshot", snapshot, OnFork::Node)
        .describe(
            ["name"],
            "Takes a snapshot like `evm_snapshot` and gives it a name, of 1 to 60 characters; the \
             result is its id for `evm_revert`. Several snapshots may have the same name. In the \
             development profile only.",
        );

    table
        .wait("tetrad_snapshots", snapshots, OnFork::Node)
        .describe(
            [],
            "The snapshots that `evm_revert` can still restore, oldest first, at most the newest \
             1,000: the id, the name if it has one, and number, hash and timestamp of the newest \
             block at the time. In the development profile only.",
        );
}

/// The name of a snapshot.
struct SnapshotName(String);

impl Param for SnapshotName {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let name = String::read(json, rules)?;
        let name = name.trim();
        match name.chars().count() {
            1..=MAX_NAME if !name.chars().any(char::is_control) => Ok(Self(name.to_owned())),
            _ => Err(format!("expected a name of 1 to {MAX_NAME} characters")),
        }
    }

    fn schema() -> Value {
        json!({"type": "string", "minLength": 1, "maxLength": MAX_NAME})
    }
}

/// A snapshot.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Snapshot {
    id: Quantity<u64>,
    name: Option<String>,
    block_number: Quantity<u64>,
    block_hash: B256,
    /// The timestamp of the block; none if the node no longer has the block.
    timestamp: Option<Quantity<u64>>,
}

/// Takes a snapshot with a name.
async fn snapshot(
    context: Arc<Context>,
    (name,): (SnapshotName,),
) -> Result<Quantity<u64>, RpcError> {
    Ok(Quantity(context.chain.named_snapshot(&name.0).await?))
}

/// The snapshots that can be restored, oldest first.
async fn snapshots(context: Arc<Context>, (): ()) -> Result<Serialized<Vec<Snapshot>>, RpcError> {
    let taken = context.chain.snapshots().await?;
    let newest = taken.into_iter().rev().take(MAX_LISTED);
    // Blocks that memory no longer holds are read from disk.
    let mut listed: Vec<_> =
        block_in_place(|| newest.map(|taken| listed(&context, taken)).collect());
    // Taken newest first, listed oldest first.
    listed.reverse();
    Ok(Serialized(listed))
}

fn listed(context: &Context, taken: SnapshotInfo) -> Snapshot {
    let head = context.chain.head();
    let held = head
        .block(taken.number)
        .filter(|block| block.hash == taken.hash)
        .cloned();
    let block = held.or_else(|| {
        context
            .chain
            .block(&head, BlockId::Hash(taken.hash))
            .ok()
            .flatten()
    });

    Snapshot {
        id: Quantity(taken.id),
        name: taken.name.map(|name| name.to_string()),
        block_number: Quantity(taken.number),
        block_hash: taken.hash,
        timestamp: block.map(|block| Quantity(block.header.timestamp)),
    }
}
