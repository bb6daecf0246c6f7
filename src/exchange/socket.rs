//! The price WebSocket: one task for each connection (specification, 4.3).
//!
//! A client that reads slowly is not waited for and not remembered: while it is busy, ticks pile up in a buffer that all
//! clients share, and once they overflow it gets the present prices instead of what it missed.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use axum::extract::ws::{CloseCode, CloseFrame, Message, Utf8Bytes, close_code};
use futures_util::{FutureExt, Sink, SinkExt, Stream, StreamExt};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use serde_json::json;
use tokio::{
    sync::broadcast::error::RecvError,
    time::{Instant, interval_at, sleep_until, timeout, timeout_at},
};

use super::{market::Market, quote::key, socket_request::Request, tick::Tick};
use crate::{chain::Clock, web::Shutdown};

/// Bytes that a client's message may have.
pub(super) const MAX_MESSAGE: usize = 4 << 10;
/// Messages that a client may send a second, and at once.
const MESSAGES_PER_SECOND: NonZeroU32 = NonZeroU32::new(20).expect("not zero");
const MESSAGE_BURST: NonZeroU32 = NonZeroU32::new(100).expect("not zero");
/// How long a client may take to accept a message before it counts as stalled.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a client is asked whether it is alive.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// How long a client may be silent.
const SILENCE: Duration = Duration::from_secs(60);
/// How long the end of a connection may take.
const CLOSING: Duration = Duration::from_secs(1);

/// Why a connection ends: a close code and a reason, or nothing to say because the client has gone.
type End = Option<(CloseCode, &'static str)>;

const STALLED: End = Some((close_code::AGAIN, "the connection is stalled"));
const AWAY: End = Some((close_code::AWAY, "the node is shutting down"));

/// One connection.
pub(super) struct Conversation<S> {
    socket: S,
    market: Market,
    clock: Arc<dyn Clock>,
    shutdown: Shutdown,
    /// The tokens that the client wants to hear of, all if none.
    wanted: Option<Vec<usize>>,
    /// The newest tick that the client has seen, itself or in a snapshot.
    seen: u64,
    inbound: DefaultDirectRateLimiter,
}

impl<S> Conversation<S>
where
    S: Stream<Item = Result<Message, axum::Error>> + Sink<Message, Error = axum::Error> + Unpin,
{
    pub(super) fn new(socket: S, market: Market, clock: Arc<dyn Clock>, shutdown: Shutdown) -> Self {
        let inbound = RateLimiter::direct(Quota::per_second(MESSAGES_PER_SECOND).allow_burst(MESSAGE_BURST));
        Self { socket, market, clock, shutdown, wanted: None, seen: 0, inbound }
    }

    /// Talks until one of the two has had enough.
    pub(super) async fn run(mut self, id: &str) {
        let end = match self.talk(id).await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        self.close(end).await;
    }

    async fn talk(&mut self, id: &str) -> Result<std::convert::Infallible, End> {
        // First, so that no tick is lost between the snapshot and what follows it.
        let mut ticks = self.market.subscribe();
        let welcome = json!({
            "type": "connection", "status": "connected", "clientId": id, "timestamp": self.clock.now_ms(),
        });
        self.send_text(welcome.to_string().into()).await?;
        self.send_snapshot().await?;

        let mut ping = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
        let mut heard = Instant::now();
        // One for all ticks: to begin and stop listening for the end with each would take a lock that all connections share.
        let mut shutdown = self.shutdown.clone();
        let mut ended = std::pin::pin!(shutdown.begun());
        loop {
            tokio::select! {
                // In the order in which they come about. None of them can keep the others waiting: a tick is not there
                // twice, and who sends too many messages is sent away.
                biased;
                tick = ticks.recv() => match tick {
                    Ok(tick) => self.send_tick(&tick).await?,
                    Err(RecvError::Lagged(_)) => {
                        ticks = ticks.resubscribe();
                        self.send_snapshot().await?;
                    }
                    Err(RecvError::Closed) => return Err(AWAY),
                },
                message = self.socket.next() => {
                    heard = Instant::now();
                    self.hear(message).await?;
                }
                _ = ping.tick() => {
                    if heard.elapsed() >= SILENCE {
                        return Err(Some((close_code::POLICY, "no sign of life for 60 seconds")));
                    }
                    self.send(Message::Ping(Default::default())).await?;
                }
                () = &mut ended => return Err(AWAY),
            }
        }
    }

    /// Takes in a message of the client.
    async fn hear(&mut self, message: Option<Result<Message, axum::Error>>) -> Result<(), End> {
        let message = match message {
            None | Some(Ok(Message::Close(_))) => return Err(None),
            Some(Err(error)) if is_too_large(&error) => {
                return Err(Some((close_code::SIZE, "messages may have at most 4096 bytes")));
            }
            Some(Err(_)) => return Err(None),
            Some(Ok(message)) => message,
        };
        if self.inbound.check().is_err() {
            return Err(Some((close_code::POLICY, "too many messages")));
        }
        let request = match message {
            Message::Text(text) => Request::read(&text, self.market.network()),
            Message::Binary(_) => Err("expected text, got binary data".to_owned()),
            // The library answers pings.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => return Ok(()),
        };
        match request {
            Ok(Request::Ping) => {
                self.send_text(json!({ "type": "pong", "timestamp": self.clock.now_ms() }).to_string().into()).await
            }
            Ok(Request::Subscribe(wanted)) => {
                let tokens = &self.market.network().tokens;
                let named = |position: &usize| tokens.get(*position).map(|token| key(token.address));
                let names: Vec<_> = wanted.iter().filter_map(named).collect();
                let confirmation = json!({ "type": "subscribed", "tokens": names, "timestamp": self.clock.now_ms() });
                self.wanted = Some(wanted).filter(|wanted| !wanted.is_empty());
                self.send_text(confirmation.to_string().into()).await?;
                self.send_snapshot().await
            }
            Err(what) => self.send_text(json!({ "type": "error", "message": what }).to_string().into()).await,
        }
    }

    /// Sends the present prices.
    async fn send_snapshot(&mut self) -> Result<(), End> {
        match self.market.current().await {
            Ok(snapshot) => {
                self.seen = snapshot.sequence;
                match snapshot.tick().message(self.wanted.as_deref()) {
                    Some(message) => self.send_text(message).await,
                    None => Ok(()),
                }
            }
            Err(error) => {
                tracing::debug!(%error, "no prices for a price socket");
                Ok(())
            }
        }
    }

    async fn send_tick(&mut self, tick: &Tick) -> Result<(), End> {
        if tick.sequence <= self.seen {
            return Ok(());
        }
        self.seen = tick.sequence;
        match tick.message(self.wanted.as_deref()) {
            Some(message) => self.send_text(message).await,
            None => Ok(()),
        }
    }

    async fn send_text(&mut self, text: Utf8Bytes) -> Result<(), End> {
        self.send(Message::Text(text)).await
    }

    async fn send(&mut self, message: Message) -> Result<(), End> {
        let gone = |_| None;
        let mut sending = std::pin::pin!(self.socket.send(message));
        // Nearly always the system takes it at once, and there is nothing to wait for.
        if let Some(sent) = sending.as_mut().now_or_never() {
            return sent.map_err(gone);
        }
        let mut shutdown = self.shutdown.clone();
        tokio::select! {
            sent = timeout(WRITE_TIMEOUT, sending) => sent.map_err(|_| STALLED)?.map_err(gone),
            () = shutdown.begun() => Err(AWAY),
        }
    }

    /// Says why, then waits a little for the client to have read it: a socket that is closed with unread data in it
    /// takes back what was written last.
    async fn close(mut self, end: End) {
        let Some((code, reason)) = end else { return };
        let deadline = Instant::now() + CLOSING;
        let frame = CloseFrame { code, reason: reason.into() };
        if !matches!(timeout_at(deadline, self.socket.send(Message::Close(Some(frame)))).await, Ok(Ok(()))) {
            return;
        }
        while let Ok(Some(message)) = timeout_at(deadline, self.socket.next()).await {
            match message {
                Ok(Message::Close(_)) => return,
                Ok(_) => {}
                // What is left cannot be read, such as the rest of a message that is too long.
                Err(_) => return sleep_until(deadline).await,
            }
        }
    }
}

/// Whether reading failed because of the size of a message.
fn is_too_large(error: &axum::Error) -> bool {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<tokio_tungstenite::tungstenite::Error>() {
            return matches!(error, tokio_tungstenite::tungstenite::Error::Capacity(_));
        }
        source = error.source();
    }
    false
}

#[cfg(test)]
mod tests;
