//! Logs in files.
//!
//! A log is a sequence of segments of some megabytes, of which the newest grows by one
//! [record](crate::storage::write_record) per entry. This format is used instead of an embedded
//! database because an append is one write and one `fdatasync` of a few kilobytes, where a B-tree
//! writes several pages twice, and because every way in which a file can end is known.
//!
//! Each segment that no longer grows has a file with the offsets of its entries, which is rebuilt
//! if it is missing or wrong.

mod cut;
mod files;
mod segment;
mod stream;
mod writer;

use std::sync::Arc;

use self::{
    cut::cut,
    segment::{Segment, segment_name, segments, truncate},
    writer::LocalLog,
};
use super::{BlockLog, ChainIdentity, Durability, Extent, LogEntry, LogError, LogStore};
use crate::storage::{Storage, Tail, copy_file};

/// Returns whether a file with this name belongs to a log.
pub(crate) fn is_log_file(name: &str) -> bool {
    name.starts_with("log-") || name.starts_with("offsets-")
}

/// The log in a directory.
#[derive(Clone)]
pub struct LocalLogs {
    storage: Arc<dyn Storage>,
    durability: Durability,
    segment_bytes: u64,
}

impl LocalLogs {
    /// Returns the log in this directory, with synced appends and segments of 64 MiB.
    pub fn new(storage: Arc<dyn Storage>) -> Self {
        Self {
            storage,
            durability: Durability::Fsync,
            segment_bytes: 64 << 20,
        }
    }

    /// Sets the durability of appends.
    pub fn with_durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Sets the size of segments, in bytes.
    pub fn with_segments_of(self, segment_bytes: u64) -> Self {
        Self {
            segment_bytes,
            ..self
        }
    }
}

impl LogStore for LocalLogs {
    fn open(&self, identity: ChainIdentity, begin_at: u64) -> Result<Box<dyn BlockLog>, LogError> {
        Ok(Box::new(LocalLog::open(
            self.storage.clone(),
            identity,
            self.durability,
            self.segment_bytes,
            begin_at,
        )?))
    }

    fn verify(&self, identity: ChainIdentity) -> Result<Option<Extent>, LogError> {
        let firsts = segments(&*self.storage)?;
        let Some(&start) = firsts.first() else {
            return Ok(None);
        };

        let mut extent = Extent {
            heights: start..start,
            ..Extent::default()
        };
        for (at, &first) in firsts.iter().enumerate() {
            if first > extent.heights.end {
                return Ok(Some(Extent {
                    damage: Some("it is missing"),
                    ..extent
                }));
            }

            let (segment, damage) = match Segment::intact(&*self.storage, first, Some(identity)) {
                Ok(found) => found,
                Err(LogError::Damaged { what, .. }) => {
                    extent.heights.end = first;
                    return Ok(Some(Extent {
                        damage: Some(what),
                        ..extent
                    }));
                }
                Err(error) => return Err(error),
            };

            for stored in segment.entries() {
                let reverts_to = LogEntry::reverts_to(&stored.bytes);
                let reverts_to = reverts_to.map_err(|error| LogError::Malformed {
                    height: stored.height,
                    what: error.to_string(),
                })?;
                if let Some(to) = reverts_to {
                    extent.reverts.push((stored.height, to));
                }
            }
            extent.heights.end = segment.end();

            // A torn end of the last segment is the rest of an append that was never acknowledged.
            let torn = "the file ends within an entry, but others follow";
            let damage = damage
                .or_else(|| (segment.tail == Tail::Torn && at + 1 < firsts.len()).then_some(torn));
            if damage.is_some() {
                return Ok(Some(Extent { damage, ..extent }));
            }
        }
        Ok(Some(extent))
    }

    fn cut(&self, identity: ChainIdentity, at: u64) -> Result<Vec<String>, LogError> {
        cut(&*self.storage, identity, at)
    }

    fn backup(&self, identity: ChainIdentity, to: &dyn Storage) -> Result<u64, LogError> {
        let firsts = segments(&*self.storage)?;
        for &first in &firsts {
            copy_file(&*self.storage, to, &segment_name(first)).map_err(LogError::io(to, ""))?;
        }
        let Some(&last) = firsts.last() else {
            return Ok(0);
        };

        // A node may have been writing to the last segment: the copy ends with the last complete
        // entry.
        let segment = Segment::load(to, last, Some(identity))?;
        truncate(to, last, segment.length).map_err(LogError::io(to, ""))?;
        Ok(segment.end())
    }
}
