//! Letting go of old blocks.

use std::io;

use super::{checkpoint, checkpoints, sealed::index_name};
use crate::log::{ChainIdentity, LogError, Segment, Storage, rewrite, segment_name, segments};

/// Removes the entries before height `from`, and everything that only they were needed for. There must be a checkpoint
/// at `from` or later. Ended at any moment, it leaves a chain that is complete from `from` on.
pub fn compact(storage: &dyn Storage, identity: ChainIdentity, from: u64) -> Result<(), LogError> {
    let failed = |source: io::Error| LogError::Io { file: storage.describe(""), source };
    let firsts = segments(storage)?;
    let Some(at) = firsts.partition_point(|first| *first <= from).checked_sub(1) else { return Ok(()) };
    if firsts[at] < from {
        let segment = Segment::load(storage, firsts[at], Some(identity))?;
        rewrite(storage, &segment, from, identity).map_err(failed)?;
    }
    let remove = || -> io::Result<()> {
        for height in checkpoints(storage)?.into_iter().filter(|height| *height < from) {
            storage.remove(&checkpoint::name(height))?;
        }
        for first in firsts.into_iter().filter(|first| *first < from) {
            storage.remove(&segment_name(first))?;
            match storage.remove(&index_name(first)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        for name in storage.names()?.into_iter().filter(|name| name.starts_with("torn-") || name.starts_with("draft-"))
        {
            storage.remove(&name)?;
        }
        storage.sync_names()
    };
    remove().map_err(failed)
}
