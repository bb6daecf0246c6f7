//! CometBFT's own interface: JSON-RPC at `/` and over `/websocket`, and a `GET` for every method.

use std::borrow::Cow;

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Query, Request, State, rejection::QueryRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Gateway,
    comet_methods::{CometMethod, CometRequest, METHODS, call, find, uri_params},
    comet_socket::CometSocket,
    rest,
};
use crate::web::{Api, Operation, method_not_allowed, socket_operation};

/// Most bytes of a request, requests of a batch, and bytes of a batch's responses.
const MAX_REQUEST: usize = 1 << 20;
const MAX_BATCH: usize = 100;
const MAX_BATCH_RESPONSE: usize = 10 << 20;

/// The routes beside those of other interfaces, with their description.
pub(super) fn router(gateway: &Gateway) -> (Router, Vec<Operation>) {
    // The node's own `/health` is older.
    let methods = METHODS.iter().filter(|method| !["health", "status"].contains(&method.name));
    let (router, mut operations) = Api::new("Cosmos")
        .get("/status", status, "The status of the node in CometBFT's form.")
        .named("getCometStatus")
        .and(|router| methods.fold(router, add).route("/websocket", get(upgrade)))
        .and(|router| router.method_not_allowed_fallback(method_not_allowed))
        .with_state(gateway.clone());
    let about = "CometBFT's JSON-RPC and new blocks, over WebSocket.";
    operations.push(socket_operation("Cosmos", "/websocket", about).named("openCometSocket"));
    (router, operations)
}

/// All routes of a node of CometBFT, for a listener of their own.
pub(super) fn own_router(gateway: &Gateway) -> Router {
    METHODS
        .iter()
        .fold(Router::new(), add)
        .route("/", post(json_rpc).layer(DefaultBodyLimit::max(MAX_REQUEST)))
        .route("/websocket", get(upgrade))
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(gateway.clone())
}

/// Adds the route of a method.
fn add(router: Router<Gateway>, method: &'static CometMethod) -> Router<Gateway> {
    let handler = move |State(gateway): State<Gateway>, query: Result<Query<Vec<(String, String)>>, QueryRejection>| async move {
        // CometBFT gives requests without an id this one.
        let id = json!(-1);
        let query = query.map_err(|rejection| (-32602, rejection.body_text()));
        let params = query.and_then(|query| uri_params(method, &query));
        let result = match params {
            Ok(params) => {
                call(&gateway, CometRequest { id: Value::Null, method: method.name.to_owned(), params }).await
            }
            Err(failure) => Err(failure),
        };
        match result {
            Ok(result) => rest::reply_text(result_text(&id, &result)).into_response(),
            Err((code, what)) => {
                (StatusCode::INTERNAL_SERVER_ERROR, rest::reply(error(&id, code, &what))).into_response()
            }
        }
    };
    router.route(&format!("/{}", method.name), get(handler))
}

async fn status(State(gateway): State<Gateway>) -> rest::SdkReply {
    rest::reply(result_of(&json!(-1), gateway.node.status(&gateway.chain.head())))
}

/// JSON-RPC over HTTP: a request or a batch.
async fn json_rpc(State(gateway): State<Gateway>, body: Bytes) -> Response {
    let response = match serde_json::from_slice(&body) {
        Ok(Value::Array(requests)) if requests.len() > MAX_BATCH => {
            error(&Value::Null, -32600, &format!("expected at most {MAX_BATCH} requests in a batch")).to_string()
        }
        Ok(Value::Array(requests)) => batch(&gateway, requests).await,
        Ok(request) => one(&gateway, request).await,
        Err(what) => error(&Value::Null, -32700, &what.to_string()).to_string(),
    };
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::CONTENT_TYPE, "application/json")];
    (headers, response).into_response()
}

/// The responses to a batch, while they are not too long together.
async fn batch(gateway: &Gateway, requests: Vec<Value>) -> String {
    let mut out = "[".to_owned();
    for request in requests {
        if out.len() > 1 {
            out.push(',');
        }
        if out.len() > MAX_BATCH_RESPONSE {
            let what = "the responses to the batch are too long: ask for less at once";
            out.push_str(&error(&request["id"], -32603, what).to_string());
        } else {
            out.push_str(&one(gateway, request).await);
        }
    }
    out.push(']');
    out
}

/// The response to one request.
async fn one(gateway: &Gateway, request: Value) -> String {
    match serde_json::from_value(request) {
        Ok(request) => answer(gateway, request).await,
        Err(what) => error(&Value::Null, -32600, &what.to_string()).to_string(),
    }
}

/// A JSON-RPC response with a result.
pub(super) fn result_of(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A JSON-RPC response with a result that is JSON already.
fn result_text(id: &Value, result: &str) -> String {
    format!(r#"{{"id":{id},"jsonrpc":"2.0","result":{result}}}"#)
}

/// A JSON-RPC response with an error.
pub(super) fn error(id: &Value, code: i64, what: &str) -> Value {
    let message = match code {
        -32700 => "Parse error. Invalid JSON",
        -32600 => "Invalid Request",
        -32601 => "Method not found",
        -32602 => "Invalid params",
        _ => "Internal error",
    };
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message, "data": what } })
}

/// The response to a request.
pub(super) async fn answer(gateway: &Gateway, mut request: CometRequest) -> String {
    let id = request.id.take();
    match call(gateway, request).await {
        Ok(result) => result_text(&id, &result),
        Err((code, what)) => error(&id, code, &what).to_string(),
    }
}

/// The response to a body, if it calls a method of CometBFT.
pub(super) fn answer_body(gateway: &Gateway, body: &[u8]) -> Option<BoxFuture<'static, Vec<u8>>> {
    let named = serde_json::from_slice::<RequestMethod<'_>>(body).ok().filter(|named| find(&named.method).is_some());
    let request = named.map(|_| serde_json::from_slice(body))?;
    let gateway = gateway.clone();
    Some(Box::pin(async move {
        let answer = match request {
            Ok(request) => answer(&gateway, request).await,
            Err(what) => error(&Value::Null, -32700, &what.to_string()).to_string(),
        };
        answer.into_bytes()
    }))
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
