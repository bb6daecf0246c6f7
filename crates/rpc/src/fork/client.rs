//! Client of the other node: JSON-RPC over HTTP, with an answer or an error in bounded time.
//!
//! The configured HTTP headers are a secret between the user and one origin: other URLs get none,
//! and only a URL's origin is shown. Answers count against the memory of requests and responses as
//! they arrive.

use std::{
    collections::HashMap,
    fmt, io,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use alloy_primitives::{B256, U64};
use bytes::Bytes;
use futures_util::{
    FutureExt, StreamExt,
    future::ready,
    stream::{self, FuturesUnordered},
};
use parking_lot::{Mutex, RwLock};
use reqwest::{
    Client as Http, RequestBuilder, Response, StatusCode, Url,
    header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
    redirect::Policy,
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, SeqAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::block_in_place;
use tetrad_stdx::{causes::with_causes, tls};
use tetrad_web::{Answer, BodyError, Budget, Held, check_json, is_abandoned, read_body};
use tokio::{
    runtime::{Builder, Handle},
    select,
    sync::{Semaphore, oneshot},
    time::{error::Elapsed, sleep, timeout_at},
};
use tracing::warn;

use super::{
    cache::Lookups,
    config::ForkConfig,
    nodes::{ForkedNode, MAX_REST, Nodes},
    pace::{Crowded, Pacer, Turns},
    stats::{Counters, ForkStats, tell_of_waits},
};

/// The maximum size of an answer in bytes.
const MAX_ANSWER: usize = 128 << 20;
/// The maximum size of an error in bytes.
const MAX_ERROR: usize = 1 << 20;
/// The maximum size in bytes of a result that is read here. The longest are blocks with the hashes
/// of their transactions, and code.
const MAX_READ: usize = 4 << 20;
/// Characters of a result and of what is wrong with it that are shown.
const SHOWN: usize = 80;
/// The most calls in a batch. Providers limit it, some to 100.
const MAX_BATCH: usize = 100;
/// The most requests at a time of many calls.
const MAX_AT_ONCE: usize = 8;
/// The most requests at a time in all.
const MAX_REQUESTS: usize = 64;
/// The time for which a node that did not answer rests.
const SILENT_REST: Duration = Duration::from_secs(10);
/// The connect timeout. Another attempt is more likely to succeed than a longer one.
const MAX_CONNECTING: Duration = Duration::from_secs(3);
/// Looks that find another block, one after the other, before a fork fails.
const LOOKS: u32 = 3;
/// The time for which the calling thread waits longer than the request may take.
const GRACE: Duration = Duration::from_secs(1);
/// The time between two checks whether a caller still wants the answer.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// The code for an invalid request, which a batch is to nodes without batches.
const INVALID_REQUEST: i64 = -32600;
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
    /// The answer was too long.
    #[error("{method}: the answer has more than {MAX_ANSWER} bytes")]
    TooLong {
        /// The method.
        method: String,
    },
    /// The client left before there was an answer, or the node shuts down.
    #[error("{method}: cancelled, since {reason}")]
    Abandoned {
        /// The method.
        method: String,
        /// The reason why the caller no longer waits.
        reason: &'static str,
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
    /// A result that another owner holds in memory.
    pub(super) fn remembered(json: Bytes) -> Self {
        Self {
            json,
            held: Held::default(),
        }
    }

    /// The JSON of the result.
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// Reads the result. The error says what is wrong with it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, String> {
        read_result(self.json())
    }

    /// The JSON of the result as a body.
    pub(crate) fn into_answer(self) -> Answer {
        // The same buffer, unless the answer is remembered.
        Answer::new(self.json.into(), self.held)
    }
}

/// Reads a result. The error says what is wrong with it.
pub(super) fn read_result<T: DeserializeOwned>(json: &[u8]) -> Result<T, String> {
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

/// The hash in a result of `eth_getBlockByNumber`. The error says what the block is instead, if it is
/// not the one with this number.
pub(super) fn read_hash(json: &[u8], number: u64) -> Result<B256, String> {
    #[derive(Deserialize)]
    struct FoundBlock {
        number: U64,
        hash: B256,
    }

    match read_result::<Option<FoundBlock>>(json)? {
        Some(found) if found.number.to::<u64>() == number => Ok(found.hash),
        Some(found) => Err(format!(
            "requested block {number}, got block {}",
            found.number
        )),
        None => Err(format!("it has no block {number}")),
    }
}

/// One of many calls.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) method: &'static str,
    pub(super) params: Value,
}

impl Question {
    pub(super) fn new(method: &'static str, params: Value) -> Self {
        Self { method, params }
    }
}

/// Some of many calls, with their positions among them, that are asked in one batch.
#[derive(Debug)]
struct Part {
    questions: Vec<(usize, Question)>,
}

impl Part {
    fn methods(&self) -> impl Iterator<Item = &'static str> {
        self.questions.iter().map(|(_, question)| question.method)
    }

    /// The method that stands for all of them in errors.
    fn first_method(&self) -> &'static str {
        self.methods().next().unwrap_or("a batch")
    }

    /// The same failure for each of the calls.
    fn failed(self, error: AskError) -> impl Iterator<Item = (usize, Result<Bytes, AskError>)> {
        self.questions
            .into_iter()
            .map(move |(at, _)| (at, Err(error.clone())))
    }
}

/// The JSON of the results of many calls, in their order.
#[derive(Debug)]
pub(super) struct ForkAnswers {
    pub(super) results: Vec<Result<Bytes, AskError>>,
    /// The memory of the answers that they came in.
    held: Vec<Held>,
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
    nodes: RwLock<Arc<Nodes>>,
    /// Headers of every request to the origin that they were configured for. They are that origin's
    /// secrets.
    headers: HeaderMap,
    home: Option<Url>,
    /// Whether there was ever a connection.
    was_connected: AtomicBool,
    /// Whether the other node is not known to refuse batches.
    batches: AtomicBool,
    /// Whether the nodes are still those that the fork began with.
    is_original: AtomicBool,
    /// Places of requests that are under way.
    places: Semaphore,
    counters: Arc<Counters>,
    pacer: Pacer,
    /// Whether the node shuts down.
    has_ended: AtomicBool,
    /// The error that another block has taken the place of the forked one, once it has.
    replaced: RwLock<Option<String>>,
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
        let requester = Arc::new(requester);
        handle.spawn(tell_of_waits(requester.counters.clone()));
        // The thread ends whether the sender was used or dropped.
        thread::Builder::new()
            .name("fork".to_owned())
            .spawn(move || drop(runtime.block_on(ended)))?;

        Ok(Self {
            requester,
            runtime: handle,
            _end: end,
        })
    }

    /// The other node's URL. It may hold a key: see [`redact`](tetrad_stdx::redact) for displaying it.
    pub fn url(&self) -> Url {
        self.requester.nodes.read().all[0].url.clone()
    }

    /// Whether the nodes are still those that the fork began with. What others answer is not kept.
    pub(super) fn is_original(&self) -> bool {
        self.requester.is_original.load(Ordering::Relaxed)
    }

    /// Uses another URL from now on.
    pub(crate) fn set_url(&self, url: Url) {
        self.requester.is_original.store(false, Ordering::Relaxed);
        self.requester.batches.store(true, Ordering::Relaxed);
        *self.requester.replaced.write() = None;
        *self.requester.nodes.write() = Arc::new(Nodes::new(url, &[]));
    }

    /// Looks at a block again from time to time, while requests are sent. While another one has its
    /// place, requests fail: the state would be that of another chain. One look is not enough: behind
    /// a URL there may be several nodes, and one of them may be on a branch for a moment.
    pub(super) fn watch(&self, number: u64, hash: B256, every: Duration) {
        let requester = Arc::downgrade(&self.requester);
        self.runtime.spawn(async move {
            let mut before = 0;
            let mut others = 0;
            loop {
                sleep(every).await;
                let Some(requester) = requester.upgrade() else {
                    return;
                };
                let requests = requester.counters.requests.get();
                if !requester.is_original.load(Ordering::Relaxed) {
                    return;
                }
                if requests == before && others == 0 {
                    continue;
                }

                match requester.hash_of(number).await {
                    Some(found) if found != hash => {
                        others += 1;
                        if others == LOOKS {
                            let what = format!(
                                "the other chain has been reorganised: its block {number} is {found} now, and this fork \
                                 began at {hash}; fork again, or fork an older block"
                            );
                            warn!("{what}");
                            *requester.replaced.write() = Some(what);
                        }
                    }
                    Some(_) => {
                        others = 0;
                        *requester.replaced.write() = None;
                    }
                    None => {}
                }
                before = requester.counters.requests.get();
            }
        });
    }

    /// Ends all waits, those under way as well, since the node shuts down: requests fail from now on.
    pub(super) fn end(&self) {
        self.requester.has_ended.store(true, Ordering::Relaxed);
    }

    /// The delay of the first retry.
    pub fn backoff(&self) -> Duration {
        self.requester.backoff
    }

    /// The counters of what is looked for before it is asked.
    pub(super) fn lookups(&self) -> Arc<Lookups> {
        self.requester.counters.lookups.clone()
    }

    /// The requests so far.
    pub fn stats(&self) -> ForkStats {
        self.requester.counters.read()
    }

    /// Waits for an answer, as long as the caller wants it, without blocking the other tasks of a
    /// worker thread.
    fn wait<T>(&self, method: &str, answer: &Receiver<T>, within: Duration) -> Result<T, AskError> {
        let _one = self.requester.counters.waiting.hold();
        let began = Instant::now();

        let received = block_in_place(|| {
            loop {
                self.requester.check_wanted(method)?;

                let left = within.saturating_sub(began.elapsed());
                match answer.recv_timeout(left.min(LOOK_INTERVAL)) {
                    Ok(answer) => return Ok(answer),
                    Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                    Err(_) => return Err(silent(method, "no answer in time")),
                }
            }
        });

        let waited = began.elapsed().as_millis() as u64;
        self.requester.counters.waited_ms.add(waited);
        received
    }

    /// Asks only those of the nodes from now on whose URL is one of these.
    pub(super) fn keep_only(&self, urls: &[Url]) {
        if let Some((first, others)) = urls.split_first() {
            *self.requester.nodes.write() = Arc::new(Nodes::new(first.clone(), others));
        }
    }

    /// Calls a method of each of several nodes, once, and returns their URLs with the results. A node
    /// that does not answer rests for a while.
    pub(super) fn ask_each(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Vec<(Url, Result<ForkAnswer, AskError>)> {
        let nodes = self.requester.nodes.read().clone();
        let body = request_of(1, method, params).to_string();
        let asking = nodes.all.iter().enumerate().map(|(at, node)| {
            let (sender, answer) = mpsc::sync_channel(1);
            let (requester, nodes, body) = (self.requester.clone(), nodes.clone(), body.clone());
            let asking = self.runtime.spawn(async move {
                let _ = sender.send(requester.ask_alone(&nodes.all[at], method, body).await);
            });
            (node.url.clone(), answer, asking)
        });
        let asking: Vec<_> = asking.collect();

        let deadline = Instant::now() + self.requester.timeout + GRACE;
        let answers = asking.into_iter().map(|(url, answer, asking)| {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = self.wait(method, &answer, left);
            asking.abort();
            (url, answer.flatten())
        });
        answers.collect()
    }

    /// Calls a method and returns its result. Blocks until the answer arrives. The request is cancelled
    /// when the client on whose behalf it was sent leaves.
    pub fn ask(&self, method: &str, params: &Value) -> Result<ForkAnswer, AskError> {
        let (sender, answer) = mpsc::sync_channel(1);
        let within = self.requester.timeout;
        let requester = self.requester.clone();
        let body = request_of(1, method, params).to_string();
        let name = method.to_owned();
        requester.check(method)?;
        let mut turns = requester
            .pacer
            .line_up([[method]])
            .ok_or_else(|| crowded(method))?;
        let all_within = requester.pacer.longest_wait() + within + GRACE;
        let asking = self.runtime.spawn(async move {
            let answer = match turns.come().await {
                Ok(()) => requester.ask(&name, body, within).await,
                Err(Crowded) => Err(crowded(&name)),
            };
            // The caller may have given up.
            let _ = sender.send(answer);
        });

        let answer = self.wait(method, &answer, all_within);
        asking.abort();
        answer.flatten()
    }

    /// Calls methods in as few requests as the other node takes, within this time or that of the
    /// settings.
    pub(super) fn ask_many(
        &self,
        questions: Vec<Question>,
        within: Option<Duration>,
    ) -> ForkAnswers {
        let late = silent("a batch", "no answer in time");
        let answers = Arc::new(Mutex::new(ForkAnswers::failed(questions.len(), &late)));
        let limit = self.requester.timeout;
        let within = within.map_or(limit, |within| within.min(limit));

        let (sender, all_here) = mpsc::sync_channel(1);
        let lined_up = self
            .requester
            .check("a batch")
            .and_then(|()| self.requester.line_up(questions));
        let (parts, turns) = match lined_up {
            Ok(lined_up) => lined_up,
            Err(error) => {
                let count = answers.lock().results.len();
                return ForkAnswers::failed(count, &error);
            }
        };
        let asking = {
            let (requester, answers) = (self.requester.clone(), answers.clone());
            self.runtime.spawn(async move {
                requester.ask_many(parts, turns, within, &answers).await;
                // The caller may have given up.
                let _ = sender.send(());
            })
        };
        let all_within = self.requester.pacer.longest_wait() + within + GRACE;
        let end = self.wait("a batch", &all_here, all_within);
        asking.abort();
        // Those that are here by now.
        let mut here = std::mem::replace(&mut *answers.lock(), ForkAnswers::failed(0, &late));
        if let Err(error @ AskError::Abandoned { .. }) = end {
            here.results.fill(Err(error));
        }
        here
    }
}

impl ForkAnswers {
    /// The same failure for each of these calls.
    fn failed(count: usize, error: &AskError) -> Self {
        Self {
            results: vec![Err(error.clone()); count],
            held: Vec::new(),
        }
    }

    /// Puts results in their places. There are none if the caller no longer waits.
    fn put(
        &mut self,
        results: impl IntoIterator<Item = (usize, Result<Bytes, AskError>)>,
        held: Option<Held>,
    ) {
        for (at, result) in results {
            if let Some(place) = self.results.get_mut(at) {
                *place = result;
            }
        }
        self.held.extend(held);
    }
}

fn silent(method: &str, what: impl Into<String>) -> AskError {
    AskError::Silent {
        method: method.to_owned(),
        what: what.into(),
    }
}

/// The failure of a call for which the other node is asked too slowly.
fn crowded(method: &str) -> AskError {
    silent(
        method,
        "too many calls wait for their turn (fork.requests-per-second, fork.compute-units-per-second)",
    )
}

/// The failure of one attempt.
enum AttemptError {
    /// A retry may succeed, after this time if the other node says one.
    Passing(AskError, Option<Duration>),
    /// A retry would fail the same way.
    Lasting(AskError),
}

impl AttemptError {
    fn passing(method: &str, what: impl Into<String>) -> Self {
        Self::Passing(silent(method, what), None)
    }

    fn lasting(method: &str, what: impl Into<String>) -> Self {
        Self::Lasting(silent(method, what))
    }
}

impl Requester {
    fn new(url: Url, config: &ForkConfig, budget: &Budget) -> io::Result<Self> {
        // They belong to the URL of the settings.
        let is_configured = config.url.as_ref() == Some(&url);
        let others: &[Url] = if is_configured { &config.others } else { &[] };

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
            nodes: RwLock::new(Arc::new(Nodes::new(url, others))),
            headers,
            home: config.url.clone(),
            was_connected: AtomicBool::new(false),
            batches: AtomicBool::new(true),
            is_original: AtomicBool::new(true),
            places: Semaphore::new(MAX_REQUESTS),
            counters: Arc::default(),
            pacer: Pacer::new(config.pace),
            has_ended: AtomicBool::new(false),
            replaced: RwLock::default(),
            timeout: config.timeout,
            retries: config.retries,
            backoff: config.retry_backoff,
            budget: budget.clone(),
        })
    }

    /// Fails if the caller no longer waits for the answer.
    fn check_wanted(&self, method: &str) -> Result<(), AskError> {
        let reason = if self.has_ended.load(Ordering::Relaxed) {
            "the node is shutting down"
        } else if is_abandoned() {
            "the client is gone"
        } else {
            return Ok(());
        };
        Err(AskError::Abandoned {
            method: method.to_owned(),
            reason,
        })
    }

    /// Fails if another block has taken the place of the forked one, or if the caller no longer
    /// waits for the answer.
    fn check(&self, method: &str) -> Result<(), AskError> {
        self.check_wanted(method)?;
        match &*self.replaced.read() {
            Some(what) => Err(silent("fork", what)),
            None => Ok(()),
        }
    }

    /// The hash of a block, if the other node says it.
    async fn hash_of(&self, number: u64) -> Option<B256> {
        let method = "eth_getBlockByNumber";
        let body = request_of(1, method, &json!([U64::from(number), false])).to_string();
        let answer = self.ask(method, body, self.timeout).await.ok()?;
        read_hash(answer.json(), number).ok()
    }

    /// Sends a request and retries where that may help, until the time is over.
    async fn ask(
        &self,
        method: &str,
        body: String,
        within: Duration,
    ) -> Result<ForkAnswer, AskError> {
        let mut attempts = Attempts::begin(self, method, within);
        loop {
            let attempt = self.attempt_one(method, body.clone(), within);
            let outcome = timeout_at(attempts.deadline, attempt).await;
            if let Some(end) = attempts.judge(outcome).await {
                return end;
            }
        }
    }

    /// Sends a request to one of the nodes, once.
    async fn ask_alone(
        &self,
        node: &ForkedNode,
        method: &str,
        body: String,
    ) -> Result<ForkAnswer, AskError> {
        let attempt = async {
            let (status, body, held) = self.attempt_at(node, method, body).await?;
            let json = find_result(method, status, &body)?;
            Ok(ForkAnswer { json, held })
        };
        let answer = tokio::time::timeout(self.timeout, attempt)
            .await
            .unwrap_or_else(|_| Err(AttemptError::passing(method, "no answer in time")));
        answer.map_err(|error| {
            node.rest(MAX_REST);
            match error {
                AttemptError::Passing(error, _) | AttemptError::Lasting(error) => error,
            }
        })
    }

    async fn attempt_one(
        &self,
        method: &str,
        body: String,
        within: Duration,
    ) -> Result<ForkAnswer, AttemptError> {
        self.counters.count_call(method);
        let (status, body, held) = self.attempt(method, body, within).await?;
        Ok(ForkAnswer {
            json: find_result(method, status, &body)?,
            held,
        })
    }

    /// Divides many calls into batches, and lines them up for their turns.
    fn line_up(&self, questions: Vec<Question>) -> Result<(Vec<Part>, Turns), AskError> {
        let parts = divide(questions, &self.pacer);
        match self.pacer.line_up(parts.iter().map(Part::methods)) {
            Some(turns) => Ok((parts, turns)),
            None => Err(crowded(parts.first().map_or("a batch", Part::first_method))),
        }
    }

    /// Calls methods in as few requests as the other node takes, and puts the results in their places
    /// as they arrive, until the time is over. Waiting for turns takes nothing of it.
    async fn ask_many(
        &self,
        parts: Vec<Part>,
        mut turns: Turns,
        within: Duration,
        answers: &Mutex<ForkAnswers>,
    ) {
        let mut deadline = tokio::time::Instant::now() + within + GRACE;
        let mut asked = FuturesUnordered::new();
        for part in parts {
            // A turn is only taken for what can be sent when it comes.
            if asked.len() == MAX_AT_ONCE && timeout_at(deadline, asked.next()).await.is_err() {
                return;
            }

            let lined_up = Instant::now();
            let turn = while_asked(&mut asked, turns.come()).await;
            deadline += lined_up.elapsed();
            match turn {
                Ok(()) => asked.push(self.ask_part(part, within, answers).boxed()),
                Err(Crowded) => {
                    let error = crowded(part.first_method());
                    answers.lock().put(part.failed(error), None);
                }
            }
        }
        // The others keep the failure that they have.
        let _ = timeout_at(deadline, asked.for_each(ready)).await;
    }

    /// Calls the methods of one batch, one by one if the other node refuses batches.
    async fn ask_part(&self, mut part: Part, within: Duration, answers: &Mutex<ForkAnswers>) {
        if part.questions.len() > 1 && self.batches.load(Ordering::Relaxed) {
            match self.ask_batch(&part, within).await {
                Ok(Some(BatchAnswers { results, held })) => {
                    part.questions.retain(|(at, _)| !results.contains_key(at));
                    answers.lock().put(results, Some(held));
                }
                // They are asked one by one.
                Ok(None) => {}
                Err(error) => {
                    answers.lock().put(part.failed(error), None);
                    return;
                }
            }
        }

        let mut asked = stream::iter(part.questions)
            .map(|(at, Question { method, params })| {
                let body = request_of(1, method, &params).to_string();
                async move { (at, self.ask(method, body, within).await) }.boxed()
            })
            .buffer_unordered(MAX_AT_ONCE);
        while let Some((at, answer)) = asked.next().await {
            let (json, held) = match answer {
                Ok(ForkAnswer { json, held }) => (Ok(json), Some(held)),
                Err(error) => (Err(error), None),
            };
            answers.lock().put([(at, json)], held);
        }
    }

    async fn ask_batch(
        &self,
        part: &Part,
        within: Duration,
    ) -> Result<Option<BatchAnswers>, AskError> {
        let mut attempts = Attempts::begin(self, part.first_method(), within);
        loop {
            let outcome = timeout_at(attempts.deadline, self.attempt_batch(part, within)).await;
            if let Some(end) = attempts.judge(outcome).await {
                return end;
            }
        }
    }

    /// Sends a batch. Returns nothing if the other node takes none. Calls that have no response, or
    /// that may succeed later, have no result.
    async fn attempt_batch(
        &self,
        part: &Part,
        within: Duration,
    ) -> Result<Option<BatchAnswers>, AttemptError> {
        part.methods()
            .for_each(|method| self.counters.count_call(method));
        let calls = part
            .questions
            .iter()
            .map(|(at, Question { method, params })| request_of(*at, method, params));
        let body = Value::Array(calls.collect()).to_string();
        let method = part.first_method();
        let (status, body, held) = match self.attempt(method, body, within).await {
            Ok(answer) => answer,
            // It answered something else, such as a redirect.
            Err(AttemptError::Lasting(AskError::Silent { .. })) if self.has_answered() => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };

        let Some(items) = responses(&body, part.questions.len()) else {
            // One response instead of many: an error, which may pass.
            return match find_result(method, status, &body) {
                Err(error @ AttemptError::Passing(..)) => Err(error),
                Err(AttemptError::Lasting(AskError::Refused { code, .. })) => {
                    let takes_batches = code != INVALID_REQUEST;
                    self.batches.store(takes_batches, Ordering::Relaxed);
                    Ok(None)
                }
                _ => Ok(None),
            };
        };

        let mut results = HashMap::new();
        for item in items {
            let Ok(Numbered { id: Some(at) }) = serde_json::from_str(item.get()) else {
                continue;
            };
            let Some((_, question)) = part.questions.iter().find(|(asked, _)| *asked == at) else {
                continue;
            };
            let item = body.slice_ref(item.get().as_bytes());
            match find_result(question.method, status, &item) {
                Ok(json) => results.insert(at, Ok(json)),
                Err(AttemptError::Lasting(error)) => results.insert(at, Err(error)),
                // It is asked again by itself.
                Err(AttemptError::Passing(..)) => None,
            };
        }
        Ok(Some(BatchAnswers { results, held }))
    }

    /// Sends a request to the node whose turn it is, for one that may take so long in all.
    async fn attempt(
        &self,
        method: &str,
        body: String,
        within: Duration,
    ) -> Result<(StatusCode, Bytes, Held), AttemptError> {
        let _place = self.places.acquire().await;
        let nodes = self.nodes.read().clone();
        let node = nodes.next();
        // One node that is silent leaves time for the others.
        let within = within / nodes.all.len() as u32;
        let attempt = tokio::time::timeout(within, self.attempt_at(node, method, body));
        let Ok(outcome) = attempt.await else {
            node.rest(SILENT_REST);
            let what = format!("no answer within {} s", within.as_secs_f64());
            return Err(AttemptError::passing(method, what));
        };
        if let Err(AttemptError::Passing(_, after)) = &outcome {
            node.rest(self.backoff.max(after.unwrap_or_default()));
        }
        outcome
    }

    async fn attempt_at(
        &self,
        node: &ForkedNode,
        method: &str,
        body: String,
    ) -> Result<(StatusCode, Bytes, Held), AttemptError> {
        self.counters.requests.add(1);
        let response = self
            .request(&node.url, body)
            .send()
            .await
            .map_err(|error| self.connection_error(method, error))?;
        self.was_connected.store(true, Ordering::Relaxed);

        let status = response.status();
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            let error = silent(method, format!("the answer is {status}"));
            return Err(AttemptError::Passing(error, retry_after(&response)));
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
            Ok((body, held)) => {
                self.counters.bytes.add(body.len() as u64);
                Ok((status, body, held))
            }
            Err(error) => Err(self.body_error(method, status, error)),
        }
    }

    /// Whether there was ever a connection.
    fn has_answered(&self) -> bool {
        self.was_connected.load(Ordering::Relaxed)
    }

    fn request(&self, url: &Url, body: String) -> RequestBuilder {
        let is_home = self
            .home
            .as_ref()
            .is_some_and(|home| home.origin() == url.origin());

        let request = self
            .http
            .post(url.clone())
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
        let is_only = self.nodes.read().all.len() == 1;
        let is_first = error.is_connect() && !self.has_answered() && is_only;

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
            _ if status.is_success() => AttemptError::Lasting(AskError::TooLong {
                method: method.to_owned(),
            }),
            _ => AttemptError::lasting(method, format!("the answer is {status}")),
        }
    }
}

/// Attempts of one request, until the time is over.
struct Attempts<'r> {
    requester: &'r Requester,
    deadline: tokio::time::Instant,
    retries: u32,
    /// The last failure, which says more than that the time is over.
    last: AskError,
}

impl<'r> Attempts<'r> {
    fn begin(requester: &'r Requester, method: &str, within: Duration) -> Self {
        let within = within.min(requester.timeout);
        Self {
            requester,
            deadline: tokio::time::Instant::now() + within,
            retries: 0,
            last: silent(
                method,
                format!("no answer within {} s", within.as_secs_f64()),
            ),
        }
    }

    /// Returns the outcome of the request, or waits until the time of the next attempt.
    async fn judge<T>(
        &mut self,
        outcome: Result<Result<T, AttemptError>, Elapsed>,
    ) -> Option<Result<T, AskError>> {
        let backoff = self
            .requester
            .backoff
            .saturating_mul(1 << self.retries.min(6));
        let pause = match outcome {
            Err(_) => return Some(Err(self.last.clone())),
            Ok(Ok(result)) => return Some(Ok(result)),
            Ok(Err(AttemptError::Lasting(error))) => return Some(Err(error)),
            Ok(Err(AttemptError::Passing(error, after))) => {
                self.last = error;
                // Another node may answer at once, as long as there is one that was not asked.
                let nodes = self.requester.nodes.read().clone();
                if (self.retries as usize) + 1 < nodes.all.len() && nodes.has_fit() {
                    Duration::ZERO
                } else {
                    backoff.max(after.unwrap_or_default())
                }
            }
        };

        let left = self.deadline.duration_since(tokio::time::Instant::now());
        if self.retries >= self.requester.retries || pause >= left {
            return Some(Err(self.last.clone()));
        }
        sleep(pause).await;
        self.retries += 1;
        self.requester.counters.retries.add(1);
        None
    }
}

/// The results of a batch by the positions of its calls, and the memory of its answer.
struct BatchAnswers {
    results: HashMap<usize, Result<Bytes, AskError>>,
    held: Held,
}

/// The responses of a batch of this many calls; none if it is something else.
fn responses(body: &[u8], calls: usize) -> Option<Vec<&RawValue>> {
    struct Responses {
        calls: usize,
    }

    impl<'de> Visitor<'de> for Responses {
        type Value = Vec<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array of responses")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut responses = Vec::new();
            while let Some(response) = items.next_element()? {
                if responses.len() == self.calls {
                    return Err(serde::de::Error::custom("more responses than calls"));
                }
                responses.push(response);
            }
            Ok(responses)
        }
    }

    let mut json = serde_json::Deserializer::from_slice(body);
    json.deserialize_seq(Responses { calls }).ok()
}

/// A response, of which only the identifier is read.
#[derive(Deserialize)]
struct Numbered {
    id: Option<usize>,
}

/// Divides many calls into batches, each of which is worth a second of the pace at most.
fn divide(questions: Vec<Question>, pacer: &Pacer) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut left = questions.into_iter();
    let mut first = 0;
    while left.len() > 0 {
        let methods = left.as_slice().iter().map(|question| question.method);
        let size = pacer.calls_at_once(methods.take(MAX_BATCH));

        // Memory of its own, as long as itself.
        let mut questions = Vec::with_capacity(size);
        questions.extend((first..).zip(left.by_ref().take(size)));
        first += size;
        parts.push(Part { questions });
    }
    parts
}

/// Waits for something while requests are under way.
async fn while_asked<T>(
    asked: &mut FuturesUnordered<impl Future<Output = ()>>,
    event: impl Future<Output = T>,
) -> T {
    let mut event = pin!(event);
    loop {
        select! {
            outcome = &mut event => return outcome,
            Some(()) = asked.next() => {}
        }
    }
}

/// A JSON-RPC request.
fn request_of(id: usize, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The time that the other node asks to wait (RFC 9110, 10.2.3), if it says so in seconds.
fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
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
fn find_result(method: &str, status: StatusCode, body: &Bytes) -> Result<Bytes, AttemptError> {
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
        Some(result) => Ok(body.slice_ref(result.get().as_bytes())),
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
        AttemptError::Passing(refused, None)
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
    use std::{future::IntoFuture, thread::yield_now};

    use axum::Router;
    use tokio::net::TcpListener;

    use super::*;
    use crate::fork::ForkPace;

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

    #[test]
    fn many_calls_are_divided_into_parts_with_memory_of_their_own() {
        const CALLS: usize = 300_000;
        for (pace, length) in [(None, MAX_BATCH), (Some(ForkPace::Calls(10)), 10)] {
            let question = Question::new("eth_getBalance", Value::Null);
            let parts = divide(vec![question; CALLS], &Pacer::new(pace));

            assert_eq!(parts.len(), CALLS / length);
            for part in &parts {
                assert_eq!(part.questions.len(), length);
                assert!(part.questions.capacity() <= 2 * length);
            }
            let numbers = parts.iter().flat_map(|part| &part.questions);
            assert!(numbers.map(|(at, _)| *at).eq(0..CALLS));
        }
    }

    #[test]
    fn a_part_is_worth_a_second_of_the_pace_whatever_its_first_call_costs() {
        let pacer = Pacer::new(Some(ForkPace::Units(100)));
        let methods = ["eth_chainId", "eth_blockNumber", "eth_getLogs"];
        let questions = methods.into_iter().chain(["eth_getLogs"; 2]);
        let questions = questions.map(|method| Question::new(method, Value::Null));
        let lengths = divide(questions.collect(), &pacer)
            .iter()
            .map(|part| part.questions.len())
            .collect::<Vec<_>>();
        assert_eq!(lengths, [3, 1, 1]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn calls_that_wait_for_an_answer_or_their_turn_fail_when_the_node_shuts_down() {
        let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", silent.local_addr().expect("an address"))
            .parse()
            .expect("a URL");
        let config = ForkConfig {
            pace: Some(ForkPace::Calls(1)),
            ..ForkConfig::default()
        };
        let client = ForkClient::new(url, &config, &Budget::default()).expect("a client");
        let ask = || client.ask("m", &json!([])).map(drop);
        let ask_many = || {
            let mut answers = client.ask_many(vec![Question::new("m", json!([])); 3], None);
            answers.results.pop().expect("a result").map(drop)
        };

        let ends = thread::scope(|scope| {
            let calls = [scope.spawn(ask), scope.spawn(ask), scope.spawn(ask_many)];
            while client.requester.counters.waiting.get() < 3 {
                yield_now();
            }
            client.end();
            calls.map(|call| call.join().expect("no panic"))
        });
        for end in ends.into_iter().chain([ask(), ask_many()]) {
            let error = end.expect_err("no answer").to_string();
            let reason = "cancelled, since the node is shutting down";
            assert!(error.ends_with(reason), "{error}");
        }
    }
}
