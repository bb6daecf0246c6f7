//! What is derived from the log and kept beside it, by height: [checkpoints](Checkpoint) of the state, and an
//! [index](History) of blocks, transactions, logs and changes. All of it can be made again from the log. The exceptions are
//! the file of waiting transactions ([`PoolFile`]), the description of the chain ([`ChainFile`]) and past prices.

mod active;
mod archive;
mod backup;
mod chain_file;
mod checkpoint;
mod compact;
mod data_dir;
mod history;
mod index_part;
mod keeper;
mod key;
mod log_rows;
mod old_state;
mod pool_file;
mod recent_blocks;
mod repair;
mod reverts;
mod sealed;
mod unfinished;
mod versions;

use std::sync::Arc;

use crate::{log::LogStore, storage::Storage};
pub use archive::{ArchiveError, export, import};
pub use backup::{backup, restore};
pub use chain_file::{ChainFile, ChainFileError, Settings};
pub use checkpoint::{Checkpoint, CheckpointError, checkpoints};
pub use compact::compact;
pub use data_dir::{DataDir, DataDirError};
pub use history::{Found, History};
pub use keeper::Keeper;
pub use key::LogKey;
pub use old_state::{OldState, OldStateError};
pub use pool_file::{KeptTransaction, PoolFile};
pub use repair::{Repaired, repair};

/// The file of past prices, which the exchange writes. It outlives removed blocks, so copies of a chain have it.
pub const PRICES: &str = "prices";

/// Bytes of entries that one part of the [index](History) covers: what a start reads again at most.
pub const PART_BYTES: u64 = 64 << 20;

/// The places where a chain is kept.
#[derive(Clone)]
pub struct ChainStore {
    /// The files of what is derived from the log.
    pub storage: Arc<dyn Storage>,
    /// The place of the log.
    pub log: Arc<dyn LogStore>,
}
