//! The `net` namespace.

use super::{Context, RpcError, Table, hex::Quantity};

pub(super) fn methods(table: &mut Table) {
    table.read("net_version", version);
    table.read("net_listening", listening);
    table.read("net_peerCount", peer_count);
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
