//! The queries of the modules, each implemented once: gRPC, the gateway's REST and `abci_query` are
//! derived from this table and from the descriptors.
//!
//! A query returns its response in protobuf's JSON, of which only values other than the defaults
//! are needed. Modules that the network lacks, such as staking, have empty answers rather than
//! none, because wallets query them unconditionally.

mod auth;
mod bank;
mod empty;
mod evm;
mod governance;
mod node;
mod page;
mod tx;
mod tx_list;

use std::{collections::BTreeMap, sync::Arc};

use alloy_primitives::{Address, U256};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor, ReflectMessage};
use serde_json::Value;
use tetrad_chain::{BlockId, Head, View, ViewError};
use tetrad_network::account::{
    AddressError, Hrp, Kind, address_from_bech32, parse_account_address,
};
use tetrad_primitives::{block::Block, state::Account};
use tetrad_web::{Answer, AnswerWriter, MAX_ANSWER, hold_in_turn, in_long_turn, in_part, in_turn};

pub(super) use self::bank::SupplyCache;
use self::tx_list::TxList;
use super::{
    Gateway,
    error::GatewayError,
    protobuf::{Messages, from_json},
};

/// A query: the method of a service, and its implementation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query {
    /// Service and method: `cosmos.bank.v1beta1.Query/Balance`.
    pub(super) name: &'static str,
    /// What it returns.
    pub(super) summary: &'static str,
    answer: QueryKind,
    /// Changes the body of the REST route, where that differs from a gateway's.
    deviation: Option<fn(&mut Value)>,
}

/// The implementation of a query.
#[derive(Clone, Copy, Debug)]
enum QueryKind {
    /// Reads a state. Returns the response in protobuf's JSON.
    Now(fn(&Call<'_>) -> Result<Value, GatewayError>),
    /// May wait, as for the block of a transaction. Returns what makes the response.
    Later(fn(LaterCall) -> BoxFuture<'static, Result<Unwritten, GatewayError>>),
}

/// A response that is made in the turn in which it is written: one that waited for its turn would
/// take memory meanwhile.
struct Unwritten {
    make: Box<dyn FnOnce() -> Result<ResponseContent, GatewayError> + Send>,
    /// Whether that takes long.
    is_long: bool,
}

/// A request that may wait.
struct LaterCall {
    gateway: Gateway,
    request: DynamicMessage,
    /// The type of the response.
    output: MessageDescriptor,
}

/// What is left of a request that waits: a message may take many times the memory of its encoding.
struct Responder {
    gateway: Gateway,
    /// The type of the response.
    output: MessageDescriptor,
}

const fn query(
    name: &'static str,
    answer: fn(&Call<'_>) -> Result<Value, GatewayError>,
    summary: &'static str,
) -> Query {
    Query {
        name,
        summary,
        answer: QueryKind::Now(answer),
        deviation: None,
    }
}

const fn later(
    name: &'static str,
    answer: fn(LaterCall) -> BoxFuture<'static, Result<Unwritten, GatewayError>>,
    summary: &'static str,
) -> Query {
    Query {
        name,
        summary,
        answer: QueryKind::Later(answer),
        deviation: None,
    }
}

impl Query {
    /// Has the REST route deviate from a gateway's, for clients that read another shape as well.
    const fn deviating(self, deviation: fn(&mut Value)) -> Self {
        Self {
            deviation: Some(deviation),
            ..self
        }
    }
}

const MODULES: [&[Query]; 7] = [
    auth::QUERIES,
    bank::QUERIES,
    empty::QUERIES,
    evm::QUERIES,
    governance::QUERIES,
    node::QUERIES,
    tx::QUERIES,
];

/// A query with the descriptor of its method.
#[derive(Clone, Debug)]
pub(super) struct Method {
    pub(super) query: Query,
    pub(super) descriptor: MethodDescriptor,
}

/// The queries by name.
#[derive(Debug)]
pub(super) struct Methods(BTreeMap<&'static str, Method>);

impl Methods {
    pub(super) fn new(messages: &Messages) -> Self {
        let queries = MODULES.into_iter().flatten();
        // A test ensures that no query is left out here.
        let all = queries.filter_map(|query| {
            Some((
                query.name,
                Method {
                    query: *query,
                    descriptor: method_descriptor(messages, query.name)?,
                },
            ))
        });
        Self(all.collect())
    }

    /// The query with a name, such as `cosmos.bank.v1beta1.Query/Balance`.
    pub(super) fn get(&self, name: &str) -> Option<&Method> {
        self.0.get(name)
    }

    /// All queries, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Method> {
        self.0.values()
    }

    /// The services that have queries, each once.
    pub(super) fn services(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self
            .0
            .keys()
            .filter_map(|name| Some(name.split_once('/')?.0))
            .collect();
        names.dedup();
        names
    }
}

/// The descriptor of the method with a name, such as `cosmos.bank.v1beta1.Query/Balance`.
fn method_descriptor(messages: &Messages, name: &str) -> Option<MethodDescriptor> {
    let (service, method) = name.split_once('/')?;
    messages
        .pool()
        .get_service_by_name(service)?
        .methods()
        .find(|known| known.name() == method)
}

/// The content of the response to a query.
pub(super) enum ResponseContent {
    Message(DynamicMessage),
    Txs(TxList),
}

impl ResponseContent {
    /// The response in protobuf's encoding.
    fn encode(self) -> Result<Answer, GatewayError> {
        let message = match self {
            Self::Message(message) => message,
            Self::Txs(txs) => return txs.encode(),
        };
        let mut out = AnswerWriter::new(MAX_ANSWER);
        push_message(&message, &mut out)?;
        Ok(out.finish())
    }

    /// The response of the REST route: the gateway's JSON, with the query's deviation.
    pub(super) fn json(self, gateway: &Gateway, method: &Method) -> Result<Answer, GatewayError> {
        let message = match self {
            Self::Message(message) => message,
            Self::Txs(txs) => return txs.json(),
        };

        hold_in_turn(json_bytes(&message))?;
        let mut body = gateway.messages.to_json(&message);
        if let Some(deviate) = method.query.deviation {
            deviate(&mut body);
        }
        Ok(Answer::json(&body)?)
    }
}

/// Writes the response to a query, on the thread that found it.
type WriteResponse = fn(&Gateway, &Method, ResponseContent) -> Result<Answer, GatewayError>;

/// A request, with the state that it is about.
pub(super) struct Call<'a> {
    gateway: &'a Gateway,
    method: &'a Method,
    view: View,
    request: DynamicMessage,
}

impl Gateway {
    /// Answers a query with what `write` writes, and with the height that it is for. `height` is
    /// that of the state; none or 0 is the newest one.
    pub(super) async fn ask(
        &self,
        method: &Method,
        request: impl FnOnce() -> Result<DynamicMessage, GatewayError> + Send + 'static,
        height: Option<u64>,
        write: WriteResponse,
    ) -> Result<(Answer, u64), GatewayError> {
        let gateway = self.clone();
        let own = method.clone();
        let output = method.descriptor.output();

        match method.query.answer {
            QueryKind::Now(answer) => {
                in_turn(move || gateway.answer_now(&own, answer, request()?, height, write)).await
            }
            QueryKind::Later(answer) => {
                let request = request()?;
                self.check_fields(&request)?;
                let height = self.height_at(height).await?;
                let Unwritten { make, is_long } = answer(LaterCall {
                    gateway: self.clone(),
                    request,
                    output,
                })
                .await?;

                // The wait is over; making and writing the response takes a turn.
                let made = move || Ok((write(&gateway, &own, make()?)?, height));
                if is_long {
                    in_long_turn(made).await
                } else {
                    in_turn(made).await
                }
            }
        }
    }

    fn answer_now(
        &self,
        method: &Method,
        answer: fn(&Call<'_>) -> Result<Value, GatewayError>,
        request: DynamicMessage,
        height: Option<u64>,
        write: WriteResponse,
    ) -> Result<(Answer, u64), GatewayError> {
        self.check_fields(&request)?;
        let view = self.view_at(height)?;
        let height = reported_height(&view);

        let call = Call {
            gateway: self,
            method,
            view,
            request,
        };

        let message = response(method.descriptor.output(), || answer(&call))?;
        Ok((
            write(self, method, ResponseContent::Message(message))?,
            height,
        ))
    }

    /// The height that a response reports for the state at `height`.
    async fn height_at(&self, height: Option<u64>) -> Result<u64, GatewayError> {
        let gateway = self.clone();
        match height {
            None | Some(0) => Ok(reported_height(&self.view_at(None)?)),
            height => {
                in_turn(move || gateway.view_at(height).map(|view| reported_height(&view))).await
            }
        }
    }

    /// Answers a query whose request and response are encoded.
    pub(super) async fn ask_encoded(
        &self,
        method: &Method,
        request: Bytes,
        height: Option<u64>,
    ) -> Result<(Answer, u64), GatewayError> {
        let input = method.descriptor.input();
        self.ask(
            method,
            move || decode_request(input, request),
            height,
            |_, _, content| content.encode(),
        )
        .await
    }

    /// The block with a number, up to the newest one.
    fn block(&self, head: &Arc<Head>, number: u64) -> Result<Arc<Block>, GatewayError> {
        if number > head.number() {
            let what = format!(
                "requested block height is bigger than the chain length: {number} > {}",
                head.number()
            );
            return Err(GatewayError::InvalidArgument(what));
        }
        let block = self.chain.block(head, BlockId::Number(number));
        let block = block.map_err(|error| GatewayError::Internal(error.to_string()))?;
        block.ok_or_else(|| GatewayError::NotFound(format!("block {number} is not kept any more")))
    }

    /// Refuses negative numbers and malformed addresses in a request. Empty ones are refused by
    /// queries that need them: in others they are filters.
    fn check_fields(&self, request: &DynamicMessage) -> Result<(), GatewayError> {
        for field in request.descriptor().fields() {
            if request
                .get_field(&field)
                .as_i64()
                .is_some_and(|number| number < 0)
            {
                return Err(GatewayError::InvalidArgument(format!(
                    "{} must not be negative",
                    field.name()
                )));
            }
            let text = text_in(request, field.name());
            if let Some(kind) = self
                .messages
                .address_kind(&field)
                .filter(|_| !text.is_empty())
            {
                check_address(&text, kind, &self.network.hrp)?;
            }
        }
        Ok(())
    }

    /// The chain as of a height.
    fn view_at(&self, height: Option<u64>) -> Result<View, GatewayError> {
        let head = self.chain.head();
        let newest = head.number();
        let height = match height {
            None | Some(0) => return Ok(View::newest(head)),
            // The state before the first block is queried at the height that it was reported with.
            Some(height) if height == newest.max(1) => return Ok(View::newest(head)),
            Some(height) if height > newest => {
                let what = "cannot query with height in the future; please provide a valid height";
                return Err(GatewayError::InvalidHeight(format!(
                    "{what} (latest height: {newest})"
                )));
            }
            Some(height) => height,
        };
        self.chain.view(BlockId::Number(height)).map_err(|error| match error {
            ViewError::NotFound | ViewError::Pruned(_) => GatewayError::InvalidHeight(format!(
                "failed to load state at height {height}; it is not kept any more (latest height: {newest})"
            )),
            error => GatewayError::Internal(error.to_string()),
        })
    }
}

fn decode_request(
    descriptor: MessageDescriptor,
    request: Bytes,
) -> Result<DynamicMessage, GatewayError> {
    DynamicMessage::decode(descriptor, request)
        .map_err(|_| GatewayError::InvalidArgument("data is no message of this query".to_owned()))
}

impl LaterCall {
    /// The bytes in a field of the request.
    fn bytes(&self, name: &str) -> Bytes {
        self.request
            .get_field_by_name(name)
            .and_then(|value| value.as_bytes().cloned())
            .unwrap_or_default()
    }

    /// The text in a field of the request.
    fn text(&self, name: &str) -> String {
        text_in(&self.request, name)
    }

    /// The request without what it asks for.
    fn responder(self) -> Responder {
        Responder {
            gateway: self.gateway,
            output: self.output,
        }
    }
}

impl Responder {
    /// The response, from its JSON.
    fn response(
        &self,
        json: impl FnOnce() -> Result<Value, GatewayError>,
    ) -> Result<DynamicMessage, GatewayError> {
        response(self.output.clone(), json)
    }

    /// The response whose JSON this returns.
    fn message(
        self,
        json: impl FnOnce() -> Result<Value, GatewayError> + Send + 'static,
    ) -> Unwritten {
        let make = move || Ok(ResponseContent::Message(self.response(json)?));
        Unwritten {
            make: Box::new(make),
            is_long: false,
        }
    }

    /// The response with the transactions that this returns.
    fn txs(
        self,
        is_long: bool,
        txs: impl FnOnce(Self) -> Result<TxList, GatewayError> + Send + 'static,
    ) -> Unwritten {
        Unwritten {
            make: Box::new(move || Ok(ResponseContent::Txs(txs(self)?))),
            is_long,
        }
    }
}

/// A response, from its JSON. It counts until the current turn is over.
fn response(
    of: MessageDescriptor,
    json: impl FnOnce() -> Result<Value, GatewayError>,
) -> Result<DynamicMessage, GatewayError> {
    let name = of.full_name().to_owned();
    // Nothing is left of the JSON.
    let message = in_part(|| {
        from_json(of, json()?).map_err(|error| GatewayError::Internal(format!("{name}: {error}")))
    })?;
    hold_in_turn(message.encoded_len())?;
    Ok(message)
}

/// Bytes of the JSON that a message becomes: bytes are in base64, and text is as long as in the
/// message.
fn json_bytes(message: &DynamicMessage) -> usize {
    message.encoded_len() * 4 / 3
}

/// Appends the encoding of a message.
fn push_message(message: &DynamicMessage, out: &mut AnswerWriter) -> Result<(), GatewayError> {
    let mut encoded = Ok(());
    out.push_with(message.encoded_len(), |mut bytes| {
        encoded = message.encode(&mut bytes)
    })?;
    encoded.map_err(|error| GatewayError::Internal(error.to_string()))
}

impl Call<'_> {
    /// The field of the request with a name.
    fn text(&self, name: &str) -> String {
        text_in(&self.request, name)
    }

    /// The integer in a field of the request; 0 for negative ones.
    fn number(&self, name: &str) -> u64 {
        number_in(&self.request, name)
    }

    /// The account that a field names.
    fn account(&self, name: &str) -> Result<Address, GatewayError> {
        Ok(parse_account_address(
            &self.text(name),
            &self.gateway.network.hrp,
        )?)
    }

    /// Refuses the request unless it names every account that it has a field for.
    fn check_accounts(&self) -> Result<(), GatewayError> {
        for field in self.request.descriptor().fields() {
            if self.gateway.messages.address_kind(&field) == Some(Kind::Account) {
                self.account(field.name())?;
            }
        }
        Ok(())
    }

    /// The account at an address, if there is one.
    fn state_of(&self, address: Address) -> Result<Option<Account>, GatewayError> {
        Ok(self
            .view
            .state
            .get(address)?
            .map(|account| account.into_owned()))
    }

    fn balance(&self, address: Address) -> Result<U256, GatewayError> {
        Ok(self.view.state.balance(address)?)
    }

    /// The block with a number, up to the newest one.
    fn block(&self, number: u64) -> Result<Arc<Block>, GatewayError> {
        self.gateway.block(&self.view.head, number)
    }
}

/// The height at which responses report a state. Before the first block is sealed the state is the
/// one that it begins with, and a height of 0 means none to clients.
fn reported_height(view: &View) -> u64 {
    view.block.number().max(1)
}

fn check_address(text: &str, kind: Kind, hrp: &Hrp) -> Result<(), AddressError> {
    match kind {
        // Accounts have a hexadecimal form as well.
        Kind::Account => parse_account_address(text, hrp).map(drop),
        kind => address_from_bech32(text, hrp, kind).map(drop),
    }
}

/// The text in a field; empty without one.
fn text_in(message: &DynamicMessage, name: &str) -> String {
    message
        .get_field_by_name(name)
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// The integer in a field; 0 for negative ones and without one.
fn number_in(message: &DynamicMessage, name: &str) -> u64 {
    let field = message.get_field_by_name(name);
    let number = field.and_then(|value| {
        value
            .as_u64()
            .or_else(|| u64::try_from(value.as_i64()?).ok())
    });
    number.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tetrad_network::network::Network;

    use super::*;

    #[test]
    fn every_query_is_a_method_of_the_descriptors() {
        let methods = Methods::new(&Messages::new(&Network::default()));
        let names: Vec<_> = MODULES
            .into_iter()
            .flatten()
            .map(|query| query.name)
            .collect();
        for name in &names {
            assert!(methods.get(name).is_some(), "{name}");
        }
        assert_eq!(
            names.len(),
            methods.iter().count(),
            "a query is listed twice"
        );
        assert!(methods.services().is_sorted_by(|a, b| a < b));
    }
}
