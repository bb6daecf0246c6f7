//! The price WebSocket: a greeting, all prices, then changes.
//!
//! Messages are rendered once for all listeners (`price_message.rs`). A slow client does not delay
//! others: messages queue in a buffer that all clients share, and a client that falls behind its end
//! gets the current prices instead of those it missed.

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
    Exchange, market::Market, market_state::MarketState, price_message::PriceMessage, quote::key,
    socket_request::SocketRequest,
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
    messages: Receiver<Arc<PriceMessage>>,
    /// Whether the next event has all prices: the client has none yet, missed some, or changed its
    /// subscription.
    all_prices_due: bool,
    /// The tokens that the client has subscribed to, all if none.
    wanted: Option<Vec<usize>>,
    /// The sequence number of the newest message that the client has seen, itself or in a state of
    /// the market.
    seen: u64,
}

/// Prices to send.
enum PriceEvent {
    /// Those of some tokens, which a block has set.
    New(Arc<PriceMessage>),
    /// Those of all tokens.
    All(Arc<MarketState>),
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
        // Subscribed before the state is read, so that no message is lost in between.
        let messages = market.subscribe();
        Self {
            client_id,
            market,
            clock,
            messages,
            all_prices_due: true,
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
                self.all_prices_due = true;
                json!({ "type": "subscribed", "tokens": names, "timestamp": self.clock.now_ms() })
            }
            Err(what) => json!({ "type": "error", "message": what }),
        };
        SocketReply::Now(Utf8Bytes::from(reply.to_string()).into())
    }

    async fn next_event(&mut self) -> Option<PriceEvent> {
        loop {
            if self.all_prices_due {
                let state = self.market.current().await;
                self.all_prices_due = false;
                match state {
                    Ok(state) => {
                        self.seen = state.sequence;
                        return Some(PriceEvent::All(state));
                    }
                    Err(error) => tracing::debug!(%error, "could not read prices for a WebSocket"),
                }
            }

            match self.messages.recv().await {
                Ok(message) if message.sequence > self.seen => {
                    self.seen = message.sequence;
                    return Some(PriceEvent::New(message));
                }
                // The state of the market included it.
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => {
                    // The prices of all tokens replace the messages that wait.
                    self.messages = self.messages.resubscribe();
                    self.all_prices_due = true;
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn messages<'a>(
        &'a self,
        event: &'a PriceEvent,
    ) -> impl Iterator<Item = Result<Option<SocketMessage>, AnswerError>> + Send + 'a {
        let message = match event {
            PriceEvent::New(message) => message,
            PriceEvent::All(state) => state.message(),
        };
        message
            .for_tokens(self.wanted.as_deref())
            .map(|text| Ok(Some(text.into())))
            .into_iter()
    }
}
