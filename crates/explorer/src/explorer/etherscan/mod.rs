//! The endpoint `/api?module=…&action=…`, as Etherscan documents it and Blockscout serves it.
//! Errors have status 200 and say `"status": "0"`, as there.
//!
//! The actions have a table of the parameters that each takes. Lists, which have no cursors, are an
//! error beyond 16 MiB: clients take a short page for the last one.

mod account;
mod chain;
mod contract;
mod logs;
mod proxy;
mod transaction;

use std::{borrow::Cow, str::FromStr};

use alloy_primitives::{Address, B256, U256};
use axum::{
    extract::{RawQuery, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde_json::{Value, json};
use tetrad_network::{
    account::{address_from_hex, parse_account_address},
    network::Network,
};
use tetrad_stdx::{digits, text::excerpt};
use tetrad_web::{
    Answer, Api, Input, Interface, Operation, Output, Query, RestError,
    parameters::{ParameterValue, Parameters, RawParameters, ValueError, parameters},
};

pub(super) use contract::standard_input;

use self::chain::first_block;
use super::{
    page::ItemWriter,
    parameters::Words,
    render::Render,
    rest::{Explorer, SharedExplorer},
    uploads::Form,
};
use crate::index::{IndexPage, Order, PositionRange, TransactionRole};

/// The most items of a page, as in Etherscan.
const MAX_PAGE: usize = 10_000;

/// The most bytes of a list: 10,000 transactions that call common functions. These lists have no
/// cursors, and clients take a page with fewer items for the last one, so a longer list is an
/// error.
const MAX_LIST_BYTES: usize = 16 << 20;

/// The actions of all modules.
const ACTIONS: [&[Action]; 6] = [
    account::ACTIONS,
    contract::ACTIONS,
    transaction::ACTIONS,
    chain::ACTIONS,
    logs::ACTIONS,
    proxy::ACTIONS,
];

/// Parameters that every action accepts.
const COMMON: [&str; 6] = ["module", "action", "apikey", "key", "chainid", "chain_id"];

/// The way in which an action is answered.
#[derive(Clone, Copy)]
pub(super) enum Run {
    /// It answers with a value.
    Value(fn(&Request<'_>) -> Outcome),
    /// It answers with a list; the message says that there is nothing.
    List(
        fn(&Request<'_>, &mut ListWriter) -> Result<(), Refusal>,
        &'static str,
    ),
    /// It waits a moment for the end of a verification.
    Status,
    /// It is answered by JSON-RPC.
    Proxy,
}

/// An action of a module.
pub(super) struct Action {
    module: &'static str,
    /// The name, which clients write in any case.
    name: &'static str,
    /// The parameters that it takes beside the common ones. All of them are applied; others are
    /// refused, since a filter that is ignored looks like a complete list.
    takes: &'static [&'static str],
    run: Run,
}

impl Action {
    const fn value(
        module: &'static str,
        name: &'static str,
        takes: &'static [&'static str],
        run: fn(&Request<'_>) -> Outcome,
    ) -> Self {
        Self {
            module,
            name,
            takes,
            run: Run::Value(run),
        }
    }

    const fn list(
        module: &'static str,
        name: &'static str,
        takes: &'static [&'static str],
        run: fn(&Request<'_>, &mut ListWriter) -> Result<(), Refusal>,
        none: &'static str,
    ) -> Self {
        Self {
            module,
            name,
            takes,
            run: Run::List(run, none),
        }
    }

    const fn proxy(name: &'static str, takes: &'static [&'static str]) -> Self {
        Self {
            module: "proxy",
            name,
            takes,
            run: Run::Proxy,
        }
    }

    /// Finds an action.
    fn find(module: &str, name: &str) -> Result<&'static Self, Refusal> {
        let mut of_module = ACTIONS
            .into_iter()
            .flatten()
            .filter(|action| action.module == module)
            .peekable();
        if of_module.peek().is_none() {
            return Err(Refusal::failed(format!("Unknown module {module:?}")));
        }

        of_module
            .find(|action| action.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| Refusal::failed(format!("Unknown action {name:?} of module {module}")))
    }

    /// Refuses names of parameters that the action does not take.
    fn check(&self, given: &GivenNames) -> Result<(), Refusal> {
        let is_taken = |name: &str| COMMON.contains(&name) || self.takes.contains(&name);
        let Some(unknown) = given.0.iter().find(|name| !is_taken(name)) else {
            return Ok(());
        };

        let unknown = excerpt(unknown, 50);
        let action = self.name;
        Err(Refusal::failed(match self.takes {
            [] => format!("Unknown parameter {unknown:?}: action {action} takes none"),
            takes => format!(
                "Unknown parameter {unknown:?}: action {action} takes only {}",
                takes.join(", ")
            ),
        }))
    }
}

/// The names of a request's parameters that have a value.
struct GivenNames(Vec<String>);

impl GivenNames {
    fn of<'a>(members: impl IntoIterator<Item = (Cow<'a, str>, Cow<'a, str>)>) -> Self {
        let given = members.into_iter().filter(|(_, value)| !value.is_empty());
        Self(given.map(|(name, _)| name.into_owned()).collect())
    }
}

/// A list under construction.
pub(super) struct ListWriter(ItemWriter);

impl ListWriter {
    /// Adds an item, unless the list becomes too long.
    fn push(&mut self, item: &impl Serialize) -> Result<(), Refusal> {
        if self.0.push(item)? {
            return Ok(());
        }

        let fit = self.0.count();
        Err(Refusal::failed(format!(
            "Result window is too large: {fit} items take {} MiB, ask for pages with a smaller offset",
            MAX_LIST_BYTES >> 20
        )))
    }
}

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    // Each action takes parameters of its own.
    let api = api.any_parameters();
    api.get(
        "/api",
        answer,
        "Etherscan's interface: `module` and `action` say what is wanted.",
    )
    .named("getEtherscan")
    .inert_post(
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
        /// `asc`, which is the default, or `desc`.
        #[param("sort", example = "desc")]
        sort: Option<Words>,
        /// The first block.
        #[param("startblock", example = "0")]
        start: Option<Words>,
        /// The last block.
        #[param("endblock", example = "99999999")]
        end: Option<Words>,
        /// The first second since the Unix epoch.
        #[param("start_timestamp" | "starttimestamp", example = "0")]
        start_time: Option<Words>,
        /// The last second since the Unix epoch.
        #[param("end_timestamp" | "endtimestamp", example = "99999999999")]
        end_time: Option<Words>,
        /// Only what the address sent (`from`) or received (`to`).
        #[param("filter_by" | "filterby", example = "from")]
        side: Option<Words>,
        /// Whether internal transactions without value are listed.
        #[param("include_zero_value", example = "true")]
        with_zero_value: Option<Words>,
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
        /// `and` or `or`: whether all topics have to match. All operators of a query have to be the
        /// same.
        #[param("topic0_1_opr", example = "and")]
        operator_0_1: Option<Words>,
        /// `and` or `or`.
        #[param("topic0_2_opr", example = "and")]
        operator_0_2: Option<Words>,
        /// `and` or `or`.
        #[param("topic0_3_opr", example = "and")]
        operator_0_3: Option<Words>,
        /// `and` or `or`.
        #[param("topic1_2_opr", example = "and")]
        operator_1_2: Option<Words>,
        /// `and` or `or`.
        #[param("topic1_3_opr", example = "and")]
        operator_1_3: Option<Words>,
        /// `and` or `or`.
        #[param("topic2_3_opr", example = "and")]
        operator_2_3: Option<Words>,
        /// Seconds since the Unix epoch.
        #[param("timestamp", example = "1795192744")]
        timestamp: Option<Words>,
        /// `before` or `after`.
        #[param("closest", example = "before")]
        closest: Option<Words>,
        /// A block's number.
        #[param("blockno", example = "1")]
        block_number: Option<Words>,
        /// A block, in the module `proxy`; `latest` for balances.
        #[param("tag" | "block", example = "latest")]
        tag: Option<Words>,
        /// Whether the block has whole transactions, in the module `proxy`.
        #[param("boolean", example = "true")]
        whole: Option<Words>,
        /// An index in hex, in the module `proxy`; the number of logs before the first one of
        /// `gettxinfo`.
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
        /// Wei per gas, in the module `proxy`.
        #[param("gasPrice", example = "0x3b9aca00")]
        gas_price: Option<Words>,
        /// The most wei per gas, in the module `proxy`.
        #[param("maxFeePerGas", example = "0x3b9aca00")]
        max_fee: Option<Words>,
        /// The most wei per gas for the block's producer, in the module `proxy`.
        #[param("maxPriorityFeePerGas", example = "0x1")]
        max_tip: Option<Words>,
        /// A nonce, in the module `proxy`.
        #[param("nonce", example = "0x0")]
        nonce: Option<Words>,
        /// The type of a transaction, in the module `proxy`.
        #[param("type", example = "0x2")]
        kind: Option<Words>,
        /// The chain id, which has to be this chain's.
        #[param("chainid" | "chain_id", example = "125")]
        chain: Option<Words>,
        /// The id of a verification.
        #[param("guid", example = "00000000-0000-4000-8000-000000000000")]
        guid: Option<Words>,
    }
}

/// Any text, as long as a request may be.
pub(super) struct AnyText(String);

impl ParameterValue for AnyText {
    fn schema() -> Schema {
        json_schema!({ "type": "string" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        Ok(Self(text.to_owned()))
    }
}

/// The answer of every module but `proxy`, which answers with JSON-RPC responses.
#[derive(JsonSchema)]
#[schemars(rename = "EtherscanAnswer")]
#[expect(
    dead_code,
    reason = "for the schema only: lists are written item by item"
)]
struct AnswerBody {
    /// `1` for success, `0` for an error and for an empty list.
    status: &'static str,
    /// `OK`, or the reason.
    message: String,
    result: Value,
}

/// The answer to a request, as JSON.
pub(super) struct EtherscanReply(Answer);

impl EtherscanReply {
    /// The answer with a result.
    fn of(status: &str, message: &str, result: &Value) -> Result<Self, RestError> {
        Ok(Self(Answer::json(
            &json!({ "status": status, "message": message, "result": result }),
        )?))
    }

    /// The answer to a request that succeeded.
    fn success(result: &Value) -> Result<Self, Refusal> {
        Ok(Self::of("1", "OK", result)?)
    }
}

/// The reason why a request has no result.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The list is empty; such lists have status 0.
    Empty(&'static str),
    /// There is an error, with the result that clients recognise it by.
    Failed(String),
    /// There is an error whose result clients compare, and a reason.
    Because {
        result: &'static str,
        reason: String,
    },
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

impl IntoResponse for EtherscanReply {
    fn into_response(self) -> Response {
        self.0.into_no_cache_json()
    }
}

impl Output for EtherscanReply {
    fn describe(operation: Operation) -> Operation {
        operation.answers::<AnswerBody>(
            StatusCode::OK,
            "Success, or an error with status 0 in the body.",
        )
    }
}

impl Input<Explorer> for RawQuery {}

async fn answer(
    State(explorer): State<Explorer>,
    RawQuery(query): RawQuery,
    Query(parameters): Query<EtherscanQuery>,
) -> Result<EtherscanReply, RestError> {
    let given = GivenNames::of(form_urlencoded::parse(query.unwrap_or_default().as_bytes()));
    answer_query(&explorer, parameters, &given).await
}

/// Answers a form, whose members may be in the query as well.
async fn answer_form(
    State(explorer): State<Explorer>,
    RawQuery(query): RawQuery,
    mut form: Form,
) -> Result<EtherscanReply, RestError> {
    let query = query.unwrap_or_default();
    let in_query = form_urlencoded::parse(query.as_bytes());
    form.members
        .extend(in_query.map(|(name, value)| (name.into_owned(), value.into_owned())));

    let module = form.get("module");
    let action = form.get("action").map(str::to_ascii_lowercase);
    if module == Some("contract") && action.as_deref() == Some("verifysourcecode") {
        let verified = contract::verify(&explorer, &form).await;
        return render(verified.and_then(|result| EtherscanReply::success(&result)));
    }

    let members = form
        .members
        .iter()
        .map(|(name, value)| (name.as_str().into(), value.as_str().into()));
    let given = GivenNames::of(members);
    let parameters =
        EtherscanQuery::read(&RawParameters::of_form(form.members, explorer.network()))?;
    answer_query(&explorer, parameters, &given).await
}

async fn answer_query(
    explorer: &Explorer,
    query: EtherscanQuery,
    given: &GivenNames,
) -> Result<EtherscanReply, RestError> {
    let action = match find_action(&explorer.0, &query, given) {
        Ok(action) => action,
        Err(refusal) => return render(Err(refusal)),
    };

    let answer = match action.run {
        Run::Proxy => proxy::answer(explorer, action.name, &query)
            .await
            .map(EtherscanReply)
            .map_err(Refusal::Node),
        Run::Status => contract::status(explorer, &query)
            .await
            .and_then(|result| EtherscanReply::success(&result)),
        Run::Value(run) => {
            read(explorer, query, move |request| {
                EtherscanReply::success(&run(request)?)
            })
            .await
        }
        Run::List(run, none) => {
            read(explorer, query, move |request| list(request, run, none)).await
        }
    };

    render(answer)
}

/// Returns the action that a request names, if it takes all of the parameters.
fn find_action(
    shared: &SharedExplorer,
    query: &EtherscanQuery,
    given: &GivenNames,
) -> Result<&'static Action, Refusal> {
    let (Some(module), Some(name)) = (text(&query.module), text(&query.action)) else {
        return Err(Refusal::failed(
            "Params 'module' and 'action' are required parameters",
        ));
    };

    let action = Action::find(module, name)?;
    action.check(given)?;

    let own = shared.chain.params().chain_id;
    match text(&query.chain) {
        Some(chain) if chain.parse() != Ok(own) => {
            let chain = excerpt(chain, 50);
            Err(Refusal::failed(format!(
                "Unsupported chainid {chain:?}: this node's chain is {own}"
            )))
        }
        _ => Ok(action),
    }
}

/// Reads the index for a request.
async fn read(
    explorer: &Explorer,
    query: EtherscanQuery,
    run: impl FnOnce(&Request<'_>) -> Result<EtherscanReply, Refusal> + Send + 'static,
) -> Result<EtherscanReply, Refusal> {
    explorer
        .read(move |shared, render| {
            Ok(run(&Request {
                shared,
                render,
                query: &query,
            }))
        })
        .await
        .map_err(Refusal::Node)?
}

/// Answers with a list, which must not be empty.
fn list(
    request: &Request<'_>,
    run: fn(&Request<'_>, &mut ListWriter) -> Result<(), Refusal>,
    none: &'static str,
) -> Result<EtherscanReply, Refusal> {
    let mut list = ListWriter(ItemWriter::new(
        "{\"status\":\"1\",\"message\":\"OK\",\"result\":",
        MAX_LIST_BYTES,
    ));
    run(request, &mut list)?;
    if list.0.count() == 0 {
        Err(Refusal::Empty(none))
    } else {
        Ok(EtherscanReply(list.0.finish("}").map_err(RestError::from)?))
    }
}

fn render(answer: Result<EtherscanReply, Refusal>) -> Result<EtherscanReply, RestError> {
    match answer {
        Ok(answer) => Ok(answer),
        Err(Refusal::Empty(message)) => EtherscanReply::of("0", message, &json!([])),
        Err(Refusal::Failed(what)) => EtherscanReply::of("0", "NOTOK", &json!(what)),
        Err(Refusal::Because { result, reason }) => {
            EtherscanReply::of("0", &reason, &json!(result))
        }
        Err(Refusal::Node(error)) => Err(error),
    }
}

fn text(words: &Option<Words>) -> Option<&str> {
    words
        .as_ref()
        .map(|words| words.0.as_str())
        .filter(|text| !text.is_empty())
}

fn parse_address(network: &Network, text: &str) -> Result<Address, Refusal> {
    address_from_hex(&text.to_ascii_lowercase())
        .ok()
        .or_else(|| parse_account_address(text, &network.hrp).ok())
        .ok_or_else(|| Refusal::failed("Error! Invalid address format"))
}

/// A request, with what answers it.
pub(super) struct Request<'a> {
    shared: &'a SharedExplorer,
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
            None => Err(Refusal::failed(
                "Query parameter 'contractaddress' is required",
            )),
        }
    }

    fn optional_contract(&self) -> Result<Option<Address>, Refusal> {
        text(&self.query.contract)
            .map(|text| self.parse_address(text))
            .transpose()
    }

    fn hash(&self) -> Result<B256, Refusal> {
        text(&self.query.hash)
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| {
                Refusal::failed("Query parameter 'txhash' is required, with 32 bytes in hex")
            })
    }

    /// A number in decimal, or in hex after `0x`.
    fn number<T: FromStr + TryFrom<U256>>(
        &self,
        name: &str,
        words: &Option<Words>,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = text(words) else {
            return Ok(None);
        };

        let number = match text.strip_prefix("0x") {
            Some(text) => digits::hex(text).and_then(|number| T::try_from(number).ok()),
            None => text.parse().ok(),
        };

        number
            .map(Some)
            .ok_or_else(|| Refusal::failed(format!("Error! Invalid {name}")))
    }

    /// A block's number, or one of the common names of blocks.
    fn block_number(
        &self,
        name: &str,
        words: &Option<Words>,
        default: u64,
    ) -> Result<u64, Refusal> {
        match text(words) {
            Some("latest" | "pending") => Ok(self.render.reader.head.number()),
            Some("earliest") => Ok(0),
            _ => Ok(self.number(name, words)?.unwrap_or(default)),
        }
    }

    /// Refuses requests for a state other than the newest.
    fn check_newest(&self) -> Result<(), Refusal> {
        match text(&self.query.tag) {
            None | Some("latest" | "pending") => Ok(()),
            Some(_) => Err(Refusal::failed(
                "Error! Invalid tag: this node answers for latest",
            )),
        }
    }

    /// The side of the address that a list is about.
    fn side(&self) -> Result<Option<TransactionRole>, Refusal> {
        match text(&self.query.side) {
            None => Ok(None),
            Some("from") => Ok(Some(TransactionRole::Sender)),
            Some("to") => Ok(Some(TransactionRole::Recipient)),
            Some(_) => Err(Refusal::failed(
                "Error! Invalid filter_by: expected from or to",
            )),
        }
    }

    /// The blocks of a list, both included; none if the first would come after the last.
    fn blocks(&self) -> Result<Option<(u64, u64)>, Refusal> {
        let mut first = self.block_number("startblock", &self.query.start, 0)?;
        let mut last = self.block_number("endblock", &self.query.end, u64::MAX)?;

        if let Some(time) = self.number::<u64>("start_timestamp", &self.query.start_time)? {
            first = first.max(first_block(self.render.reader, |own| own >= time)?);
        }

        if let Some(time) = self.number::<u64>("end_timestamp", &self.query.end_time)? {
            let Some(before) = first_block(self.render.reader, |own| own > time)?.checked_sub(1)
            else {
                // Even the first block is later.
                return Ok(None);
            };
            last = last.min(before);
        }

        Ok(Some((first, last)).filter(|(first, last)| first <= last))
    }

    /// The rows of a list: its blocks, order and page. None if there are no such blocks.
    fn range(&self) -> Result<PositionRange, Refusal> {
        let order = match text(&self.query.sort) {
            None | Some("asc") => Order::OldestFirst,
            Some("desc") => Order::NewestFirst,
            Some(_) => return Err(Refusal::failed("Error! Invalid sort: expected asc or desc")),
        };

        let (skip, limit) = self.page()?;
        Ok(match self.blocks()? {
            Some((first, last)) => PositionRange::of_blocks(first, last, order, skip, limit),
            // A range that ends before it begins has no rows.
            None => PositionRange::of_blocks(1, 0, order, skip, limit),
        })
    }

    /// The number of items before the page, and on it.
    fn page(&self) -> Result<(usize, usize), Refusal> {
        let page = self
            .number("page", &self.query.page)?
            .unwrap_or(1_usize)
            .max(1);
        let offset = self
            .number("offset", &self.query.offset)?
            .filter(|offset| *offset > 0)
            .unwrap_or(MAX_PAGE);

        // The rows before the page are read, too, and left out.
        if offset > MAX_PAGE || (page - 1).saturating_mul(offset) > 10 * MAX_PAGE {
            return Err(Refusal::failed(
                "Result window is too large: narrow the blocks, or ask for a smaller page",
            ));
        }

        Ok(((page - 1) * offset, offset))
    }
}

/// Returns the items of a page, which must not end because too many rows were read: a shorter page
/// is the last one.
fn complete<T, C>(found: IndexPage<T, C>, limit: usize) -> Result<Vec<T>, Refusal> {
    if found.next.is_some() && found.items.len() < limit {
        return Err(Refusal::failed(
            "Result window is too large: too few rows match, narrow the blocks",
        ));
    }
    Ok(found.items)
}
