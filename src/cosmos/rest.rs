//! The gateway's routes. Clients that add a Cosmos chain, such as Keplr, ask for nearly all of them.
//!
//! The network has accounts and balances, but no staking and no governance of its own: lists of those are empty rather
//! than missing, because wallets ask before they know.

use axum::{
    Json, Router,
    extract::{Path, State, rejection::PathRejection},
    http::header,
    response::{IntoResponse, Response},
    routing::{any, get},
};
use serde_json::{Map, Value, json};

use super::{
    Gateway,
    account::{AccountResponse, BaseAccount},
    bank,
    blocks::{Spelling, block_with_id},
    empty,
    error::{GatewayError, GatewayErrorBody},
};
use crate::{
    account::{AddressError, Kind, address_to_bech32, parse_account_address},
    web::{
        Api, Operation,
        parameters::{AccountText, HashText, Height},
    },
};

/// Why nothing can be sent from here, and what to do instead.
pub(super) const NO_BROADCAST: &str =
    "Cosmos transactions are not supported: sign an Ethereum transaction and send it to /rpc (eth_sendRawTransaction)";

type Text = Result<Path<String>, PathRejection>;
type Answer = Result<Response, GatewayError>;

/// What all of these answers are: the SDK's own shapes.
pub(super) type Object = Map<String, Value>;

/// An operation of the gateway.
pub(super) fn about(summary: &'static str) -> Operation {
    Operation::new("Accounts", summary).returns::<Object>()
}

/// Adds what is known of an operation that takes an address.
pub(super) fn of_address(operation: Operation) -> Operation {
    let example = "pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg";
    fails(operation.path::<AccountText>("address", "An account: bech32 or hex.", example), 400)
}

/// The operation may fail with this status.
pub(super) fn fails(operation: Operation, status: u16) -> Operation {
    let what = match status {
        400 => "A part of the request is malformed.",
        404 => "There is no such thing.",
        _ => "This node does not do that.",
    };
    let status = axum::http::StatusCode::from_u16(status).unwrap_or_default();
    operation.answers::<GatewayErrorBody>(status, what)
}

/// Routes under `/cosmos` and beside it, and what there is to say about them.
pub(super) fn router(gateway: Gateway) -> (Router, Vec<Operation>) {
    let broadcast = |summary| fails(Operation::new("Accounts", summary), 501);
    let api = Api::default()
        .get("/cosmos/auth/v1beta1/accounts/{address}", account, fails(of_address(about("An account.")), 404))
        .get(
            "/cosmos/auth/v1beta1/account_info/{address}",
            account_info,
            fails(of_address(about("An account in short.")), 404),
        )
        .get("/cosmos/auth/v1beta1/bech32", bech32, about("The prefix of addresses."))
        .get("/cosmos/base/tendermint/v1beta1/node_info", node_info, about("The node and its network."))
        .get("/cosmos/base/tendermint/v1beta1/syncing", syncing, about("Whether the node is behind."))
        .get("/cosmos/base/tendermint/v1beta1/blocks/latest", latest_block, about("The newest block."))
        .get(
            "/cosmos/base/tendermint/v1beta1/blocks/{height}",
            block,
            fails(fails(about("A block.").path::<Height>("height", "Its height.", "0"), 400), 404),
        )
        .get("/cosmos/base/node/v1beta1/config", config, about("The least price of gas."))
        .get("/ethermint/feemarket/v1/base_fee", base_fee, about("The base fee of the next block."))
        .get("/cosmos/evm/feemarket/v1/base_fee", base_fee, about("The base fee of the next block."))
        .inert_post("/cosmos/tx/v1beta1/txs", no_broadcast, broadcast("Broadcasting, which is refused."))
        .inert_post("/cosmos/tx/v1beta1/simulate", no_broadcast, broadcast("Simulating, which is refused."))
        .get(
            "/cosmos/tx/v1beta1/txs/{hash}",
            transaction,
            fails(fails(Operation::new("Accounts", "A transaction, of which there is none."), 400), 404)
                .path::<HashText>(
                    "hash",
                    "Its hash.",
                    "0000000000000000000000000000000000000000000000000000000000000000",
                ),
        );
    let api = empty::routes(bank::routes(api));
    // What a gateway has and this one has not is not implemented, by whatever method.
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

/// An answer that may be different the next time.
pub(super) fn answer(body: impl serde::Serialize) -> Response {
    ([(header::CACHE_CONTROL, "no-cache")], Json(body)).into_response()
}

async fn account(State(gateway): State<Gateway>, path: Text) -> Answer {
    let Path(text) = path?;
    let network = &gateway.network;
    let address = parse_account_address(&text, &network.hrp)?;
    let head = gateway.chain.head();
    let account = head.state.get(address)?;
    let account = account.ok_or_else(|| GatewayError::NotFound(format!("account {text} not found")))?;
    Ok(answer(AccountResponse::new(&account, network)))
}

async fn account_info(State(gateway): State<Gateway>, path: Text) -> Answer {
    let Path(text) = path?;
    let network = &gateway.network;
    let address = parse_account_address(&text, &network.hrp)?;
    let head = gateway.chain.head();
    let account = head.state.get(address)?;
    let account = account.ok_or_else(|| GatewayError::NotFound(format!("account {text} not found")))?;
    Ok(answer(json!({ "info": BaseAccount::new(&account, network) })))
}

async fn bech32(State(gateway): State<Gateway>) -> Response {
    answer(json!({ "bech32_prefix": gateway.network.hrp.as_str() }))
}

async fn node_info(State(gateway): State<Gateway>) -> Response {
    answer(gateway.node.node_info())
}

async fn syncing() -> Response {
    answer(json!({ "syncing": false }))
}

async fn latest_block(State(gateway): State<Gateway>) -> Response {
    let head = gateway.chain.head();
    answer(gateway.block(&head.block))
}

async fn block(State(gateway): State<Gateway>, path: Text) -> Answer {
    let Path(text) = path?;
    let height: u64 =
        text.parse().map_err(|_| GatewayError::InvalidArgument(format!("height: {text} is no number")))?;
    let head = gateway.chain.head();
    if height > head.number() {
        let what = format!("requested block height is bigger than the chain length: {height} > {}", head.number());
        return Err(GatewayError::InvalidArgument(what));
    }
    let kept = head.block(height).cloned().or_else(|| gateway.chain.old_block(&head, height));
    let block = kept.ok_or_else(|| GatewayError::NotFound(format!("block {height} is not kept any more")))?;
    Ok(answer(gateway.block(&block)))
}

async fn config(State(gateway): State<Gateway>) -> Response {
    let price = format!("{}.{:018}{}", gateway.chain.min_tip(), 0, gateway.network.denomination);
    answer(
        json!({ "minimum_gas_price": price, "pruning_keep_recent": "0", "pruning_interval": "0", "halt_height": "0" }),
    )
}

async fn base_fee(State(gateway): State<Gateway>) -> Response {
    let fee = gateway.chain.next_base_fee(&gateway.chain.head()).unwrap_or(0);
    answer(json!({ "base_fee": fee.to_string() }))
}

async fn no_broadcast() -> GatewayError {
    GatewayError::Unsupported(NO_BROADCAST)
}

async fn transaction(path: Text) -> Result<(), GatewayError> {
    let Path(text) = path?;
    let is_hash = text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_hash {
        return Err(GatewayError::InvalidArgument(format!("invalid transaction hash {text}: expected 64 hex digits")));
    }
    Err(GatewayError::NotFound(format!("tx not found: {text}")))
}

async fn no_address() -> GatewayError {
    AddressError::Empty.into()
}

async fn not_implemented() -> GatewayError {
    GatewayError::Unimplemented
}

impl Gateway {
    /// A block, twice: the SDK shows it as CometBFT does and with the proposer's address in bech32.
    fn block(&self, block: &crate::block::Block) -> Value {
        let mut body = block_with_id(block, &self.node, Spelling::Gateway);
        let mut own = body["block"].clone();
        let proposer = address_to_bech32(&self.node.proposer, &self.network.hrp, Kind::Consensus);
        own["header"]["proposer_address"] = proposer.into();
        body["sdk_block"] = own;
        body
    }
}

/// Shared with the other files of routes.
pub(super) type GatewayApi = Api<Gateway>;
