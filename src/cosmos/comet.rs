//! CometBFT's own interface, as far as wallets and CosmJS use it: `/status`, JSON-RPC at `/`, and `/websocket` for the same
//! and for new blocks.

use std::borrow::Cow;

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
    routing::get,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Gateway,
    comet_methods::{CometRequest, call, is_known},
    comet_socket::CometSocket,
    rest,
};
use crate::web::{Api, Operation, method_not_allowed};

/// The routes and their description.
pub(super) fn router(gateway: Gateway) -> (Router, Vec<Operation>) {
    Api::new("Accounts")
        .get("/status", status, "The status of the node in CometBFT's form.")
        .and(|router| router.route("/websocket", get(upgrade)).method_not_allowed_fallback(method_not_allowed))
        .with_state(gateway)
}

async fn status(State(gateway): State<Gateway>) -> rest::SdkReply {
    // CometBFT gives requests without an id this one.
    rest::answer(result(&json!(-1), gateway.node.status(&gateway.chain.head())))
}

/// A JSON-RPC response with a result.
pub(super) fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A JSON-RPC response with an error.
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
pub(super) fn answer(gateway: &Gateway, request: &CometRequest) -> Value {
    match call(gateway, request) {
        Ok(value) => result(&request.id, value),
        Err((code, what)) => error(&request.id, code, &what),
    }
}

/// The response to a body, if it calls a method of CometBFT.
pub(super) fn answer_body(gateway: &Gateway, body: &[u8]) -> Option<Vec<u8>> {
    let named = serde_json::from_slice::<RequestMethod<'_>>(body).ok().filter(|named| is_known(&named.method));
    let answer = match named.map(|_| serde_json::from_slice(body))? {
        Ok(request) => answer(gateway, &request),
        Err(what) => error(&Value::Null, -32700, &what.to_string()),
    };
    Some(answer.to_string().into_bytes())
}

/// The part of a request that tells which interface it is for.
#[derive(Deserialize)]
struct RequestMethod<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
}

async fn upgrade(State(gateway): State<Gateway>, request: Request) -> Response {
    let sockets = gateway.sockets.clone();
    sockets.accept(request, move |_| CometSocket::new(gateway)).await
}
