//! Several nodes that serve one chain over NATS, real NATS servers below them, and a checker of
//! what their clients saw.

pub(crate) mod checker;
mod faults;
mod forks;
mod harness;
mod log;
mod machines;
mod nats;
mod network;
mod nodes;
mod proxy;
mod security;
mod servers;
mod serving;
mod streams;

use std::time::Duration;

/// The stream of the log of the cluster that tests start.
const LOG: &str = "tetrad-test";
/// The stream of its transactions that wait.
const POOL: &str = "tetrad-test-pool";

/// Bound of everything that a test waits for, on a machine that does much else.
const WAIT_TIMEOUT: Duration = Duration::from_secs(90);

/// Interval at which a condition is polled that nothing announces.
const POLL: Duration = Duration::from_millis(20);
