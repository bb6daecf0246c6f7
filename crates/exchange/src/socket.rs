//! The price WebSocket: a greeting, all prices, then changes.
//!
//! Messages are rendered once for all listeners (`tick.rs`). A slow client does not delay others:
//! ticks queue in a buffer that all clients share, and a client that falls behind its end gets the
//! current prices instead of those it missed.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
    routing::get,
};
use governor::Quota;
use serde_json::json;
use tetrad_stdx::clock::Clock;
use tetrad_web::{
    AnswerError, FaultScope, Shutdown, SocketLimits, SocketMessage, SocketProtocol, SocketReply,
    Utf8Bytes, WRITE_TIMEOUT, WebSockets, at_interface_path,
};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{
    Exchange, market::Market, quote::key, snapshot::Snapshot, socket_request::SocketRequest,
    tick::Tick,
};

/// Bytes that a client's message may have.
const MAX_MESSAGE: usize = 4 << 10;
/// Bytes of each of a connection's buffers. Nearly all clients only listen, and there may be
/// thousands.
const BUFFER: usize = 256;
/// Messages that a client may send per second, and in a burst.
const MESSAGES_PER_SECOND: NonZeroU32 = NonZeroU32::new(20).expect("not zero");
const MESSAGE_BURST: NonZeroU32 = NonZeroU32::new(100).expect("not zero");

/// The price WebSockets.
pub(super) fn web_sockets(per_client: usize, shutdown: Shutdown) -> WebSockets {
    let limits = SocketLimits {
        max_message: MAX_MESSAGE,
        buffer: BUFFER,
        messages: Some(Quota::per_second(MESSAGES_PER_SECOND).allow_burst(MESSAGE_BURST)),
        per_client: Some(per_client),
        write_timeout: WRITE_TIMEOUT,
    };
    WebSockets::new("price", Some(FaultScope::Prices), limits, shutdown)
}

/// `/ws` beside the other interfaces.
pub(super) fn router(exchange: Exchange) -> Router {
    at_interface_path(Router::new(), "/ws", get(upgrade)).with_state(exchange)
}

/// The price WebSocket at every path, for a separate listener.
pub(super) fn any_path(exchange: Exchange) -> Router {
    Router::new().fallback(get(upgrade)).with_state(exchange)
}

async fn upgrade(State(exchange): State<Exchange>, request: Request) -> Response {
    let sockets = exchange.sockets.clone();
    sockets
        .accept(request, move || PriceSocket::new(exchange))
        .await
}

/// Number of clients so far.
static CLIENTS: AtomicU64 = AtomicU64::new(1);

/// The protocol of prices on one WebSocket.
struct PriceSocket {
    /// An identifier that is unique across connections and runs.
    client_id: String,
    market: Market,
    clock: Arc<dyn Clock>,
    ticks: Receiver<Arc<Tick>>,
    /// Whether the next event is a snapshot: the client has no prices yet, missed some, or changed
    /// its subscription.
    snapshot_due: bool,
    /// The tokens that the client has subscribed to, all if none.
    wanted: Option<Vec<usize>>,
    /// The newest tick that the client has seen, itself or in a snapshot.
    seen: u64,
}

/// Prices to send.
enum PriceEvent {
    Tick(Arc<Tick>),
    Snapshot(Arc<Snapshot>),
}

impl PriceSocket {
    fn new(exchange: Exchange) -> Self {
        let Exchange {
            market,
            clock,
            started_ms,
            ..
        } = exchange;
        let client_id = format!("{started_ms:x}-{}", CLIENTS.fetch_add(1, Ordering::Relaxed));
        // Subscribed before the snapshot is taken, so that no tick is lost in between.
        let ticks = market.subscribe();
        Self {
            client_id,
            market,
            clock,
            ticks,
            snapshot_due: true,
            wanted: None,
            seen: 0,
        }
    }
}

impl SocketProtocol for PriceSocket {
    type Event = PriceEvent;

    fn greeting(&mut self) -> Option<Utf8Bytes> {
        let id = &self.client_id;
        let timestamp = self.clock.now_ms();
        let greeting = json!({ "type": "connection", "status": "connected", "clientId": id, "timestamp": timestamp });
        Some(greeting.to_string().into())
    }

    fn receive(&mut self, message: Utf8Bytes) -> SocketReply {
        let reply = match SocketRequest::read(&message, self.market.network()) {
            Ok(SocketRequest::Ping) => json!({ "type": "pong", "timestamp": self.clock.now_ms() }),
            Ok(SocketRequest::Subscribe(wanted)) => {
                let tokens = &self.market.network().tokens;
                let named =
                    |position: &usize| tokens.get(*position).map(|token| key(token.address));
                let names: Vec<_> = wanted.iter().filter_map(named).collect();
                self.wanted = Some(wanted).filter(|wanted| !wanted.is_empty());
                self.snapshot_due = true;
                json!({ "type": "subscribed", "tokens": names, "timestamp": self.clock.now_ms() })
            }
            Err(what) => json!({ "type": "error", "message": what }),
        };
        SocketReply::Now(Utf8Bytes::from(reply.to_string()).into())
    }

    async fn next_event(&mut self) -> Option<PriceEvent> {
        loop {
            if self.snapshot_due {
                let snapshot = self.market.current().await;
                self.snapshot_due = false;
                match snapshot {
                    Ok(snapshot) => {
                        self.seen = snapshot.sequence;
                        return Some(PriceEvent::Snapshot(snapshot));
                    }
                    Err(error) => tracing::debug!(%error, "could not read prices for a WebSocket"),
                }
            }

            match self.ticks.recv().await {
                Ok(tick) if tick.sequence > self.seen => {
                    self.seen = tick.sequence;
                    return Some(PriceEvent::Tick(tick));
                }
                // The snapshot included it.
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => {
                    // The snapshot replaces all ticks that wait.
                    self.ticks = self.ticks.resubscribe();
                    self.snapshot_due = true;
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn messages<'a>(
        &'a self,
        event: &'a PriceEvent,
    ) -> impl Iterator<Item = Result<Option<SocketMessage>, AnswerError>> + Send + 'a {
        let tick = match event {
            PriceEvent::Tick(tick) => tick,
            PriceEvent::Snapshot(snapshot) => snapshot.tick(),
        };
        tick.message(self.wanted.as_deref())
            .map(|text| Ok(Some(text.into())))
            .into_iter()
    }
}
