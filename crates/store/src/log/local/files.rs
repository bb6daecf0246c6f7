//! The files of a log and the positions of its entries, shared by its writer and its readers.

use std::{collections::VecDeque, io, ops::Range, sync::Arc};

use parking_lot::RwLock;

use super::{
    segment::{Segment, segment_name},
    stream::LocalStream,
};
use crate::{
    log::{ChainIdentity, EntryStream, LogError, ReadLog, StoredEntry},
    storage::{
        Records, Storage, StoredFile, read_length_at, read_record_at, remove_file, with_draft,
    },
};

/// The largest encoding of an entry, in bytes.
pub(super) const MAX_ENTRY: usize = 1 << 30;
/// Bytes of the newest segment that are read at once.
const READ_SIZE: u64 = 1 << 20;
/// Size of one offset in bytes.
const WORD: usize = 8;

/// The files of an open log.
pub(super) struct LogFiles {
    pub(super) storage: Arc<dyn Storage>,
    pub(super) identity: ChainIdentity,
    pub(super) positions: RwLock<Positions>,
}

/// The positions of the entries.
pub(super) struct Positions {
    /// Heights of the segments' first entries, in ascending order. There is always one.
    pub(super) firsts: Vec<u64>,
    /// Offsets of the entries in the newest segment.
    pub(super) offsets: Vec<u64>,
    /// Length of its records in bytes.
    pub(super) length: u64,
}

impl Positions {
    /// Returns the height of the newest segment's first entry.
    fn newest(&self) -> u64 {
        self.firsts.last().copied().unwrap_or_default()
    }

    fn heights(&self) -> Range<u64> {
        self.firsts.first().copied().unwrap_or_default()..self.newest() + self.offsets.len() as u64
    }
}

/// Returns the name of the file with the offsets of a segment's entries, eight bytes each,
/// little-endian.
fn offsets_name(first: u64) -> String {
    format!("offsets-{first:020}")
}

/// Writes the offsets of a segment that no longer grows. Not synced: a lost or torn file is
/// rebuilt.
pub(super) fn write_offsets(storage: &dyn Storage, first: u64, offsets: &[u64]) -> io::Result<()> {
    let bytes: Vec<u8> = offsets
        .iter()
        .flat_map(|offset| offset.to_le_bytes())
        .collect();
    with_draft(storage, &offsets_name(first), |file| {
        file.write_at(&bytes, 0)
    })
}

/// Removes the file of offsets of a segment, if there is one.
pub(super) fn remove_offsets(storage: &dyn Storage, first: u64) -> io::Result<()> {
    remove_file(storage, &offsets_name(first))
}

/// Removes a segment and its file of offsets.
pub(super) fn remove_segment(storage: &dyn Storage, first: u64) -> io::Result<()> {
    storage.remove(&segment_name(first))?;
    remove_offsets(storage, first)
}

/// A segment that is open for reading.
struct OpenSegment {
    file: Arc<dyn StoredFile>,
    /// Its path, for errors.
    place: String,
}

impl OpenSegment {
    fn open(storage: &dyn Storage, first: u64) -> Result<Self, LogError> {
        let name = segment_name(first);
        let file = storage.open(&name).map_err(LogError::io(storage, &name))?;
        let place = storage.describe(&name);
        Ok(Self { file, place })
    }

    /// Reads the entry at an offset.
    fn read_at(&self, offset: u64, height: u64) -> Result<StoredEntry, LogError> {
        match read_record_at(&*self.file, offset, height, MAX_ENTRY) {
            Ok(Ok(bytes)) => Ok(StoredEntry { height, bytes }),
            Ok(Err(what)) => Err(LogError::Damaged {
                file: self.place.clone(),
                offset,
                height,
                what,
            }),
            Err(source) => Err(LogError::Io {
                file: self.place.clone(),
                source,
            }),
        }
    }
}

/// The newest entries, read in pieces without the rest of their segment.
struct NewestEntries {
    segment: OpenSegment,
    /// Height of the next entry.
    next: u64,
    /// Offsets of the next entries.
    offsets: VecDeque<u64>,
    /// Offset of the end of the last one.
    end: u64,
    /// A piece of the segment, and its offset.
    piece: Vec<u8>,
    piece_at: u64,
}

impl NewestEntries {
    fn read(&mut self, offset: u64, end: u64) -> Result<StoredEntry, LogError> {
        if offset < self.piece_at || end > self.piece_at + self.piece.len() as u64 {
            let size = READ_SIZE.max(end - offset).min(self.end - offset);
            self.piece.resize(size as usize, 0);
            self.piece_at = offset;
            let read = self.segment.file.read_at(&mut self.piece, offset);
            read.map_err(|source| LogError::Io {
                file: self.segment.place.clone(),
                source,
            })?;
        }

        let from = (offset - self.piece_at) as usize;
        let to = (end - self.piece_at) as usize;
        let record = Records::new(&self.piece[from..to])
            .next()
            .filter(|record| record.sequence == self.next);
        let bytes = record
            .map(|record| record.payload.to_vec())
            .ok_or_else(|| LogError::Damaged {
                file: self.segment.place.clone(),
                offset,
                height: self.next,
                what: "a record does not match its checksum",
            })?;

        Ok(StoredEntry {
            height: self.next,
            bytes,
        })
    }
}

impl Iterator for NewestEntries {
    type Item = Result<StoredEntry, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.offsets.pop_front()?;
        let entry = self.read(offset, self.offsets.front().copied().unwrap_or(self.end));
        self.next += 1;
        if entry.is_err() {
            // Entries after a gap are useless.
            self.offsets.clear();
        }
        Some(entry)
    }
}

impl LogFiles {
    /// Returns the first height of the segment that has an entry, and the entry's offset there, if
    /// that is in memory.
    fn position(&self, height: u64) -> Result<(u64, Option<u64>), LogError> {
        let positions = self.positions.read();
        let heights = positions.heights();
        if !heights.contains(&height) {
            return Err(LogError::Missing {
                from: height,
                to: heights.start,
                place: self.storage.describe(""),
            });
        }

        let at = positions.firsts.partition_point(|first| *first <= height);
        let first = at
            .checked_sub(1)
            .and_then(|at| positions.firsts.get(at))
            .copied()
            .unwrap_or_default();

        // Only those of the newest segment are in memory.
        let offset = positions
            .offsets
            .get((height - first) as usize)
            .filter(|_| first == positions.newest());
        Ok((first, offset.copied()))
    }

    /// Reads the entry at an offset of a segment.
    fn read_at(&self, first: u64, offset: u64, height: u64) -> Result<StoredEntry, LogError> {
        OpenSegment::open(&*self.storage, first)?.read_at(offset, height)
    }

    /// Reads the offset of an entry of a segment that no longer grows from the file of offsets.
    fn stored_offset(&self, first: u64, height: u64) -> io::Result<u64> {
        let mut word = [0; WORD];
        let file = self.storage.open(&offsets_name(first))?;
        file.read_at(&mut word, (height - first) * WORD as u64)?;
        Ok(u64::from_le_bytes(word))
    }

    /// Finds the offset of an entry in the segment itself, and writes the file of offsets.
    fn found_offset(&self, first: u64, height: u64) -> Result<u64, LogError> {
        let segment = Segment::load(&*self.storage, first, Some(self.identity))?;
        self.keep_offsets(&segment);

        segment
            .offsets
            .get((height - first) as usize)
            .copied()
            .ok_or_else(|| LogError::Missing {
                from: segment.end(),
                to: height + 1,
                place: self.storage.describe(""),
            })
    }

    /// Checks that every entry is in a segment.
    pub(super) fn expect_complete(&self) -> Result<(), LogError> {
        let firsts = self.positions.read().firsts.clone();
        for pair in firsts.windows(2) {
            let first = pair[0];
            let to = pair[1];
            let known = self
                .storage
                .open(&offsets_name(first))
                .and_then(|file| file.length());

            // Offsets are written once their segment is complete, so that their number is enough.
            if known.is_ok_and(|length| first + length / WORD as u64 >= to) {
                continue;
            }

            let segment = Segment::load(&*self.storage, first, Some(self.identity))?;
            if segment.end() < to {
                return Err(LogError::Missing {
                    from: segment.end(),
                    to,
                    place: self.storage.describe(""),
                });
            }
            self.keep_offsets(&segment);
        }
        Ok(())
    }

    fn keep_offsets(&self, segment: &Segment) {
        if let Err(error) = write_offsets(&*self.storage, segment.first, &segment.offsets) {
            tracing::warn!(
                %error,
                "failed to write the offsets of a segment; reading from it is slow"
            );
        }
    }
}

impl ReadLog for LogFiles {
    fn heights(&self) -> Range<u64> {
        self.positions.read().heights()
    }

    fn size(&self, height: u64) -> Option<usize> {
        let (first, offset) = self.position(height).ok()?;
        let offset = offset.or_else(|| self.stored_offset(first, height).ok())?;
        let segment = OpenSegment::open(&*self.storage, first).ok()?;
        read_length_at(&*segment.file, offset, height, MAX_ENTRY).ok()?
    }

    fn read(&self, height: u64) -> Result<StoredEntry, LogError> {
        let (first, offset) = self.position(height)?;
        if let Some(offset) = offset {
            return self.read_at(first, offset, height);
        }

        match self
            .stored_offset(first, height)
            .map(|offset| self.read_at(first, offset, height))
        {
            Ok(Ok(stored)) => Ok(stored),
            // Either the file of offsets is missing or wrong, or the segment is damaged. Loading
            // the segment decides.
            _ => self.read_at(first, self.found_offset(first, height)?, height),
        }
    }

    fn stream(&self, from: u64) -> Result<EntryStream, LogError> {
        let positions = self.positions.read();
        let end = positions.heights().end;
        let Some(at) = positions
            .firsts
            .partition_point(|first| *first <= from)
            .checked_sub(1)
        else {
            return Err(LogError::Missing {
                from,
                to: positions.heights().start,
                place: self.storage.describe(""),
            });
        };

        let newest = positions.newest();
        // The newest segment grows: the entries that are complete by now count.
        if from >= newest {
            let skipped = usize::try_from(from - newest).unwrap_or(usize::MAX);
            let offsets: VecDeque<_> = positions.offsets.iter().skip(skipped).copied().collect();
            if offsets.is_empty() {
                return Ok(Box::new(std::iter::empty()));
            }

            return Ok(Box::new(NewestEntries {
                segment: OpenSegment::open(&*self.storage, newest)?,
                next: from,
                offsets,
                end: positions.length,
                piece: Vec::new(),
                piece_at: 0,
            }));
        }

        let firsts = positions.firsts[at..].iter().copied().collect();
        Ok(Box::new(LocalStream::new(
            self.storage.clone(),
            self.identity,
            firsts,
            from,
            end,
        )))
    }

    fn sync(&self) -> Result<(), LogError> {
        // Older segments are already synced: each is before the second one after it is created.
        let firsts = self.positions.read().firsts.clone();
        for first in firsts.iter().rev().take(2) {
            let name = segment_name(*first);
            self.storage
                .open(&name)
                .and_then(|file| file.sync())
                .map_err(LogError::io(&*self.storage, &name))?;
        }
        Ok(())
    }
}
