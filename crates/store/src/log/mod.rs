//! Order and durability: the chain is a log of [entries](LogEntry), from which everything else is
//! derived.
//!
//! The chain's writer appends to a [`BlockLog`] before a change becomes visible; any thread reads
//! entries by height with a [`ReadLog`]. A [`LogStore`] opens a log, and maintains it while no node
//! runs. [`LocalLogs`] keeps logs in files; `MemoryLog` keeps one in memory and fails on demand.
//! Knows nothing of execution.

mod ahead;
mod entry;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod local;
mod memory;

use std::{ops::Range, sync::Arc};

use alloy_primitives::B256;
use tetrad_stdx::codec::Malformed;

pub use self::{
    ahead::{DecodedEntries, DecodedEntry, decode_ahead},
    entry::{EditableParams, LogEntry, RequestPart, TimeShift, read_name},
    error::{AppendError, LogError},
    local::LocalLogs,
    memory::{Fault, Faults, MemoryLog},
};
use crate::storage::Storage;
pub(crate) use local::is_log_file;

/// The durability of an acknowledged append.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The entry is synced to the device: a power failure loses nothing that was acknowledged.
    #[default]
    Fsync,
    /// The entry is handed to the operating system, which writes it later: the end of the process
    /// loses nothing, but a power failure or a crash of the system may lose the newest blocks.
    Os,
}

/// The identity of a chain, which each of its files records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainIdentity {
    /// EVM chain id.
    pub chain_id: u64,
    /// Hash of the genesis block.
    pub genesis: B256,
}

/// An encoded entry.
#[derive(Clone, Debug)]
pub struct StoredEntry {
    /// Its height: the number of entries before it.
    pub height: u64,
    /// Its encoding.
    pub bytes: Vec<u8>,
}

impl StoredEntry {
    /// Decodes the entry.
    pub fn entry(&self) -> Result<LogEntry, LogError> {
        LogEntry::decode(&self.bytes).map_err(|error| self.malformed(error))
    }

    /// Returns the part of a request that the entry is, if it is one. Decodes nothing else.
    pub fn part(&self) -> Result<Option<RequestPart>, LogError> {
        RequestPart::split(&self.bytes)
            .map(|(part, _)| part)
            .map_err(|error| self.malformed(error))
    }

    /// Returns whether the entry is a block. Decodes nothing else.
    pub fn is_block(&self) -> bool {
        LogEntry::is_block(&self.bytes)
    }

    fn malformed(&self, error: Malformed) -> LogError {
        LogError::Malformed {
            height: self.height,
            what: error.to_string(),
        }
    }
}

/// A stream of entries, oldest first.
pub type EntryStream = Box<dyn Iterator<Item = Result<StoredEntry, LogError>> + Send>;

/// An append-only sequence of entries, as its writer sees it. An entry's height is the number of
/// entries before it.
pub trait BlockLog: Send {
    /// Returns the height of the next entry.
    fn end(&self) -> u64;

    /// Appends an [encoded](LogEntry::write) entry at height `expected`, and returns once it is as
    /// durable as configured. After an error the log is unchanged, unless the error is
    /// [`AppendError::Unknown`] or [`AppendError::Unavailable`]. [`AppendError::Conflict`] means
    /// that another writer was first: once they are [received](Self::catch_up), its entries can be
    /// [streamed](ReadLog::stream) from `expected` on.
    fn append(&mut self, expected: u64, entry: &[u8]) -> Result<(), AppendError>;

    /// Makes the entries of other writers that have arrived so far readable. Does not wait for any.
    fn receive(&mut self) -> Result<(), LogError> {
        Ok(())
    }

    /// Makes all entries readable that other writers have appended before this call.
    fn catch_up(&mut self) -> Result<(), LogError> {
        Ok(())
    }

    /// Returns whether an entry was refused, and since then neither one as large was appended nor a
    /// [probe](Self::probe) succeeded.
    fn is_obstructed(&self) -> bool;

    /// Checks whether there is space for an entry as large as the largest refused one, without
    /// appending anything.
    fn probe(&mut self) -> Result<(), AppendError>;

    /// Makes all appended entries durable, even if [`append`](Self::append) does not wait for that.
    fn sync(&mut self) -> Result<(), AppendError>;

    /// Returns the number of bytes appended since the log was opened.
    fn written(&self) -> u64;

    /// Puts the entries from height `end` on aside, which are not those of a replicated log.
    /// Returns the new paths.
    fn truncate(&mut self, end: u64) -> Result<Vec<String>, LogError>;

    /// Removes the entries before height `from`. If interrupted, it leaves at least the entries
    /// from there on.
    fn compact(&mut self, from: u64) -> Result<(), LogError>;

    /// Returns a reader of this log.
    fn reader(&self) -> Arc<dyn ReadLog>;
}

/// A reader of a log, on any thread, while its writer appends. Reading an entry verifies its
/// checksum.
pub trait ReadLog: Send + Sync {
    /// Returns the range of the entries' heights.
    fn heights(&self) -> Range<u64>;

    /// Returns the size of the entry at a height, in bytes, if it is known without reading the
    /// entry.
    fn size(&self, height: u64) -> Option<usize>;

    /// Reads the entry at a height.
    fn read(&self, height: u64) -> Result<StoredEntry, LogError>;

    /// Streams the present entries from height `from` on.
    fn stream(&self, from: u64) -> Result<EntryStream, LogError>;

    /// Makes the present entries durable.
    fn sync(&self) -> Result<(), LogError>;
}

/// The storage of a log: opens the log, and maintains it while no node has it open.
pub trait LogStore: Send + Sync {
    /// Opens the log of a chain, or creates one that begins at height `begin_at`. The rest of an
    /// append that was never acknowledged is put aside, with a warning that names its new path.
    fn open(&self, identity: ChainIdentity, begin_at: u64) -> Result<Box<dyn BlockLog>, LogError>;

    /// Reads the whole log and returns its intact extent, or `None` if there is no log.
    fn verify(&self, identity: ChainIdentity) -> Result<Option<Extent>, LogError>;

    /// Truncates the log before height `at` and puts the rest aside. Returns the new paths of the
    /// rest. Can be repeated after an interruption.
    fn cut(&self, identity: ChainIdentity, at: u64) -> Result<Vec<String>, LogError>;

    /// Copies the log to `to` while a node may be writing to it. Returns the height at which the
    /// copy ends, which is not below that of the log when the call began.
    fn backup(&self, identity: ChainIdentity, to: &dyn Storage) -> Result<u64, LogError>;
}

/// The intact part of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Heights of the intact entries.
    pub heights: Range<u64>,
    /// Heights of the reverts among them, and the heights to which they revert.
    pub reverts: Vec<(u64, u64)>,
    /// The fault of the next entry, if any.
    pub damage: Option<&'static str>,
}
