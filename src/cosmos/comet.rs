//! CometBFT's own interface, as far as wallets and CosmJS ask for it: `/status`, JSON-RPC at `/`, and `/websocket` for the
//! same and for new blocks.

use std::time::Duration;

use axum::{
    Json, Router,
    body::{Body, to_bytes},
    extract::{Request as HttpRequest, State},
    http::{Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
    routing::get,
};
use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    Gateway,
    comet_methods::{Request, call, is_known},
    comet_socket::{Conversation, MAX_MESSAGE},
    rest::Object,
};
use crate::web::{Api, Operation, admit_socket, method_not_allowed};

/// Bytes of a body that may be a request of CometBFT's, and how long it may take to arrive.
const MAX_BODY: usize = 64 << 10;
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
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

/// One that says what was wrong.
pub(super) fn error(id: &Value, code: i64, what: &str) -> Value {
    let message = match code {
        -32700 => "Parse error. Invalid JSON",
        -32601 => "Method not found",
        -32602 => "Invalid params",
        _ => "Internal error",
    };
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message, "data": what } })
}

/// The response to a request.
pub(super) fn answer(gateway: &Gateway, request: &Request) -> Value {
    match call(gateway, request) {
        Ok(value) => result(&request.id, value),
        Err((code, what)) => error(&request.id, code, &what),
    }
}

/// Answers what is CometBFT's, and passes on everything else as it came.
pub(super) async fn first(State(gateway): State<Gateway>, request: HttpRequest, next: Next) -> Response {
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if request.method() != Method::POST || length.is_none_or(|length: usize| length > MAX_BODY) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let mut reading = std::pin::pin!(to_bytes(body, MAX_BODY));
    // Most bodies have arrived with the head; a timer is set up only for the others.
    let read = match reading.as_mut().now_or_never() {
        Some(read) => Ok(read),
        None => timeout(BODY_TIMEOUT, reading).await,
    };
    let body = match read {
        Err(_) => return (StatusCode::REQUEST_TIMEOUT, "the body took too long\n").into_response(),
        Ok(Err(error)) => {
            return (StatusCode::BAD_REQUEST, format!("the body could not be read: {error}\n")).into_response();
        }
        Ok(Ok(body)) => body,
    };
    match serde_json::from_slice::<Addressee>(&body) {
        Ok(named) if is_known(named.method) => match serde_json::from_slice(&body) {
            Ok(request) => Json(answer(&gateway, &request)).into_response(),
            Err(what) => Json(error(&Value::Null, -32700, &what.to_string())).into_response(),
        },
        _ => next.run(HttpRequest::from_parts(parts, Body::from(body))).await,
    }
}

/// Whose a request is.
#[derive(Deserialize)]
struct Addressee<'a> {
    method: &'a str,
}

async fn upgrade(State(gateway): State<Gateway>, request: HttpRequest) -> Response {
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
