//! The gateway's routes. Clients that add a Cosmos chain, such as Keplr, use nearly all of them.
//!
//! The network has accounts and balances, but no staking and no governance of its own. Lists of those are empty rather
//! than missing, because wallets request them unconditionally.

use std::{borrow::Cow, convert::Infallible};

use axum::{
    Router,
    extract::State,
    routing::{any, get},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    Gateway,
    account::{AccountResponse, BaseAccountBody},
    bank,
    blocks::{HashEncoding, block_with_id},
    empty,
    error::{GatewayError, NotFound, Unsupported},
    parameters::{AccountPath, BlockPath, TransactionPath},
};
use crate::{
    account::{AddressError, Kind, address_to_bech32},
    network::Network,
    state::Account,
    web::{Api, Interface, NoCache, Operation, Path},
};

/// The reason why nothing can be sent through the gateway, with the alternative.
pub(super) const NO_BROADCAST: &str =
    "Cosmos transactions are not supported: sign an Ethereum transaction and send it to /rpc (eth_sendRawTransaction)";

/// A body in the SDK's own shape, which the OpenAPI document does not repeat.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct SdkBody<T>(T);

impl<T> JsonSchema for SdkBody<T> {
    fn schema_name() -> Cow<'static, str> {
        "SdkBody".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Map::<String, Value>::json_schema(generator)
    }
}

/// A response that may be different the next time.
pub(super) type SdkReply<T = Value> = NoCache<SdkBody<T>>;

pub(super) fn answer<T>(body: T) -> SdkReply<T> {
    NoCache(SdkBody(body))
}

impl Interface for Gateway {
    type Error = GatewayError;

    fn network(&self) -> &Network {
        &self.network
    }
}

/// The routes under `/cosmos` and beside it, with their description.
pub(super) fn router(gateway: Gateway) -> (Router, Vec<Operation>) {
    let api = Api::new("Accounts")
        .get("/cosmos/auth/v1beta1/accounts/{address}", account, "An account.")
        .get("/cosmos/auth/v1beta1/account_info/{address}", account_info, "Summary of an account.")
        .get("/cosmos/auth/v1beta1/bech32", bech32, "The prefix of addresses.")
        .get("/cosmos/base/tendermint/v1beta1/node_info", node_info, "The node and its network.")
        .get("/cosmos/base/tendermint/v1beta1/syncing", syncing, "Whether the node is catching up.")
        .get("/cosmos/base/tendermint/v1beta1/blocks/latest", latest_block, "The newest block.")
        .get("/cosmos/base/tendermint/v1beta1/blocks/{height}", block, "A block.")
        .get("/cosmos/base/node/v1beta1/config", config, "The minimum gas price.")
        .get("/ethermint/feemarket/v1/base_fee", base_fee, "The base fee of the next block.")
        .get("/cosmos/evm/feemarket/v1/base_fee", base_fee, "The base fee of the next block.")
        .inert_post("/cosmos/tx/v1beta1/txs", no_broadcast, "Not supported: broadcast of Cosmos transactions.")
        .inert_post("/cosmos/tx/v1beta1/simulate", no_broadcast, "Not supported: simulation of Cosmos transactions.")
        .get("/cosmos/tx/v1beta1/txs/{hash}", transaction, "Always 404: there are no Cosmos transactions.");
    let api = empty::routes(bank::routes(api));
    // Routes that other gateways have answer 501, for every method.
    api.and(|router| {
        let absent = ["/ibc/{*rest}", "/cosmwasm/{*rest}", "/feemarket/{*rest}", "/ethermint/{*rest}"];
        let router = absent.into_iter().fold(router, |router, path| router.route(path, any(not_implemented)));
        router
            .method_not_allowed_fallback(not_implemented)
            // A gateway takes the empty text behind the slash for the address.
            .route("/cosmos/auth/v1beta1/accounts/", get(no_address).fallback(not_implemented))
            .route("/cosmos", any(not_implemented))
            .route("/cosmos/", any(not_implemented))
            .route("/cosmos/{*rest}", any(not_implemented))
    })
    .with_state(gateway)
}

async fn account(
    State(gateway): State<Gateway>,
    Path(path): Path<AccountPath>,
) -> Result<SdkReply<AccountResponse>, GatewayError> {
    let account = gateway.account(&path)?;
    Ok(answer(AccountResponse::new(&account, &gateway.network)))
}

async fn account_info(State(gateway): State<Gateway>, Path(path): Path<AccountPath>) -> Result<SdkReply, GatewayError> {
    let account = gateway.account(&path)?;
    Ok(answer(json!({ "info": BaseAccountBody::new(&account, &gateway.network) })))
}

async fn bech32(State(gateway): State<Gateway>) -> SdkReply {
    answer(json!({ "bech32_prefix": gateway.network.hrp.as_str() }))
}

async fn node_info(State(gateway): State<Gateway>) -> SdkReply {
    answer(gateway.node.node_info())
}

async fn syncing() -> SdkReply {
    answer(json!({ "syncing": false }))
}

async fn latest_block(State(gateway): State<Gateway>) -> SdkReply {
    let head = gateway.chain.head();
    answer(gateway.block(&head.block))
}

async fn block(State(gateway): State<Gateway>, Path(path): Path<BlockPath>) -> Result<SdkReply, GatewayError> {
    let (head, height) = (gateway.chain.head(), path.height.0);
    if height > head.number() {
        let what = format!("requested block height is bigger than the chain length: {height} > {}", head.number());
        return Err(GatewayError::InvalidArgument(what));
    }
    let kept = head.block(height).cloned().or_else(|| gateway.chain.old_block(&head, height));
    let block = kept.ok_or_else(|| GatewayError::NotFound(format!("block {height} is not kept any more")))?;
    Ok(answer(gateway.block(&block)))
}

async fn config(State(gateway): State<Gateway>) -> SdkReply {
    let price = format!("{}.{:018}{}", gateway.chain.min_tip(), 0, gateway.network.denomination);
    answer(
        json!({ "minimum_gas_price": price, "pruning_keep_recent": "0", "pruning_interval": "0", "halt_height": "0" }),
    )
}

async fn base_fee(State(gateway): State<Gateway>) -> SdkReply {
    let fee = gateway.chain.next_base_fee(&gateway.chain.head()).unwrap_or(0);
    answer(json!({ "base_fee": fee.to_string() }))
}

async fn no_broadcast() -> Result<Infallible, Unsupported> {
    Err(Unsupported(NO_BROADCAST))
}

async fn transaction(Path(path): Path<TransactionPath>) -> Result<Infallible, NotFound> {
    Err(NotFound(format!("tx not found: {}", path.hash.0)))
}

async fn no_address() -> GatewayError {
    AddressError::Empty.into()
}

async fn not_implemented() -> GatewayError {
    GatewayError::Unimplemented("Not Implemented")
}

impl Gateway {
    fn account(&self, path: &AccountPath) -> Result<Account, GatewayError> {
        let head = self.chain.head();
        let account = head.state.get(path.account.address)?;
        let account =
            account.ok_or_else(|| GatewayError::NotFound(format!("account {} not found", path.account.text)))?;
        Ok(account.into_owned())
    }

    /// A block in both forms of the SDK: CometBFT's, and with the proposer's address in bech32.
    fn block(&self, block: &crate::block::Block) -> Value {
        let mut body = block_with_id(block, &self.node, HashEncoding::Gateway);
        let mut own = body["block"].clone();
        let proposer = address_to_bech32(&self.node.proposer, &self.network.hrp, Kind::Consensus);
        own["header"]["proposer_address"] = proposer.into();
        body["sdk_block"] = own;
        body
    }
}
