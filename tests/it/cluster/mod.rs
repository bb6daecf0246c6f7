//! Several nodes that serve one chain over real NATS servers, and a checker of the responses to
//! their clients.

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
/// The stream of its waiting transactions.
const POOL: &str = "tetrad-test-pool";

/// Limit of every wait of a test, on a machine with other load.
const WAIT_TIMEOUT: Duration = Duration::from_secs(90);

/// Interval at which conditions are polled.
const POLL: Duration = Duration::from_millis(20);
