//! Client of the other node: JSON-RPC over HTTP, with an answer or an error in bounded time.
//!
//! The configured HTTP headers are a secret between the user and one origin: other URLs get none,
//! and only a URL's origin is shown. Answers count against the memory of requests and responses as
//! they arrive.

mod answer;
mod batch;
mod call;
mod error;
mod requester;
mod response;
mod transport;

use std::{
    io,
    sync::{
        Arc,
        atomic::Ordering,
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
    time::sleep,
};
use tracing::warn;

pub use self::{answer::ForkAnswer, error::AskError};
use self::{
    answer::ForkAnswers,
    call::request_of,
    error::{crowded, silent},
    requester::{GRACE, Requester},
};
pub(super) use self::{
    answer::{read_hash, read_result},
    call::Question,
};
use super::{
    cache::Lookups,
    config::ForkConfig,
    nodes::Nodes,
    pace::Crowded,
    stats::{ForkStats, tell_of_waits},
};

/// Looks that find another block, one after the other, before a fork fails.
const LOOKS: u32 = 3;
/// The time between two checks whether a caller still wants the answer.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// A connection to the other node. It has a thread of its own, so that callers may block.
#[derive(Debug)]
pub struct ForkClient {
    requester: Arc<Requester>,
    runtime: Handle,
    /// The thread ends when this is dropped.
    _end: oneshot::Sender<()>,
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

#[cfg(test)]
mod tests {
    use std::{future::IntoFuture, thread::yield_now};

    use axum::Router;
    use tokio::net::TcpListener;

    use serde_json::json;

    use super::{answer::MAX_READ, response::MAX_ERROR, *};
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
