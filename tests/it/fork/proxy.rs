//! A server between a fork and the node it forks, which does as it is told.

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

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(super) enum Mood {
    /// Hands it on.
    Well,
    /// Answers so many times with this status, then is well.
    Fails(usize, StatusCode),
    /// Answers with this body.
    Says(String),
    /// Answers with this result.
    Answers(Value),
    /// Answers with this block whenever one is asked for by its number.
    Replaces(Value),
    /// Has none of these methods.
    Lacks(&'static [&'static str]),
    /// Refuses batches, and answers everything else.
    RefusesBatches,
    /// Answers each batch as if it were another one.
    ConfusesIds,
    /// Answers so many calls of batches with this error, then is well.
    Limits(usize, Value),
    /// Sends the client elsewhere.
    Redirects(String),
    /// Never answers.
    Hangs,
    /// Begins an answer that never ends.
    Endless,
}

#[derive(Debug)]
struct Inner {
    upstream: String,
    mood: Mutex<Mood>,
    asked: Mutex<Vec<String>>,
    /// HTTP requests since the last time.
    requests: Mutex<usize>,
    headers: Mutex<HeaderMap>,
    /// The requests that wait for an answer that never comes.
    hanging: watch::Sender<usize>,
    http: reqwest::Client,
}

/// A request that waits for an answer that never comes, until its client cancels it.
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
        let mood = Mutex::new(Mood::Well);
        let asked = Mutex::default();
        let headers = Mutex::default();
        let inner = Arc::new(Inner {
            upstream,
            mood,
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

    pub(super) fn set(&self, mood: Mood) {
        *self.inner.mood.lock() = mood;
    }

    /// The methods that were asked since the last time.
    pub(super) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.inner.asked.lock())
    }

    /// The number of HTTP requests since the last time.
    pub(super) fn requests(&self) -> usize {
        std::mem::take(&mut self.inner.requests.lock())
    }

    /// Waits until some requests hang, or none does any more.
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

    let mood = inner.mood.lock().clone();
    match mood {
        Mood::Lacks(methods)
            if calls
                .iter()
                .any(|call| methods.contains(&call["method"].as_str().unwrap())) =>
        {
            let error = json!({"code": -32601, "message": "the method is not available"});
            refusal(&request["id"], &error)
        }
        Mood::RefusesBatches if request.is_array() => {
            let error = json!({"code": -32600, "message": "no batches"});
            refusal(&Value::Null, &error)
        }
        Mood::ConfusesIds if request.is_array() => {
            let answers = calls
                .iter()
                .map(|_| json!({"jsonrpc": "2.0", "id": 77, "result": "0x1"}));
            batch(answers)
        }
        Mood::Limits(left, error) if request.is_array() && left > 0 => {
            *inner.mood.lock() = Mood::Limits(left.saturating_sub(calls.len()), error.clone());
            let answers = calls
                .iter()
                .map(|call| json!({"jsonrpc": "2.0", "id": call["id"], "error": error}));
            batch(answers)
        }
        Mood::Replaces(block) if calls.iter().any(asks_for_a_block) => {
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
        Mood::Fails(left, status) if left > 0 => {
            *inner.mood.lock() = Mood::Fails(left - 1, status);
            (status, "no").into_response()
        }
        Mood::Well
        | Mood::Fails(..)
        | Mood::Lacks(_)
        | Mood::Replaces(_)
        | Mood::RefusesBatches
        | Mood::ConfusesIds
        | Mood::Limits(..) => passed_on(&inner, body).await,
        Mood::Says(text) => text.into_response(),
        Mood::Answers(result) => results(&request, |_| result.clone()),
        Mood::Redirects(to) => (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response(),
        Mood::Endless => {
            let zeros = Bytes::from("0,".repeat(1 << 16));
            let begin = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":["#);
            let body = stream::iter([begin]).chain(stream::repeat(zeros));
            Body::from_stream(body.map(Ok::<_, Infallible>)).into_response()
        }
        Mood::Hangs => {
            let _hanging = Hanging::begin(&inner.hanging);
            std::future::pending().await
        }
    }
}

/// The other node's own response.
async fn passed_on(inner: &Inner, body: Bytes) -> Response {
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
