//! A node's files: the [log], which is the chain, and the [files beside it](store), most of which
//! are derived from the log. Both are written to a [storage], an abstraction of files that tests
//! can make fail.
//!
//! The crate knows nothing of execution, of HTTP, or of clusters. It orders entries by height and
//! encodes them, and does not interpret them.
//!
//! ```
//! use tetrad_store::storage::{Directory, read_file, replace_file};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path();
//! let directory = Directory::new(path)?;
//! replace_file(&directory, "name", b"content")?;
//! assert_eq!(read_file(&directory, "name")?.as_deref(), Some(&b"content"[..]));
//! assert_eq!(read_file(&directory, "other")?, None);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # The directory of a chain
//!
//! - `chain.json`: the identity of the chain, and the settings that can no longer change.
//! - `log-*`: the segments of the log, the source of truth. Its entries are blocks with receipts
//!   and changes, edits by development methods, time shifts, snapshots, reverts, and in a cluster
//!   epochs and settings.
//! - `index-*`: the index by number, hash, transaction, log key, and changed account or slot,
//!   derived from the log.
//! - `checkpoint-*`: a state at a height of the log, derived from it.
//! - `pool`: pending transactions.
//! - `prices`: a month of prices by the minute, written every hour and at shutdown, so that it
//!   outlives pruned blocks.
//! - `explorer`: the index of addresses, derived from blocks.
//! - `sources`: the sources of verified contracts.
//! - `lock`: excludes a second process.
//!
//! Derived files are written in the background. A start reads the newest checkpoint and replays the
//! entries after it, comparing each state root with the recorded one; nothing is executed again. A
//! truncated record at the end of the log is put aside as `torn-*` with a warning: it cannot have
//! been acknowledged. Any other damage is refused, and nothing is changed.
//!
//! # Reverts and snapshots
//!
//! The entries that a revert undoes are found in logarithmic time (`store/reverts.rs`). A
//! checkpoint of reverted entries is unusable (`DiskHistory::bases`): start, `CheckpointWriter`,
//! compaction, `verify` and `repair` share this rule. Compaction writes a checkpoint at the log's
//! new start.
//!
//! A snapshot is an entry, and a revert to it names the snapshots that it uses up. All entries in
//! order determine which ones are left (`store/snapshots.rs`), reverted or not: a snapshot of
//! blocks that were rolled back later can still be reverted to, and one that was used up never
//! returns. A checkpoint therefore lists them, and the settings of development methods, which
//! follow the entries in the same way (`store/standing.rs`).
//!
//! # Older states
//!
//! Every older state can be read from the directory (`store/old_state.rs`): each account or slot
//! comes from the newest entry that changed it, or else from the oldest checkpoint. States before
//! that checkpoint are refused. A state that is read so has no roots, and therefore no proofs.

pub mod log;
pub mod storage;
pub mod store;
