//! CometBFT's own interface, as far as wallets ask for it: `/status`, and `/websocket` for new blocks.

use axum::{
    Json, Router,
    extract::{Request, State},
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};

use super::{
    Gateway,
    comet_socket::{Conversation, MAX_MESSAGE},
    rest::Object,
};
use crate::web::{Api, Operation, admit_socket, method_not_allowed};

/// Buffer of each connection for reading.
const READ_BUFFER: usize = 4 << 10;

/// The routes, and what there is to say about them.
pub(super) fn router(gateway: Gateway) -> (Router, Vec<Operation>) {
    Api::default()
        .get("/status", status, Operation::new("Accounts", "The node, as CometBFT tells of it.").returns::<Object>())
        .and(|router| router.route("/websocket", get(upgrade)).method_not_allowed_fallback(method_not_allowed))
        .with_state(gateway)
}

async fn status(State(gateway): State<Gateway>) -> Response {
    // CometBFT numbers requests without a number so.
    let body = result(&json!(-1), gateway.node.status(&gateway.chain.head()));
    ([(header::CACHE_CONTROL, "no-cache")], Json(body)).into_response()
}

/// A response of JSON-RPC.
pub(super) fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

async fn upgrade(State(gateway): State<Gateway>, request: Request) -> Response {
    let (upgrade, held) = match admit_socket(request, &gateway.addresses, &gateway.sockets).await {
        Ok(admitted) => admitted,
        Err(answer) => return answer,
    };
    upgrade.max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE).read_buffer_size(READ_BUFFER).on_upgrade(
        move |socket| async move {
            let _held = held;
            Conversation::new(socket, gateway).run().await;
        },
    )
}
