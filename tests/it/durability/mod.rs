//! What a data directory promises, held against processes that are killed, disks that fail and
//! files that rot.

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

/// A chain that is kept in these files, its log in small segments among them.
pub(crate) fn kept_in(storage: Arc<dyn Storage>) -> ChainStore {
    let log = LocalLogs::new(storage.clone()).with_segments_of(8_192);
    ChainStore {
        storage,
        log: Arc::new(log),
    }
}

/// How many seeds or kills to try: what continuous integration can afford, unless the environment
/// says otherwise.
fn rounds(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().unwrap())
}
