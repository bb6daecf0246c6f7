//! Order and durability: the chain is a log of [entries](Entry), and everything else is derived from it.
//!
//! The chain's writer appends to a [`BlockLog`] before a change becomes visible; any thread reads entries by height with
//! a [`ReadLog`]. A [`LogStore`] opens a log and maintains it while no node runs. [`LocalLogs`] keeps logs in files;
//! [`MemoryLog`] keeps one in memory and fails on demand. Knows nothing of execution.

mod entry;
mod error;
mod local;
mod memory;

use std::{ops::Range, sync::Arc};

use alloy_primitives::B256;

pub use self::{
    entry::{Entry, Parameters, Shift},
    error::{AppendError, LogError},
    local::{LocalLogs, is_log_file},
    memory::{Fault, Faults, MemoryLog},
};
use crate::storage::Storage;

/// What is on disk when an append is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Everything is on the device: a power failure loses nothing that was acknowledged.
    #[default]
    Fsync,
    /// The operating system has everything and writes it at its leisure: the end of the process loses nothing, but a
    /// power failure or a crash of the system may lose the newest blocks.
    Os,
}

/// The chain that a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainIdentity {
    /// EVM chain id.
    pub chain_id: u64,
    /// Hash of the first block.
    pub genesis: B256,
}

/// An entry as it is kept.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its height: the number of entries before it.
    pub height: u64,
    /// Its encoding.
    pub bytes: Vec<u8>,
}

impl Stored {
    /// Decodes the entry.
    pub fn entry(&self) -> Result<Entry, LogError> {
        Entry::decode(&self.bytes).map_err(|error| LogError::Malformed { height: self.height, what: error.to_string() })
    }
}

/// Entries from some height on, oldest first.
pub type Stream = Box<dyn Iterator<Item = Result<Stored, LogError>> + Send>;

/// An append-only sequence of entries, as its writer sees it. An entry's height is the number of entries before it.
pub trait BlockLog: Send {
    /// The height that the next entry gets.
    fn end(&self) -> u64;

    /// Appends an entry at height `expected`, and returns once it is as durable as this log makes it. After an error the
    /// log is unchanged, unless the error is [`AppendError::Unknown`]. [`AppendError::Conflict`] means that another
    /// writer was first: its entries are there to be [streamed](ReadLog::stream) from `expected` on.
    fn append(&mut self, expected: u64, entry: &Entry) -> Result<(), AppendError>;

    /// Whether an entry was refused, and since then neither one as large was appended nor a [probe](Self::probe)
    /// succeeded.
    fn is_obstructed(&self) -> bool;

    /// Checks whether there is room for an entry as large as the largest that was refused, without appending anything.
    fn probe(&mut self) -> Result<(), AppendError>;

    /// Makes everything appended so far durable, even where [`append`](Self::append) does not wait for that.
    fn sync(&mut self) -> Result<(), AppendError>;

    /// Bytes appended since the log was opened.
    fn written(&self) -> u64;

    /// Removes the entries before height `from`. Interrupted at any moment, it leaves at least the entries from there on.
    fn compact(&mut self, from: u64) -> Result<(), LogError>;

    /// A reader of this log.
    fn reader(&self) -> Arc<dyn ReadLog>;
}

/// Reads a log, on any thread, while its writer appends to it. Reading an entry checks that it is what was written.
pub trait ReadLog: Send + Sync {
    /// Heights of the entries that are there.
    fn heights(&self) -> Range<u64>;

    /// The entry at a height.
    fn read(&self, height: u64) -> Result<Stored, LogError>;

    /// The entries from height `from` on that are there now.
    fn stream(&self, from: u64) -> Result<Stream, LogError>;

    /// Makes the entries that are there now durable.
    fn sync(&self) -> Result<(), LogError>;
}

/// The place where chains keep their logs: opens them, and maintains one that no node has open.
pub trait LogStore: Send + Sync {
    /// Opens the log of a chain, or begins one at height `begin_at`. The rest of an append that was never acknowledged is
    /// put aside, with a warning that names its new place.
    fn open(&self, identity: ChainIdentity, begin_at: u64) -> Result<Box<dyn BlockLog>, LogError>;

    /// Reads the whole log and reports how far it is intact; none if there is no log.
    fn verify(&self, identity: ChainIdentity) -> Result<Option<Extent>, LogError>;

    /// Cuts the log off before height `at` and puts the rest aside. Returns the new places of what was cut off.
    /// Interrupted at any moment, it can be repeated.
    fn cut(&self, identity: ChainIdentity, at: u64) -> Result<Vec<String>, LogError>;

    /// Copies the log to `to` while a node may be writing to it. Returns the height at which the copy ends, which is at
    /// least that of the log when the call began.
    fn backup(&self, identity: ChainIdentity, to: &dyn Storage) -> Result<u64, LogError>;
}

/// The intact part of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Heights of the intact entries.
    pub heights: Range<u64>,
    /// Heights of the reverts among them, and the heights that they go back to.
    pub reverts: Vec<(u64, u64)>,
    /// What is wrong with the next entry, if anything is.
    pub damage: Option<&'static str>,
}
