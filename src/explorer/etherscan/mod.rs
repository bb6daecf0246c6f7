//! The endpoint `/api?module=…&action=…`, as Etherscan documents it and Blockscout serves it. Errors have status 200 and
//! say `"status": "0"`, as there.

mod account;
mod chain;
mod contract;
mod logs;
mod proxy;
mod transaction;

#[cfg(feature = "internals")]
pub(super) use contract::standard_input;

use std::{convert::Infallible, str::FromStr};

use alloy_primitives::{Address, B256, U256};
use axum::{
    body::Bytes,
    extract::{FromRequestParts, RawQuery, State},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    parameters::Words,
    render::Render,
    rest::{Explorer, Shared},
    uploads::Form,
};
use crate::{
    account::{address_from_hex, parse_account_address},
    index::{Order, PositionRange},
    network::Network,
    web::{
        Api, Client, Input, Interface, Operation, Output, Peer, Query, RestError,
        parameters::{Param, ParamError, Parameters, RawParameters, parameters},
    },
};

/// The most items of a page, as in Etherscan.
const MAX_PAGE: usize = 10_000;

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    api.get("/api", answer, "Etherscan's interface: `module` and `action` say what is wanted.")
        .named("getEtherscan")
        .upload(
            "/api",
            answer_form,
            "The same with a form, for sources to verify: `module=contract&action=verifysourcecode`.",
        )
        .named("postEtherscan")
}

parameters! {
    /// The query. All parameters are texts, since an error is an answer of its own kind.
    pub(super) struct EtherscanQuery {
        /// `account`, `contract`, `transaction`, `block`, `logs`, `token`, `stats` or `proxy`.
        #[param("module", example = "account")]
        module: Option<Words>,
        /// The action, such as `txlist`, `tokentx`, `balance`, `getabi`, `getLogs`.
        #[param("action", example = "balance")]
        action: Option<Words>,
        /// An address.
        #[param("address", example = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")]
        address: Option<AnyText>,
        /// The token's contract.
        #[param("contractaddress", example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7")]
        contract: Option<Words>,
        /// Contracts, separated by commas.
        #[param("contractaddresses", example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7")]
        contracts: Option<AnyText>,
        /// A transaction's hash.
        #[param("txhash", example = "0x0000000000000000000000000000000000000000000000000000000000000001")]
        hash: Option<Words>,
        /// The page, from 1 on.
        #[param("page", example = "1")]
        page: Option<Words>,
        /// Items of a page, up to 10,000.
        #[param("offset", example = "10")]
        offset: Option<Words>,
        /// `asc` or `desc`.
        #[param("sort", example = "desc")]
        sort: Option<Words>,
        /// The first block.
        #[param("startblock", example = "0")]
        start: Option<Words>,
        /// The last block.
        #[param("endblock", example = "99999999")]
        end: Option<Words>,
        /// The first block of a query for logs.
        #[param("fromBlock", example = "0")]
        from: Option<Words>,
        /// The last block of a query for logs, or `latest`.
        #[param("toBlock", example = "latest")]
        to: Option<Words>,
        /// The first topic.
        #[param("topic0", example = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")]
        topic_0: Option<Words>,
        /// The second topic.
        #[param("topic1", example = "0x0000000000000000000000000000000000000000000000000000000000000000")]
        topic_1: Option<Words>,
        /// The third topic.
        #[param("topic2", example = "0x0000000000000000000000000000000000000000000000000000000000000000")]
        topic_2: Option<Words>,
        /// The fourth topic.
        #[param("topic3", example = "0x0000000000000000000000000000000000000000000000000000000000000000")]
        topic_3: Option<Words>,
        /// `and` or `or`: whether all topics have to match.
        #[param("topic0_1_opr", example = "and")]
        operator: Option<Words>,
        /// Seconds since the Unix epoch.
        #[param("timestamp", example = "1795192744")]
        timestamp: Option<Words>,
        /// `before` or `after`.
        #[param("closest", example = "before")]
        closest: Option<Words>,
        /// A block's number.
        #[param("blockno", example = "1")]
        block_number: Option<Words>,
        /// A block, in the module `proxy`.
        #[param("tag", example = "latest")]
        tag: Option<Words>,
        /// Whether the block has whole transactions, in the module `proxy`.
        #[param("boolean", example = "true")]
        whole: Option<Words>,
        /// An index in hex, in the module `proxy`.
        #[param("index", example = "0x0")]
        index: Option<Words>,
        /// A storage slot, in the module `proxy`.
        #[param("position", example = "0x0")]
        position: Option<Words>,
        /// A recipient, in the module `proxy`.
        #[param("to", example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7")]
        recipient: Option<Words>,
        /// A sender, in the module `proxy`.
        #[param("from", example = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")]
        sender: Option<Words>,
        /// Call data, in the module `proxy`.
        #[param("data", example = "0x70a08231")]
        data: Option<AnyText>,
        /// A signed transaction, in the module `proxy`.
        #[param("hex", example = "0x02")]
        raw: Option<AnyText>,
        /// Wei, in the module `proxy`.
        #[param("value", example = "0x0")]
        value: Option<Words>,
        /// Gas, in the module `proxy`.
        #[param("gas", example = "0x5208")]
        gas: Option<Words>,
        /// The id of a verification.
        #[param("guid", example = "00000000-0000-4000-8000-000000000000")]
        guid: Option<Words>,
    }
}

/// Any text, as long as a request may be.
pub(super) struct AnyText(String);

impl Param for AnyText {
    fn schema() -> Schema {
        json_schema!({ "type": "string" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        Ok(Self(text.to_owned()))
    }
}

/// The answer of every module but `proxy`, which answers with JSON-RPC responses.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EtherscanAnswer")]
struct AnswerBody {
    /// `1` for success, `0` for an error and for an empty list.
    status: &'static str,
    /// `OK`, or the reason.
    message: String,
    result: Value,
}

/// The answer to a request.
pub(super) struct Answer(Value);

/// The reason why a request has no result.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The list is empty; such lists have status 0.
    Empty(&'static str),
    /// There is an error, with the result that clients recognise it by.
    Failed(String),
    /// There is an error whose result clients compare, and a reason.
    Because { result: &'static str, reason: String },
    /// The node failed, or has not indexed the chain yet.
    Node(RestError),
}

impl<E: Into<RestError>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Node(error.into())
    }
}

impl Refusal {
    fn failed(what: impl Into<String>) -> Self {
        Self::Failed(what.into())
    }
}

type Outcome = Result<Value, Refusal>;

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-cache")];
        (headers, Bytes::from(self.0.to_string())).into_response()
    }
}

impl Output for Answer {
    fn describe(operation: Operation) -> Operation {
        operation.answers::<AnswerBody>(StatusCode::OK, "Success, or an error with status 0 in the body.")
    }
}

/// The client of a request.
struct Caller(Client);

impl FromRequestParts<Explorer> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, explorer: &Explorer) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<Peer>().copied();
        Ok(Self(peer.map(|peer| explorer.0.clients.of(peer, &parts.headers)).unwrap_or_default()))
    }
}

impl Input<Explorer> for Caller {}

impl Input<Explorer> for RawQuery {}

async fn answer(
    State(explorer): State<Explorer>,
    Caller(client): Caller,
    Query(query): Query<EtherscanQuery>,
) -> Result<Answer, RestError> {
    answer_query(&explorer, client, query).await
}

/// Answers a form, whose members may be in the query as well.
async fn answer_form(
    State(explorer): State<Explorer>,
    Caller(client): Caller,
    RawQuery(query): RawQuery,
    Form(mut members): Form,
) -> Result<Answer, RestError> {
    let query = query.unwrap_or_default();
    let in_query = form_urlencoded::parse(query.as_bytes());
    members.extend(in_query.map(|(name, value)| (name.into_owned(), value.into_owned())));
    let form = Form(members);
    let asked = (form.get("module"), form.get("action").map(str::to_ascii_lowercase));
    if let (Some("contract"), Some("verifysourcecode")) = (asked.0, asked.1.as_deref()) {
        return render(contract::verify(&explorer, &form).await);
    }
    let query = EtherscanQuery::read(&RawParameters::of_form(form.0, explorer.network()))?;
    answer_query(&explorer, client, query).await
}

async fn answer_query(explorer: &Explorer, client: Client, query: EtherscanQuery) -> Result<Answer, RestError> {
    let outcome = match (text(&query.module), text(&query.action)) {
        (Some("proxy"), Some(action)) => {
            let action = action.to_owned();
            return proxy::answer(explorer, client, &action, &query).await.map(Answer);
        }
        (Some("contract"), Some(action)) if action.eq_ignore_ascii_case("checkverifystatus") => {
            contract::status(explorer, &query).await
        }
        _ => explorer.read(move |shared, render| Ok(route(shared, render, &query))).await?,
    };
    render(outcome)
}

fn render(outcome: Outcome) -> Result<Answer, RestError> {
    let (status, message, result) = match outcome {
        Ok(result) => ("1", "OK".to_owned(), result),
        Err(Refusal::Empty(message)) => ("0", message.to_owned(), json!([])),
        Err(Refusal::Failed(what)) => ("0", "NOTOK".to_owned(), json!(what)),
        Err(Refusal::Because { result, reason }) => ("0", reason, json!(result)),
        Err(Refusal::Node(error)) => return Err(error),
    };
    let body = AnswerBody { status, message, result };
    let body = serde_json::to_value(body).map_err(|error| RestError::Internal(error.to_string()))?;
    Ok(Answer(body))
}

fn route(shared: &Shared, render: &Render<'_>, query: &EtherscanQuery) -> Outcome {
    let (Some(module), Some(action)) = (text(&query.module), text(&query.action)) else {
        return Err(Refusal::failed("Params 'module' and 'action' are required parameters"));
    };
    let action = action.to_ascii_lowercase();
    let request = Request { shared, render, query };
    let outcome = match module {
        "account" => account::answer(&request, &action),
        "contract" => contract::answer(&request, &action),
        "transaction" => transaction::answer(&request, &action),
        "block" => chain::block(&request, &action),
        "stats" => chain::stats(&request, &action),
        "token" => chain::token(&request, &action),
        "logs" => logs::answer(&request, &action),
        other => return Err(Refusal::failed(format!("Unknown module {other:?}"))),
    };
    outcome.unwrap_or_else(|| Err(Refusal::failed(format!("Unknown action {action:?} of module {module}"))))
}

fn text(words: &Option<Words>) -> Option<&str> {
    words.as_ref().map(|words| words.0.as_str()).filter(|text| !text.is_empty())
}

fn parse_address(network: &Network, text: &str) -> Result<Address, Refusal> {
    let hex = address_from_hex(&text.to_ascii_lowercase()).ok();
    let address = hex.or_else(|| parse_account_address(text, &network.hrp).ok());
    address.ok_or_else(|| Refusal::failed("Error! Invalid address format"))
}

/// A request, with what answers it.
pub(super) struct Request<'a> {
    shared: &'a Shared,
    render: &'a Render<'a>,
    query: &'a EtherscanQuery,
}

impl Request<'_> {
    fn parse_address(&self, text: &str) -> Result<Address, Refusal> {
        parse_address(&self.shared.network, text)
    }

    /// The address that a request is about.
    fn address(&self) -> Result<Address, Refusal> {
        match &self.query.address {
            Some(AnyText(text)) => self.parse_address(text),
            None => Err(Refusal::failed("Query parameter 'address' is required")),
        }
    }

    fn contract(&self) -> Result<Address, Refusal> {
        match text(&self.query.contract) {
            Some(text) => self.parse_address(text),
            None => Err(Refusal::failed("Query parameter 'contractaddress' is required")),
        }
    }

    fn optional_contract(&self) -> Result<Option<Address>, Refusal> {
        text(&self.query.contract).map(|text| self.parse_address(text)).transpose()
    }

    fn hash(&self) -> Result<B256, Refusal> {
        let hash = text(&self.query.hash).and_then(|text| text.parse().ok());
        hash.ok_or_else(|| Refusal::failed("Query parameter 'txhash' is required, with 32 bytes in hex"))
    }

    /// A number in decimal, or in hex after `0x`.
    fn number<T: FromStr + TryFrom<U256>>(&self, name: &str, words: &Option<Words>) -> Result<Option<T>, Refusal> {
        let Some(text) = text(words) else { return Ok(None) };
        let number = match text.strip_prefix("0x") {
            Some(digits) => U256::from_str_radix(digits, 16).ok().and_then(|number| T::try_from(number).ok()),
            None => text.parse().ok(),
        };
        number.map(Some).ok_or_else(|| Refusal::failed(format!("Error! Invalid {name}")))
    }

    /// The blocks, order and page of a list.
    fn range(&self) -> Result<PositionRange, Refusal> {
        let start = self.number("startblock", &self.query.start)?.unwrap_or(0);
        let end = self.number("endblock", &self.query.end)?.unwrap_or(u64::MAX);
        let order = match text(&self.query.sort) {
            Some("asc") => Order::OldestFirst,
            None | Some("desc") => Order::NewestFirst,
            Some(_) => return Err(Refusal::failed("Error! Invalid sort: expected asc or desc")),
        };
        let (skip, limit) = self.page()?;
        Ok(PositionRange::of_blocks(start, end, order, skip, limit))
    }

    /// The number of items before the page, and on it.
    fn page(&self) -> Result<(usize, usize), Refusal> {
        let page = self.number("page", &self.query.page)?.unwrap_or(1_usize).max(1);
        let offset = self.number("offset", &self.query.offset)?.filter(|offset| *offset > 0).unwrap_or(MAX_PAGE);
        if offset > MAX_PAGE || (page - 1).saturating_mul(offset) > 10 * MAX_PAGE {
            return Err(Refusal::failed("Result window is too large: narrow the blocks, or ask for a smaller page"));
        }
        Ok(((page - 1) * offset, offset))
    }
}

/// Returns a list, which must not be empty.
fn list(items: Vec<Value>, none: &'static str) -> Outcome {
    if items.is_empty() { Err(Refusal::Empty(none)) } else { Ok(Value::Array(items)) }
}
