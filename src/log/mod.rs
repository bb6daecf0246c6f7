//! Order and durability: the chain is a log of [entries](Entry), and everything else is derived from it.
//!
//! [`BlockLog`] is what the chain's writer appends to before anybody sees what it did. [`LocalLog`] keeps it in files;
//! [`MemoryLog`] keeps it in memory and fails when it is told to. Knows nothing of execution.

mod entry;
mod error;
mod local;
mod memory;
mod record;
mod segment;
mod storage;

use alloy_primitives::B256;

pub use entry::{Entry, Parameters, Shift};
pub use error::{AppendError, LogError};
pub use local::{LocalLog, LocalReader, SEGMENT_BYTES};
pub use memory::{Fault, Faults, MemoryLog};
pub use record::{Record, Records, Tail, read_record, write_record};
pub use segment::{Segment, rewrite, segment_name, segments};
pub use storage::{Directory, Storage, StoredFile, read_file, replace_file, with_draft};

/// What has to be on disk before something is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Everything, on the device: nothing that was acknowledged is lost when the power fails.
    #[default]
    Fsync,
    /// The system has everything, and writes it when it likes: nothing is lost when the process ends in whatever way,
    /// but the newest blocks may be when the power fails or the system crashes.
    Os,
}

/// Which chain a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainIdentity {
    /// EVM chain id.
    pub chain_id: u64,
    /// Hash of the first block.
    pub genesis: B256,
}

/// Where an entry stands: enough to read it without looking for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Height of the entry.
    pub height: u64,
    /// Height of the first entry in the same file.
    pub segment: u64,
    /// Where in the file.
    pub offset: u64,
}

/// An entry as it is kept.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Where it stands.
    pub location: Location,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Stored {
    /// The entry.
    pub fn entry(&self) -> Result<Entry, LogError> {
        Entry::decode(&self.bytes)
            .map_err(|error| LogError::Malformed { height: self.location.height, what: error.to_string() })
    }
}

/// Entries from some height on, oldest first.
pub type Stream = Box<dyn Iterator<Item = Result<Stored, LogError>> + Send>;

/// An append-only sequence of entries with one writer. An entry's height is how many come before it.
pub trait BlockLog: Send {
    /// The height that the next entry gets.
    fn end(&self) -> u64;

    /// Appends an entry at `expected`, and returns once it is as durable as this log makes it. After an error the log
    /// is as it was, unless the error says that nobody knows.
    fn append(&mut self, expected: u64, entry: &Entry) -> Result<Location, AppendError>;

    /// Whether an entry was refused, and since then neither one as large was appended nor a [probe](Self::probe)
    /// succeeded.
    fn is_obstructed(&self) -> bool;

    /// Checks whether there is room for an entry as large as the largest that was refused, without appending anything.
    fn probe(&mut self) -> Result<(), AppendError>;

    /// Makes everything appended so far durable, even where [`append`](Self::append) does not wait for that.
    fn sync(&mut self) -> Result<(), AppendError>;

    /// Bytes appended since the log was opened.
    fn written(&self) -> u64;

    /// What is in the log from height `from` on.
    fn stream(&self, from: u64) -> Result<Stream, LogError>;

    /// Reads single entries, on any thread.
    fn reader(&self) -> std::sync::Arc<dyn ReadLog>;
}

/// Reads single entries of a log.
pub trait ReadLog: Send + Sync {
    /// The entry that stands there.
    fn read(&self, location: Location) -> Result<Entry, LogError>;
}
