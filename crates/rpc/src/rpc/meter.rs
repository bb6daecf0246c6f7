//! Metrics of methods: calls, durations and errors.

use std::time::{Duration, Instant};

use tetrad_stdx::metrics::{Counter, Distribution, Histogram};

use super::error::{
    HISTORY_PRUNED, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR,
    REVERTED, SERVER_ERROR,
};

/// Codes with a counter of their own.
const CODES: [(i32, &str); 8] = [
    (PARSE_ERROR, "-32700"),
    (INVALID_REQUEST, "-32600"),
    (METHOD_NOT_FOUND, "-32601"),
    (INVALID_PARAMS, "-32602"),
    (INTERNAL_ERROR, "-32603"),
    (SERVER_ERROR, "-32000"),
    (REVERTED, "3"),
    (HISTORY_PRUNED, "4444"),
];

/// The counters of the whole interface.
#[derive(Debug, Default)]
pub(super) struct Meters {
    errors: [Counter; CODES.len()],
    other_errors: Counter,
}

impl Meters {
    /// Counts an error.
    pub(super) fn failed(&self, code: i32) {
        let known = CODES.iter().position(|(known, _)| *known == code);
        known
            .and_then(|at| self.errors.get(at))
            .unwrap_or(&self.other_errors)
            .add(1);
    }
}

/// The counters of one method.
#[derive(Debug, Default)]
pub(super) struct Meter(Histogram);

impl Meter {
    /// Records a call that began at `began` and has been answered; one that took longer than `slow`
    /// is logged. Returns its duration.
    pub(super) fn answered(
        &self,
        method: &str,
        began: Instant,
        slow: Option<Duration>,
    ) -> Duration {
        let took = began.elapsed();
        self.0.observe(took);
        if slow.is_some_and(|slow| took >= slow) {
            tracing::warn!(method, seconds = took.as_secs_f64(), "slow request");
        }
        took
    }
}

impl super::Rpc {
    /// The methods that were called, with their durations.
    pub fn latencies(&self) -> Vec<(&'static str, Distribution)> {
        let all = self
            .table
            .meters()
            .map(|(name, meter)| (name, meter.0.distribution()));
        all.filter(|(_, seen)| seen.count > 0).collect()
    }

    /// The number of errors by code, without codes that never occurred.
    pub fn errors(&self) -> Vec<(&'static str, u64)> {
        let meters = &self.context.meters;
        let known = CODES
            .iter()
            .zip(&meters.errors)
            .map(|((_, name), counter)| (*name, counter.get()));
        known
            .chain([("other", meters.other_errors.get())])
            .filter(|(_, count)| *count > 0)
            .collect()
    }
}
