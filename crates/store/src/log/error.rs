//! Errors of appending to a log and of reading one.

use std::io;

use alloy_primitives::B256;
use serde::{Deserialize, Serialize};

use crate::storage::Storage;

/// An error of appending an entry.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub enum AppendError {
    /// Another writer appended first. Nothing was appended.
    #[error("the log is at height {end}, not at {expected}")]
    Conflict {
        /// The expected height of the entry.
        expected: u64,
        /// The height of the next entry.
        end: u64,
    },
    /// The entry exceeds the size limit. Nothing was appended.
    #[error("an entry of {0} bytes is too large for the log")]
    TooLarge(usize),
    /// The write failed. Nothing was appended, and a later attempt may succeed once there is space
    /// again.
    #[error("{file}: {source}")]
    Refused {
        /// The file.
        file: String,
        /// The system's error.
        #[serde(with = "as_text")]
        source: io::Error,
    },
    /// The log did not answer in time. The entry may have been appended, or may yet be.
    #[error("the log cannot be reached: {0}")]
    Unavailable(String),
    /// The content on disk is unknown. The log accepts no entries until it is opened again.
    #[error("{file}: {reason}; the log accepts no entries until the node is restarted")]
    Unknown {
        /// The file.
        file: String,
        /// The system's error.
        reason: String,
    },
}

/// The form in which the system's errors go to another node: their texts, which are all that is
/// ever shown of them.
mod as_text {
    use std::io;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(error: &io::Error, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(error)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<io::Error, D::Error> {
        String::deserialize(from).map(io::Error::other)
    }
}

/// An error of opening or reading a log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// A file operation failed.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// An acknowledged entry is damaged.
    #[error(
        "{file}: damaged at byte {offset} (height {height}): {what}. Nothing was changed: restore \
         the file from a copy, or discard the damaged entry and all later ones with `tetrad chain \
         repair`"
    )]
    Damaged {
        /// The file.
        file: String,
        /// The offset in the file, in bytes.
        offset: u64,
        /// The entry's height.
        height: u64,
        /// The fault.
        what: &'static str,
    },
    /// The file is not a segment of this log, or was written by a newer version.
    #[error("{file}: {what}")]
    Format {
        /// The file.
        file: String,
        /// The fault.
        what: String,
    },
    /// Entries are missing.
    #[error("entries {from} to {to} are missing from {place}")]
    Missing {
        /// Height of the first missing entry.
        from: u64,
        /// Height of the next entry that exists.
        to: u64,
        /// The directory.
        place: String,
    },
    /// A log on other machines did not answer in time.
    #[error("the log cannot be reached: {0}")]
    Unavailable(String),
    /// The replicated log has lost entries, as far as the server that answered knows. Another
    /// server may know more, or the same one later.
    #[error("{place}: {what}; retrying")]
    Stale {
        /// The replicated log.
        place: String,
        /// The difference.
        what: String,
    },
    /// From a height on, the replicated log has other entries than the copy in the data directory,
    /// as repeated reads confirmed. Those of the copy can be [removed](super::BlockLog::truncate).
    #[error(
        "{place}: entry {at} is another one (Keccak-256 {theirs}) than in the data directory \
         ({own}): the servers have decided otherwise since"
    )]
    Forked {
        /// The replicated log.
        place: String,
        /// Height of the first entry that differs.
        at: u64,
        /// Hash of the replicated log's entry there.
        theirs: B256,
        /// Hash of the copy's entry there.
        own: B256,
    },
    /// The replicated log and the copy of it in the data directory do not fit together.
    #[error("{place}: {what}")]
    Mismatch {
        /// The replicated log.
        place: String,
        /// The difference.
        what: String,
    },
    /// No checkpoint is left from which any part of the log can be replayed.
    #[error(
        "{place}: no checkpoint is left from which any part of the log can be replayed. Nothing \
         was changed: restore a backup"
    )]
    Beginning {
        /// The directory.
        place: String,
    },
    /// An entry has a valid checksum but cannot be decoded.
    #[error("entry {height} of the log: {what}")]
    Malformed {
        /// The entry's height.
        height: u64,
        /// The fault.
        what: String,
    },
}

impl LogError {
    /// Returns the conversion of the error of an operation on a file, or with an empty name on the
    /// directory.
    pub(crate) fn io(storage: &dyn Storage, name: &str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io {
            file: storage.describe(name),
            source,
        }
    }
}
