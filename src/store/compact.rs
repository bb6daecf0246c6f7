//! Letting go of old blocks.

use std::io;

use super::{History, checkpoint, checkpoints, sealed::index_name};
use crate::log::{ChainIdentity, LogError, Segment, Storage, rewrite, segment_name, segments};

/// Removes the entries before height `from`, everything that only they were needed for, and checkpoints that the log
/// cannot be followed from. There must be one at `from` or later that it can. Ended at any moment, it leaves a chain that
/// is complete from `from` on.
pub fn compact(storage: &dyn Storage, identity: ChainIdentity, history: &History, from: u64) -> Result<(), LogError> {
    let failed = |source: io::Error| LogError::Io { file: storage.describe(""), source };
    let mut kept = history.bases().map_err(failed)?;
    kept.retain(|height| *height >= from);
    let firsts = segments(storage)?;
    let Some(at) = firsts.partition_point(|first| *first <= from).checked_sub(1) else { return Ok(()) };
    if firsts[at] < from {
        let segment = Segment::load(storage, firsts[at], Some(identity))?;
        rewrite(storage, &segment, from, identity).map_err(failed)?;
    }
    let remove = || -> io::Result<()> {
        for height in checkpoints(storage)?.into_iter().filter(|height| !kept.contains(height)) {
            storage.remove(&checkpoint::name(height))?;
        }
        // A checkpoint from before the log would look like one whose entries were lost.
        storage.sync_names()?;
        for first in firsts.into_iter().filter(|first| *first < from) {
            storage.remove(&segment_name(first))?;
            match storage.remove(&index_name(first)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        for name in storage.names()?.into_iter().filter(|name| name.starts_with("torn-")) {
            storage.remove(&name)?;
        }
        storage.sync_names()
    };
    remove().map_err(failed)
}
