//! CometBFT's own interface: JSON-RPC at `/` and over `/websocket`, and a `GET` for every method.

use std::borrow::Cow;

use axum::{
    Router,
    extract::{Query, Request, State, rejection::QueryRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_web::{
    Answer, AnswerError, AnswerWriter, Api, MAX_ANSWER, Operation, RestError,
    json_rpc::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR},
    method_not_allowed, receive_json, socket_operation,
};

use super::{
    Gateway,
    comet_methods::{CometMethod, CometRequest, METHODS, call, find, uri_params},
    comet_response::{answer, error, result_of, write, write_result},
    comet_socket::CometSocket,
    error::GatewayError,
    sdk_reply::SdkReply,
};

/// Most bytes of a request, requests of a batch, and bytes of a batch's responses.
const MAX_REQUEST: usize = 1 << 20;
const MAX_BATCH: usize = 100;
const MAX_BATCH_RESPONSE: usize = 10 << 20;

/// The routes beside those of other interfaces, with their description.
pub(super) fn router(gateway: &Gateway) -> (Router, Vec<Operation>) {
    // The node's own `/health` is older.
    let methods = METHODS
        .iter()
        .filter(|method| !["health", "status"].contains(&method.name));

    let (router, mut operations) = Api::new("Cosmos")
        .get(
            "/status",
            status,
            "The status of the node in CometBFT's form.",
        )
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
        .route("/", post(json_rpc))
        .route("/websocket", get(upgrade))
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(gateway.clone())
}

/// Adds the route of a method.
fn add(router: Router<Gateway>, method: &'static CometMethod) -> Router<Gateway> {
    let handler =
        move |State(gateway): State<Gateway>,
              query: Result<Query<Vec<(String, String)>>, QueryRejection>| async move {
            get_method(&gateway, method, query).await
        };
    router.route(&format!("/{}", method.name), get(handler))
}

/// Answers a `GET` of a method.
async fn get_method(
    gateway: &Gateway,
    method: &'static CometMethod,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Response {
    // CometBFT gives requests without an id this one.
    let id = json!(-1);
    let query = query.map_err(|rejection| (INVALID_PARAMS, rejection.body_text()));
    let params = query.and_then(|query| uri_params(method, &query));
    let result = match params {
        Ok(params) => {
            let request = CometRequest {
                id: Value::Null,
                method: method.name.to_owned(),
                params,
            };
            call(gateway, request).await
        }
        Err(failure) => Err(failure),
    };

    let mut out = AnswerWriter::new(MAX_ANSWER);
    let failure = match result {
        Ok(result) => write_result(&id, &result, &mut out)
            .map_err(|what| (INTERNAL_ERROR, what.to_string()))
            .err(),
        Err(failure) => Some(failure),
    };
    // An error always fits.
    if let Some((code, what)) = &failure
        && let Err(error) = out.json(&error(&id, *code, what))
    {
        return RestError::from(error).into_response();
    }

    let mut response = SdkReply(out.finish()).into_response();
    // CometBFT answers every failed `GET` with 500.
    if failure.is_some() {
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    }
    response
}

async fn status(State(gateway): State<Gateway>) -> Result<SdkReply, GatewayError> {
    Ok(SdkReply(Answer::json(&result_of(
        &json!(-1),
        gateway.node.status(&gateway.chain.head()),
    ))?))
}

/// JSON-RPC over HTTP: a request or a batch.
async fn json_rpc(State(gateway): State<Gateway>, request: Request) -> Response {
    let (body, _held) = match receive_json(request, MAX_REQUEST).await {
        Ok(received) => received,
        Err(error) => return error.into_response(),
    };

    let mut response = AnswerWriter::new(MAX_BATCH_RESPONSE);
    let written = match serde_json::from_slice::<&RawValue>(&body) {
        Ok(requests) if requests.get().starts_with('[') => {
            batch(&gateway, requests, &mut response).await
        }
        Ok(request) => write_one(&gateway, request, &mut response).await,
        Err(what) => response.json(&error(&Value::Null, PARSE_ERROR, &what.to_string())),
    };

    if let Err(error) = written {
        return RestError::from(error).into_response();
    }

    response.finish().into_no_store_json()
}

/// Writes the responses to a batch.
async fn batch(
    gateway: &Gateway,
    requests: &RawValue,
    out: &mut AnswerWriter,
) -> Result<(), AnswerError> {
    // Left as text, so that a malformed request fails alone and not with its batch.
    let requests: Vec<&RawValue> = serde_json::from_str(requests.get())?;
    if requests.len() > MAX_BATCH {
        let what = format!("expected at most {MAX_BATCH} requests in a batch");
        return out.json(&error(&Value::Null, INVALID_REQUEST, &what));
    }

    out.push(b"[")?;
    for request in requests {
        if out.length() > 1 {
            out.push(b",")?;
        }
        write_one(gateway, request, out).await?;
    }
    out.push(b"]")
}

/// Writes the response to one request.
async fn write_one(
    gateway: &Gateway,
    request: &RawValue,
    out: &mut AnswerWriter,
) -> Result<(), AnswerError> {
    match serde_json::from_str(request.get()) {
        Ok(request) => write(gateway, request, out).await,
        Err(what) => out.json(&error(&Value::Null, INVALID_REQUEST, &what.to_string())),
    }
}

/// The response to a body, if it calls a method of CometBFT. Bodies that are longer than CometBFT
/// takes them do not.
pub(super) fn answer_body(gateway: &Gateway, body: &[u8]) -> Option<BoxFuture<'static, Answer>> {
    if body.len() > MAX_REQUEST {
        return None;
    }
    // Most requests are for Ethereum's methods, whose parameters are not read here.
    let named = serde_json::from_slice::<RequestMethod<'_>>(body).ok()?;
    find(&named.method)?;

    let gateway = gateway.clone();
    // Parsed here: the future outlives the body.
    let request = serde_json::from_slice(body);
    Some(Box::pin(async move {
        match request {
            Ok(request) => answer(&gateway, request).await,
            Err(what) => Answer::json(&error(&Value::Null, PARSE_ERROR, &what.to_string()))
                .unwrap_or_default(),
        }
    }))
}

/// The part of a request that shows which interface it is for.
#[derive(Deserialize)]
struct RequestMethod<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
}

async fn upgrade(State(gateway): State<Gateway>, request: Request) -> Response {
    let sockets = gateway.sockets.clone();
    sockets
        .accept(request, move || CometSocket::new(gateway))
        .await
}
