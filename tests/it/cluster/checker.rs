//! A checker in the style of Jepsen: clients record every response, and afterwards all of them are
//! verified.
//!
//! [`Workload`] runs the clients and returns a [`History`]; [`check`] reads the chain from every
//! node and verifies the history against it. Nothing else may use the clients' accounts meanwhile,
//! and the nodes must mine instantly.

mod connection;
mod heads;
mod history;
mod reading;
mod report;
mod rules;
mod senders;
mod workload;

use std::{
    env,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use parking_lot::RwLock;

use self::connection::{CallError, Connection};
pub(crate) use self::{
    history::{Acknowledgement, HeadRead, History, OwnRead},
    reading::{ChainCopy, Included},
    report::check,
    rules::violations,
    workload::{Options, Workload},
};

/// The JSON-RPC URLs of nodes, which change when nodes restart. A stopped node has none: its former
/// port may belong to another node by now.
#[derive(Debug, Clone)]
pub(crate) struct Endpoints(Arc<RwLock<Vec<Option<String>>>>);

impl Endpoints {
    pub(crate) fn new(urls: Vec<Option<String>>) -> Self {
        Self(Arc::new(RwLock::new(urls)))
    }

    pub(crate) fn push(&self, url: Option<String>) {
        self.0.write().push(url);
    }

    pub(crate) fn set(&self, node: usize, url: Option<String>) {
        self.0.write()[node] = url;
    }

    /// The URLs of the nodes that run.
    pub(crate) fn urls(&self) -> Vec<String> {
        self.0.read().iter().flatten().cloned().collect()
    }

    /// Number of nodes, running or not.
    fn count(&self) -> usize {
        self.0.read().len()
    }

    async fn connect(&self, node: usize) -> Result<Connection, CallError> {
        let url = self.0.read()[node].clone();
        Connection::open(
            &url.ok_or_else(|| CallError::Unanswered("the node does not run".to_owned()))?,
        )
        .await
    }
}

/// The seed of a test's random choices: `TETRAD_SEED`, or a new one. Printed, so that a failure can
/// be replayed.
pub(crate) fn seed() -> u64 {
    let seed = match env::var("TETRAD_SEED") {
        Ok(text) => text.parse().unwrap(),
        Err(_) => SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_nanos() as u64,
    };
    println!("TETRAD_SEED={seed}");
    seed
}
