//! The guarantees of a data directory, despite killed processes, failing disks and damaged files.

mod chain_seeds;
pub(crate) mod commands;
mod compaction;
mod crash;
mod disk;
mod failures;
mod history;
mod interrupted;
mod kept;
mod ledger;
mod log_seeds;
mod old_states;
mod refusals;
mod restart;
mod reverts;
mod secrets;
mod snapshots;
mod waiting;
mod writers;

use std::sync::Arc;

use tetrad_store::{log::LocalLogs, storage::Storage, store::ChainStore};

/// A chain that is stored in these files, with its log in small segments.
pub(crate) fn kept_in(storage: Arc<dyn Storage>) -> ChainStore {
    let log = LocalLogs::new(storage.clone()).with_segments_of(8_192);
    ChainStore {
        storage,
        log: Arc::new(log),
    }
}

/// The number of seeds or kills: what continuous integration can afford, unless the environment
/// variable is set.
fn rounds(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().unwrap())
}
