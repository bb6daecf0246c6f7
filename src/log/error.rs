//! Why something cannot be appended or read.

use std::io;

/// An entry was not appended.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else appended first. Nothing was appended.
    #[error("the log is at height {end}, not at {expected}")]
    Conflict {
        /// Where the entry was to go.
        expected: u64,
        /// Where the next entry goes.
        end: u64,
    },
    /// The entry is larger than the log takes. Nothing was appended.
    #[error("an entry of {0} bytes is larger than the log takes")]
    TooLarge(usize),
    /// The system refused. Nothing was appended, and the next try may succeed: there may be room again.
    #[error("{file}: {source}")]
    Refused {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// Nobody knows what is on disk. The log takes nothing more until it is opened again.
    #[error("{file}: {reason}; the log takes nothing more until the node is started again")]
    Unknown {
        /// The file.
        file: String,
        /// What the system said.
        reason: String,
    },
}

/// A log cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// Something that was written is no longer what it was.
    #[error(
        "{file}: damaged at byte {offset} (height {height}): {what}. Nothing was changed: restore the file \
         from a copy, or give up what follows with `tetrad chain repair`"
    )]
    Damaged {
        /// The file.
        file: String,
        /// Where in the file.
        offset: u64,
        /// Height of the entry.
        height: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The file is no segment, or was written by a newer version.
    #[error("{file}: {what}")]
    Format {
        /// The file.
        file: String,
        /// What is wrong.
        what: String,
    },
    /// Files are missing.
    #[error("entries {from} to {to} are missing from {place}")]
    Missing {
        /// The first.
        from: u64,
        /// The first that is there again.
        to: u64,
        /// The directory.
        place: String,
    },
    /// No state is left that the log leads on from.
    #[error(
        "{place}: no checkpoint is left that any part of the log can be followed from. Nothing was changed: restore a backup"
    )]
    Beginning {
        /// The directory.
        place: String,
    },
    /// An entry's bytes are intact and yet no entry.
    #[error("entry {height} of the log: {what}")]
    Malformed {
        /// Its height.
        height: u64,
        /// What is wrong.
        what: String,
    },
}
