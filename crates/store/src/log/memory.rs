//! A log in memory for tests, which fails on demand. Its clones are writers of the same log.

use std::{collections::VecDeque, io, ops::Range, sync::Arc};

use parking_lot::Mutex;

use super::{
    AppendError, BlockLog, ChainIdentity, EntryStream, Extent, LogEntry, LogError, LogStore,
    ReadLog, StoredEntry,
};
use crate::storage::Storage;

/// The outcome of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The append succeeds.
    None,
    /// The append fails for lack of space.
    Full,
    /// The append fails, and whether the entry was appended is unknown.
    Unknown,
    /// There is no answer, and the entry was not appended.
    Lost,
    /// There is no answer, but the entry was appended.
    Unanswered,
}

/// The outcomes of the next appends and probes, in order; all later ones succeed.
pub type Faults = Arc<Mutex<VecDeque<Fault>>>;

type Entries = Arc<Mutex<Vec<Vec<u8>>>>;

/// A log of encoded entries in memory that begins at height 0 and is never compacted. Clones share
/// the entries: each is another writer.
#[derive(Clone, Default)]
pub struct MemoryLog {
    entries: Entries,
    faults: Faults,
    /// Size of the largest refused entry, until one as large is appended.
    refused: usize,
}

impl MemoryLog {
    /// Returns the queue of outcomes of the next appends.
    pub fn faults(&self) -> Faults {
        self.faults.clone()
    }

    /// Applies the next fault to an entry of this size. Returns whether there is an answer about
    /// the entry.
    fn fail(&mut self, size: usize) -> Result<bool, AppendError> {
        const FILE: &str = "memory";
        match self.faults.lock().pop_front() {
            Some(Fault::Full) => {
                self.refused = self.refused.max(size);
                Err(AppendError::Refused {
                    file: FILE.to_owned(),
                    source: io::ErrorKind::StorageFull.into(),
                })
            }
            Some(Fault::Unknown) => Err(AppendError::Unknown {
                file: FILE.to_owned(),
                reason: "no answer".to_owned(),
            }),
            Some(Fault::Lost) => Err(AppendError::Unavailable("no answer".to_owned())),
            Some(Fault::Unanswered) => Ok(false),
            Some(Fault::None) | None => Ok(true),
        }
    }
}

impl BlockLog for MemoryLog {
    fn end(&self) -> u64 {
        self.entries.lock().len() as u64
    }

    fn append(&mut self, expected: u64, entry: &[u8]) -> Result<(), AppendError> {
        let is_answered = self.fail(entry.len())?;
        let mut entries = self.entries.lock();
        let end = entries.len() as u64;
        if expected != end {
            return Err(AppendError::Conflict { expected, end });
        }

        if entry.len() >= self.refused {
            self.refused = 0;
        }

        entries.push(entry.to_vec());
        if is_answered {
            Ok(())
        } else {
            Err(AppendError::Unavailable("no answer".to_owned()))
        }
    }

    fn is_obstructed(&self) -> bool {
        self.refused > 0
    }

    fn probe(&mut self) -> Result<(), AppendError> {
        self.fail(self.refused)?;
        self.refused = 0;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), AppendError> {
        Ok(())
    }

    fn written(&self) -> u64 {
        self.entries
            .lock()
            .iter()
            .map(|entry| entry.len() as u64)
            .sum()
    }

    fn truncate(&mut self, end: u64) -> Result<Vec<String>, LogError> {
        self.entries.lock().truncate(end as usize);
        Ok(Vec::new())
    }

    fn compact(&mut self, _: u64) -> Result<(), LogError> {
        Ok(())
    }

    fn reader(&self) -> Arc<dyn ReadLog> {
        Arc::new(self.clone())
    }
}

impl ReadLog for MemoryLog {
    fn heights(&self) -> Range<u64> {
        0..self.end()
    }

    fn size(&self, height: u64) -> Option<usize> {
        self.entries.lock().get(height as usize).map(Vec::len)
    }

    fn read(&self, height: u64) -> Result<StoredEntry, LogError> {
        let bytes = self.entries.lock().get(height as usize).cloned();
        let Some(bytes) = bytes else {
            return Err(LogError::Missing {
                from: height,
                to: self.end(),
                place: "memory".to_owned(),
            });
        };
        Ok(StoredEntry { height, bytes })
    }

    fn stream(&self, from: u64) -> Result<EntryStream, LogError> {
        let entries = self.entries.lock().clone();
        let stored = entries
            .into_iter()
            .zip(0..)
            .map(|(bytes, height)| Ok(StoredEntry { height, bytes }));
        Ok(Box::new(stored.skip(from as usize)))
    }

    fn sync(&self) -> Result<(), LogError> {
        Ok(())
    }
}

impl LogStore for MemoryLog {
    fn open(&self, _: ChainIdentity, _: u64) -> Result<Box<dyn BlockLog>, LogError> {
        Ok(Box::new(self.clone()))
    }

    fn verify(&self, _: ChainIdentity) -> Result<Option<Extent>, LogError> {
        let mut extent = Extent {
            heights: self.heights(),
            ..Extent::default()
        };
        for stored in self.stream(0)? {
            let stored = stored?;
            if let LogEntry::Revert { to, .. } = stored.entry()? {
                extent.reverts.push((stored.height, to));
            }
        }
        Ok(Some(extent))
    }

    fn cut(&self, _: ChainIdentity, at: u64) -> Result<Vec<String>, LogError> {
        self.entries.lock().truncate(at as usize);
        Ok(Vec::new())
    }

    fn backup(&self, _: ChainIdentity, _: &dyn Storage) -> Result<u64, LogError> {
        Err(LogError::Io {
            file: "memory".to_owned(),
            source: io::ErrorKind::Unsupported.into(),
        })
    }
}
