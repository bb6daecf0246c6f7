//! The requests to a forked node: counters, and lines in the log while callers wait.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use serde::Serialize;
use tetrad_stdx::metrics::{Counter, Gauge};
use tokio::time::sleep;
use tracing::info;

use super::cache::Lookups;

/// The requests to the other node so far.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkStats {
    /// HTTP requests.
    pub requests: u64,
    /// Requests that had to be sent again.
    pub retries: u64,
    /// Bytes of the answers.
    pub bytes: u64,
    /// Milliseconds that callers waited, summed over concurrent ones.
    pub waited_ms: u64,
    /// Lookups that found their account, slot, block hash or answer in memory.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Calls by method.
    pub calls: BTreeMap<String, u64>,
}

/// The counters behind [`ForkStats`].
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) requests: Counter,
    pub(super) retries: Counter,
    pub(super) bytes: Counter,
    pub(super) waited_ms: Counter,
    pub(super) lookups: Arc<Lookups>,
    /// Callers that wait at the moment.
    pub(super) waiting: Gauge,
    calls: Mutex<BTreeMap<String, u64>>,
}

impl Counters {
    pub(super) fn count_call(&self, method: &str) {
        let mut calls = self.calls.lock();
        match calls.get_mut(method) {
            Some(count) => *count += 1,
            None => {
                calls.insert(method.to_owned(), 1);
            }
        }
    }

    /// Returns the totals.
    pub(super) fn read(&self) -> ForkStats {
        ForkStats {
            requests: self.requests.get(),
            retries: self.retries.get(),
            bytes: self.bytes.get(),
            waited_ms: self.waited_ms.get(),
            hits: self.lookups.hits.get(),
            misses: self.lookups.misses.get(),
            calls: self.calls.lock().clone(),
        }
    }
}

/// Logs progress every few seconds while callers wait for the other node.
pub(super) async fn log_waits(counters: Arc<Counters>) {
    /// The time between two lines, after the first one.
    const INTERVAL_SECONDS: u32 = 5;

    let mut seconds = 0;
    loop {
        sleep(Duration::from_secs(1)).await;
        if counters.waiting.get() == 0 {
            seconds = 0;
            continue;
        }

        // In the first second the wait may have begun just before.
        if seconds % INTERVAL_SECONDS == 1 {
            let stats = counters.read();
            info!(
                "waiting for the forked node: {} requests with {} calls, {:.1} MB so far",
                stats.requests,
                stats.calls.values().sum::<u64>(),
                stats.bytes as f64 / f64::from(1 << 20),
            );
        }
        seconds += 1;
    }
}
