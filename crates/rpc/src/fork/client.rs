//! Client of the other node: JSON-RPC over HTTP, with an answer or an error in bounded time.
//!
//! The configured HTTP headers are a secret between the user and one origin: other URLs get none,
//! and only a URL's origin is shown. Answers count against the memory of requests and responses as
//! they arrive.

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

use bytes::Bytes;
use parking_lot::RwLock;
use reqwest::{
    Client as Http, RequestBuilder, Response, StatusCode, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};
use tetrad_stdx::{causes::with_causes, tls};
use tetrad_web::{Answer, BodyError, Budget, Held, check_json, read_body};
use tokio::{
    runtime::{Builder, Handle, RuntimeFlavor},
    sync::oneshot,
    task,
    time::{sleep, timeout_at},
};

use super::ForkConfig;

/// The maximum size of an answer in bytes.
const MAX_ANSWER: usize = 128 << 20;
/// The maximum size of an error in bytes.
const MAX_ERROR: usize = 1 << 20;
/// The maximum size in bytes of a result that is read here. The longest are blocks with the hashes
/// of their transactions, and code.
const MAX_READ: usize = 4 << 20;
/// Characters of a result and of what is wrong with it that are shown.
const SHOWN: usize = 80;
/// The connect timeout. Another attempt is more likely to succeed than a longer one.
const MAX_CONNECTING: Duration = Duration::from_secs(3);
/// How much longer the calling thread waits than the request may take.
const GRACE: Duration = Duration::from_secs(1);
/// The code that some providers return instead of status 429.
const LIMIT_EXCEEDED: i64 = -32005;
/// The status itself, which others return as a code.
const TOO_MANY_REQUESTS: i64 = 429;

/// A request to the other node failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AskError {
    /// There was no memory for the answer.
    #[error("{method}: the memory for long responses is in use by other clients; try again")]
    NoRoom {
        /// The method.
        method: String,
    },
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

/// The result of a request.
#[derive(Debug)]
pub struct ForkAnswer {
    /// Its JSON, as a part of the answer that it came in.
    json: Bytes,
    /// The memory of that answer.
    held: Held,
}

impl ForkAnswer {
    /// The JSON of the result.
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// Reads the result. The error says what is wrong with it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, String> {
        let json = self.json();
        if json.len() > MAX_READ {
            return Err(format!(
                "the result has {} bytes, more than {MAX_READ}",
                json.len()
            ));
        }

        check_json(json).map_err(|error| error.to_string())?;
        serde_json::from_slice(json).map_err(|error| {
            let shown = String::from_utf8_lossy(&json[..json.len().min(SHOWN)]);
            // It may show the whole result.
            let error: String = error.to_string().chars().take(SHOWN).collect();
            format!("{shown} is not what was asked for ({error})")
        })
    }

    /// The JSON of the result as a body.
    pub(crate) fn into_answer(self) -> Answer {
        // The same buffer, since nobody else has it.
        Answer::new(self.json.into(), self.held)
    }
}

/// A connection to the other node. It has a thread of its own, so that callers may block.
#[derive(Debug)]
pub struct ForkClient {
    requester: Arc<Requester>,
    runtime: Handle,
    /// The thread ends when this is dropped.
    _end: oneshot::Sender<()>,
}

#[derive(Debug)]
struct Requester {
    http: Http,
    url: RwLock<Url>,
    /// Headers of every request to the origin that they were configured for. They are that origin's
    /// secrets.
    headers: HeaderMap,
    home: Option<Url>,
    /// Whether there was ever a connection.
    was_connected: AtomicBool,
    timeout: Duration,
    retries: u32,
    backoff: Duration,
    /// The memory that answers count against.
    budget: Budget,
}

impl ForkClient {
    /// A client of `url`, whose answers count against `budget`. It sends nothing yet.
    pub fn new(url: Url, config: &ForkConfig, budget: &Budget) -> io::Result<Self> {
        let requester = Requester::new(url, config, budget)?;

        // A runtime of its own, since callers block the threads of the node's while they wait.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (end, ended) = oneshot::channel::<()>();
        let handle = runtime.handle().clone();
        // The thread ends whether the sender was used or dropped.
        thread::Builder::new()
            .name("fork".to_owned())
            .spawn(move || drop(runtime.block_on(ended)))?;

        Ok(Self {
            requester: Arc::new(requester),
            runtime: handle,
            _end: end,
        })
    }

    /// The other node's URL. It may hold a key: see [`redact`](tetrad_stdx::redact) for displaying it.
    pub fn url(&self) -> Url {
        self.requester.url.read().clone()
    }

    /// Uses another URL from now on.
    pub(crate) fn set_url(&self, url: Url) {
        *self.requester.url.write() = url;
    }

    /// The delay of the first retry.
    pub fn backoff(&self) -> Duration {
        self.requester.backoff
    }

    /// Calls a method and returns its result. Blocks until the answer arrives.
    pub fn ask(&self, method: &str, params: &Value) -> Result<ForkAnswer, AskError> {
        let [answer] = self.ask_all([(method, params)]);
        answer
    }

    /// Calls several methods concurrently and returns their results.
    pub(crate) fn ask_all<const N: usize>(
        &self,
        requests: [(&str, &Value); N],
    ) -> [Result<ForkAnswer, AskError>; N] {
        let waiting = requests.map(|(method, params)| (method, self.begin(method, params)));
        let deadline = Instant::now() + self.requester.timeout + GRACE;

        aside(|| {
            waiting.map(|(method, answer)| {
                let left = deadline.saturating_duration_since(Instant::now());
                answer
                    .recv_timeout(left)
                    .unwrap_or_else(|_| Err(silent(method, "no answer in time")))
            })
        })
    }

    /// Sends a request. The answer will come through the channel.
    fn begin(&self, method: &str, params: &Value) -> mpsc::Receiver<Result<ForkAnswer, AskError>> {
        let (sender, answer) = mpsc::sync_channel(1);
        let requester = self.requester.clone();
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();

        let method = method.to_owned();
        self.runtime.spawn(async move {
            // The caller may have given up.
            let _ = sender.send(requester.ask(&method, body).await);
        });
        answer
    }
}

/// Waits without blocking the other tasks of a worker thread.
fn aside<R>(wait: impl FnOnce() -> R) -> R {
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
            task::block_in_place(wait)
        }
        _ => wait(),
    }
}

fn silent(method: &str, what: impl Into<String>) -> AskError {
    AskError::Silent {
        method: method.to_owned(),
        what: what.into(),
    }
}

/// The failure of one attempt.
enum AttemptError {
    /// A retry may succeed.
    Passing(AskError),
    /// A retry would fail the same way.
    Lasting(AskError),
}

impl AttemptError {
    fn passing(method: &str, what: impl Into<String>) -> Self {
        Self::Passing(silent(method, what))
    }

    fn lasting(method: &str, what: impl Into<String>) -> Self {
        Self::Lasting(silent(method, what))
    }
}

impl Requester {
    fn new(url: Url, config: &ForkConfig, budget: &Budget) -> io::Result<Self> {
        let mut headers = HeaderMap::new();
        for (name, value) in &config.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(io::Error::other)?;
            let mut value = HeaderValue::from_str(value).map_err(io::Error::other)?;
            // It may be a key, which must not appear in logs.
            value.set_sensitive(true);
            headers.insert(name, value);
        }

        tls::install_provider();
        let http = Http::builder()
            .connect_timeout(config.timeout.min(MAX_CONNECTING))
            // A redirect would carry the headers to another origin.
            .redirect(Policy::none())
            .user_agent(concat!("tetrad/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(io::Error::other)?;

        Ok(Self {
            http,
            url: RwLock::new(url),
            headers,
            home: config.url.clone(),
            was_connected: AtomicBool::new(false),
            timeout: config.timeout,
            retries: config.retries,
            backoff: config.retry_backoff,
            budget: budget.clone(),
        })
    }

    /// Sends a request and retries where that may help, until the time is over.
    async fn ask(&self, method: &str, body: String) -> Result<ForkAnswer, AskError> {
        let deadline = tokio::time::Instant::now() + self.timeout;
        let mut attempt = 0;
        let mut last = silent(
            method,
            format!("no answer within {} s", self.timeout.as_secs_f64()),
        );

        loop {
            match timeout_at(deadline, self.attempt(method, body.clone())).await {
                // The last failure says more than that the time is over.
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

    async fn attempt(&self, method: &str, body: String) -> Result<ForkAnswer, AttemptError> {
        let response = self
            .request(body)
            .send()
            .await
            .map_err(|error| self.connection_error(method, error))?;
        self.was_connected.store(true, Ordering::Relaxed);

        let status = response.status();
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            let what = format!("the answer is {status}");
            return Err(AttemptError::passing(method, what));
        }
        if status.is_redirection() {
            let what = format!("the answer is {status}, and redirects are not followed");
            return Err(AttemptError::lasting(method, what));
        }

        // Of a failure only the error is read.
        let limit = if status.is_success() {
            MAX_ANSWER
        } else {
            MAX_ERROR
        };
        match receive(response, limit, &self.budget).await {
            Ok((body, held)) => find_result(method, status, &body, held),
            Err(error) => Err(self.body_error(method, status, error)),
        }
    }

    fn request(&self, body: String) -> RequestBuilder {
        let url = self.url.read().clone();
        let is_home = self
            .home
            .as_ref()
            .is_some_and(|home| home.origin() == url.origin());

        let request = self
            .http
            .post(url)
            .header("content-type", "application/json")
            .body(body);
        // The headers may contain a key, which is for the configured origin only.
        if is_home {
            request.headers(self.headers.clone())
        } else {
            request
        }
    }

    /// The failure of a connection.
    fn connection_error(&self, method: &str, error: reqwest::Error) -> AttemptError {
        // Where no connection ever succeeded, the user has to know now rather than after many
        // attempts.
        let is_first = error.is_connect() && !self.was_connected.load(Ordering::Relaxed);

        let what = with_causes(&error.without_url());
        if is_first {
            AttemptError::lasting(method, what)
        } else {
            AttemptError::passing(method, what)
        }
    }

    /// The failure to read the body of an answer.
    fn body_error(&self, method: &str, status: StatusCode, error: BodyError) -> AttemptError {
        match error {
            BodyError::Failed(error) => match error.downcast() {
                Ok(error) => self.connection_error(method, *error),
                Err(error) => AttemptError::passing(method, error.to_string()),
            },
            BodyError::NoRoom => AttemptError::Lasting(AskError::NoRoom {
                method: method.to_owned(),
            }),
            _ if status.is_success() => AttemptError::lasting(
                method,
                format!("the answer has more than {MAX_ANSWER} bytes"),
            ),
            _ => AttemptError::lasting(method, format!("the answer is {status}")),
        }
    }
}

/// Reads the body of an answer, with the memory that it holds.
async fn receive(
    response: Response,
    limit: usize,
    budget: &Budget,
) -> Result<(Bytes, Held), BodyError> {
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

/// A JSON-RPC response.
#[derive(Deserialize)]
struct ResponseObject<'a> {
    /// Nothing only if the member is missing.
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// The error of a JSON-RPC response.
#[derive(Deserialize)]
struct ErrorObject {
    code: i64,
    message: String,
    data: Option<Value>,
}

/// Finds the result in the body of an answer.
fn find_result(
    method: &str,
    status: StatusCode,
    body: &Bytes,
    held: Held,
) -> Result<ForkAnswer, AttemptError> {
    let Ok(response) = serde_json::from_slice::<ResponseObject<'_>>(body) else {
        let what = if status.is_success() {
            "the answer is not JSON-RPC".to_owned()
        } else {
            format!("the answer is {status}")
        };
        return Err(AttemptError::lasting(method, what));
    };

    // Some nodes send a null error beside the result.
    let error = response.error.map(RawValue::get);
    if let Some(error) = error.filter(|error| *error != "null") {
        return Err(refusal(method, error));
    }

    match response.result {
        Some(result) => Ok(ForkAnswer {
            json: body.slice_ref(result.get().as_bytes()),
            held,
        }),
        None => Err(AttemptError::lasting(
            method,
            "the answer has neither result nor error",
        )),
    }
}

/// The failure of an attempt that was answered with this error.
fn refusal(method: &str, error: &str) -> AttemptError {
    if error.len() > MAX_ERROR || check_json(error.as_bytes()).is_err() {
        let what = format!(
            "the answer is an error that is too long ({} bytes)",
            error.len()
        );
        return AttemptError::lasting(method, what);
    }
    let Ok(ErrorObject {
        code,
        message,
        data,
    }) = serde_json::from_str(error)
    else {
        return AttemptError::lasting(method, "the answer is an error without code and message");
    };

    let refused = AskError::Refused {
        method: method.to_owned(),
        code,
        message,
        data,
    };
    if code == LIMIT_EXCEEDED || code == TOO_MANY_REQUESTS {
        AttemptError::Passing(refused)
    } else {
        AttemptError::Lasting(refused)
    }
}

/// A value that is there, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use std::future::IntoFuture;

    use axum::Router;
    use tokio::net::TcpListener;

    use super::*;

    /// A client of a node that always answers with this body.
    async fn client_of(body: String, budget: &Budget) -> ForkClient {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"))
            .parse()
            .expect("a URL");
        let router = Router::new().fallback(move || std::future::ready(body.clone()));
        tokio::spawn(axum::serve(listener, router).into_future());
        ForkClient::new(url, &ForkConfig::default(), budget).expect("a client")
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_answer_counts_as_long_as_it_is_in_use() {
        const LENGTH: usize = 3 << 20;
        let budget = Budget::new(8 << 20);
        let result = format!("\"{}\"", "a".repeat(LENGTH));
        let client = client_of(
            format!(r#"{{"jsonrpc":"2.0","result": {result} ,"id":1}}"#),
            &budget,
        )
        .await;

        let answer = client.ask("eth_getCode", &json!([])).expect("an answer");
        assert_eq!(answer.json(), result.as_bytes());
        assert!(budget.used() >= LENGTH);

        let error = client
            .ask("eth_getCode", &json!([]))
            .expect_err("no room for another one")
            .to_string();
        assert!(error.contains("memory"), "{error}");

        let body = answer.into_answer();
        assert_eq!(body.bytes(), result.as_bytes());
        assert!(budget.used() >= LENGTH);
        drop(body);
        assert_eq!(budget.used(), 0);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_result_may_be_null_and_an_error_is_short() {
        let budget = Budget::default();
        let long = "a".repeat(MAX_ERROR);
        let error = format!(r#"{{"code":3,"message":"{long}"}}"#);
        let of_bytes = format!(
            "m: the answer is an error that is too long ({} bytes)",
            error.len()
        );

        for (body, expected) in [
            (r#"{"result":null}"#.to_owned(), Ok("null")),
            (r#"{"result":null,"error":null}"#.to_owned(), Ok("null")),
            (
                r#"{"error":null}"#.to_owned(),
                Err("m: the answer has neither result nor error"),
            ),
            (format!(r#"{{"error":{error}}}"#), Err(of_bytes.as_str())),
        ] {
            let client = client_of(body, &budget).await;
            let answer = client
                .ask("m", &json!([]))
                .map_err(|error| error.to_string());
            let shown = answer
                .as_ref()
                .map(|answer| std::str::from_utf8(answer.json()).expect("text"));
            assert_eq!(shown.map_err(String::as_str), expected);
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_is_wrong_with_a_long_result_is_said_in_short() {
        let budget = Budget::default();
        for length in [MAX_READ / 2, MAX_READ] {
            let client = client_of(
                format!(r#"{{"result":"{}"}}"#, "\u{e9}".repeat(length / 2)),
                &budget,
            )
            .await;
            let error = client
                .ask("m", &json!([]))
                .expect("an answer")
                .read::<u64>()
                .expect_err("no number");
            assert!(error.len() < 500, "{} bytes", error.len());
        }
    }
}
