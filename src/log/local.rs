//! The log in files of its own format.
//!
//! Segments of some megabytes follow one another; the newest grows by one [record](super::Record) an entry. A file of this
//! shape beats an embedded database here: an append is one write and one `fdatasync` of a few kilobytes, where a
//! B-tree writes several pages twice, and every way in which it can end is known.

use std::{collections::VecDeque, io, sync::Arc};

use super::{
    AppendError, BlockLog, ChainIdentity, Durability, Entry, Location, LogError, ReadLog, Segment, Storage, Stored,
    StoredFile, Stream, Tail,
    record::{HEADER, Header, record_size},
    segment::{draft, establish, segment_name, segments},
    write_record,
};
use crate::codec::Writer;

/// A segment that has grown to this size gets no further entries, unless somebody says otherwise.
pub const SEGMENT_BYTES: u64 = 64 << 20;
/// Zeros that are put behind the end before entries take their place: to write into a file that is long enough is, for
/// the file system, less work than to make it longer.
const AHEAD: u64 = 1 << 20;
/// The file of a probe. What a process leaves of it when it is killed is removed at the next start, as all drafts are.
const PROBE: &str = "draft-probe";
/// The least that a probe writes: a few bytes fit behind the end of a file on a disk that has no room left.
const LEAST_PROBED: usize = 64 << 10;
/// Bytes that a probe writes at once.
const CHUNK: usize = 1 << 20;
/// The largest entry.
const MAX_ENTRY: usize = 1 << 30;

/// A log in files.
pub struct LocalLog {
    storage: Arc<dyn Storage>,
    identity: ChainIdentity,
    durability: Durability,
    segment_bytes: u64,
    file: Arc<dyn StoredFile>,
    /// Height of the first entry in `file`.
    first: u64,
    /// Bytes of intact records in `file`.
    length: u64,
    /// Bytes of `file` including the zeros behind them, as far as they are known.
    allocated: u64,
    end: u64,
    written: u64,
    /// Size of the largest record that there was no room for, until one as large is written; 0 if there is none.
    refused: usize,
    /// Why nothing more can be appended.
    failed: Option<String>,
    record: Vec<u8>,
    scratch: Writer,
}

impl LocalLog {
    /// Opens the log of a chain, or begins one at height `begin_at`. The end of a write that was never acknowledged is put aside, and the
    /// log of the program tells where.
    pub fn open(
        storage: Arc<dyn Storage>,
        identity: ChainIdentity,
        durability: Durability,
        begin_at: u64,
    ) -> Result<Self, LogError> {
        let firsts = segments(&*storage)?;
        let (file, first, length, end) = match firsts.last() {
            None => {
                let failed = |source| LogError::Io { file: storage.describe(""), source };
                let (file, length) = draft(&*storage, begin_at, identity).map_err(failed)?;
                establish(&*storage, begin_at).map_err(failed)?;
                (file, begin_at, length, begin_at)
            }
            Some(&first) => {
                let segment = Segment::load(&*storage, first, Some(identity))?;
                if segment.tail == Tail::Torn {
                    let aside = segment.cut(&*storage)?;
                    tracing::warn!(
                        height = segment.end(),
                        aside,
                        "the log ended within an entry that was never acknowledged"
                    );
                }
                let name = segment_name(first);
                let failed = |source| LogError::Io { file: storage.describe(&name), source };
                (storage.open(&name).map_err(failed)?, first, segment.length, segment.end())
            }
        };
        Ok(Self {
            storage,
            identity,
            durability,
            segment_bytes: SEGMENT_BYTES,
            file,
            first,
            length,
            allocated: length,
            end,
            written: 0,
            refused: 0,
            failed: None,
            record: Vec::new(),
            scratch: Writer::default(),
        })
    }

    /// Lets segments end at another size.
    pub fn with_segments_of(mut self, bytes: u64) -> Self {
        self.segment_bytes = bytes;
        self
    }

    fn name(&self) -> String {
        self.storage.describe(&segment_name(self.first))
    }

    fn unknown(&mut self, reason: String) -> AppendError {
        self.failed = Some(reason.clone());
        AppendError::Unknown { file: self.name(), reason }
    }

    /// The error for the record at hand, whose size is remembered.
    fn refuse(&mut self, source: io::Error) -> AppendError {
        self.refused = self.refused.max(self.record.len());
        AppendError::Refused { file: self.name(), source }
    }

    /// Begins another segment.
    fn roll(&mut self) -> Result<(), AppendError> {
        self.sync()?;
        let (file, length) = draft(&*self.storage, self.end, self.identity).map_err(|source| self.refuse(source))?;
        // Were this to fail, the next entry tries again: none goes to the old segment, which an empty new one could hide.
        establish(&*self.storage, self.end).map_err(|source| self.refuse(source))?;
        (self.file, self.length, self.allocated, self.first) = (file, length, length, self.end);
        Ok(())
    }

    /// Writes the record at the end of the file.
    fn write(&mut self) -> io::Result<()> {
        let end = self.length + self.record.len() as u64;
        if self.durability == Durability::Fsync && end > self.allocated {
            let zeros = vec![0; (end + AHEAD.min(self.segment_bytes) - self.allocated) as usize];
            // Without room for zeros there may still be some for the record.
            if self.file.write_at(&zeros, self.allocated).is_ok() {
                self.allocated += zeros.len() as u64;
            }
        }
        self.file.write_at(&self.record, self.length)?;
        self.allocated = self.allocated.max(end);
        Ok(())
    }

    /// Removes everything behind the last intact record.
    fn cut_off(&mut self) -> io::Result<()> {
        self.allocated = self.length;
        self.file.truncate(self.length)
    }

    /// Puts a file of this size on disk and removes it. A failure of that harms nothing, unlike one of the log's file.
    fn write_scratch(&self, size: usize) -> io::Result<()> {
        let write = || -> io::Result<()> {
            let file = self.storage.create(PROBE)?;
            let chunk = vec![0; CHUNK.min(size)];
            for at in (0..size).step_by(CHUNK) {
                file.write_at(&chunk[..CHUNK.min(size - at)], at as u64)?;
            }
            file.sync()
        };
        let written = write();
        match self.storage.remove(PROBE) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => written.and(Err(error)),
            _ => written,
        }
    }

    /// After a failure the system may have dropped what it could not write and say nothing about it the next time. So
    /// there is no next time.
    fn flush(&mut self) -> Result<(), AppendError> {
        self.file.sync().map_err(|error| self.unknown(error.to_string()))
    }
}

impl BlockLog for LocalLog {
    fn end(&self) -> u64 {
        self.end
    }

    fn append(&mut self, expected: u64, entry: &Entry) -> Result<Location, AppendError> {
        if let Some(reason) = self.failed.clone() {
            return Err(AppendError::Unknown { file: self.name(), reason });
        }
        if expected != self.end {
            return Err(AppendError::Conflict { expected, end: self.end });
        }
        self.record.clear();
        write_record(&mut self.record, &mut self.scratch, self.end, |out| entry.write(out));
        if self.record.len() > MAX_ENTRY {
            return Err(AppendError::TooLarge(self.record.len()));
        }
        if self.length >= self.segment_bytes && self.end > self.first {
            self.roll()?;
        }
        if let Err(error) = self.write() {
            // What was written of it must not stand in front of the next entry.
            self.cut_off().map_err(|_| self.unknown(error.to_string()))?;
            return Err(self.refuse(error));
        }
        if self.durability == Durability::Fsync {
            self.flush()?;
        }
        let location = Location { height: self.end, segment: self.first, offset: self.length };
        self.length += self.record.len() as u64;
        self.written += self.record.len() as u64;
        self.end += 1;
        if self.record.len() >= self.refused {
            self.refused = 0;
        }
        Ok(location)
    }

    fn is_obstructed(&self) -> bool {
        self.refused > 0 || self.failed.is_some()
    }

    fn probe(&mut self) -> Result<(), AppendError> {
        if let Some(reason) = self.failed.clone() {
            return Err(AppendError::Unknown { file: self.name(), reason });
        }
        self.record.clear();
        self.write_scratch(self.refused.max(LEAST_PROBED)).map_err(|source| self.refuse(source))?;
        // A limit on the size of a file is one that a file of its own does not meet.
        let zeros = vec![0; self.refused];
        let fits = self.file.write_at(&zeros, self.length);
        self.cut_off().map_err(|error| self.unknown(error.to_string()))?;
        fits.map_err(|source| self.refuse(source))?;
        self.refused = 0;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), AppendError> {
        if self.allocated > self.length && self.file.truncate(self.length).is_ok() {
            self.allocated = self.length;
        }
        self.flush()
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn stream(&self, from: u64) -> Result<Stream, LogError> {
        let firsts = segments(&*self.storage)?;
        let at = firsts.partition_point(|first| *first <= from).checked_sub(1);
        let Some(at) = at else {
            let place = self.storage.describe("");
            return Err(LogError::Missing { from, to: firsts.first().copied().unwrap_or(0), place });
        };
        Ok(Box::new(LocalStream {
            storage: self.storage.clone(),
            identity: self.identity,
            firsts: firsts[at..].iter().copied().collect(),
            segment: None,
            next: from,
            end: self.end,
        }))
    }

    fn reader(&self) -> Arc<dyn ReadLog> {
        Arc::new(LocalReader { storage: self.storage.clone() })
    }
}

/// The entries of a log, one segment in memory at a time.
struct LocalStream {
    storage: Arc<dyn Storage>,
    identity: ChainIdentity,
    firsts: VecDeque<u64>,
    segment: Option<Segment>,
    next: u64,
    end: u64,
}

impl LocalStream {
    fn advance(&mut self) -> Result<Option<Stored>, LogError> {
        while self.next < self.end {
            if let Some(stored) = self.segment.as_ref().and_then(|segment| segment.get(self.next)) {
                self.next += 1;
                return Ok(Some(stored));
            }
            let missing = |to| LogError::Missing { from: self.next, to, place: self.storage.describe("") };
            let first = self.firsts.pop_front().ok_or_else(|| missing(self.end))?;
            if first > self.next {
                return Err(missing(first));
            }
            let segment = Segment::load(&*self.storage, first, Some(self.identity))?;
            if !self.firsts.is_empty() {
                segment.expect_clean()?;
            }
            // Where compacting was interrupted, two segments may hold the same.
            if segment.end() > self.next {
                self.segment = Some(segment);
            }
        }
        Ok(None)
    }
}

impl Iterator for LocalStream {
    type Item = Result<Stored, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.advance().transpose();
        if matches!(item, Some(Err(_))) {
            // What comes after a gap is of no use.
            self.end = self.next;
        }
        item
    }
}

/// Reads single entries of a log in files.
pub struct LocalReader {
    storage: Arc<dyn Storage>,
}

impl LocalReader {
    /// A reader of the log in this storage.
    pub fn new(storage: Arc<dyn Storage>) -> Self {
        Self { storage }
    }
}

impl ReadLog for LocalReader {
    fn read(&self, location: Location) -> Result<Entry, LogError> {
        let Location { height, segment, offset } = location;
        let place = || self.storage.describe(&segment_name(segment));
        let failed = |source| LogError::Io { file: place(), source };
        let damaged = |what| LogError::Damaged { file: place(), offset, height, what };
        let file = self.storage.open(&segment_name(segment)).map_err(failed)?;
        let mut head = [0; HEADER];
        file.read_at(&mut head, offset).map_err(failed)?;
        let header = Header::read(&head).filter(|header| header.sequence == height && header.length <= MAX_ENTRY);
        let header = header.ok_or_else(|| damaged("the head of a record does not fit its checksum"))?;
        let mut bytes = vec![0; record_size(header.length) - HEADER];
        file.read_at(&mut bytes, offset + HEADER as u64).map_err(failed)?;
        let payload = header.payload(&bytes).ok_or_else(|| damaged("a record does not fit its checksum"))?;
        Entry::decode(payload).map_err(|error| LogError::Malformed { height, what: error.to_string() })
    }
}
