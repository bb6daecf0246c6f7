//! Proof-of-work methods that old clients still call.

use alloy_primitives::{B256, U256};
use serde_json::{Value, json};
use tetrad_chain::Mining;

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    hex::{self, Quantity},
    params::{self, Param, ParamRules},
};

pub(super) fn methods(table: &mut Table) {
    table
        .read("eth_hashrate", hashrate, OnFork::Node)
        .describe([], "The hash rate: zero.");
    table
        .read("eth_mining", mining, OnFork::Node)
        .describe([], "Whether the node seals blocks without being asked to.");
    table
        .read("eth_protocolVersion", protocol_version, OnFork::Node)
        .describe([], "The version of the peer-to-peer protocol, as in anvil.");
    table
        .read("eth_networkId", network_id, OnFork::Node)
        .describe(
            [],
            "The network id, which is the chain id, as a decimal number.",
        );
    table
        .read("eth_getWork", work, OnFork::Node)
        .describe([], "Refused: blocks need no proof of work.");
    table
        .read("eth_submitWork", submit_work, OnFork::Node)
        .changes_state()
        .describe(
            ["nonce", "pow hash", "digest"],
            "Refused: blocks need no proof of work.",
        );
    table
        .read("eth_submitHashrate", submit_hashrate, OnFork::Node)
        .changes_state()
        .describe(
            ["hashes per second", "client id"],
            "Refused: blocks need no proof of work.",
        );
}

/// The hash rate: zero.
fn hashrate(_: &Context, (): ()) -> Result<Quantity<u64>, RpcError> {
    Ok(Quantity(0))
}

/// Whether the node seals blocks without being asked to.
fn mining(context: &Context, (): ()) -> Result<bool, RpcError> {
    Ok(context.chain.mining() != Mining::Manual)
}

/// The version of the peer-to-peer protocol, as in anvil; this node has no peers.
fn protocol_version(_: &Context, (): ()) -> Result<i64, RpcError> {
    Ok(1)
}

/// The network id, which is the chain id, as a decimal number.
fn network_id(context: &Context, (): ()) -> Result<String, RpcError> {
    Ok(context.chain.params().chain_id.to_string())
}

/// The refusal of all these methods.
fn no_work() -> RpcError {
    RpcError::server("Not implemented: blocks of this chain need no proof of work")
}

fn work(_: &Context, (): ()) -> Result<(), RpcError> {
    Err(no_work())
}

fn submit_work(_: &Context, _: (Nonce, B256, B256)) -> Result<(), RpcError> {
    Err(no_work())
}

fn submit_hashrate(_: &Context, _: (U256, B256)) -> Result<(), RpcError> {
    Err(no_work())
}

/// A nonce of eight bytes.
struct Nonce;

impl Param for Nonce {
    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        let text = params::string(json)?;
        hex::fixed_data(&text, "an 8-byte nonce").map(|_: [u8; 8]| Self)
    }

    fn schema() -> Value {
        json!({"type": "string", "pattern": "^0x[0-9a-fA-F]{16}$"})
    }
}
