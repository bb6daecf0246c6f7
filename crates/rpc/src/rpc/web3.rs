//! The `web3` namespace.
//!
//! In the development profile `web3_clientVersion` begins with `anvil/`, which enables the helpers
//! of hardhat and foundry.

use alloy_primitives::{B256, Bytes, keccak256};

use super::{Context, OnFork, RpcError, Table};

pub(super) fn methods(table: &mut Table) {
    table
        .read("web3_clientVersion", client_version, OnFork::Node)
        .describe([], "Name and version of the node.");

    table
        .read("web3_sha3", sha3, OnFork::Node)
        .describe(["data"], "Keccak-256 of the data.");
}

pub(super) fn client_version(context: &Context, (): ()) -> Result<String, RpcError> {
    let version = &context.config.client_version;
    // Hardhat's helpers move time and state only if they recognise the name at the front.
    Ok(if context.config.development {
        format!("anvil/{version}")
    } else {
        version.clone()
    })
}

/// Keccak-256 of the data.
fn sha3(_: &Context, (data,): (Bytes,)) -> Result<B256, RpcError> {
    Ok(keccak256(data))
}
