//! Retries: which failures of attempts they may help against, when they follow, and for how long.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::{
    error::{AttemptError, ForkCallError},
    transport::Transport,
};
use crate::fork::stats::Counters;

/// The delays double this many times at most.
const MAX_DOUBLINGS: u32 = 6;

/// When failed requests are sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryPolicy {
    pub(super) max_retries: u32,
    /// The delay of the first retry. Each further delay is twice the one before.
    pub(super) first_delay: Duration,
}

/// Attempts of one request, until its time is over.
pub(super) struct Attempts<'r> {
    policy: RetryPolicy,
    transport: &'r Transport,
    counters: &'r Counters,
    deadline: Instant,
    retries: u32,
    /// The last failure, which says more than that the time is over.
    last_error: ForkCallError,
}

impl<'r> Attempts<'r> {
    /// Begins now. The attempts may take `time_limit` together.
    pub(super) fn begin(
        policy: RetryPolicy,
        transport: &'r Transport,
        counters: &'r Counters,
        method: &str,
        time_limit: Duration,
    ) -> Self {
        let reason = format!("no answer within {} s", time_limit.as_secs_f64());
        Self {
            policy,
            transport,
            counters,
            deadline: Instant::now() + time_limit,
            retries: 0,
            last_error: ForkCallError::no_answer(method, reason),
        }
    }

    /// Repeats an attempt until it succeeds, a retry would not help, or there is no time for one.
    pub(super) async fn run<T, F>(mut self, attempt: impl Fn() -> F) -> Result<T, ForkCallError>
    where
        F: Future<Output = Result<T, AttemptError>>,
    {
        loop {
            let Ok(outcome) = timeout_at(self.deadline, attempt()).await else {
                return Err(self.last_error);
            };
            match outcome {
                Ok(result) => return Ok(result),
                Err(AttemptError::Permanent(error)) => return Err(error),
                Err(AttemptError::Transient { error, retry_after }) => {
                    self.last_error = error;
                    self.wait(retry_after).await?;
                }
            }
        }
    }

    /// Waits until the time of the next attempt. Fails if there is none.
    async fn wait(&mut self, retry_after: Option<Duration>) -> Result<(), ForkCallError> {
        let delay = self.delay(retry_after);
        let time_left = self.deadline.duration_since(Instant::now());
        if self.retries >= self.policy.max_retries || delay >= time_left {
            return Err(self.last_error.clone());
        }

        sleep(delay).await;
        self.retries += 1;
        self.counters.retries.add(1);
        Ok(())
    }

    fn delay(&self, retry_after: Option<Duration>) -> Duration {
        // Another node may answer at once, as long as there is one that was not tried.
        let nodes = self.transport.nodes();
        let has_untried = (self.retries as usize) + 1 < nodes.all.len();
        if has_untried && nodes.has_available() {
            return Duration::ZERO;
        }

        let factor = 1 << self.retries.min(MAX_DOUBLINGS);
        let backoff = self.policy.first_delay.saturating_mul(factor);
        backoff.max(retry_after.unwrap_or_default())
    }
}
