//! A part of the index in memory: the growing one, or one whose file is being written.

use std::{collections::HashMap, ops::Range};

use alloy_primitives::{B256, map::DefaultHashBuilder};

use super::{
    key::{LogKey, StateKey, hash_key},
    log_rows::LogRows,
    versions::Versions,
};
use crate::log::LogEntry;

/// The transaction index that stands for the block itself.
pub(super) const BLOCK: u32 = u32::MAX;

/// The position of a block or of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockPlace {
    pub(super) number: u64,
    /// The transaction's index, or [`BLOCK`].
    pub(super) index: u32,
}

/// The index of a range of entries: their blocks, transactions, logs and state changes.
#[derive(Debug, Default)]
pub(super) struct ActiveIndex {
    /// Heights of the entries.
    pub(super) heights: Range<u64>,
    /// Size of the entries in bytes.
    pub(super) bytes: u64,
    /// Heights of blocks by number, in ascending order.
    pub(super) blocks: HashMap<u64, Vec<u64>, DefaultHashBuilder>,
    /// Blocks and transactions by the first eight bytes of their hashes.
    pub(super) hashes: HashMap<u64, Vec<BlockPlace>, DefaultHashBuilder>,
    pub(super) logs: LogRows,
    /// Heights of reverts, and the heights to which they revert.
    pub(super) reverts: Vec<(u64, u64)>,
    pub(super) versions: Versions,
}

impl ActiveIndex {
    /// Returns an empty part whose first entry will have this height.
    pub(super) fn starting_at(height: u64) -> Self {
        Self {
            heights: height..height,
            ..Self::default()
        }
    }

    /// Adds the next entry, whose encoding has `bytes` bytes.
    pub(super) fn insert(&mut self, entry: &LogEntry, bytes: u64) {
        let height = self.heights.end;
        self.heights.end = height + 1;
        self.bytes += bytes;

        match entry {
            LogEntry::Block { block, changes, .. } => {
                self.versions.insert(height, changes);
                let number = block.number();
                // Only after a revert is there a second block with this number.
                self.blocks
                    .entry(number)
                    .or_insert_with(|| Vec::with_capacity(1))
                    .push(height);
                self.place(
                    &block.hash,
                    BlockPlace {
                        number,
                        index: BLOCK,
                    },
                );
                for (index, transaction) in block.transactions.iter().enumerate() {
                    for hash in [Some(transaction.hash()), transaction.cosmos_hash()]
                        .into_iter()
                        .flatten()
                    {
                        self.place(
                            &hash,
                            BlockPlace {
                                number,
                                index: index as u32,
                            },
                        );
                    }
                }

                let logs = block.receipts.iter().flat_map(|receipt| &receipt.logs);
                self.logs
                    .insert(number, logs.flat_map(LogKey::all).collect());
            }
            LogEntry::Revert { to, .. } => self.reverts.push((height, *to)),
            LogEntry::Edit { changes, .. } => self.versions.insert(height, changes),
            LogEntry::Time(_)
            | LogEntry::Snapshot { .. }
            | LogEntry::Epoch { .. }
            | LogEntry::Setting(_) => {}
        }
    }

    fn place(&mut self, hash: &B256, place: BlockPlace) {
        // A key nearly always has a single place, so the vector is created with exactly that
        // capacity.
        self.hashes
            .entry(hash_key(hash))
            .or_insert_with(|| Vec::with_capacity(1))
            .push(place);
    }

    /// Returns the lowest and the highest block number, or `None` if there are no blocks.
    pub(super) fn numbers(&self) -> Option<(u64, u64)> {
        self.blocks
            .keys()
            .min()
            .copied()
            .zip(self.blocks.keys().max().copied())
    }

    /// Returns the height of the newest entry below a height that has this key and that
    /// `is_in_effect` accepts.
    pub(super) fn version(
        &self,
        key: StateKey,
        below: u64,
        is_in_effect: impl Fn(u64) -> bool,
    ) -> Option<u64> {
        self.versions.before(key, below, is_in_effect)
    }

    pub(super) fn places(&self, key: u64) -> Vec<BlockPlace> {
        self.hashes.get(&key).cloned().unwrap_or_default()
    }

    /// Returns the blocks from `from` to `to` with logs under `key`, in no particular order.
    pub(super) fn blocks_with(&self, key: LogKey, from: u64, to: u64) -> Vec<u64> {
        self.logs.blocks_with(key, from, to)
    }
}
