//! One HTTP request to one of the nodes, within limits of time, number and size.
//!
//! The configured headers are a secret between the user and one origin: other URLs get none, and
//! only a URL's origin is shown.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use parking_lot::RwLock;
use reqwest::{
    Client as Http, RequestBuilder, Response, StatusCode, Url,
    header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
    redirect::Policy,
};
use tetrad_stdx::{causes::with_causes, tls};
use tetrad_web::{BodyError, Budget, Held, read_body};
use tokio::{sync::Semaphore, time::timeout};

use super::{
    error::{AttemptError, ForkCallError},
    response::MAX_ERROR_BYTES,
};
use crate::fork::{
    config::ForkConfig,
    nodes::{ForkedNode, Nodes},
    stats::Counters,
};

/// The maximum size of an answer in bytes.
const MAX_ANSWER_BYTES: usize = 128 << 20;
/// The most requests at a time.
const MAX_CONCURRENT_REQUESTS: usize = 64;
/// The maximum connect timeout. Another attempt is more likely to succeed than a longer one.
const MAX_CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The cooldown of a node that did not answer in time.
const TIMEOUT_COOLDOWN: Duration = Duration::from_secs(10);

/// Sends requests over HTTP to the nodes of the other chain.
#[derive(Debug)]
pub(super) struct Transport {
    http: Http,
    nodes: RwLock<Arc<Nodes>>,
    /// Headers of every request to the origin of `configured_url`. They are that origin's secrets.
    headers: HeaderMap,
    configured_url: Option<Url>,
    /// Whether there was ever a connection.
    was_connected: AtomicBool,
    /// One permit for each request that may be under way.
    permits: Semaphore,
    /// The minimum cooldown of a node that failed.
    min_cooldown: Duration,
    counters: Arc<Counters>,
    /// The memory that answers count against.
    budget: Budget,
}

/// An HTTP response, with the memory that its body holds.
pub(super) struct HttpResponse {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
    pub(super) held: Held,
}

impl Transport {
    pub(super) fn new(
        url: Url,
        config: &ForkConfig,
        counters: Arc<Counters>,
        budget: &Budget,
    ) -> io::Result<Self> {
        // The other nodes belong to the URL of the settings.
        let is_configured = config.url.as_ref() == Some(&url);
        let others: &[Url] = if is_configured { &config.others } else { &[] };
        let headers = secret_headers(&config.headers)?;

        tls::install_provider();
        let http = Http::builder()
            .connect_timeout(config.timeout.min(MAX_CONNECT_TIMEOUT))
            // A redirect would carry the headers to another origin.
            .redirect(Policy::none())
            .user_agent(concat!("tetrad/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(io::Error::other)?;

        Ok(Self {
            http,
            nodes: RwLock::new(Arc::new(Nodes::new(url, others))),
            headers,
            configured_url: config.url.clone(),
            was_connected: AtomicBool::new(false),
            permits: Semaphore::new(MAX_CONCURRENT_REQUESTS),
            min_cooldown: config.retry_backoff,
            counters,
            budget: budget.clone(),
        })
    }

    pub(super) fn nodes(&self) -> Arc<Nodes> {
        self.nodes.read().clone()
    }

    pub(super) fn set_nodes(&self, nodes: Nodes) {
        *self.nodes.write() = Arc::new(nodes);
    }

    /// Whether there was ever a connection.
    pub(super) fn was_connected(&self) -> bool {
        self.was_connected.load(Ordering::Relaxed)
    }

    /// Sends a request to the node whose turn it is. All nodes together may take `time_limit`.
    pub(super) async fn send(
        &self,
        method: &str,
        body: String,
        time_limit: Duration,
    ) -> Result<HttpResponse, AttemptError> {
        let _permit = self.permits.acquire().await;
        let nodes = self.nodes();
        let node = nodes.next();

        // A node that does not answer leaves time for the others.
        let time_limit = time_limit / nodes.all.len() as u32;
        let Ok(outcome) = timeout(time_limit, self.send_to(node, method, body)).await else {
            node.cool_down(TIMEOUT_COOLDOWN);
            let reason = format!("no answer within {} s", time_limit.as_secs_f64());
            return Err(AttemptError::transient(method, reason));
        };

        if let Err(AttemptError::Transient { retry_after, .. }) = &outcome {
            node.cool_down(self.min_cooldown.max(retry_after.unwrap_or_default()));
        }
        outcome
    }

    /// Sends a request to a node, without a limit of time.
    pub(super) async fn send_to(
        &self,
        node: &ForkedNode,
        method: &str,
        body: String,
    ) -> Result<HttpResponse, AttemptError> {
        self.counters.requests.add(1);
        let response = self
            .request(&node.url, body)
            .send()
            .await
            .map_err(|error| self.connection_error(method, error))?;
        self.was_connected.store(true, Ordering::Relaxed);
        check_status(method, &response)?;

        let status = response.status();
        let (body, held) = receive(response, &self.budget)
            .await
            .map_err(|error| self.body_error(method, status, error))?;
        self.counters.bytes.add(body.len() as u64);
        Ok(HttpResponse { status, body, held })
    }

    fn request(&self, url: &Url, body: String) -> RequestBuilder {
        let has_configured_origin = self
            .configured_url
            .as_ref()
            .is_some_and(|configured| configured.origin() == url.origin());

        let request = self
            .http
            .post(url.clone())
            .header("content-type", "application/json")
            .body(body);
        // The headers may contain a key, which is for the configured origin only.
        if has_configured_origin {
            request.headers(self.headers.clone())
        } else {
            request
        }
    }

    /// The failure of a connection.
    fn connection_error(&self, method: &str, error: reqwest::Error) -> AttemptError {
        // Where no connection ever succeeded, the user has to know now rather than after many
        // attempts.
        let is_only = self.nodes.read().all.len() == 1;
        let is_first = error.is_connect() && !self.was_connected() && is_only;

        let reason = with_causes(&error.without_url());
        if is_first {
            AttemptError::permanent(method, reason)
        } else {
            AttemptError::transient(method, reason)
        }
    }

    /// The failure to read the body of a response.
    fn body_error(&self, method: &str, status: StatusCode, error: BodyError) -> AttemptError {
        match error {
            BodyError::Failed(error) => match error.downcast() {
                Ok(error) => self.connection_error(method, *error),
                Err(error) => AttemptError::transient(method, error.to_string()),
            },
            BodyError::NoRoom => AttemptError::Permanent(ForkCallError::NoRoom {
                method: method.to_owned(),
            }),
            _ if status.is_success() => AttemptError::Permanent(ForkCallError::TooLong {
                method: method.to_owned(),
                limit: MAX_ANSWER_BYTES,
            }),
            _ => AttemptError::permanent(method, format!("the answer is {status}")),
        }
    }
}

fn secret_headers(configured: &[(String, String)]) -> io::Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in configured {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(io::Error::other)?;
        let mut value = HeaderValue::from_str(value).map_err(io::Error::other)?;
        // It may be a key, which must not appear in logs.
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Rejects statuses whose body is not read: overload, failures of the server, and redirects.
fn check_status(method: &str, response: &Response) -> Result<(), AttemptError> {
    let status = response.status();
    if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
        return Err(AttemptError::Transient {
            error: ForkCallError::no_answer(method, format!("the answer is {status}")),
            retry_after: retry_after(response),
        });
    }
    if status.is_redirection() {
        let reason = format!("the answer is {status}, and redirects are not followed");
        return Err(AttemptError::permanent(method, reason));
    }
    Ok(())
}

/// The time that the other node asks to wait (RFC 9110, 10.2.3), if it is given in seconds.
fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

/// Reads the body of a response, with the memory that it holds.
async fn receive(response: Response, budget: &Budget) -> Result<(Bytes, Held), BodyError> {
    // Of a failure only the error is read.
    let limit = if response.status().is_success() {
        MAX_ANSWER_BYTES
    } else {
        MAX_ERROR_BYTES
    };
    let announced = response
        .content_length()
        .and_then(|length| usize::try_from(length).ok())
        .unwrap_or_default();

    read_body(
        reqwest::Body::from(response),
        // A false announcement must not reserve more than the limit.
        announced.min(limit),
        limit,
        budget,
    )
    .await
}
