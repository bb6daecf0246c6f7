//! The files beside the log. [Checkpoints](Checkpoint) of the state and the [index](DiskHistory) of
//! blocks, transactions, logs and changes are derived from the log and can be rebuilt from it. The
//! file of pending transactions ([`PoolFile`]), the description of the chain ([`ChainFile`]) and
//! past prices are not.

mod active;
mod archive;
mod backup;
mod chain_file;
mod checkpoint;
mod checkpoint_writer;
mod compact;
mod data_dir;
mod disk_history;
#[doc(hidden)]
pub mod fuzzing;
mod index_part;
mod key;
mod log_rows;
mod old_state;
mod pool_file;
mod recent_blocks;
mod repair;
mod reverts;
mod sealed;
mod snapshots;
mod standing;
mod unfinished;
mod versions;

use std::sync::Arc;

pub use archive::{ArchiveError, add_checkpoint, begin_with, export, import};
pub use backup::{backup, restore};
pub use chain_file::{ChainFile, ChainFileError, Settings};
pub use checkpoint::{Checkpoint, CheckpointError, checkpoints};
pub use checkpoint_writer::CheckpointWriter;
pub use compact::compact;
pub use data_dir::{DataDir, DataDirError};
pub use disk_history::{DiskHistory, Found};
pub use key::LogKey;
pub use old_state::{OldState, OldStateError};
pub use pool_file::{PendingTransaction, PoolFile};
pub use repair::{Repaired, repair, truncate};
pub use snapshots::{SnapshotInfo, Snapshots};
pub use standing::Standing;

use crate::{log::LogStore, storage::Storage};

/// The file that names the chain of a directory.
const CHAIN_FILE: &str = "chain.json";
/// The file that the process which uses a directory has locked.
const LOCK: &str = "lock";
/// The file of past prices, which the exchange writes. It outlives removed blocks, so copies of a
/// chain include it.
pub const PRICES: &str = "prices";

/// Size of the entries that one part of the [index](DiskHistory) covers, in bytes. A start reads no
/// more than this to rebuild the growing part.
pub const PART_BYTES: u64 = 64 << 20;

/// The storage of a chain.
#[derive(Clone)]
pub struct ChainStore {
    /// The files beside the log.
    pub storage: Arc<dyn Storage>,
    /// The storage of the log.
    pub log: Arc<dyn LogStore>,
}
