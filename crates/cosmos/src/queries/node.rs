//! The node, its blocks, and the consensus that it does not have.

use serde_json::{Value, json};
use tetrad_network::account::{Kind, address_to_bech32};
use tetrad_primitives::block::Block;
use tetrad_stdx::{calendar::rfc3339, text::excerpt};

use super::{Call, LaterCall, Query, Unwritten, later, number_in, page::page, query};
use crate::{
    abci_query,
    blocks::{HashEncoding, block_with_id, copy_of_block},
    comet_methods::consensus_params,
    error::GatewayError,
};

pub(super) const QUERIES: &[Query] = &[
    query(
        "cosmos.base.node.v1beta1.Service/Config",
        config,
        "The minimum gas price.",
    ),
    query(
        "cosmos.base.node.v1beta1.Service/Status",
        status,
        "The heights that the node has.",
    ),
    later(
        "cosmos.base.tendermint.v1beta1.Service/ABCIQuery",
        |call| Box::pin(abci(call)),
        "A query in its binary encoding.",
    ),
    query(
        "cosmos.base.tendermint.v1beta1.Service/GetBlockByHeight",
        block,
        "A block.",
    ),
    query(
        "cosmos.base.tendermint.v1beta1.Service/GetLatestBlock",
        latest_block,
        "The newest block.",
    ),
    query(
        "cosmos.base.tendermint.v1beta1.Service/GetLatestValidatorSet",
        validators,
        NO_VALIDATORS,
    ),
    query(
        "cosmos.base.tendermint.v1beta1.Service/GetNodeInfo",
        node_info,
        "The node and its network.",
    ),
    query(
        "cosmos.base.tendermint.v1beta1.Service/GetSyncing",
        syncing,
        "Whether the node is catching up.",
    ),
    query(
        "cosmos.base.tendermint.v1beta1.Service/GetValidatorSetByHeight",
        validators_at,
        NO_VALIDATORS,
    ),
    query(
        "cosmos.consensus.v1.Query/Params",
        consensus,
        "Limits of blocks.",
    ),
    query(
        "cosmos.params.v1beta1.Query/Params",
        subspace,
        "Always 400: modules have parameters of their own.",
    ),
    query(
        "cosmos.params.v1beta1.Query/Subspaces",
        subspaces,
        "Always empty: modules have parameters of their own.",
    ),
];

const NO_VALIDATORS: &str = "Always empty: there are no validators.";

fn config(call: &Call<'_>) -> Result<Value, GatewayError> {
    let price = format!(
        "{}.{:018}{}",
        call.gateway.chain.min_tip(),
        0,
        call.gateway.network.denomination
    );
    Ok(json!({ "minimum_gas_price": price, "pruning_keep_recent": "0", "pruning_interval": "0" }))
}

fn status(call: &Call<'_>) -> Result<Value, GatewayError> {
    let head = &call.view.head;
    let block = &call.view.block;
    Ok(json!({
        "earliest_store_height": call.gateway.chain.oldest(head).to_string(),
        "height": block.number().to_string(),
        "timestamp": rfc3339(block.header.timestamp),
        "app_hash": HashEncoding::Gateway.hash(block.header.state_root),
    }))
}

fn node_info(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(call.gateway.node.node_info())
}

fn syncing(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "syncing": false }))
}

/// A block in both forms of the SDK: CometBFT's, and with the proposer's address in bech32.
fn both_forms(call: &Call<'_>, block: &Block) -> Result<Value, GatewayError> {
    let gateway = call.gateway;
    let mut body = block_with_id(block, &gateway.node, HashEncoding::Gateway)?;
    let mut own = copy_of_block(&body["block"])?;
    let proposer = address_to_bech32(
        &gateway.node.proposer,
        &gateway.network.hrp,
        Kind::Consensus,
    );
    own["header"]["proposer_address"] = proposer.into();
    body["sdk_block"] = own;
    Ok(body)
}

fn latest_block(call: &Call<'_>) -> Result<Value, GatewayError> {
    both_forms(call, &call.view.block)
}

fn block(call: &Call<'_>) -> Result<Value, GatewayError> {
    both_forms(call, &*call.block(call.number("height"))?)
}

/// The validators at a height, which exists.
fn validators_of(block: &Block) -> Value {
    let mut body = page("validators", Vec::new());
    body["block_height"] = block.number().to_string().into();
    body
}

fn validators(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(validators_of(&call.view.block))
}

fn validators_at(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(validators_of(&*call.block(call.number("height"))?))
}

async fn abci(call: LaterCall) -> Result<Unwritten, GatewayError> {
    let path = call.text("path");
    let data = call.bytes("data");
    let height = number_in(&call.request, "height");
    // Such queries could nest as deep as the message is long.
    if path.ends_with("/ABCIQuery") {
        return Err(GatewayError::InvalidArgument(
            "a query in a query of the same kind".to_owned(),
        ));
    }

    let call = call.responder();
    let answer = abci_query::answer(&call.gateway, &path, Ok(data), height).await;
    Ok(call.message(move || {
        let mut body = answer.json()?;
        if let Some(members) = body.as_object_mut() {
            // CometBFT's own interface names it differently.
            members.remove("proofOps");
        }
        Ok(body)
    }))
}

fn consensus(call: &Call<'_>) -> Result<Value, GatewayError> {
    let mut params = consensus_params(&call.view.block);
    // Durations are text here, and integers in CometBFT's interface.
    params["evidence"]["max_age_duration"] = "172800s".into();
    Ok(json!({ "params": params }))
}

fn subspace(call: &Call<'_>) -> Result<Value, GatewayError> {
    let subspace = call.text("subspace");
    Err(GatewayError::InvalidArgument(format!(
        "unknown subspace: {}",
        excerpt(&subspace, 50)
    )))
}

fn subspaces(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({}))
}
