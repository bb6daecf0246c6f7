//! A checker of what clients of one or several nodes saw.

mod checker;
mod harness;

use std::time::Duration;

/// Bound of everything that a test waits for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Interval at which a condition is polled that nothing announces.
const POLL: Duration = Duration::from_millis(20);
