//! Client of the other node: JSON-RPC over HTTP, with an answer or an error in bounded time.
//!
//! A call passes through these files: [`ForkClient`] blocks its caller while a task on the client's
//! own thread waits for the call's turn (`fork/pace`); `requester` sends single calls and
//! `call_many` batches, both with the retries of `retry`; `transport` makes one HTTP request to one
//! of the nodes (`fork/nodes.rs`); `response` and `answer` read what comes back. Answers count
//! against the memory of requests and responses as they arrive.

mod answer;
mod batch;
mod call;
mod call_many;
mod error;
mod requester;
mod response;
mod retry;
mod transport;
mod watch;

use std::{
    io,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use alloy_primitives::B256;
use parking_lot::Mutex;
use reqwest::Url;
use serde_json::Value;
use tetrad_chain::block_in_place;
use tetrad_web::Budget;
use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
    task::JoinHandle,
};

use self::{
    answer::CallResults, batch::Batch, call::request_body, requester::Requester, watch::watch_block,
};
pub use self::{answer::ForkAnswer, error::ForkCallError};
pub(super) use self::{
    answer::{read_block_hash, read_result},
    call::ForkCall,
};
use super::{
    cache::Lookups,
    config::ForkConfig,
    nodes::Nodes,
    pace::{QueueTimeout, Turns},
    stats::{ForkStats, log_waits},
};

/// The time for which a caller waits longer than its requests may take, so that it gets their
/// errors rather than its own.
const CALLER_WAIT_MARGIN: Duration = Duration::from_secs(1);
/// The interval at which a waiting caller checks whether the answer is still wanted.
const CANCELLATION_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A connection to the other node. It has a thread of its own, so that callers may block.
#[derive(Debug)]
pub struct ForkClient {
    requester: Arc<Requester>,
    runtime: Handle,
    /// The thread ends when this is dropped.
    _end: oneshot::Sender<()>,
}

impl ForkClient {
    /// Creates a client of `url`, whose answers count against `budget`. It sends nothing yet.
    pub fn new(url: Url, config: &ForkConfig, budget: &Budget) -> io::Result<Self> {
        let requester = Arc::new(Requester::new(url, config, budget)?);

        // A runtime of its own, since callers block the threads of the node's while they wait.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        handle.spawn(log_waits(requester.counters.clone()));

        // The thread ends whether the sender was used or dropped.
        let (end, ended) = oneshot::channel::<()>();
        thread::Builder::new()
            .name("fork".to_owned())
            .spawn(move || drop(runtime.block_on(ended)))?;

        Ok(Self {
            requester,
            runtime: handle,
            _end: end,
        })
    }

    /// The other node's URL. It may hold a key: see [`redact`](tetrad_stdx::redact) for displaying
    /// it.
    pub fn url(&self) -> Url {
        self.requester.transport.nodes().all[0].url.clone()
    }

    /// Whether the nodes are still those that the fork began with. Answers of others are not
    /// stored.
    pub(super) fn is_original(&self) -> bool {
        self.requester.is_original()
    }

    /// Uses another URL from now on.
    pub(crate) fn set_url(&self, url: Url) {
        self.requester.set_url(url);
    }

    /// Uses only those of the nodes from now on whose URL is one of these.
    pub(super) fn keep_only(&self, urls: &[Url]) {
        if let Some((first, others)) = urls.split_first() {
            let nodes = Nodes::new(first.clone(), others);
            self.requester.transport.set_nodes(nodes);
        }
    }

    /// Checks at an interval that a block is still one of the other chain. While another block has
    /// its place, calls fail.
    pub(super) fn watch(&self, number: u64, hash: B256, interval: Duration) {
        let requester = Arc::downgrade(&self.requester);
        self.runtime
            .spawn(watch_block(requester, number, hash, interval));
    }

    /// Ends all waits, those under way as well, since the node shuts down: calls fail from now on.
    pub(super) fn end(&self) {
        self.requester.end();
    }

    /// The delay of the first retry.
    pub fn backoff(&self) -> Duration {
        self.requester.retry_policy.first_delay
    }

    /// The counters of lookups that precede calls.
    pub(super) fn lookups(&self) -> Arc<Lookups> {
        self.requester.counters.lookups.clone()
    }

    /// The requests so far.
    pub fn stats(&self) -> ForkStats {
        self.requester.counters.read()
    }

    /// Calls a method and returns its result. Blocks until the answer arrives. The request is
    /// cancelled when the client on whose behalf it was sent leaves.
    pub fn call(&self, method: &str, params: &Value) -> Result<ForkAnswer, ForkCallError> {
        let requester = self.requester.clone();
        requester.check_usable(method)?;
        let mut turns = requester
            .pacer
            .line_up([[method]])
            .ok_or_else(|| ForkCallError::queue_full(method))?;

        let time_limit = requester.time_limit;
        let body = request_body(method, params);
        let owned_method = method.to_owned();
        let (sender, answer) = mpsc::sync_channel(1);
        let task = self.runtime.spawn(async move {
            let answer = match turns.next().await {
                Ok(()) => requester.call(&owned_method, body, time_limit).await,
                Err(QueueTimeout) => Err(ForkCallError::queue_full(&owned_method)),
            };
            // The caller may have given up.
            let _ = sender.send(answer);
        });

        let answer = self.wait(method, &answer, self.longest_wait(time_limit));
        task.abort();
        answer.flatten()
    }

    /// Makes several calls in as few requests as the other node takes, within this time or that of
    /// the settings.
    pub(super) fn call_many(
        &self,
        calls: Vec<ForkCall>,
        time_limit: Option<Duration>,
    ) -> CallResults {
        let count = calls.len();
        let limit = self.requester.time_limit;
        let time_limit = time_limit.map_or(limit, |time_limit| time_limit.min(limit));

        let lined_up = self
            .requester
            .check_usable("a batch")
            .and_then(|()| self.requester.line_up(calls));
        let (batches, turns) = match lined_up {
            Ok(lined_up) => lined_up,
            Err(error) => return CallResults::failed(count, &error),
        };

        let late = ForkCallError::no_answer("a batch", "no answer in time");
        let results = Arc::new(Mutex::new(CallResults::failed(count, &late)));
        let (finished, task) = self.spawn_batches(batches, turns, time_limit, results.clone());
        let outcome = self.wait("a batch", &finished, self.longest_wait(time_limit));
        task.abort();

        // Results that have arrived by now.
        let mut arrived = std::mem::replace(&mut *results.lock(), CallResults::failed(0, &late));
        if let Err(error @ ForkCallError::Abandoned { .. }) = outcome {
            arrived.results.fill(Err(error));
        }
        arrived
    }

    /// Begins to send batches. The receiver gets a message when all are answered.
    fn spawn_batches(
        &self,
        batches: Vec<Batch>,
        turns: Turns,
        time_limit: Duration,
        results: Arc<Mutex<CallResults>>,
    ) -> (Receiver<()>, JoinHandle<()>) {
        let (sender, finished) = mpsc::sync_channel(1);
        let requester = self.requester.clone();
        let task = self.runtime.spawn(async move {
            requester
                .call_many(batches, turns, time_limit, &results)
                .await;
            // The caller may have given up.
            let _ = sender.send(());
        });
        (finished, task)
    }

    /// Calls a method of each of the nodes, once, and returns their URLs with the results. A node
    /// that does not answer is left out for a while.
    pub(super) fn call_each_node(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Vec<(Url, Result<ForkAnswer, ForkCallError>)> {
        let nodes = self.requester.transport.nodes();
        let body = request_body(method, params);
        let mut pending = Vec::with_capacity(nodes.all.len());
        for (at, node) in nodes.all.iter().enumerate() {
            let (sender, answer) = mpsc::sync_channel(1);
            let requester = self.requester.clone();
            let nodes = nodes.clone();
            let body = body.clone();
            let task = self.runtime.spawn(async move {
                let _ = sender.send(requester.call_node(&nodes.all[at], method, body).await);
            });
            pending.push((node.url.clone(), answer, task));
        }

        let deadline = Instant::now() + self.requester.time_limit + CALLER_WAIT_MARGIN;
        let answers = pending.into_iter().map(|(url, answer, task)| {
            let time_left = deadline.saturating_duration_since(Instant::now());
            let answer = self.wait(method, &answer, time_left);
            task.abort();
            (url, answer.flatten())
        });
        answers.collect()
    }

    /// The longest that a caller waits for calls that may take `time_limit` once their turn has
    /// come.
    fn longest_wait(&self, time_limit: Duration) -> Duration {
        self.requester.pacer.longest_wait() + time_limit + CALLER_WAIT_MARGIN
    }

    /// Waits for an answer, as long as the caller wants it, without blocking the other tasks of a
    /// worker thread.
    fn wait<T>(
        &self,
        method: &str,
        answer: &Receiver<T>,
        time_limit: Duration,
    ) -> Result<T, ForkCallError> {
        let _waiting = self.requester.counters.waiting.hold();
        let began = Instant::now();

        let received = block_in_place(|| {
            loop {
                self.requester.check_wanted(method)?;

                let time_left = time_limit.saturating_sub(began.elapsed());
                match answer.recv_timeout(time_left.min(CANCELLATION_CHECK_INTERVAL)) {
                    Ok(answer) => return Ok(answer),
                    Err(RecvTimeoutError::Timeout) if !time_left.is_zero() => {}
                    Err(_) => return Err(ForkCallError::no_answer(method, "no answer in time")),
                }
            }
        });

        let waited_ms = began.elapsed().as_millis() as u64;
        self.requester.counters.waited_ms.add(waited_ms);
        received
    }
}

#[cfg(test)]
mod tests {
    use std::{future::IntoFuture, thread::yield_now};

    use axum::Router;
    use serde_json::json;
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

        let answer = client.call("eth_getCode", &json!([])).expect("an answer");
        assert_eq!(answer.json(), result.as_bytes());
        assert!(budget.used() >= LENGTH);

        let error = client
            .call("eth_getCode", &json!([]))
            .expect_err("no room for another one")
            .to_string();
        assert!(error.contains("memory"), "{error}");

        let body = answer.into_answer();
        assert_eq!(body.bytes(), result.as_bytes());
        assert!(budget.used() >= LENGTH);
        drop(body);
        assert_eq!(budget.used(), 0);
    }

    fn call_one(client: &ForkClient) -> Result<(), ForkCallError> {
        client.call("m", &json!([])).map(drop)
    }

    fn call_several(client: &ForkClient) -> Result<(), ForkCallError> {
        let calls = vec![ForkCall::new("m", json!([])); 3];
        let mut answers = client.call_many(calls, None);
        answers.results.pop().expect("a result").map(drop)
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
        let ends = thread::scope(|scope| {
            let callers = [
                scope.spawn(|| call_one(&client)),
                scope.spawn(|| call_one(&client)),
                scope.spawn(|| call_several(&client)),
            ];
            while client.requester.counters.waiting.get() < 3 {
                yield_now();
            }
            client.end();
            callers.map(|caller| caller.join().expect("no panic"))
        });
        let late = [call_one(&client), call_several(&client)];
        for end in ends.into_iter().chain(late) {
            let error = end.expect_err("no answer").to_string();
            let reason = "cancelled, since the node is shutting down";
            assert!(error.ends_with(reason), "{error}");
        }
    }
}
