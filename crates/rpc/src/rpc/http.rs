//! JSON-RPC over HTTP: `POST` with a JSON body; the same path upgrades to WebSocket.

use std::error::Error;

use axum::{
    body::{Bytes, HttpBody},
    extract::{Request, State},
    http::{self, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{MethodRouter, any},
};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde_json::Value;
use tetrad_web::{FastPath, IncomingBody, Operation, WebSockets, interface_path, is_json, receive};

use super::{Rpc, ws::RpcSocket};

/// The content type of refusals.
const PLAIN: &str = "text/plain; charset=utf-8";

/// The routes of JSON-RPC.
pub fn service(rpc: Rpc, sockets: WebSockets) -> MethodRouter {
    any(serve).with_state((rpc, sockets))
}

/// Answers a JSON-RPC `POST` without the router, unless a page sent it: pages need CORS headers,
/// which the router adds. The router also answers every other HTTP method.
pub struct Direct(pub Vec<(&'static str, Rpc)>);

impl FastPath for Direct {
    fn answer(
        &self,
        request: http::Request<IncomingBody>,
    ) -> Result<BoxFuture<'_, Response>, Box<http::Request<IncomingBody>>> {
        // Requests of pages go through the router, which answers for CORS.
        let direct =
            request.method() == Method::POST && !request.headers().contains_key(header::ORIGIN);
        let path = interface_path(request.uri().path());

        let found = self.0.iter().find(|(own, _)| direct && *own == path);
        match found {
            Some((_, rpc)) => Ok(Box::pin(post(rpc, request))),
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
    vec![
        post_operation("/rpc", "callJsonRpc"),
        post_operation("/", "callJsonRpcAtRoot"),
        upgrade_operation(),
    ]
}

fn post_operation(path: &'static str, id: &'static str) -> Operation {
    let mut operation = Operation::new(
        "JSON-RPC",
        "Ethereum's JSON-RPC. JSON-RPC errors have status 200, too.",
    )
    .body::<JsonRpcBody>()
    .returns::<JsonRpcAnswer>();
    for (status, meaning) in [
        (StatusCode::BAD_REQUEST, "The body could not be read."),
        (StatusCode::REQUEST_TIMEOUT, "The body took too long."),
        (StatusCode::PAYLOAD_TOO_LARGE, "The body is too long."),
        (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The body is not JSON, or is compressed.",
        ),
        (
            StatusCode::SERVICE_UNAVAILABLE,
            "The memory for long requests is in use by other clients; `Retry-After` says when to \
             try again.",
        ),
    ] {
        operation = operation.answers_in::<String>(PLAIN, status, meaning);
    }
    operation.at("post", path).named(id)
}

fn upgrade_operation() -> Operation {
    let mut operation = Operation::new("JSON-RPC", "JSON-RPC with subscriptions, over WebSocket.")
        .answers_bare(StatusCode::SWITCHING_PROTOCOLS, "The WebSocket is open.");
    for status in [
        StatusCode::BAD_REQUEST,
        StatusCode::METHOD_NOT_ALLOWED,
        StatusCode::UPGRADE_REQUIRED,
    ] {
        operation = operation.answers_in::<String>(
            PLAIN,
            status,
            "The request is no upgrade to WebSocket.",
        );
    }
    operation
        .answers_otherwise("The WebSocket was refused.")
        .at("get", "/rpc")
        .named("openJsonRpcSocket")
}

async fn serve(State((rpc, sockets)): State<(Rpc, WebSockets)>, request: Request) -> Response {
    match *request.method() {
        Method::POST => post(&rpc, request).await,
        Method::GET if request.headers().contains_key(header::UPGRADE) => {
            sockets.accept(request, move || RpcSocket::new(rpc)).await
        }
        _ => (
            StatusCode::METHOD_NOT_ALLOWED,
            [(header::ALLOW, "POST, OPTIONS")],
            "JSON-RPC takes POST\n",
        )
            .into_response(),
    }
}

async fn post<B>(rpc: &Rpc, request: http::Request<B>) -> Response
where
    B: HttpBody<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let json = is_json(request.headers());
    if !json && rpc.neighbour.is_none() {
        return not_json();
    }

    let (body, held) = match receive(request, rpc.context.config.max_body).await {
        Ok(received) => received,
        Err(error) => return error.into_response(),
    };

    let answer = match &rpc.neighbour {
        // Other interfaces are less strict.
        Some(neighbour) if !json => match neighbour(&body) {
            Some(answer) => answer.await,
            None => return not_json(),
        },
        _ => rpc.answer(&body).await,
    };

    // The memory of the body is released before the response is sent.
    drop((body, held));
    answer.into_json()
}

fn not_json() -> Response {
    let message = "JSON-RPC takes content type application/json\n";
    (StatusCode::UNSUPPORTED_MEDIA_TYPE, message).into_response()
}
