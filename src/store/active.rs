//! The index of one segment in memory: of the newest one, which still grows, and of one whose file is being written.

use std::collections::HashMap;

use alloy_primitives::{B256, map::DefaultHashBuilder};

use super::{
    history::Place,
    key::{LogKey, StateKey, hash_key},
    log_rows::LogRows,
    versions::Versions,
};
use crate::log::{Entry, Location, LogError, Segment};

/// Stands for a block where a transaction's index in its block is expected.
pub(super) const BLOCK: u32 = u32::MAX;

/// Where the blocks, transactions, logs and changes of one segment are.
#[derive(Debug, Default)]
pub struct ActiveIndex {
    /// Height of the segment's first entry.
    pub(super) segment: u64,
    /// Height after the last entry.
    pub(super) end: u64,
    /// Blocks by their numbers, those of one number in order.
    pub(super) blocks: HashMap<u64, Vec<Location>, DefaultHashBuilder>,
    /// Places by the beginnings of hashes.
    pub(super) hashes: HashMap<u64, Vec<Place>, DefaultHashBuilder>,
    pub(super) logs: LogRows,
    /// Heights of reverts, and what they go back to.
    pub(super) reverts: Vec<(u64, u64)>,
    pub(super) versions: Versions,
}

impl ActiveIndex {
    /// The index of a segment without entries.
    pub fn new(segment: u64) -> Self {
        Self { segment, end: segment, ..Self::default() }
    }

    /// The index of everything in a segment.
    pub fn of(segment: &Segment) -> Result<Self, LogError> {
        let mut index = Self::new(segment.first);
        for height in segment.first..segment.end() {
            if let Some(stored) = segment.get(height) {
                index.insert(stored.location, &stored.entry()?);
            }
        }
        Ok(index)
    }

    /// Takes in an entry.
    pub fn insert(&mut self, location: Location, entry: &Entry) {
        self.end = location.height + 1;
        match entry {
            Entry::Block { block, changes, .. } => {
                self.versions.insert(location, changes);
                let number = block.number();
                self.blocks.entry(number).or_insert_with(|| Vec::with_capacity(1)).push(location);
                self.place(&block.hash, Place { number, index: BLOCK });
                for (index, transaction) in block.transactions.iter().enumerate() {
                    self.place(&transaction.hash(), Place { number, index: index as u32 });
                }
                let logs = block.receipts.iter().flat_map(|receipt| &receipt.logs);
                self.logs.insert(number, logs.flat_map(LogKey::all).collect());
            }
            Entry::Revert { to, .. } => self.reverts.push((location.height, *to)),
            Entry::Edit { changes, .. } => self.versions.insert(location, changes),
            Entry::Time(_) => {}
        }
    }

    fn place(&mut self, hash: &B256, place: Place) {
        // Nearly always there is one: a vector of exactly that.
        self.hashes.entry(hash_key(hash)).or_insert_with(|| Vec::with_capacity(1)).push(place);
    }

    /// The first and the last block's number; none if there is no block.
    pub(super) fn numbers(&self) -> Option<(u64, u64)> {
        self.blocks.keys().min().copied().zip(self.blocks.keys().max().copied())
    }

    /// The newest entry below a height that has this key and counts.
    pub(super) fn version(&self, key: StateKey, below: u64, counts: impl Fn(u64) -> bool) -> Option<Location> {
        let (height, offset) = self.versions.before(key, below, counts)?;
        Some(Location { height, segment: self.segment, offset })
    }

    pub(super) fn places(&self, key: u64) -> Vec<Place> {
        self.hashes.get(&key).cloned().unwrap_or_default()
    }

    /// The blocks from `from` to `to` with logs under `key`, in no order.
    pub(super) fn blocks_with(&self, key: LogKey, from: u64, to: u64) -> Vec<u64> {
        self.logs.blocks_with(key, from, to)
    }
}
