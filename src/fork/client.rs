//! Client of the other node: JSON-RPC over HTTP, with an answer or an error in bounded time.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::RwLock;
use reqwest::{
    Client as Http, StatusCode, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use serde::Deserialize;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::{
    runtime::{Builder, Handle, RuntimeFlavor},
    sync::oneshot,
    task,
    time::{sleep, timeout_at},
};

use super::ForkConfig;
use crate::{causes::with_causes, tls};

/// The maximum size of an answer in bytes.
const MAX_ANSWER: usize = 128 << 20;
/// The connect timeout. Another attempt is more likely to succeed than a longer one.
const MAX_CONNECTING: Duration = Duration::from_secs(3);
/// How much longer the calling thread waits than the request may take.
const GRACE: Duration = Duration::from_secs(1);
/// The code that some providers return instead of status 429.
const LIMIT_EXCEEDED: i64 = -32005;

/// A request to the other node failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AskError {
    /// There was no readable answer.
    #[error("{method}: {what}")]
    Silent {
        /// The method.
        method: String,
        /// The reason. Never contains the URL, which may hold a key.
        what: String,
    },
    /// The other node answered with an error.
    #[error("{method}: {message} (code {code})")]
    Refused {
        /// The method.
        method: String,
        /// The error's code.
        code: i64,
        /// Its text.
        message: String,
        /// Its data.
        data: Option<Value>,
    },
}

/// A connection to the other node. It has a thread of its own, so that callers may block.
#[derive(Debug)]
pub struct ForkClient {
    asker: Arc<Requester>,
    runtime: Handle,
    /// The thread ends when this is dropped.
    _end: oneshot::Sender<()>,
}

#[derive(Debug)]
struct Requester {
    http: Http,
    url: RwLock<Url>,
    /// Headers of every request to the origin that they were configured for. They are that origin's secrets.
    headers: HeaderMap,
    home: Option<Url>,
    /// Whether there was ever a connection.
    met: AtomicBool,
    timeout: Duration,
    retries: u32,
    backoff: Duration,
}

impl ForkClient {
    /// A client of `url`. It sends nothing yet.
    pub fn new(url: Url, config: &ForkConfig) -> io::Result<Self> {
        let mut headers = HeaderMap::new();
        for (name, value) in &config.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(io::Error::other)?;
            let mut value = HeaderValue::from_str(value).map_err(io::Error::other)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let agent = concat!("tetrad/", env!("CARGO_PKG_VERSION"));
        tls::install_provider();
        let http = Http::builder()
            .connect_timeout(config.timeout.min(MAX_CONNECTING))
            .redirect(Policy::none())
            .user_agent(agent)
            .build()
            .map_err(io::Error::other)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (end, ended) = oneshot::channel::<()>();
        let handle = runtime.handle().clone();
        // The thread ends whether the sender was used or dropped.
        thread::Builder::new().name("fork".to_owned()).spawn(move || drop(runtime.block_on(ended)))?;
        let asker = Requester {
            http,
            url: RwLock::new(url),
            headers,
            home: config.url.clone(),
            met: AtomicBool::new(false),
            timeout: config.timeout,
            retries: config.retries,
            backoff: config.retry_backoff,
        };
        Ok(Self { asker: Arc::new(asker), runtime: handle, _end: end })
    }

    /// The other node's URL. It may hold a key: see [`redact`](crate::redact) for displaying it.
    pub fn url(&self) -> Url {
        self.asker.url.read().clone()
    }

    /// Uses another URL from now on.
    pub fn set_url(&self, url: Url) {
        *self.asker.url.write() = url;
    }

    /// The delay of the first retry.
    pub fn backoff(&self) -> Duration {
        self.asker.backoff
    }

    /// Calls a method and returns its result. Blocks until the answer arrives.
    pub fn ask(&self, method: &str, params: &Value) -> Result<Box<RawValue>, AskError> {
        let [answer] = self.ask_all([(method, params)]);
        answer
    }

    /// Calls several methods concurrently and returns their results.
    pub fn ask_all<const N: usize>(&self, questions: [(&str, &Value); N]) -> [Result<Box<RawValue>, AskError>; N] {
        let waiting = questions.map(|(method, params)| {
            let (answer, waiting) = mpsc::sync_channel(1);
            let (asker, own) = (self.asker.clone(), method.to_owned());
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
            self.runtime.spawn(async move {
                // The caller may have given up.
                let _ = answer.send(asker.ask(&own, body).await);
            });
            (method, waiting)
        });
        let deadline = Instant::now() + self.asker.timeout + GRACE;
        aside(|| {
            waiting.map(|(method, waiting)| {
                let left = deadline.saturating_duration_since(Instant::now());
                waiting.recv_timeout(left).unwrap_or_else(|_| Err(silent(method, "no answer in time")))
            })
        })
    }
}

/// Waits without blocking the other tasks of a worker thread.
fn aside<R>(wait: impl FnOnce() -> R) -> R {
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => task::block_in_place(wait),
        _ => wait(),
    }
}

fn silent(method: &str, what: impl Into<String>) -> AskError {
    AskError::Silent { method: method.to_owned(), what: what.into() }
}

/// The failure of one attempt.
enum AttemptError {
    /// A retry may succeed.
    Passing(AskError),
    /// A retry would fail the same way.
    Lasting(AskError),
}

impl Requester {
    /// Sends a request and retries where that may help, until the time is over.
    async fn ask(&self, method: &str, body: String) -> Result<Box<RawValue>, AskError> {
        let deadline = tokio::time::Instant::now() + self.timeout;
        let mut attempt = 0;
        let mut last = silent(method, format!("no answer within {} s", self.timeout.as_secs_f64()));
        loop {
            match timeout_at(deadline, self.attempt(method, body.clone())).await {
                Err(_) => return Err(last),
                Ok(Ok(result)) => return Ok(result),
                Ok(Err(AttemptError::Lasting(error))) => return Err(error),
                Ok(Err(AttemptError::Passing(error))) => last = error,
            }
            if attempt >= self.retries {
                return Err(last);
            }
            let pause = self.backoff.saturating_mul(1 << attempt.min(6));
            if timeout_at(deadline, sleep(pause)).await.is_err() {
                return Err(last);
            }
            attempt += 1;
        }
    }

    async fn attempt(&self, method: &str, body: String) -> Result<Box<RawValue>, AttemptError> {
        let url = self.url.read().clone();
        let failed = |error: reqwest::Error| {
            // Where no connection ever succeeded, the user has to know now rather than after many attempts.
            let stranger = error.is_connect() && !self.met.load(Ordering::Relaxed);
            let told = silent(method, with_causes(&error.without_url()));
            if stranger { AttemptError::Lasting(told) } else { AttemptError::Passing(told) }
        };
        let mut request = self.http.post(url.clone()).header("content-type", "application/json").body(body);
        if self.home.as_ref().is_some_and(|home| home.origin() == url.origin()) {
            request = request.headers(self.headers.clone());
        }
        let mut response = request.send().await.map_err(failed)?;
        self.met.store(true, Ordering::Relaxed);
        let status = response.status();
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            return Err(AttemptError::Passing(silent(method, format!("the answer is {status}"))));
        }
        if status.is_redirection() {
            let what = format!("the answer is {status}, and redirects are not followed");
            return Err(AttemptError::Lasting(silent(method, what)));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > MAX_ANSWER {
                let what = format!("the answer has more than {MAX_ANSWER} bytes");
                return Err(AttemptError::Lasting(silent(method, what)));
            }
            body.extend_from_slice(&chunk);
        }
        read(method, status, &body)
    }
}

/// Reads the result from the body of an answer.
fn read(method: &str, status: StatusCode, body: &[u8]) -> Result<Box<RawValue>, AttemptError> {
    #[derive(Deserialize)]
    struct ResponseObject<'a> {
        #[serde(borrow)]
        result: Option<&'a RawValue>,
        #[serde(borrow)]
        error: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct ErrorObject {
        code: i64,
        message: String,
        data: Option<Value>,
    }
    let lasting = |what: String| Err(AttemptError::Lasting(silent(method, what)));
    let Ok(answer) = serde_json::from_slice::<ResponseObject<'_>>(body) else {
        return lasting(match status.is_success() {
            true => "the answer is not JSON-RPC".to_owned(),
            false => format!("the answer is {status}"),
        });
    };
    match (answer.result, answer.error.filter(|error| error.get() != "null")) {
        (_, Some(error)) => {
            let Ok(ErrorObject { code, message, data }) = serde_json::from_str(error.get()) else {
                return lasting("the answer is an error without code and message".to_owned());
            };
            let refused = AskError::Refused { method: method.to_owned(), code, message, data };
            Err(if code == LIMIT_EXCEEDED || code == 429 {
                AttemptError::Passing(refused)
            } else {
                AttemptError::Lasting(refused)
            })
        }
        (Some(result), None) => Ok(result.to_owned()),
        // A null result and a missing one look the same here.
        (None, None) if serde_json::from_slice::<Value>(body).is_ok_and(|all| all.get("result").is_some()) => {
            to_raw_value(&()).map_err(|error| AttemptError::Lasting(silent(method, error.to_string())))
        }
        (None, None) => lasting("the answer has neither result nor error".to_owned()),
    }
}
