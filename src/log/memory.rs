//! The log in memory: for tests, which tell it when to fail.

use std::{collections::VecDeque, io, sync::Arc};

use parking_lot::Mutex;

use super::{AppendError, BlockLog, Entry, Location, LogError, ReadLog, Stored, Stream};
use crate::codec::Writer;

/// What becomes of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It goes well.
    None,
    /// Somebody else was first.
    Conflict,
    /// There is no room.
    Full,
    /// The entry may be there or not.
    Unknown,
}

/// The outcomes of the next appends and probes, in order; all later ones succeed.
pub type Faults = Arc<Mutex<VecDeque<Fault>>>;

type Entries = Arc<Mutex<Vec<Vec<u8>>>>;

/// A log in memory. Entries are encoded all the same. Clones share it.
#[derive(Clone, Default)]
pub struct MemoryLog {
    entries: Entries,
    faults: Faults,
    /// Size of the largest entry that there was no room for, until one as large is appended.
    refused: usize,
}

impl MemoryLog {
    /// What becomes of the next appends.
    pub fn faults(&self) -> Faults {
        self.faults.clone()
    }

    /// The next fault, for an entry of this size.
    fn fail(&mut self, expected: u64, size: usize) -> Result<(), AppendError> {
        let file = || "memory".to_owned();
        match self.faults.lock().pop_front() {
            Some(Fault::Conflict) => Err(AppendError::Conflict { expected, end: self.end() + 1 }),
            Some(Fault::Full) => {
                self.refused = self.refused.max(size);
                Err(AppendError::Refused { file: file(), source: io::ErrorKind::StorageFull.into() })
            }
            Some(Fault::Unknown) => Err(AppendError::Unknown { file: file(), reason: "no answer".to_owned() }),
            Some(Fault::None) | None => Ok(()),
        }
    }
}

impl BlockLog for MemoryLog {
    fn end(&self) -> u64 {
        self.entries.lock().len() as u64
    }

    fn append(&mut self, expected: u64, entry: &Entry) -> Result<Location, AppendError> {
        let end = self.end();
        let mut out = Writer::default();
        entry.write(&mut out);
        self.fail(expected, out.len())?;
        if expected != end {
            return Err(AppendError::Conflict { expected, end });
        }
        if out.len() >= self.refused {
            self.refused = 0;
        }
        self.entries.lock().push(out.into_bytes());
        Ok(Location { height: end, segment: 0, offset: end })
    }

    fn is_obstructed(&self) -> bool {
        self.refused > 0
    }

    fn probe(&mut self) -> Result<(), AppendError> {
        self.fail(self.end(), self.refused)?;
        self.refused = 0;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), AppendError> {
        Ok(())
    }

    fn written(&self) -> u64 {
        self.entries.lock().iter().map(|entry| entry.len() as u64).sum()
    }

    fn stream(&self, from: u64) -> Result<Stream, LogError> {
        let entries = self.entries.lock().clone();
        let stored = entries.into_iter().enumerate().map(|(height, bytes)| {
            let height = height as u64;
            Ok(Stored { location: Location { height, segment: 0, offset: height }, bytes })
        });
        Ok(Box::new(stored.skip(from as usize)))
    }

    fn reader(&self) -> Arc<dyn ReadLog> {
        Arc::new(self.clone())
    }
}

impl ReadLog for MemoryLog {
    fn read(&self, location: Location) -> Result<Entry, LogError> {
        let bytes = self.entries.lock().get(location.height as usize).cloned().unwrap_or_default();
        Stored { location, bytes }.entry()
    }
}
