//! Appending to a log in files.
//!
//! A scratch file of the refused size probes whether a full disk has space again. An entry would
//! not do: small ones still fit into the last block of a file on a full disk.

use std::{io, sync::Arc};

use parking_lot::RwLock;

use super::{
    cut::cut,
    files::{LogFiles, MAX_ENTRY, Positions, remove_segment, write_offsets},
    segment::{Segment, create, rewrite, segment_name, segments},
};
use crate::{
    log::{AppendError, BlockLog, ChainIdentity, Durability, LogError, ReadLog},
    storage::{Storage, StoredFile, Tail, push_record, remove_file},
};

/// Number of zeros that are written ahead of the entries, in bytes: overwriting is less work for
/// the file system than extending a file.
const AHEAD: u64 = 1 << 20;
/// The scratch file of a probe. Like all drafts, a leftover is removed at the next start.
const PROBE: &str = "draft-probe";
/// The least number of bytes that a probe writes. Fewer may fit into the last block of a file even
/// on a full disk.
const MIN_PROBE: usize = 64 << 10;
/// Size of a probe's writes in bytes.
const CHUNK: usize = 1 << 20;

/// The writer of a log in files.
pub(super) struct LocalLog {
    files: Arc<LogFiles>,
    durability: Durability,
    segment_bytes: u64,
    newest: Newest,
    /// Known length of the newest segment's file, including the zeros after its records.
    allocated: u64,
    end: u64,
    written: u64,
    /// Size of the largest refused record, until one as large is written; 0 if there is none.
    refused: usize,
    /// The reason why nothing more can be appended.
    failed: Option<String>,
    record: Vec<u8>,
}

/// The growing segment.
struct Newest {
    file: Arc<dyn StoredFile>,
    /// Height of its first entry.
    first: u64,
    /// Length of its intact records in bytes.
    length: u64,
}

/// Opens the newest of the segments that begin at `firsts`, and puts the rest of an unacknowledged
/// append aside.
fn open_newest(
    storage: &dyn Storage,
    identity: ChainIdentity,
    firsts: Vec<u64>,
) -> Result<(Newest, Positions), LogError> {
    let first = firsts.last().copied().unwrap_or_default();
    let segment = Segment::load(storage, first, Some(identity))?;
    if segment.tail == Tail::Torn {
        let aside = segment.cut(storage)?;
        tracing::warn!(
            height = segment.end(),
            aside,
            "the log ended within an entry that was never acknowledged"
        );
    }

    let name = segment_name(first);
    let file = storage.open(&name).map_err(LogError::io(storage, &name))?;

    Ok((
        Newest {
            file,
            first,
            length: segment.length,
        },
        Positions {
            firsts,
            offsets: segment.offsets,
            length: segment.length,
        },
    ))
}

impl LocalLog {
    /// Opens the log of a chain, or creates one that begins at height `begin_at`.
    pub(super) fn open(
        storage: Arc<dyn Storage>,
        identity: ChainIdentity,
        durability: Durability,
        segment_bytes: u64,
        begin_at: u64,
    ) -> Result<Self, LogError> {
        let mut firsts = segments(&*storage)?;
        if firsts.is_empty() {
            create(&*storage, begin_at, identity).map_err(LogError::io(&*storage, ""))?;
            firsts.push(begin_at);
        }

        let (newest, positions) = open_newest(&*storage, identity, firsts)?;
        let allocated = newest.length;
        let end = newest.first + positions.offsets.len() as u64;

        let files = Arc::new(LogFiles {
            storage,
            identity,
            positions: RwLock::new(positions),
        });
        files.expect_complete()?;

        Ok(Self {
            files,
            durability,
            segment_bytes,
            newest,
            allocated,
            end,
            written: 0,
            refused: 0,
            failed: None,
            record: Vec::new(),
        })
    }

    /// Opens the newest segment again, after files were changed.
    fn reopen(&mut self) -> Result<(), LogError> {
        let storage = &*self.files.storage;
        let (newest, positions) = open_newest(storage, self.files.identity, segments(storage)?)?;

        self.allocated = newest.length;
        self.end = newest.first + positions.offsets.len() as u64;
        self.newest = newest;
        *self.files.positions.write() = positions;
        Ok(())
    }

    fn name(&self) -> String {
        self.files
            .storage
            .describe(&segment_name(self.newest.first))
    }

    fn unknown(&mut self, reason: String) -> AppendError {
        self.failed = Some(reason.clone());
        AppendError::Unknown {
            file: self.name(),
            reason,
        }
    }

    /// Returns the error for the current record, and notes its size.
    fn refuse(&mut self, source: io::Error) -> AppendError {
        self.refused = self.refused.max(self.record.len());
        AppendError::Refused {
            file: self.name(),
            source,
        }
    }

    /// Starts a new segment.
    fn roll(&mut self) -> Result<(), AppendError> {
        self.sync()?;

        let storage = self.files.storage.clone();
        // After a failure the next entry retries. It must not go to the old segment, as the new one
        // may be in place.
        let created = create(&*storage, self.end, self.files.identity);
        let (file, length) = created.map_err(|source| self.refuse(source))?;
        if let Err(error) = write_offsets(
            &*storage,
            self.newest.first,
            &self.files.positions.read().offsets,
        ) {
            tracing::warn!(
                %error,
                "failed to write the offsets of a segment; they are written when it is read"
            );
        }

        let mut positions = self.files.positions.write();
        positions.firsts.push(self.end);
        positions.offsets.clear();
        positions.length = length;
        drop(positions);

        self.newest = Newest {
            file,
            first: self.end,
            length,
        };
        self.allocated = length;
        Ok(())
    }

    /// Writes the record at the end of the file.
    fn write(&mut self) -> io::Result<()> {
        let end = self.newest.length + self.record.len() as u64;
        if self.durability == Durability::Fsync && end > self.allocated {
            let zeros = vec![0; (end + AHEAD.min(self.segment_bytes) - self.allocated) as usize];
            // Without space for the zeros there may still be enough for the record.
            if self.newest.file.write_at(&zeros, self.allocated).is_ok() {
                self.allocated += zeros.len() as u64;
            }
        }

        self.newest
            .file
            .write_at(&self.record, self.newest.length)?;
        self.allocated = self.allocated.max(end);
        Ok(())
    }

    /// Truncates the file after the last intact record.
    fn cut_off(&mut self) -> io::Result<()> {
        self.allocated = self.newest.length;
        self.newest.file.truncate(self.newest.length)
    }

    /// Writes and removes a scratch file of this size. Unlike one in the log's own file, a failure
    /// there is harmless.
    fn write_scratch(&self, size: usize) -> io::Result<()> {
        let written = self.write_probe(size);
        let removed = remove_file(&*self.files.storage, PROBE);
        written.and(removed)
    }

    fn write_probe(&self, size: usize) -> io::Result<()> {
        let file = self.files.storage.create(PROBE)?;
        let chunk = vec![0; CHUNK.min(size)];
        for at in (0..size).step_by(CHUNK) {
            file.write_at(&chunk[..CHUNK.min(size - at)], at as u64)?;
        }
        file.sync()
    }

    /// Syncs the newest segment. A failure is final: the system may have dropped the unwritten
    /// pages, and would report success on the next attempt.
    fn flush(&mut self) -> Result<(), AppendError> {
        self.newest
            .file
            .sync()
            .map_err(|error| self.unknown(error.to_string()))
    }
}

impl BlockLog for LocalLog {
    fn end(&self) -> u64 {
        self.end
    }

    fn append(&mut self, expected: u64, entry: &[u8]) -> Result<(), AppendError> {
        if let Some(reason) = self.failed.clone() {
            return Err(AppendError::Unknown {
                file: self.name(),
                reason,
            });
        }
        if expected != self.end {
            return Err(AppendError::Conflict {
                expected,
                end: self.end,
            });
        }

        self.record.clear();
        push_record(&mut self.record, self.end, entry);
        if self.record.len() > MAX_ENTRY {
            return Err(AppendError::TooLarge(self.record.len()));
        }

        // A segment has at least one entry, or the next one would have the same name.
        if self.newest.length >= self.segment_bytes && self.end > self.newest.first {
            self.roll()?;
        }

        if let Err(error) = self.write() {
            // A partial record must not precede the next entry.
            self.cut_off()
                .map_err(|_| self.unknown(error.to_string()))?;
            return Err(self.refuse(error));
        }
        if self.durability == Durability::Fsync {
            self.flush()?;
        }

        // Readers find the entry from here on.
        let mut positions = self.files.positions.write();
        positions.offsets.push(self.newest.length);
        self.newest.length += self.record.len() as u64;
        positions.length = self.newest.length;
        drop(positions);

        self.written += self.record.len() as u64;
        self.end += 1;
        if self.record.len() >= self.refused {
            self.refused = 0;
        }
        Ok(())
    }

    fn is_obstructed(&self) -> bool {
        self.refused > 0 || self.failed.is_some()
    }

    fn probe(&mut self) -> Result<(), AppendError> {
        if let Some(reason) = self.failed.clone() {
            return Err(AppendError::Unknown {
                file: self.name(),
                reason,
            });
        }

        self.record.clear();
        self.write_scratch(self.refused.max(MIN_PROBE))
            .map_err(|source| self.refuse(source))?;

        // A scratch file does not reveal a limit on the size of the log's own file.
        let zeros = vec![0; self.refused];
        let fits = self.newest.file.write_at(&zeros, self.newest.length);
        self.cut_off()
            .map_err(|error| self.unknown(error.to_string()))?;
        fits.map_err(|source| self.refuse(source))?;
        self.refused = 0;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), AppendError> {
        if self.allocated > self.newest.length
            && self.newest.file.truncate(self.newest.length).is_ok()
        {
            self.allocated = self.newest.length;
        }
        self.flush()
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn truncate(&mut self, end: u64) -> Result<Vec<String>, LogError> {
        let aside = cut(&*self.files.storage, self.files.identity, end)?;
        self.reopen()?;
        Ok(aside)
    }

    fn compact(&mut self, from: u64) -> Result<(), LogError> {
        let storage = self.files.storage.clone();
        let identity = self.files.identity;
        let firsts = self.files.positions.read().firsts.clone();
        let Some(at) = firsts
            .partition_point(|first| *first <= from)
            .checked_sub(1)
        else {
            return Ok(());
        };

        if firsts[at] < from {
            let segment = Segment::load(&*storage, firsts[at], Some(identity))?;
            rewrite(&*storage, &segment, from, identity).map_err(LogError::io(&*storage, ""))?;
        }

        // Oldest first, so that no gap appears.
        let old = firsts.iter().filter(|first| **first < from);
        old.into_iter()
            .try_for_each(|first| remove_segment(&*storage, *first))
            .map_err(LogError::io(&*storage, ""))?;
        storage.sync_names().map_err(LogError::io(&*storage, ""))?;
        self.reopen()
    }

    fn reader(&self) -> Arc<dyn ReadLog> {
        self.files.clone()
    }
}
