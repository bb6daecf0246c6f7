//! A server between a fork and the node it forks, with a configurable behaviour.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::any,
};
use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};

/// How the server handles a request.
#[derive(Clone, Debug)]
pub(super) enum Behaviour {
    /// Forwards it.
    Forwards,
    /// Answers this many times with this status, then forwards.
    Fails(usize, StatusCode),
    /// Answers with this body.
    SendsBody(String),
    /// Answers with this result.
    Answers(Value),
    /// Answers with this block to every request for one by its number.
    Replaces(Value),
    /// Has none of these methods.
    Lacks(&'static [&'static str]),
    /// Refuses batches, and forwards everything else.
    RefusesBatches,
    /// Answers each batch with the ids of another one.
    ConfusesIds,
    /// Answers this many calls of batches with this error, then forwards.
    Limits(usize, Value),
    /// Redirects the client to this URL.
    Redirects(String),
    /// Never answers.
    Hangs,
    /// Begins a response that never ends.
    Endless,
}

#[derive(Debug)]
struct Inner {
    upstream: String,
    behaviour: Mutex<Behaviour>,
    asked: Mutex<Vec<String>>,
    /// HTTP requests since the last read.
    requests: Mutex<usize>,
    headers: Mutex<HeaderMap>,
    /// The number of requests that wait for a response that never comes.
    hanging: watch::Sender<usize>,
    http: reqwest::Client,
}

/// A request that waits for a response that never comes, until its client cancels it.
struct Hanging<'a>(&'a watch::Sender<usize>);

impl<'a> Hanging<'a> {
    fn begin(hanging: &'a watch::Sender<usize>) -> Self {
        hanging.send_modify(|count| *count += 1);
        Self(hanging)
    }
}

impl Drop for Hanging<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// The server.
#[derive(Clone, Debug)]
pub(super) struct Proxy {
    pub url: String,
    inner: Arc<Inner>,
}

impl Proxy {
    pub(super) async fn to(upstream: String) -> Self {
        tetrad_stdx::tls::install_provider();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/rpc", listener.local_addr().unwrap());
        let behaviour = Mutex::new(Behaviour::Forwards);
        let asked = Mutex::default();
        let headers = Mutex::default();
        let inner = Arc::new(Inner {
            upstream,
            behaviour,
            asked,
            requests: Mutex::default(),
            headers,
            hanging: watch::Sender::new(0),
            http: reqwest::Client::new(),
        });
        let router = Router::new()
            .fallback(any(answer))
            .with_state(inner.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, inner }
    }

    pub(super) fn set(&self, behaviour: Behaviour) {
        *self.inner.behaviour.lock() = behaviour;
    }

    /// The methods that were called since the last read.
    pub(super) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.inner.asked.lock())
    }

    /// The number of HTTP requests since the last read.
    pub(super) fn requests(&self) -> usize {
        std::mem::take(&mut self.inner.requests.lock())
    }

    /// Waits until some requests hang, or until none does.
    pub(super) async fn until_hanging(&self, some: bool) {
        let mut hanging = self.inner.hanging.subscribe();
        let reached = hanging.wait_for(|count| (*count > 0) == some);
        let reached = tokio::time::timeout(Duration::from_secs(60), reached).await;
        reached.expect("in time").expect("a server");
    }

    /// The headers of the newest request.
    pub(super) fn headers(&self) -> HeaderMap {
        self.inner.headers.lock().clone()
    }
}

fn asks_for_a_block(call: &Value) -> bool {
    call["method"] == "eth_getBlockByNumber"
}

async fn answer(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let calls = match &request {
        Value::Array(calls) => calls.clone(),
        call => vec![call.clone()],
    };
    let methods = calls
        .iter()
        .map(|call| call["method"].as_str().unwrap().to_owned());
    inner.asked.lock().extend(methods);
    *inner.requests.lock() += 1;
    *inner.headers.lock() = headers;

    let behaviour = inner.behaviour.lock().clone();
    match behaviour {
        Behaviour::Lacks(methods)
            if calls
                .iter()
                .any(|call| methods.contains(&call["method"].as_str().unwrap())) =>
        {
            let error = json!({"code": -32601, "message": "the method is not available"});
            refusal(&request["id"], &error)
        }
        Behaviour::RefusesBatches if request.is_array() => {
            let error = json!({"code": -32600, "message": "no batches"});
            refusal(&Value::Null, &error)
        }
        Behaviour::ConfusesIds if request.is_array() => {
            let answers = calls
                .iter()
                .map(|_| json!({"jsonrpc": "2.0", "id": 77, "result": "0x1"}));
            batch(answers)
        }
        Behaviour::Limits(left, error) if request.is_array() && left > 0 => {
            *inner.behaviour.lock() =
                Behaviour::Limits(left.saturating_sub(calls.len()), error.clone());
            let answers = calls
                .iter()
                .map(|call| json!({"jsonrpc": "2.0", "id": call["id"], "error": error}));
            batch(answers)
        }
        Behaviour::Replaces(block) if calls.iter().any(asks_for_a_block) => {
            // A fork asks for the chain id with it.
            let chain_id = json!("0x7d");
            results(&request, |call| {
                if asks_for_a_block(call) {
                    block.clone()
                } else {
                    chain_id.clone()
                }
            })
        }
        Behaviour::Fails(left, status) if left > 0 => {
            *inner.behaviour.lock() = Behaviour::Fails(left - 1, status);
            (status, "no").into_response()
        }
        Behaviour::Forwards
        | Behaviour::Fails(..)
        | Behaviour::Lacks(_)
        | Behaviour::Replaces(_)
        | Behaviour::RefusesBatches
        | Behaviour::ConfusesIds
        | Behaviour::Limits(..) => forward(&inner, body).await,
        Behaviour::SendsBody(text) => text.into_response(),
        Behaviour::Answers(result) => results(&request, |_| result.clone()),
        Behaviour::Redirects(to) => {
            (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response()
        }
        Behaviour::Endless => {
            let zeros = Bytes::from("0,".repeat(1 << 16));
            let begin = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":["#);
            let body = stream::iter([begin]).chain(stream::repeat(zeros));
            Body::from_stream(body.map(Ok::<_, Infallible>)).into_response()
        }
        Behaviour::Hangs => {
            let _hanging = Hanging::begin(&inner.hanging);
            std::future::pending().await
        }
    }
}

/// The other node's own response.
async fn forward(inner: &Inner, body: Bytes) -> Response {
    inner
        .http
        .post(&inner.upstream)
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .unwrap()
        .bytes()
        .await
        .unwrap()
        .into_response()
}

/// An error instead of any result.
fn refusal(id: &Value, error: &Value) -> Response {
    json!({"jsonrpc": "2.0", "id": id, "error": error})
        .to_string()
        .into_response()
}

fn batch(answers: impl Iterator<Item = Value>) -> Response {
    Value::Array(answers.collect()).to_string().into_response()
}

/// The response with a result for each call of a request, alone or in a batch.
fn results(request: &Value, result: impl Fn(&Value) -> Value) -> Response {
    let answer = |call: &Value| json!({"jsonrpc": "2.0", "id": call["id"], "result": result(call)});
    match request {
        Value::Array(calls) => batch(calls.iter().map(answer)),
        call => answer(call).to_string().into_response(),
    }
}
