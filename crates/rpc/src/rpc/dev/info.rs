//! Information about the node.

use std::sync::{Arc, atomic::Ordering};

use alloy_primitives::keccak256;
use serde_json::{Map, Value, json};
use tetrad_chain::PoolOrder;
use tetrad_evm::Fork;
use tetrad_stdx::redact;
use tetrad_store::store::SnapshotInfo;

use crate::rpc::{
    Context, OnFork, RpcError, Table, eth::suggested_tip, hex::Quantity, json::Serialized, web3,
};

pub(super) fn methods(table: &mut Table) {
    table
        .read("anvil_nodeInfo", node_info, OnFork::Node)
        .describe([], "The state of the chain and the settings of new blocks.");

    table
        .wait("anvil_metadata", metadata, OnFork::Node)
        .aliases(&["hardhat_metadata"])
        .describe(
            [],
            "The program's version, the instance's id, and its chain.",
        );

    table
        .read("anvil_getGenesisTime", genesis_time, OnFork::Node)
        .describe(
            [],
            "The first block's time, in seconds since the Unix epoch.",
        );

    table
        .read("anvil_setLoggingEnabled", set_logging_enabled, OnFork::Node)
        .changes_state()
        .aliases(&["hardhat_setLoggingEnabled"])
        .describe(
            ["on"],
            "Switches the terminal's log of transactions on or off.",
        );
}

/// A fork's name as anvil writes it: `Prague`.
fn title(fork: Fork) -> String {
    let name = fork.name();
    name[..1].to_ascii_uppercase() + &name[1..]
}

/// The state of the chain and the settings of new blocks.
fn node_info(context: &Context, (): ()) -> Result<Serialized<Value>, RpcError> {
    let head = context.chain.head();
    let next = context.chain.next_environment(&head);
    let base_fee = next.base_fee.unwrap_or(0);
    let fork = context.fork();

    Ok(Serialized(json!({
        "currentBlockNumber": Quantity(head.number()),
        "currentBlockTimestamp": head.block.header.timestamp,
        "currentBlockHash": head.block.hash,
        "hardFork": title(next.rules.fork),
        "transactionOrder": match context.chain.pool().order() {
            PoolOrder::Tips => "fees",
            PoolOrder::Arrival => "fifo",
        },
        "environment": {
            "baseFee": Quantity(base_fee),
            "chainId": head.params.chain_id,
            "gasLimit": Quantity(next.gas_limit),
            "gasPrice": Quantity(u128::from(base_fee) + suggested_tip(&head)),
        },
        "forkConfig": {
            "forkUrl": fork.as_ref().map(|fork| redact::url(fork.client.url().as_str())),
            "forkBlockNumber": fork.as_ref().map(|fork| fork.number),
            "forkRetryBackoff": fork.as_ref().map(|fork| fork.client.backoff().as_millis() as u64),
        },
    })))
}

/// The program's version, the instance's id, and its chain.
async fn metadata(context: Arc<Context>, (): ()) -> Result<Serialized<Value>, RpcError> {
    let snapshots = context.chain.snapshots().await?;
    let head = context.chain.head();

    // A restarted node and a reset chain are other instances, even with the same first block.
    let process = std::process::id().to_be_bytes();
    let resets = context.resets.load(Ordering::Relaxed).to_be_bytes();
    let instance = keccak256([head.genesis.hash.as_slice(), &process, &resets].concat());
    let forked = context.fork().map(|fork| {
        json!({
            "chainId": fork.chain_id,
            "forkBlockNumber": fork.number,
            "forkBlockHash": fork.hash,
        })
    });
    let snapshots: Map<_, _> = snapshots.into_iter().map(snapshot_member).collect();

    Ok(Serialized(json!({
        "clientVersion": web3::client_version(&context, ())?,
        "clientSemver": env!("CARGO_PKG_VERSION"),
        "clientCommitSha": null,
        "chainId": head.params.chain_id,
        "instanceId": instance,
        "latestBlockNumber": head.number(),
        "latestBlockHash": head.block.hash,
        "forkedNetwork": forked,
        "snapshots": snapshots,
    })))
}

/// A snapshot by its id.
fn snapshot_member(taken: SnapshotInfo) -> (String, Value) {
    let id = format!("{:#x}", taken.id);
    (id, json!([taken.number, taken.hash]))
}

/// The first block's time.
fn genesis_time(context: &Context, (): ()) -> Result<i64, RpcError> {
    Ok(context.chain.head().genesis.header.timestamp as i64)
}

/// Switches the terminal's log of transactions on or off.
fn set_logging_enabled(context: &Context, (on,): (bool,)) -> Result<(), RpcError> {
    context.config.logging.store(on, Ordering::Relaxed);
    Ok(())
}
