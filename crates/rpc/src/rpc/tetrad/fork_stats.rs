//! The requests of a fork to the other node.

use serde::Serialize;

use crate::{
    fork::ForkStats,
    rpc::{Context, OnFork, RpcError, Table, hex::Quantity, json::Serialized},
};

pub(super) fn methods(table: &mut Table) {
    table
        .read("tetrad_forkStats", fork_stats, OnFork::Node)
        .describe(
            [],
            "Statistics of the requests to the forked node since the fork began: HTTP requests, \
             retries, bytes of the answers, the milliseconds that callers waited, lookups answered \
             from memory and others, and calls by method. Null without a fork.",
        );
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    chain_id: Quantity<u64>,
    block_number: Quantity<u64>,
    #[serde(flatten)]
    stats: ForkStats,
}

fn fork_stats(context: &Context, (): ()) -> Result<Serialized<Option<Stats>>, RpcError> {
    Ok(Serialized(context.fork().map(|fork| Stats {
        chain_id: Quantity(fork.chain_id),
        block_number: Quantity(fork.number),
        stats: fork.client.stats(),
    })))
}
