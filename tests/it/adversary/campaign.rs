//! State that all attacks share: the node, its operations, and the report of failures.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::{
    fill::Filled,
    honest::Honest,
    request::{Client, Outcome, Request},
    subject::{GROWTH_LIMIT, Subject, TOTAL_LIMIT},
};

/// The interval at which the node's memory is measured.
const SAMPLE: Duration = Duration::from_millis(20);
/// The time for which a node must be idle to have finished an attack's work.
const IDLE: Duration = Duration::from_millis(200);
/// The multiple of the growth limit at which an attack is stopped, as the node has failed.
const STOP_MULTIPLE: u64 = 2;
/// Bytes of a body from which the response may precede the body's end.
const LONG_BODY: usize = 64 << 10;
/// Bytes of a target from which an HTTP/2 connection may end without a response: no head may be as
/// long.
const LONG_HEAD: usize = 16 << 10;
/// Megabytes by which an attack must have grown a node that it is blamed for.
const BLAMED: u64 = 32;
/// How long the node may take to free the memory of an attack, before the next attack begins.
const RELEASE_TIMEOUT: Duration = Duration::from_millis(500);
/// Megabytes above those of the loaded chain with which the next attack may begin.
const REMAINDER: u64 = 40;

/// The size of the attack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// Time for all attacks of a round.
    pub seconds: u64,
    pub rounds: u64,
    /// Connections of an attack on one operation.
    pub connections: usize,
    /// Transactions with the maximum amount of data.
    pub transactions: usize,
    /// Requests in the search for the largest response of an operation.
    pub requests: usize,
    /// Random documents for each operation.
    pub documents: usize,
    /// Ways to send the requests of each operation.
    pub framings: usize,
}

impl Form {
    /// A share of a round's time.
    pub(super) fn share(&self, percent: u64) -> Duration {
        Duration::from_secs(self.seconds) * u32::try_from(percent).unwrap() / 100
    }
}

/// Statistics of one part of the attack.
struct Statistics {
    part: String,
    began: Instant,
    /// Sequential requests.
    requests: usize,
    /// Concurrent connections of attacks.
    connections: usize,
    /// The largest growth by one attack in megabytes, and that attack.
    growth: (u64, String),
}

/// The growth in megabytes from `start` to `peak`; 0 if one of them is unknown.
fn growth(peak: Option<u64>, start: Option<u64>) -> u64 {
    peak.zip(start)
        .map_or(0, |(peak, start)| peak.saturating_sub(start))
}

impl Statistics {
    fn new(part: &str) -> Self {
        let part = part.to_owned();
        let growth = (0, String::new());
        Self {
            part,
            began: Instant::now(),
            requests: 0,
            connections: 0,
            growth,
        }
    }

    /// Records the growth by an attack in megabytes, if it is the largest so far.
    fn note_growth(&mut self, grown: u64, name: &str, attack: &str) {
        if grown > self.growth.0 {
            self.growth = (grown, format!("{name}, {attack}"));
        }
    }

    fn print(&self) {
        let Self {
            part,
            began,
            requests,
            connections,
            growth: (megabytes, attack),
        } = self;
        let took = began.elapsed();
        println!(
            "{part}: {took:.1?}, {requests} requests, {connections} connections, at most {megabytes} MB: {attack:.100}"
        );
    }
}

/// An attack on a node.
pub(super) struct Campaign {
    pub subject: Arc<Subject>,
    pub filled: Filled,
    pub honest: Honest,
    pub form: Form,
    /// The node's memory with the chain loaded, in megabytes.
    pub base: Option<u64>,
    /// Whether clients change the chain, so that requests may wait for the blocks and the rules of
    /// other clients.
    may_change: AtomicBool,
    statistics: Mutex<Statistics>,
    failures: Mutex<BTreeSet<String>>,
}

impl Campaign {
    pub(super) fn new(subject: Arc<Subject>, filled: Filled, honest: Honest, form: Form) -> Self {
        let base = subject.resident();
        let statistics = Mutex::new(Statistics::new("preparation"));
        Self {
            subject,
            filled,
            honest,
            form,
            base,
            may_change: AtomicBool::new(false),
            statistics,
            failures: Mutex::default(),
        }
    }

    /// From now on clients change the chain, and requests may wait for the node's work for other
    /// clients.
    pub(super) fn let_change(&self) {
        self.may_change.store(true, Ordering::Relaxed);
    }

    /// Begins a part of the attack, and prints the statistics of the one before.
    pub(super) fn begin(&self, part: &str) {
        self.honest.begin(part);
        std::mem::replace(&mut *self.statistics.lock(), Statistics::new(part)).print();
    }

    /// Records a failure, and lets the test continue.
    pub(super) fn fail(&self, failure: impl Into<String>) {
        let failure = failure.into();
        if self.failures.lock().insert(failure.clone()) {
            println!("FAILED: {failure}");
        }
    }

    /// Ends the campaign and returns its failures.
    pub(super) fn into_failures(self) -> (Arc<Subject>, Filled, Honest, BTreeSet<String>) {
        self.statistics.lock().print();
        (
            self.subject,
            self.filled,
            self.honest,
            self.failures.into_inner(),
        )
    }

    /// Sends a request, and records a defect of the response.
    pub(super) async fn ask(
        &self,
        client: &mut Client,
        name: &str,
        request: &Request,
    ) -> Option<Outcome> {
        if !request.is_sendable() {
            return None;
        }

        self.statistics.lock().requests += 1;
        let asked = client.ask(&self.subject, request).await;

        match asked {
            Ok(outcome) => {
                if let Some(defect) = outcome.defect() {
                    self.fail(format!("{name}: {defect:.300} [{}]", shown(request)));
                }
                Some(outcome)
            }
            Err(error) => {
                // A client that still sends after the response to a long body may lose it with the
                // connection.
                let is_lost = [
                    "no response: error writing a body",
                    "no response: http2 error",
                ];
                let is_early = request.body.len() > LONG_BODY
                    && is_lost.iter().any(|lost| error.starts_with(lost));
                let is_refused =
                    request.target.len() > LONG_HEAD && error.contains("header_list_way_too_large");
                let is_waiting =
                    self.may_change.load(Ordering::Relaxed) && error.starts_with("no response in");

                if !self.revive(name, &shown(request)).await
                    && !is_early
                    && !is_refused
                    && !is_waiting
                {
                    self.fail(format!("{name}: {error} [{}]", shown(request)));
                }
                None
            }
        }
    }

    /// Restarts the node if it ended, which is a failure. Returns whether it had ended.
    pub(super) async fn revive(&self, name: &str, attack: &str) -> bool {
        // An aborting process closes its connections a moment before it ends.
        tokio::time::sleep(Duration::from_millis(20)).await;
        if self.subject.is_alive() {
            return false;
        }
        let last = self
            .subject
            .errors()
            .into_iter()
            .rfind(|line| !line.trim().is_empty())
            .unwrap_or_default();
        self.fail(format!("{name}, {attack}: the node ended: {last:.200}"));
        self.subject.restart().await;
        true
    }

    /// Runs the tasks of an attack until the node has done their work or the time is over, and
    /// compares the growth of its memory with the limit.
    pub(super) async fn measure(
        &self,
        name: &str,
        attack: &str,
        mut tasks: JoinSet<()>,
        at_most: Duration,
    ) {
        self.statistics.lock().connections += tasks.len();
        let before = self.subject.resident();
        self.subject.forget_peak();
        let began = Instant::now();
        let mut busy = (began, self.subject.processor_time());
        while began.elapsed() < at_most && self.subject.is_alive() {
            tokio::time::sleep(SAMPLE).await;

            if busy.0.elapsed() > IDLE {
                let now = self.subject.processor_time();
                if now
                    .zip(busy.1)
                    .is_some_and(|(now, then)| now.saturating_sub(then) < IDLE / 4)
                {
                    break;
                }
                busy = (Instant::now(), now);
            }

            if growth(self.subject.peak(), before) > STOP_MULTIPLE * GROWTH_LIMIT {
                break;
            }

            // No remaining work could make it grow.
            while tasks.try_join_next().is_some() {}
            if tasks.is_empty() {
                break;
            }
        }

        let peak = if self.subject.is_alive() {
            self.subject.peak()
        } else {
            None
        };
        tasks.shutdown().await;
        if self.revive(name, attack).await {
            return;
        }

        let grown = growth(peak, before);
        let total = growth(peak, self.base);
        self.statistics.lock().note_growth(grown, name, attack);
        if grown > BLAMED {
            println!("{grown} MB, in all {total} MB: {name}, {attack:.120}");
        }
        if grown > GROWTH_LIMIT {
            self.fail(format!(
                "{name}, {attack}: grew by {grown} MB, limit {GROWTH_LIMIT} MB"
            ));
        } else if grown > BLAMED && total > TOTAL_LIMIT {
            self.fail(format!(
                "{name}, {attack}: grew by {grown} MB to {total} MB more than before, limit {TOTAL_LIMIT} MB"
            ));
        }
        self.release().await;
    }

    /// Waits for the node to free the memory of an attack.
    async fn release(&self) {
        let began = Instant::now();
        while began.elapsed() < RELEASE_TIMEOUT {
            match (self.base, self.subject.resident()) {
                (Some(base), Some(now)) if now > base + REMAINDER => {
                    tokio::time::sleep(SAMPLE).await
                }
                _ => return,
            }
        }
    }
}

/// A readable, shortened request.
pub(super) fn shown(request: &Request) -> String {
    let body = String::from_utf8_lossy(&request.body[..request.body.len().min(160)]).into_owned();
    format!("{} {:.200} {body:.160}", request.method, request.target)
}
