//! JSON-RPC over one persistent HTTP connection, whose reads must be monotonic.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use axum::body::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};

/// Time after which a request counts as unanswered.
pub(super) const TIMEOUT: Duration = Duration::from_secs(15);

/// The error of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallError {
    /// There was no answer: whether the node executed the request is unknown.
    Unanswered(String),
    /// The node answered with this error message.
    Refused(String),
}

impl CallError {
    fn unanswered(error: impl fmt::Display) -> Self {
        Self::Unanswered(error.to_string())
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unanswered(error) => write!(formatter, "no answer: {error}"),
            Self::Refused(message) => formatter.write_str(message),
        }
    }
}

/// One connection to a node.
pub(super) struct Connection {
    /// Different for every connection of the process.
    pub id: u64,
    authority: String,
    path: String,
    requests: http1::SendRequest<Full<Bytes>>,
}

impl Connection {
    pub(super) async fn open(url: &str) -> Result<Self, CallError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| CallError::unanswered(format!("no http URL: {url}")))?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let connect = async {
            let stream = TcpStream::connect(authority)
                .await
                .map_err(CallError::unanswered)?;
            http1::handshake(TokioIo::new(stream))
                .await
                .map_err(CallError::unanswered)
        };
        let (requests, connection) = timeout(TIMEOUT, connect)
            .await
            .map_err(CallError::unanswered)??;
        // Ends when `requests` is dropped.
        tokio::spawn(connection);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            id,
            authority: authority.to_owned(),
            path: format!("/{path}"),
            requests,
        })
    }

    /// Returns the result of a call.
    pub(super) async fn call(&mut self, method: &str, params: Value) -> Result<Value, CallError> {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        result(self.post(&request).await?)
    }

    /// Returns the results of calls in one batch.
    pub(super) async fn batch(
        &mut self,
        calls: Vec<(&str, Value)>,
    ) -> Result<Vec<Value>, CallError> {
        let requests: Vec<_> = calls
            .iter()
            .enumerate()
            .map(|(id, (method, params))| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .collect();
        let Value::Array(mut responses) = self.post(&json!(requests)).await? else {
            return Err(CallError::unanswered("no batch of responses"));
        };
        if responses.len() != calls.len() {
            return Err(CallError::unanswered(format!(
                "{} responses to {} calls",
                responses.len(),
                calls.len()
            )));
        }
        responses.sort_by_key(|response| response["id"].as_u64());
        responses.into_iter().map(result).collect()
    }

    async fn post(&mut self, body: &Value) -> Result<Value, CallError> {
        let request = Request::post(&self.path)
            .header("host", &self.authority)
            .header("content-type", "application/json")
            .body(Full::from(body.to_string()))
            .map_err(CallError::unanswered)?;
        let exchange = async {
            self.requests.ready().await?;
            let response = self.requests.send_request(request).await?;
            Ok::<_, hyper::Error>(response.into_body().collect().await?.to_bytes())
        };
        let bytes = timeout(TIMEOUT, exchange)
            .await
            .map_err(CallError::unanswered)?;
        serde_json::from_slice(&bytes.map_err(CallError::unanswered)?)
            .map_err(CallError::unanswered)
    }
}

fn result(mut response: Value) -> Result<Value, CallError> {
    match response.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(CallError::Refused(
            response["error"]["message"]
                .as_str()
                .unwrap_or("no result")
                .to_owned(),
        )),
    }
}
