//! The `admin` namespace: the node as peers would see it.

use alloy_primitives::{B256, hex, keccak256};
use secp256k1::{PublicKey, SECP256K1, SecretKey};
use serde_json::{Value, json};

use super::{Context, OnFork, RpcError, Table, json::Serialized, web3};

pub(super) fn methods(table: &mut Table) {
    table
        .read("admin_nodeInfo", node_info, OnFork::Node)
        .describe(
            [],
            "The node's name, identity and chain. It has no peers: its identity, which follows \
             from the first block, cannot be connected to, and its ports are 0.",
        );
}

/// The node's public key, without the prefix of its encoding. Nothing is ever signed with it.
fn public_key(genesis: B256) -> Result<[u8; 64], RpcError> {
    let secret = SecretKey::from_byte_array(keccak256(genesis).0)
        .map_err(|error| RpcError::internal(error.to_string()))?;
    let encoded = PublicKey::from_secret_key(SECP256K1, &secret).serialize_uncompressed();
    let mut key = [0; 64];
    key.copy_from_slice(&encoded[1..]);
    Ok(key)
}

/// The node's name, identity and chain.
fn node_info(context: &Context, (): ()) -> Result<Serialized<Value>, RpcError> {
    let head = context.chain.head();
    let key = public_key(head.genesis.hash)?;
    let eth = json!({
        "network": head.params.chain_id,
        "genesis": head.genesis.hash,
        "head": head.block.hash,
    });
    Ok(Serialized(json!({
        "id": hex::encode(keccak256(key)),
        "name": web3::client_version(context, ())?,
        "enode": format!("enode://{}@127.0.0.1:0", hex::encode(key)),
        "ip": "127.0.0.1",
        "ports": {"discovery": 0, "listener": 0},
        "listenAddr": "",
        "protocols": {"eth": eth},
    })))
}
