//! The source of the chain's time.

use std::time::{SystemTime, UNIX_EPOCH};

/// A source of time, injected so that tests can set it.
pub trait Clock: Send + Sync {
    /// Returns the time in milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
    }
}
