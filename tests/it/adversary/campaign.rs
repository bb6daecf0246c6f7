//! What all attacks share: the node, its operations, and the report of what went wrong.

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

/// The time from one look at the node's memory to the next.
const SAMPLE: Duration = Duration::from_millis(20);
/// The time over which a node that does little has done what an attack asked for.
const IDLE: Duration = Duration::from_millis(200);
/// The multiple of the growth limit at which an attack is stopped: the node has failed already.
const STOP_MULTIPLE: u64 = 2;
/// Bytes of a body from which on the response may come before its end.
const LONG_BODY: usize = 64 << 10;
/// Bytes of a target from which on a connection of HTTP/2 may end without a response: no head may be
/// as long.
const LONG_HEAD: usize = 16 << 10;
/// Megabytes by which an attack has to have grown the node for it to be blamed.
const BLAMED: u64 = 32;
/// How long the memory of an attack may take to be free again, before the next attack begins.
const RELEASE_TIMEOUT: Duration = Duration::from_millis(500);
/// Megabytes above those of the loaded chain with which the next attack may begin.
const REMAINDER: u64 = 40;

/// How much of everything there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// Time for all attacks of a round.
    pub seconds: u64,
    pub rounds: u64,
    /// Connections of an attack with one operation.
    pub connections: usize,
    /// Transactions with as much data as there may be.
    pub transactions: usize,
    /// Requests with which the largest response of an operation is searched.
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

/// What a part of the attack did so far.
struct Figures {
    part: String,
    began: Instant,
    /// Requests that were asked one after the other.
    requests: usize,
    /// Connections that attacked together.
    connections: usize,
    /// The most megabytes by which one attack grew the node, and that attack.
    growth: (u64, String),
}

/// The growth in megabytes from `start` to `peak`, as far as both are known.
fn growth(peak: Option<u64>, start: Option<u64>) -> u64 {
    peak.zip(start)
        .map_or(0, |(peak, start)| peak.saturating_sub(start))
}

impl Figures {
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

    /// Remembers by how many megabytes an attack grew the node, if none grew it more.
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
    /// Whether clients change the chain, so that requests wait for the blocks and the rules of
    /// others.
    may_change: AtomicBool,
    figures: Mutex<Figures>,
    failures: Mutex<BTreeSet<String>>,
}

impl Campaign {
    pub(super) fn new(subject: Arc<Subject>, filled: Filled, honest: Honest, form: Form) -> Self {
        let base = subject.resident();
        let figures = Mutex::new(Figures::new("preparation"));
        Self {
            subject,
            filled,
            honest,
            form,
            base,
            may_change: AtomicBool::new(false),
            figures,
            failures: Mutex::default(),
        }
    }

    /// From now on clients change the chain, and a request may wait for what others have the node
    /// do.
    pub(super) fn let_change(&self) {
        self.may_change.store(true, Ordering::Relaxed);
    }

    /// Begins a part of the attack, and prints the figures of the one before.
    pub(super) fn begin(&self, part: &str) {
        self.honest.begin(part);
        std::mem::replace(&mut *self.figures.lock(), Figures::new(part)).print();
    }

    /// Records a failure. The test goes on.
    pub(super) fn fail(&self, failure: impl Into<String>) {
        let failure = failure.into();
        if self.failures.lock().insert(failure.clone()) {
            println!("FAILED: {failure}");
        }
    }

    /// What failed.
    pub(super) fn into_failures(self) -> (Arc<Subject>, Filled, Honest, BTreeSet<String>) {
        self.figures.lock().print();
        (
            self.subject,
            self.filled,
            self.honest,
            self.failures.into_inner(),
        )
    }

    /// Asks, and records what is wrong with the response.
    pub(super) async fn ask(
        &self,
        client: &mut Client,
        name: &str,
        request: &Request,
    ) -> Option<Outcome> {
        if !request.is_sendable() {
            return None;
        }

        self.figures.lock().requests += 1;
        let asked = client.ask(&self.subject, request).await;

        match asked {
            Ok(outcome) => {
                if let Some(defect) = outcome.defect() {
                    self.fail(format!("{name}: {defect:.300} [{}]", shown(request)));
                }
                Some(outcome)
            }
            Err(error) => {
                // Whoever sends on after the response to a long body may lose it with the
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

    /// Starts the node again if it ended, which is a failure. Returns whether it was so.
    pub(super) async fn revive(&self, name: &str, attack: &str) -> bool {
        // A process that aborts closes its connections a moment before it ends.
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

    /// Runs the tasks of an attack until the node has done what they ask for, at most for a while,
    /// and compares the growth of its memory with the limit.
    pub(super) async fn measure(
        &self,
        name: &str,
        attack: &str,
        mut tasks: JoinSet<()>,
        at_most: Duration,
    ) {
        self.figures.lock().connections += tasks.len();
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

            // Nothing is left that could make it grow.
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
        self.figures.lock().note_growth(grown, name, attack);
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

    /// Waits for the node to let go of what an attack used.
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

/// A request for people, cut short.
pub(super) fn shown(request: &Request) -> String {
    let body = String::from_utf8_lossy(&request.body[..request.body.len().min(160)]).into_owned();
    format!("{} {:.200} {body:.160}", request.method, request.target)
}
