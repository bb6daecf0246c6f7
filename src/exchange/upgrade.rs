//! From an HTTP request to a price WebSocket, if the client may have another one.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
    routing::get,
};

use super::{
    Exchange,
    socket::{Conversation, MAX_MESSAGE},
};
use crate::web::admit_socket;

/// Buffer of each connection for reading. Nearly all of them only listen, and there may be thousands.
const READ_BUFFER: usize = 4 << 10;

/// `/ws` beside the other interfaces.
pub(super) fn router(exchange: Exchange) -> Router {
    Router::new().route("/ws", get(upgrade)).with_state(exchange)
}

/// Every path: for a listener of its own.
pub(super) fn any_path(exchange: Exchange) -> Router {
    Router::new().fallback(get(upgrade)).with_state(exchange)
}

async fn upgrade(State(exchange): State<Exchange>, request: Request) -> Response {
    let (upgrade, held) = match admit_socket(request, &exchange.addresses, &exchange.sockets).await {
        Ok(admitted) => admitted,
        Err(answer) => return answer,
    };
    upgrade
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_MESSAGE)
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
        .on_upgrade(move |socket| async move {
            let _held = held;
            let id = exchange.next_client_id();
            let Exchange { market, clock, shutdown, .. } = exchange;
            Conversation::new(socket, market, clock, shutdown).run(&id).await;
        })
}

/// Clients so far.
static CLIENTS: AtomicU64 = AtomicU64::new(1);

impl Exchange {
    /// A name for a connection that no other one of this or an earlier run has.
    fn next_client_id(&self) -> String {
        format!("{:x}-{}", self.started_ms, CLIENTS.fetch_add(1, Ordering::Relaxed))
    }
}
