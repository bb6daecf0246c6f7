//! The `net` namespace.

use super::{Context, OnFork, RpcError, Table, hex::Quantity};

pub(super) fn methods(table: &mut Table) {
    table.read("net_version", version, OnFork::Node).describe(
        [],
        "The network id, which is the chain id, as a decimal number.",
    );

    table
        .read("net_listening", listening, OnFork::Node)
        .describe([], "Whether the node accepts connections.");

    table
        .read("net_peerCount", peer_count, OnFork::Node)
        .describe([], "The number of peers: none.");
}

/// The network id as a decimal string: the chain id.
fn version(context: &Context, (): ()) -> Result<String, RpcError> {
    Ok(context.chain.params().chain_id.to_string())
}

fn listening(_: &Context, (): ()) -> Result<bool, RpcError> {
    Ok(true)
}

fn peer_count(_: &Context, (): ()) -> Result<Quantity<u64>, RpcError> {
    Ok(Quantity(0))
}
