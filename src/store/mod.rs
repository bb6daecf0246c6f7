//! What is derived from the log and kept beside it: [checkpoints](Checkpoint) of the state, and an [index](History) of
//! blocks, transactions and logs. All of it can be made again from the log. What cannot is the pool of transactions that
//! wait, which has a [file](PoolFile) of its own, and what the chain [is](ChainFile).

/// The file of past prices, which the exchange writes. It outlives blocks that are let go of, so copies of a chain have it.
pub const PRICES: &str = "prices";

mod active;
mod archive;
mod backup;
mod chain_file;
mod checkpoint;
mod compact;
mod data_dir;
mod history;
mod keeper;
mod key;
mod log_rows;
mod old_state;
mod pool_file;
mod recent_blocks;
mod repair;
mod reverts;
mod sealed;
mod segment_index;
mod unfinished;
mod versions;

pub use active::ActiveIndex;
pub use archive::{ArchiveError, export, import};
pub use backup::{backup, restore};
pub use chain_file::{ChainFile, ChainFileError, Settings};
pub use checkpoint::{Checkpoint, CheckpointError, checkpoints};
pub use compact::compact;
pub use data_dir::{DataDir, DataDirError};
pub use history::{Found, History};
pub use keeper::{Keeper, Snapshot};
pub use key::LogKey;
pub use old_state::{OldState, OldStateError};
pub use pool_file::{KeptTransaction, PoolFile};
pub use repair::{Repaired, repair};
pub use sealed::SealedIndex;
