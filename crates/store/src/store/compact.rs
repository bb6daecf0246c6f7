//! Compaction: removing old blocks.

use std::io;

use super::{
    History, checkpoint, checkpoints,
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
    history: &History,
    from: u64,
) -> Result<(), LogError> {
    let failed = |source: io::Error| LogError::Io {
        file: storage.describe(""),
        source,
    };
    let remove_checkpoints = || -> io::Result<()> {
        let mut kept = history.bases()?;
        kept.retain(|height| *height >= from);
        for height in checkpoints(storage)?
            .into_iter()
            .filter(|height| !kept.contains(height))
        {
            storage.remove(&checkpoint::name(height))?;
        }
        // These must be gone before the log is compacted: a checkpoint from before the log means
        // that entries were lost.
        storage.sync_names()
    };
    remove_checkpoints().map_err(failed)?;
    log.compact(from)?;
    let remove_rest = || -> io::Result<()> {
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
    };
    remove_rest().map_err(failed)
}
