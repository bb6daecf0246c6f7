//! Requests to the other node, as tasks of the client send them: retries, batches, and time limits.

use std::{
    collections::HashMap,
    io,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use alloy_primitives::{B256, U64};
use futures_util::{
    FutureExt, StreamExt,
    future::ready,
    stream::{self, FuturesUnordered},
};
use parking_lot::{Mutex, RwLock};
use reqwest::{
    Client as Http, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use serde_json::{Value, json};
use tetrad_stdx::tls;
use tetrad_web::{Budget, is_abandoned};
use tokio::{
    select,
    sync::Semaphore,
    time::{error::Elapsed, sleep, timeout_at},
};

use super::{
    answer::{ForkAnswer, ForkAnswers, read_hash},
    batch::{Part, divide},
    call::{Question, request_of},
    error::{AskError, AttemptError, crowded, silent},
    response::{BatchAnswers, INVALID_REQUEST, Numbered, find_result, responses},
};
use crate::fork::{
    config::ForkConfig,
    nodes::{ForkedNode, MAX_REST, Nodes},
    pace::{Crowded, Pacer, Turns},
    stats::Counters,
};

/// The connect timeout. Another attempt is more likely to succeed than a longer one.
const MAX_CONNECTING: Duration = Duration::from_secs(3);
/// The most requests at a time of many calls.
const MAX_AT_ONCE: usize = 8;
/// The most requests at a time in all.
const MAX_REQUESTS: usize = 64;
/// The time for which the calling thread waits longer than the request may take.
pub(super) const GRACE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Requester {
    pub(super) http: Http,
    pub(super) nodes: RwLock<Arc<Nodes>>,
    /// Headers of every request to the origin that they were configured for. They are that origin's
    /// secrets.
    pub(super) headers: HeaderMap,
    pub(super) home: Option<Url>,
    /// Whether there was ever a connection.
    pub(super) was_connected: AtomicBool,
    /// Whether the other node is not known to refuse batches.
    pub(super) batches: AtomicBool,
    /// Whether the nodes are still those that the fork began with.
    pub(super) is_original: AtomicBool,
    /// Places of requests that are under way.
    pub(super) places: Semaphore,
    pub(super) counters: Arc<Counters>,
    pub(super) pacer: Pacer,
    /// Whether the node shuts down.
    pub(super) has_ended: AtomicBool,
    /// The error that another block has taken the place of the forked one, once it has.
    pub(super) replaced: RwLock<Option<String>>,
    pub(super) timeout: Duration,
    pub(super) retries: u32,
    pub(super) backoff: Duration,
    /// The memory that answers count against.
    pub(super) budget: Budget,
}

impl Requester {
    pub(super) fn new(url: Url, config: &ForkConfig, budget: &Budget) -> io::Result<Self> {
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
    pub(super) fn check_wanted(&self, method: &str) -> Result<(), AskError> {
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
    pub(super) fn check(&self, method: &str) -> Result<(), AskError> {
        self.check_wanted(method)?;
        match &*self.replaced.read() {
            Some(what) => Err(silent("fork", what)),
            None => Ok(()),
        }
    }

    /// The hash of a block, if the other node says it.
    pub(super) async fn hash_of(&self, number: u64) -> Option<B256> {
        let method = "eth_getBlockByNumber";
        let body = request_of(1, method, &json!([U64::from(number), false])).to_string();
        let answer = self.ask(method, body, self.timeout).await.ok()?;
        read_hash(answer.json(), number).ok()
    }

    /// Sends a request and retries where that may help, until the time is over.
    pub(super) async fn ask(
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
    pub(super) async fn ask_alone(
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
    pub(super) fn line_up(&self, questions: Vec<Question>) -> Result<(Vec<Part>, Turns), AskError> {
        let parts = divide(questions, &self.pacer);
        match self.pacer.line_up(parts.iter().map(Part::methods)) {
            Some(turns) => Ok((parts, turns)),
            None => Err(crowded(parts.first().map_or("a batch", Part::first_method))),
        }
    }

    /// Calls methods in as few requests as the other node takes, and puts the results in their places
    /// as they arrive, until the time is over. Waiting for turns takes nothing of it.
    pub(super) async fn ask_many(
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
