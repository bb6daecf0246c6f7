//! CometBFT's WebSocket: JSON-RPC as over HTTP, and messages about new blocks and transactions to
//! subscribers.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use tetrad_chain::Event;
use tetrad_primitives::block::{Block, cosmos::MAX_COSMOS_TX_SIZE};
use tetrad_web::{
    AnswerError, AnswerWriter, MAX_ANSWER, Shutdown, SocketLimits, SocketMessage, SocketProtocol,
    SocketReply, Utf8Bytes, WRITE_TIMEOUT, WebSockets,
    json_rpc::{INTERNAL_ERROR, INVALID_PARAMS, PARSE_ERROR},
};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{
    Gateway,
    blocks::{HashEncoding, block_with_id, header},
    comet_methods::CometRequest,
    comet_response::{answer, error, result_of},
    event_query::EventQuery,
};

/// Most bytes of a client's message: a transaction in base64.
const MAX_MESSAGE: usize = 2 * MAX_COSMOS_TX_SIZE;
/// Bytes of each of a connection's buffers.
const BUFFER: usize = 4 << 10;
/// Most subscriptions of one connection.
const MAX_SUBSCRIPTIONS: usize = 10;
/// Most bytes of a subscription's query, as in CometBFT (`rpc/core/events.go`).
const MAX_QUERY: usize = 512;

/// The WebSockets of CometBFT's interface. A connection has no limit of messages, but a few
/// requests in flight.
pub(super) fn web_sockets(per_client: usize, shutdown: Shutdown) -> WebSockets {
    let limits = SocketLimits {
        max_message: MAX_MESSAGE,
        buffer: BUFFER,
        messages: None,
        per_client: Some(per_client),
        write_timeout: WRITE_TIMEOUT,
    };
    WebSockets::new("comet", None, limits, shutdown)
}

/// The events that clients can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CometTopic {
    Block,
    Header,
    Tx,
}

/// A subscription.
struct CometSubscription {
    topic: CometTopic,
    query: EventQuery,
    /// The id of the request that started it.
    id: Value,
}

/// CometBFT's interface on one WebSocket.
pub(super) struct CometSocket {
    gateway: Gateway,
    /// Subscriptions by the text of their query.
    subscriptions: BTreeMap<String, CometSubscription>,
    /// Events of the chain while there are subscriptions.
    events: Option<Receiver<Event>>,
}

impl CometSocket {
    pub(super) fn new(gateway: Gateway) -> Self {
        Self {
            gateway,
            subscriptions: BTreeMap::new(),
            events: None,
        }
    }

    fn answer(&mut self, request: CometRequest) -> SocketReply {
        let id = &request.id;
        let answer = match request.method.as_str() {
            "subscribe" => match query(&request) {
                None => error(id, INVALID_PARAMS, "query: is missing"),
                Some(query) => self.subscribe(id, query),
            },
            "unsubscribe" => {
                match query(&request).and_then(|query| self.subscriptions.remove(query)) {
                    Some(_) => result_of(id, json!({})),
                    None => error(id, INTERNAL_ERROR, "subscription not found"),
                }
            }
            "unsubscribe_all" => {
                self.subscriptions.clear();
                result_of(id, json!({}))
            }
            _ => {
                // Other methods may take long, and are answered as over HTTP.
                let gateway = self.gateway.clone();
                return SocketReply::Later(Box::pin(async move {
                    answer(&gateway, request).await.into()
                }));
            }
        };
        SocketReply::Now(Utf8Bytes::from(answer.to_string()).into())
    }

    fn subscribe(&mut self, id: &Value, text: &str) -> Value {
        if text.len() > MAX_QUERY {
            return error(id, INTERNAL_ERROR, "maximum query length exceeded");
        }
        let query = match EventQuery::parse(text) {
            Ok(query) => query,
            Err(what) => {
                return error(
                    id,
                    INVALID_PARAMS,
                    &format!("failed to parse query: {what}"),
                );
            }
        };

        // CometBFT's other events are about consensus, which does not exist here.
        let topic = match query.equal("tm.event") {
            Some("NewBlock") => CometTopic::Block,
            Some("NewBlockHeader") => CometTopic::Header,
            Some("Tx") => CometTopic::Tx,
            _ => {
                return error(
                    id,
                    INTERNAL_ERROR,
                    "the query needs tm.event='NewBlock', 'NewBlockHeader' or 'Tx'",
                );
            }
        };

        if self.subscriptions.contains_key(text) {
            return error(id, INTERNAL_ERROR, "already subscribed");
        }
        if self.subscriptions.len() >= MAX_SUBSCRIPTIONS {
            return error(id, INTERNAL_ERROR, "too many subscriptions");
        }

        self.subscriptions.insert(
            text.to_owned(),
            CometSubscription {
                topic,
                query,
                id: id.clone(),
            },
        );
        result_of(id, json!({}))
    }

    /// The message about a block, if the subscription is to blocks and its query matches.
    fn block_message(
        &self,
        block: &Block,
        text: &str,
        subscription: &CometSubscription,
    ) -> Option<Result<SocketMessage, AnswerError>> {
        let node = &self.gateway.node;
        let kind = match subscription.topic {
            CometTopic::Block => "NewBlock",
            CometTopic::Header => "NewBlockHeader",
            CometTopic::Tx => return None,
        };

        let height = block.number().to_string();
        let is_wanted = subscription.query.matches(|key| match key {
            "tm.event" => vec![kind],
            "block.height" => vec![&height],
            _ => Vec::new(),
        });

        is_wanted.then(|| {
            let value = match subscription.topic {
                CometTopic::Block => block_with_id(block, node, HashEncoding::Comet)?,
                _ => json!({ "header": header(block, node, HashEncoding::Comet) }),
            };
            let events = json!({ "tm.event": [kind] }).to_string();
            message(text, subscription, kind, |out| out.json(&value), &events)
        })
    }

    /// The messages about a transaction.
    fn tx_messages(
        &self,
        block: &Arc<Block>,
        index: usize,
    ) -> impl Iterator<Item = Result<SocketMessage, AnswerError>> + Send {
        let notification =
            self.gateway
                .tx_notifications
                .of(block, index, &self.gateway.node.network);
        let wanted = self
            .subscriptions
            .iter()
            .filter(|(_, subscription)| subscription.topic == CometTopic::Tx);
        wanted.filter_map(move |(text, own)| {
            let notification = notification
                .as_ref()
                .filter(|notification| notification.matches(&own.query))?;
            Some(message(
                text,
                own,
                "Tx",
                |out| out.push(notification.value.as_bytes()),
                &notification.events,
            ))
        })
    }
}

/// The message about an event for a subscription, whose value `write` appends. The events are JSON
/// already. Fails if there is no memory for it.
fn message(
    text: &str,
    subscription: &CometSubscription,
    kind: &str,
    write: impl FnOnce(&mut AnswerWriter) -> Result<(), AnswerError>,
    events: &str,
) -> Result<SocketMessage, AnswerError> {
    let id = &subscription.id;
    let query = json!(text);
    let mut out = AnswerWriter::new(MAX_ANSWER);

    let begin = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"query":{query},"data":{{"type":"tendermint/event/{kind}","value":"#
    );
    out.push(begin.as_bytes())?;
    write(&mut out)?;
    out.push(format!(r#"}},"events":{events}}}}}"#).as_bytes())?;
    Ok(out.finish().into())
}

impl SocketProtocol for CometSocket {
    type Event = Arc<[Arc<Block>]>;

    fn receive(&mut self, message: Utf8Bytes) -> SocketReply {
        let reply = match serde_json::from_str::<CometRequest>(&message) {
            Ok(request) => self.answer(request),
            Err(what) => {
                let answer = error(
                    &Value::Null,
                    PARSE_ERROR,
                    &format!("expected a request of JSON-RPC: {what}"),
                );
                SocketReply::Now(Utf8Bytes::from(answer.to_string()).into())
            }
        };

        // Sockets that only send requests are not woken by blocks.
        if self.subscriptions.is_empty() {
            self.events = None;
        } else if self.events.is_none() {
            self.events = Some(self.gateway.chain.subscribe());
        }
        reply
    }

    async fn next_event(&mut self) -> Option<Self::Event> {
        let Some(events) = &mut self.events else {
            return std::future::pending().await;
        };
        loop {
            match events.recv().await {
                Ok(Event::Head { added, .. }) => return Some(added),
                // A client that reads too slowly misses blocks, as with CometBFT.
                Ok(Event::Pending(_)) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn messages<'a>(
        &'a self,
        added: &'a Self::Event,
    ) -> impl Iterator<Item = Result<Option<SocketMessage>, AnswerError>> + Send + 'a {
        let follows_txs = self
            .subscriptions
            .values()
            .any(|own| own.topic == CometTopic::Tx);
        added.iter().flat_map(move |block| {
            let subscriptions = self.subscriptions.iter();
            let about_block =
                subscriptions.filter_map(move |(text, own)| self.block_message(block, text, own));
            let txs = 0..if follows_txs {
                block.transactions.len()
            } else {
                0
            };
            // A `None` after each transaction lets the sender yield where no subscription matches.
            let about_txs =
                txs.flat_map(move |index| self.tx_messages(block, index).map(Some).chain([None]));
            about_block
                .map(Some)
                .chain(about_txs)
                .map(Option::transpose)
        })
    }
}

/// The query of a request that starts or ends a subscription, passed by name or by position.
fn query(request: &CometRequest) -> Option<&str> {
    request.params.get("query", Some(0))?.as_str()
}
