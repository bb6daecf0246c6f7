//! JSON-RPC over WebSocket: requests as over HTTP, and subscriptions.
//!
//! A connection is one task: it reads requests, takes events of the chain and writes. What it has not written yet
//! is bounded; a client that reads too slowly is cut off with a reason instead of filling the memory.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code},
    http,
    response::Response,
};
use futures_util::{SinkExt, StreamExt, stream::FuturesUnordered};
use tokio::time::{Instant, interval, timeout};

use super::{
    Rpc,
    envelope::{self, Body},
    subscriptions::{Follower, Subscriptions},
};
use crate::{
    chain::Event,
    web::{Client, ConnectionSlot, Flow, Held, Shutdown},
};

/// Requests of one connection that are answered at a time.
const MAX_IN_FLIGHT: usize = 64;
/// How long a client that was cut off has to read again and hear why.
const FAREWELL: Duration = Duration::from_secs(10);
/// Why a connection ends whose messages find no room.
const NO_ROOM: (u16, &str) = (close_code::AGAIN, "the node has no memory for long requests and answers at the moment");
/// How often a silent connection is asked whether it is alive.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// How long a connection may be silent.
const SILENCE: Duration = Duration::from_secs(60);

/// What the listener keeps of a connection.
pub(super) struct Kept {
    /// It counts the connection for as long as it exists, not only until the upgrade.
    _slot: Option<ConnectionSlot>,
    /// It counts what is read of messages before they are complete.
    flow: Arc<Flow>,
}

impl Kept {
    /// From the request that is to be upgraded.
    pub(super) fn of(extensions: &mut http::Extensions) -> Self {
        Self { _slot: extensions.remove(), flow: extensions.remove().unwrap_or_default() }
    }
}

/// Upgrades a request.
pub(super) fn accept(
    upgrade: WebSocketUpgrade,
    client: Client,
    kept: Kept,
    rpc: Rpc,
    mut shutdown: Shutdown,
) -> Response {
    let limit = rpc.context.config.max_body;
    kept.flow.count();
    upgrade.max_message_size(limit).max_frame_size(limit).read_buffer_size(16 << 10).on_upgrade(
        move |socket| async move {
            let meters = rpc.context.clone();
            let _held = meters.meters.sockets.hold();
            let conversation = converse(socket, client, kept, rpc, shutdown.clone());
            tokio::select! {
                () = conversation => {}
                () = shutdown.cut() => {}
            }
        },
    )
}

async fn converse(socket: WebSocket, client: Client, kept: Kept, rpc: Rpc, mut shutdown: Shutdown) {
    let (mut sink, mut stream) = socket.split();
    let mut subscriptions = Subscriptions::default();
    // Nobody listens to the chain before the first subscription.
    let mut follower: Option<Follower> = None;
    let mut answers = FuturesUnordered::new();
    let mut ping = interval(PING_INTERVAL);
    let mut heard = Instant::now();
    let patience = rpc.context.config.write_timeout;
    let budget = rpc.context.config.budget.clone();
    let close = loop {
        let mut out: Vec<String> = Vec::new();
        // What the messages in `out` hold until they are written.
        let mut written = Held::default();
        tokio::select! {
            message = stream.next(), if answers.len() < MAX_IN_FLIGHT => {
                heard = Instant::now();
                let mut held = kept.flow.take();
                let text = match message {
                    None | Some(Err(_) | Ok(Message::Close(_))) => break None,
                    Some(Ok(Message::Text(text))) => text,
                    Some(Ok(Message::Binary(bytes))) => match Utf8Bytes::try_from(bytes) {
                        Ok(text) => text,
                        Err(_) => break Some((close_code::INVALID, "messages have to be UTF-8")),
                    },
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                };
                if !budget.grow(&mut held, text.len()).await {
                    break Some(NO_ROOM);
                }
                match subscription_request(&rpc, &mut subscriptions, &text) {
                    Some(answer) => out.push(answer),
                    None => {
                        let rpc = rpc.clone();
                        answers.push(async move {
                            let answer = rpc.answer(client, text.as_bytes()).await;
                            drop((text, held));
                            answer
                        });
                    }
                }
                if follower.is_none() && !subscriptions.is_empty() {
                    follower = Some(Follower::new(&rpc.context.chain));
                }
            }
            Some((answer, held)) = answers.next() => {
                written = held;
                // Answers are JSON, which is UTF-8.
                out.push(String::from_utf8(answer).unwrap_or_default());
            }
            event = next_event(&mut follower) => match event {
                Some(event) => {
                    if !write(&mut sink, subscriptions.notifications(&event), patience).await {
                        break Some((close_code::POLICY, "the connection reads too slowly"));
                    }
                }
                None => break Some((close_code::AWAY, "the node is shutting down")),
            },
            _ = ping.tick() => {
                if heard.elapsed() > SILENCE {
                    break None;
                }
                if !matches!(timeout(patience, sink.send(Message::Ping(Default::default()))).await, Ok(Ok(()))) {
                    break None;
                }
            }
            () = shutdown.begun() => break Some((close_code::AWAY, "the node is shutting down")),
        }
        if !write(&mut sink, out.into_iter(), patience).await {
            break Some((close_code::AGAIN, "the connection is stalled"));
        }
        drop(written);
    };
    if let Some((code, reason)) = close {
        let frame = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
        if !matches!(code, close_code::POLICY | close_code::AGAIN) {
            let _ = timeout(Duration::from_secs(1), sink.send(frame)).await;
            return;
        }
        rpc.context.meters.sockets_cut.add(1);
        // What was written before stands in the way until the client reads again. What it sent meanwhile has to be read,
        // too: a connection that is closed over unread data is reset, and nobody hears why.
        let farewell = async {
            if sink.send(frame).await.is_ok() {
                while let Some(Ok(_)) = stream.next().await {}
            }
        };
        tokio::select! {
            _ = timeout(FAREWELL, farewell) => {}
            () = shutdown.begun() => {}
        }
    }
}

/// Writes messages as they are made; false if the client does not take one for so long.
async fn write(
    sink: &mut (impl SinkExt<Message> + Unpin),
    messages: impl Iterator<Item = String>,
    patience: Duration,
) -> bool {
    let mut written = false;
    for message in messages {
        written = true;
        let feed = sink.feed(Message::Text(message.into()));
        if !matches!(timeout(patience, feed).await, Ok(Ok(()))) {
            return false;
        }
    }
    !written || matches!(timeout(patience, sink.flush()).await, Ok(Ok(())))
}

async fn next_event(follower: &mut Option<Follower>) -> Option<Event> {
    match follower {
        Some(follower) => follower.next().await,
        None => std::future::pending().await,
    }
}

/// Answers the two methods that belong to a connection; none if the request is for another one.
fn subscription_request(rpc: &Rpc, subscriptions: &mut Subscriptions, text: &str) -> Option<String> {
    if !text.contains("subscribe") {
        return None;
    }
    let Ok(Body::Single(Ok(request))) = envelope::read_body(text.as_bytes(), 0) else { return None };
    let context = &rpc.context;
    let answer = match &*request.method {
        "eth_subscribe" => subscriptions.subscribe(context, request.params).map(|id| format!("\"{id}\"")),
        "eth_unsubscribe" => subscriptions.unsubscribe(context, request.params).map(|was| was.to_string()),
        _ => return None,
    };
    let mut out = Vec::new();
    match answer {
        Ok(result) => {
            envelope::begin(request.id, &mut out);
            out.extend_from_slice(result.as_bytes());
            envelope::end(&mut out);
        }
        Err(error) => envelope::error(request.id, &error, context.dialect, &mut out),
    }
    String::from_utf8(out).ok()
}
