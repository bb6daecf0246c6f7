//! JSON-RPC over HTTP: `POST` with a JSON body; the same path upgrades to WebSocket.

use std::{error::Error, time::Duration};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{self, HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{MethodRouter, any},
};
use futures_util::{FutureExt, StreamExt, future::BoxFuture};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use schemars::JsonSchema;
use serde_json::Value;
use tokio::time::timeout;

use super::{Rpc, RpcConfig, ws::RpcSocket};
use crate::web::{Budget, FastPath, Held, Operation, Peer, WebSockets, interface_path, is_encoded, is_json};

/// The time limit for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The number of bytes beyond the limit that are still read and discarded, if the limit is not larger.
const MOST_DISCARDED: u64 = 32 << 20;
/// How long discarding may take, and how long the client may pause meanwhile.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(250);

/// The routes of JSON-RPC.
pub fn service(rpc: Rpc, sockets: WebSockets) -> MethodRouter {
    any(serve).with_state((rpc, sockets))
}

/// Answers a JSON-RPC `POST` without the router, unless a page sent it: pages need CORS headers, which the router adds.
/// The router also answers every other HTTP method.
pub struct Direct(pub Vec<(&'static str, Rpc)>);

impl FastPath for Direct {
    fn answer(
        &self,
        request: http::Request<Incoming>,
        peer: Peer,
    ) -> Result<BoxFuture<'_, Response>, Box<http::Request<Incoming>>> {
        let direct = request.method() == Method::POST && !request.headers().contains_key(header::ORIGIN);
        let path = interface_path(request.uri().path());
        let found = self.0.iter().find(|(own, _)| direct && *own == path);
        match found {
            Some((_, rpc)) => Ok(Box::pin(post(rpc, peer, request))),
            None => Err(Box::new(request)),
        }
    }
}

/// A request of JSON-RPC, or a list of them.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "for the schema only")]
enum JsonRpcBody {
    One(JsonRpcRequest),
    Batch(Vec<JsonRpcRequest>),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "for the schema only")]
struct JsonRpcRequest {
    /// `2.0`.
    jsonrpc: String,
    /// A number or a text.
    id: Value,
    /// A method that `rpc.discover` lists.
    method: String,
    params: Option<Vec<Value>>,
}

/// A response of JSON-RPC, or a list of them: `result`, or `error` with `code` and `message`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "for the schema only")]
enum JsonRpcAnswer {
    One(JsonRpcResponse),
    Batch(Vec<JsonRpcResponse>),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "for the schema only")]
struct JsonRpcResponse {
    jsonrpc: String,
    id: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

/// The OpenAPI description of the JSON-RPC routes.
pub fn operations() -> Vec<Operation> {
    let plain = "text/plain; charset=utf-8";
    let post = |path, id| {
        Operation::new("JSON-RPC", "Ethereum's JSON-RPC. JSON-RPC errors have status 200, too.")
            .body::<JsonRpcBody>()
            .returns::<JsonRpcAnswer>()
            .answers_in::<String>(plain, StatusCode::BAD_REQUEST, "The body could not be read.")
            .answers_in::<String>(plain, StatusCode::REQUEST_TIMEOUT, "The body took too long.")
            .answers_in::<String>(plain, StatusCode::PAYLOAD_TOO_LARGE, "The body is too long.")
            .answers_in::<String>(plain, StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body is not JSON, or is compressed.")
            .answers_in::<String>(
                plain,
                StatusCode::SERVICE_UNAVAILABLE,
                "The memory for long requests is in use by other clients; `Retry-After` says when to try again.",
            )
            .at("post", path)
            .named(id)
    };
    let upgrade = Operation::new("JSON-RPC", "JSON-RPC with subscriptions, over WebSocket.")
        .answers_bare(StatusCode::SWITCHING_PROTOCOLS, "The WebSocket is open.")
        .answers_in::<String>(plain, StatusCode::BAD_REQUEST, "The request is no upgrade to WebSocket.")
        .answers_in::<String>(plain, StatusCode::METHOD_NOT_ALLOWED, "The request is no upgrade to WebSocket.")
        .answers_in::<String>(plain, StatusCode::UPGRADE_REQUIRED, "The request is no upgrade to WebSocket.")
        .answers_otherwise("The WebSocket was refused.")
        .at("get", "/rpc")
        .named("openJsonRpcSocket");
    vec![post("/rpc", "callJsonRpc"), post("/", "callJsonRpcAtRoot"), upgrade]
}

async fn serve(State((rpc, sockets)): State<(Rpc, WebSockets)>, request: Request) -> Response {
    match *request.method() {
        Method::POST => {
            let peer = request.extensions().get().copied().unwrap_or_default();
            post(&rpc, peer, request).await
        }
        Method::GET if request.headers().contains_key(header::UPGRADE) => {
            sockets.accept(request, move |client| RpcSocket::new(rpc, client)).await
        }
        _ => (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "POST, OPTIONS")], "JSON-RPC takes POST\n")
            .into_response(),
    }
}

async fn post<B>(rpc: &Rpc, peer: Peer, request: http::Request<B>) -> Response
where
    B: HttpBody<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let json = is_json(request.headers());
    let not_json =
        || (StatusCode::UNSUPPORTED_MEDIA_TYPE, "JSON-RPC takes content type application/json\n").into_response();
    if !json && rpc.neighbour.is_none() {
        return not_json();
    }
    let client = rpc.context.config.addresses.of(peer, request.headers());
    let (body, held) = match receive(&rpc.context.config, request).await {
        Ok(received) => received,
        Err(refusal) => return *refusal,
    };
    let (answer, holds) = match &rpc.neighbour {
        // Other interfaces are less strict.
        Some(neighbour) if !json => match neighbour(&body) {
            Some(answer) => (answer.await, Held::default()),
            None => return not_json(),
        },
        _ => rpc.answer(client, &body).await,
    };
    drop((body, held));
    // Held until the client has read the answer.
    let answer = Body::from(holds.attach(answer));
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], answer).into_response()
}

/// Reads the body of a request within the limits, with the memory that it holds, or returns the refusal.
pub(super) async fn receive<B>(config: &RpcConfig, request: http::Request<B>) -> Result<(Bytes, Held), Box<Response>>
where
    B: HttpBody<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    if is_encoded(request.headers()) {
        let (identity, text) =
            ([(header::ACCEPT_ENCODING, "identity")], "bodies are taken without a content encoding\n");
        return Err(Box::new((StatusCode::UNSUPPORTED_MEDIA_TYPE, identity, text).into_response()));
    }
    let limit = config.max_body;
    let refusal = |status, text: String| Err(Box::new((status, text).into_response()));
    let too_large = || refusal(StatusCode::PAYLOAD_TOO_LARGE, format!("the body may have at most {limit} bytes\n"));
    if content_length(request.headers()).is_some_and(|length| length > limit as u64) {
        // A client that sent `Expect: 100-continue` sends no body. For any other client, closing now would lose the response.
        if !request.headers().contains_key(header::EXPECT) {
            // Boxed, so that it does not enlarge the future of every request.
            Box::pin(discard(Body::new(request.into_body()), MOST_DISCARDED.max(4 * limit as u64))).await;
        }
        return too_large();
    }
    let (budget, mut rest) = (&config.budget, request.into_body());
    let body = {
        let mut reading = std::pin::pin!(read(&mut rest, limit, budget));
        // Most bodies arrive with the head; only the others need a timer.
        match reading.as_mut().now_or_never() {
            Some(body) => Ok(body),
            None => timeout(BODY_TIMEOUT, reading).await,
        }
    };
    match body {
        Ok(Ok(received)) => Ok(received),
        Err(_) => refusal(StatusCode::REQUEST_TIMEOUT, "the body took too long\n".to_owned()),
        Ok(Err(Unread::TooLarge)) => {
            Box::pin(discard(Body::new(rest), MOST_DISCARDED.max(4 * limit as u64))).await;
            too_large()
        }
        Ok(Err(Unread::Failed(error))) => {
            refusal(StatusCode::BAD_REQUEST, format!("the body could not be read: {error}\n"))
        }
        Ok(Err(Unread::NoRoom)) => {
            Box::pin(discard(Body::new(rest), MOST_DISCARDED.max(limit as u64))).await;
            Err(Box::new(busy()))
        }
    }
}

/// The reason why a body was not read to its end.
enum Unread {
    TooLarge,
    /// The memory for bodies is exhausted.
    NoRoom,
    Failed(Box<dyn Error + Send + Sync>),
}

/// Reads a body and counts its bytes as they arrive.
async fn read<B>(body: &mut B, limit: usize, budget: &Budget) -> Result<(Bytes, Held), Unread>
where
    B: HttpBody<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    let (mut first, mut more, mut held) = (Bytes::new(), Vec::new(), Held::default());
    while let Some(frame) = body.frame().await {
        // Frames without data are trailers.
        let Ok(piece) = frame.map_err(|error| Unread::Failed(error.into()))?.into_data() else { continue };
        let read = first.len() + more.len() + piece.len();
        if read > limit {
            return Err(Unread::TooLarge);
        }
        if !budget.grow(&mut held, read).await {
            return Err(Unread::NoRoom);
        }
        if read == piece.len() {
            // Most bodies are one frame.
            first = piece;
            continue;
        }
        more.extend_from_slice(&std::mem::take(&mut first));
        more.extend_from_slice(&piece);
    }
    Ok((if more.is_empty() { first } else { more.into() }, held))
}

fn busy() -> Response {
    let retry = [(header::RETRY_AFTER, HeaderValue::from_static("1"))];
    let what = "out of memory for large requests and responses; try again\n";
    (StatusCode::SERVICE_UNAVAILABLE, retry, what).into_response()
}

/// Reads and discards the rest of a body, within limits, so that the client gets to read the response: many clients and
/// proxies read it only after they have sent everything. Beyond the limits the connection is closed.
async fn discard(body: Body, most: u64) {
    let mut body = body.into_data_stream();
    let reading = async {
        let mut left = most;
        // A client that pauses is already waiting for the response.
        while let Ok(Some(Ok(piece))) = timeout(PAUSE, body.next()).await {
            let Some(rest) = left.checked_sub(piece.len() as u64) else { return };
            left = rest;
        }
    };
    // Nothing is left to do, however it ended.
    let _ = timeout(DISCARD_TIMEOUT, reading).await;
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
