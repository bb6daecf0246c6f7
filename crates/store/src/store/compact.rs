//! Compaction: removing old blocks.

use std::io;

use super::{
    DiskHistory, checkpoint, checkpoints,
    sealed::{index_firsts, index_name},
};
use crate::{
    log::{BlockLog, LogError},
    storage::Storage,
};

/// Removes the entries before height `from` with their index, and all checkpoints below `from` or
/// of reverted entries. A usable checkpoint must exist at `from` or above. If interrupted, it
/// leaves a chain that is complete from `from` on.
pub fn compact(
    storage: &dyn Storage,
    log: &mut dyn BlockLog,
    history: &DiskHistory,
    from: u64,
) -> Result<(), LogError> {
    remove_checkpoints(storage, history, from).map_err(LogError::io(storage, ""))?;
    log.compact(from)?;
    remove_rest(storage, from).map_err(LogError::io(storage, ""))
}

/// Removes the checkpoints below height `from` or of reverted entries.
fn remove_checkpoints(storage: &dyn Storage, history: &DiskHistory, from: u64) -> io::Result<()> {
    let mut kept = history.bases()?;
    kept.retain(|height| *height >= from);
    for height in checkpoints(storage)?
        .into_iter()
        .filter(|height| !kept.contains(height))
    {
        storage.remove(&checkpoint::name(height))?;
    }

    // These must be gone before the log is compacted: a checkpoint from before the log means that
    // entries were lost.
    storage.sync_names()
}

/// Removes the index of the entries before height `from`, and files that were put aside.
fn remove_rest(storage: &dyn Storage, from: u64) -> io::Result<()> {
    for first in index_firsts(storage)?
        .into_iter()
        .filter(|first| *first < from)
    {
        storage.remove(&index_name(first))?;
    }
    for name in storage
        .names()?
        .into_iter()
        .filter(|name| name.starts_with("torn-"))
    {
        storage.remove(&name)?;
    }
    storage.sync_names()
}
