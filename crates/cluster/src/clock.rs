//! The clock of the machine beside that of the servers: blocks have its time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{ClusterError, bucket::ClusterBucket};

/// The largest difference between a node's clock and that of the servers.
const MAX_DIFFERENCE: Duration = Duration::from_secs(5);
/// The largest difference between the clock and the time that has passed, between two looks.
const MAX_JUMP: Duration = Duration::from_secs(1);

/// Returns the time since the Unix epoch.
pub(super) fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// Compares the clock with that of the servers.
pub(super) async fn check(bucket: &ClusterBucket, node: &str) -> Result<(), ClusterError> {
    let before = now();
    let stored = bucket.server_time(node).await?;
    // The servers stored it about halfway between the request and the answer.
    let now = before + (now().saturating_sub(before)) / 2;
    let difference = now.abs_diff(stored);
    if difference <= MAX_DIFFERENCE {
        return Ok(());
    }
    Err(ClusterError::Refused(format!(
        "this machine's clock is {} s {} that of the NATS servers: set the clocks, as blocks have \
         their time",
        difference.as_secs(),
        if now > stored { "ahead of" } else { "behind" }
    )))
}

/// A watch over jumps of the clock.
pub(super) struct ClockWatch {
    /// The clock and the steady time at the last look.
    last: (Duration, Instant),
}

impl ClockWatch {
    pub(super) fn begin() -> Self {
        Self {
            last: (now(), Instant::now()),
        }
    }

    /// Returns whether the clock has jumped since the last look.
    pub(super) fn has_jumped(&mut self) -> bool {
        self.look((now(), Instant::now()))
    }

    fn look(&mut self, present: (Duration, Instant)) -> bool {
        let (clock, steady) = std::mem::replace(&mut self.last, present);

        let passed = present.1.saturating_duration_since(steady);
        (clock + passed).abs_diff(present.0) > MAX_JUMP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clock and the steady time when they have gone on by so many seconds.
    fn later(
        (clock, steady): (Duration, Instant),
        clock_seconds: f64,
        seconds: f64,
    ) -> (Duration, Instant) {
        (
            clock + Duration::from_secs_f64(clock_seconds),
            steady + Duration::from_secs_f64(seconds),
        )
    }

    #[test]
    fn a_clock_that_goes_on_with_the_time_has_not_jumped() {
        let mut watch = ClockWatch::begin();
        let start = watch.last;

        assert!(!watch.look(later(start, 10.0, 10.0)));
        assert!(!watch.look(later(start, 13_600.5, 13_600.0)));
        assert!(watch.look(later(start, 13_605.0, 13_601.0)));
        assert!(!watch.look(later(start, 13_606.0, 13_602.0)));
        // Back to the right time.
        assert!(watch.look(later(start, 13_603.0, 13_603.0)));
    }
}
