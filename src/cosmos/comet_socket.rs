//! CometBFT's WebSocket: `status`, and a message for every new block to those who subscribe.

use std::{collections::BTreeMap, time::Duration};

use axum::extract::ws::{CloseCode, CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use serde_json::{Value, json};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, interval_at, timeout},
};

use super::{
    Gateway,
    blocks::{Spelling, block_with_id, header},
    comet::{answer, error, result},
    comet_methods::Request,
};
use crate::{block::Block, chain::Event};

/// Bytes that a client's message may have.
pub(super) const MAX_MESSAGE: usize = 16 << 10;
/// Subscriptions of one connection.
const MAX_SUBSCRIPTIONS: usize = 10;
/// How long a client may take to accept a message before it counts as stalled.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a client is asked whether it is alive, and how long it may be silent.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(60);

/// Why a connection ends: a close code and a reason, or nothing to say because the client has gone.
type End = Option<(CloseCode, &'static str)>;

/// What one can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Block,
    Header,
}

/// One connection.
pub(super) struct Conversation {
    socket: WebSocket,
    gateway: Gateway,
    /// Subscriptions by their query, with the id of the request that began them.
    subscriptions: BTreeMap<String, (Topic, Value)>,
}

impl Conversation {
    pub(super) fn new(socket: WebSocket, gateway: Gateway) -> Self {
        Self { socket, gateway, subscriptions: BTreeMap::new() }
    }

    /// Talks until one of the two has had enough.
    pub(super) async fn run(mut self) {
        let end = match self.talk().await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        if let Some((code, reason)) = end {
            let frame = CloseFrame { code, reason: reason.into() };
            // The client may be the reason why it ends.
            let _ = timeout(Duration::from_secs(1), self.socket.send(Message::Close(Some(frame)))).await;
        }
    }

    async fn talk(&mut self) -> Result<std::convert::Infallible, End> {
        let mut ping = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
        let mut heard = Instant::now();
        // Nobody listens to the chain before the first subscription.
        let mut events: Option<Receiver<Event>> = None;
        loop {
            let mut shutdown = self.gateway.shutdown.clone();
            tokio::select! {
                message = self.socket.recv() => {
                    heard = Instant::now();
                    self.hear(message).await?;
                    events = match (events, self.subscriptions.is_empty()) {
                        (_, true) => None,
                        (Some(events), false) => Some(events),
                        (None, false) => Some(self.gateway.chain.subscribe()),
                    };
                }
                event = next(&mut events) => match event {
                    Ok(Event::Head { added, .. }) => {
                        for block in added.iter() {
                            self.tell(block).await?;
                        }
                    }
                    // Who reads too slowly misses blocks, as with CometBFT.
                    Ok(Event::Pending(_)) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Err(Some((close_code::AWAY, "the node is shutting down"))),
                },
                _ = ping.tick() => {
                    if heard.elapsed() >= SILENCE {
                        return Err(Some((close_code::POLICY, "no sign of life for 60 seconds")));
                    }
                    self.send(Message::Ping(Default::default())).await?;
                }
                () = shutdown.begun() => return Err(Some((close_code::AWAY, "the node is shutting down"))),
            }
        }
    }

    async fn hear(&mut self, message: Option<Result<Message, axum::Error>>) -> Result<(), End> {
        let text = match message {
            None | Some(Err(_) | Ok(Message::Close(_))) => return Err(None),
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Binary(_))) => return self.send_json(error(&Value::Null, -32700, "expected text")).await,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => return Ok(()),
        };
        let answer = match serde_json::from_str::<Request>(&text) {
            Ok(request) => self.answer(&request),
            Err(what) => error(&Value::Null, -32700, &format!("expected a request of JSON-RPC: {what}")),
        };
        self.send_json(answer).await
    }

    fn answer(&mut self, request: &Request) -> Value {
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
        // Spaces are nobody's business.
        let topic = match query.split_whitespace().collect::<String>().as_str() {
            "tm.event='NewBlock'" => Topic::Block,
            "tm.event='NewBlockHeader'" => Topic::Header,
            _ => return error(id, -32603, "only tm.event='NewBlock' and tm.event='NewBlockHeader' are told of"),
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

    /// Tells of a block to whom it concerns.
    async fn tell(&mut self, block: &Block) -> Result<(), End> {
        let node = &self.gateway.node;
        let message = |(query, (topic, id)): (&String, &(Topic, Value))| {
            let (kind, value) = match topic {
                Topic::Block => ("NewBlock", block_with_id(block, node, Spelling::Comet)),
                Topic::Header => ("NewBlockHeader", json!({ "header": header(block, node, Spelling::Comet) })),
            };
            let data = json!({ "type": format!("tendermint/event/{kind}"), "value": value });
            result(id, json!({ "query": query, "data": data, "events": { "tm.event": [kind] } }))
        };
        let messages: Vec<_> = self.subscriptions.iter().map(message).collect();
        for message in messages {
            self.send_json(message).await?;
        }
        Ok(())
    }

    async fn send_json(&mut self, body: Value) -> Result<(), End> {
        self.send(Message::Text(Utf8Bytes::from(body.to_string()))).await
    }

    async fn send(&mut self, message: Message) -> Result<(), End> {
        let mut shutdown = self.gateway.shutdown.clone();
        tokio::select! {
            sent = timeout(WRITE_TIMEOUT, self.socket.send(message)) => match sent {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) => Err(None),
                Err(_) => Err(Some((close_code::AGAIN, "the connection is stalled"))),
            },
            () = shutdown.begun() => Err(Some((close_code::AWAY, "the node is shutting down"))),
        }
    }
}

/// What a request is about that begins or ends a subscription.
fn query(request: &Request) -> Option<&str> {
    request.parameter("query", 0)?.as_str()
}

/// The next event; none ever without a subscription.
async fn next(events: &mut Option<Receiver<Event>>) -> Result<Event, RecvError> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}
