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

/// What becomes of the next appends, in order; afterwards they go well.
pub type Faults = Arc<Mutex<VecDeque<Fault>>>;

type Entries = Arc<Mutex<Vec<Vec<u8>>>>;

/// A log in memory. Entries are encoded all the same. Clones share it.
#[derive(Clone, Default)]
pub struct MemoryLog {
    entries: Entries,
    faults: Faults,
}

impl MemoryLog {
    /// What becomes of the next appends.
    pub fn faults(&self) -> Faults {
        self.faults.clone()
    }
}

impl BlockLog for MemoryLog {
    fn end(&self) -> u64 {
        self.entries.lock().len() as u64
    }

    fn append(&mut self, expected: u64, entry: &Entry) -> Result<Location, AppendError> {
        let file = || "memory".to_owned();
        let end = self.end();
        match self.faults.lock().pop_front() {
            Some(Fault::Conflict) => return Err(AppendError::Conflict { expected, end: end + 1 }),
            Some(Fault::Full) => {
                return Err(AppendError::Refused { file: file(), source: io::ErrorKind::StorageFull.into() });
            }
            Some(Fault::Unknown) => return Err(AppendError::Unknown { file: file(), reason: "no answer".to_owned() }),
            Some(Fault::None) | None => {}
        }
        if expected != end {
            return Err(AppendError::Conflict { expected, end });
        }
        let mut out = Writer::default();
        entry.write(&mut out);
        self.entries.lock().push(out.into_bytes());
        Ok(Location { height: end, segment: 0, offset: end })
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
