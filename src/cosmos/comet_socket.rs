//! CometBFT's WebSocket: JSON-RPC as over HTTP, and a message for every new block to subscribers.

use std::{collections::BTreeMap, sync::Arc};

use axum::extract::ws::Utf8Bytes;
use serde_json::{Value, json};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{
    Gateway,
    blocks::{HashEncoding, block_with_id, header},
    comet::{answer, error, result},
    comet_methods::CometRequest,
};
use crate::{
    block::Block,
    chain::Event,
    web::{ClientAddresses, Shutdown, SocketLimits, SocketProtocol, SocketReply, WRITE_TIMEOUT, WebSockets},
};

/// Most bytes of a client's message.
const MAX_MESSAGE: usize = 16 << 10;
/// Bytes of each of a connection's buffers.
const BUFFER: usize = 4 << 10;
/// Most subscriptions of one connection.
const MAX_SUBSCRIPTIONS: usize = 10;

/// The WebSockets of CometBFT's interface. Requests are processed sequentially, which is limit enough.
pub(super) fn web_sockets(per_client: usize, addresses: ClientAddresses, shutdown: Shutdown) -> WebSockets {
    let limits = SocketLimits {
        max_message: MAX_MESSAGE,
        buffer: BUFFER,
        messages: None,
        per_client: Some(per_client),
        write_timeout: WRITE_TIMEOUT,
    };
    WebSockets::new("comet", limits, addresses, shutdown)
}

/// The events that clients can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CometTopic {
    Block,
    Header,
}

/// CometBFT's interface on one WebSocket.
pub(super) struct CometSocket {
    gateway: Gateway,
    /// Subscriptions by their query, with the id of the request that started them.
    subscriptions: BTreeMap<String, (CometTopic, Value)>,
    /// Events of the chain while there are subscriptions.
    events: Option<Receiver<Event>>,
}

impl CometSocket {
    pub(super) fn new(gateway: Gateway) -> Self {
        Self { gateway, subscriptions: BTreeMap::new(), events: None }
    }

    fn answer(&mut self, request: &CometRequest) -> Value {
        let id = &request.id;
        match request.method.as_str() {
            "subscribe" => match query(request) {
                None => error(id, -32602, "query: is missing"),
                Some(query) => self.subscribe(id, query),
            },
            "unsubscribe" => match query(request).and_then(|query| self.subscriptions.remove(query)) {
                Some(_) => result(id, json!({})),
                None => error(id, -32603, "subscription not found"),
            },
            "unsubscribe_all" => {
                self.subscriptions.clear();
                result(id, json!({}))
            }
            _ => answer(&self.gateway, request),
        }
    }

    fn subscribe(&mut self, id: &Value, query: &str) -> Value {
        // Clients place spaces in different ways.
        let topic = match query.split_whitespace().collect::<String>().as_str() {
            "tm.event='NewBlock'" => CometTopic::Block,
            "tm.event='NewBlockHeader'" => CometTopic::Header,
            _ => return error(id, -32603, "only tm.event='NewBlock' and tm.event='NewBlockHeader' are supported"),
        };
        if self.subscriptions.contains_key(query) {
            return error(id, -32603, "already subscribed");
        }
        if self.subscriptions.len() >= MAX_SUBSCRIPTIONS {
            return error(id, -32603, "too many subscriptions");
        }
        self.subscriptions.insert(query.to_owned(), (topic, id.clone()));
        result(id, json!({}))
    }

    /// The message about a block for one of the subscriptions.
    fn message(&self, block: &Block, query: &str, topic: CometTopic, id: &Value) -> Utf8Bytes {
        let node = &self.gateway.node;
        let (kind, value) = match topic {
            CometTopic::Block => ("NewBlock", block_with_id(block, node, HashEncoding::Comet)),
            CometTopic::Header => ("NewBlockHeader", json!({ "header": header(block, node, HashEncoding::Comet) })),
        };
        let data = json!({ "type": format!("tendermint/event/{kind}"), "value": value });
        let message = result(id, json!({ "query": query, "data": data, "events": { "tm.event": [kind] } }));
        message.to_string().into()
    }
}

impl SocketProtocol for CometSocket {
    type Event = Arc<[Arc<Block>]>;

    fn receive(&mut self, message: Utf8Bytes) -> SocketReply {
        let answer = match serde_json::from_str::<CometRequest>(&message) {
            Ok(request) => self.answer(&request),
            Err(what) => error(&Value::Null, -32700, &format!("expected a request of JSON-RPC: {what}")),
        };
        if self.subscriptions.is_empty() {
            self.events = None;
        } else if self.events.is_none() {
            self.events = Some(self.gateway.chain.subscribe());
        }
        SocketReply::Now(answer.to_string().into())
    }

    async fn next_event(&mut self) -> Option<Self::Event> {
        let Some(events) = &mut self.events else { return std::future::pending().await };
        loop {
            match events.recv().await {
                Ok(Event::Head { added, .. }) => return Some(added),
                // A client that reads too slowly misses blocks, as with CometBFT.
                Ok(Event::Pending(_)) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn messages<'a>(&'a self, added: &'a Self::Event) -> impl Iterator<Item = Utf8Bytes> + Send + 'a {
        added.iter().flat_map(move |block| {
            let subscriptions = self.subscriptions.iter();
            subscriptions.map(move |(query, (topic, id))| self.message(block, query, *topic, id))
        })
    }
}

/// The query of a request that starts or ends a subscription.
fn query(request: &CometRequest) -> Option<&str> {
    request.parameter("query", 0)?.as_str()
}
