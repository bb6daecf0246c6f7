//! The blocks that a head holds in memory, without their states.

use std::sync::Arc;

use tetrad_primitives::block::Block;
use tetrad_store::store::LogKey;

use super::{log_windows::LogWindows, persistent_list::PersistentList};

/// The blocks of a head, without their states. A subscriber keeps this of the last head that it has
/// seen.
#[derive(Clone, Debug)]
pub struct HeldBlocks {
    blocks: PersistentList<Arc<Block>>,
    logs: LogWindows,
}

impl HeldBlocks {
    /// Returns an empty list whose first block will have this number.
    pub(super) fn starting_at(number: u64) -> Self {
        Self {
            blocks: PersistentList::starting_at(number),
            logs: LogWindows::starting_at(number),
        }
    }

    /// Returns the difference between these blocks and those of `newer`: the removed ones and the
    /// added ones, each oldest first.
    pub fn difference(&self, newer: &Self) -> (Vec<Arc<Block>>, Vec<Arc<Block>>) {
        let shared = |at: &u64| {
            self.get(*at).map(|block| block.hash) == newer.get(*at).map(|block| block.hash)
        };
        let (first, next) = (newer.first(), self.blocks.next().min(newer.blocks.next()));
        let after = (first..next).rev().find(shared).map_or(first, |at| at + 1);
        let from = |blocks: &Self| blocks.from(after).cloned().collect();
        (from(self), from(newer))
    }

    /// Returns the number of the oldest block.
    pub(crate) fn first(&self) -> u64 {
        self.blocks.first()
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Arc<Block>> {
        self.blocks.get(number)
    }

    /// Iterates over the blocks from `number` on, oldest first.
    pub(crate) fn from(&self, number: u64) -> impl DoubleEndedIterator<Item = &Arc<Block>> {
        self.blocks.iter_from(number)
    }

    /// Iterates over the blocks from `from` to `to` that may have logs under at least one key of
    /// each of `wanted`, oldest first.
    pub(super) fn candidates(
        &self,
        from: u64,
        to: u64,
        wanted: &[Vec<LogKey>],
    ) -> impl Iterator<Item = &Arc<Block>> {
        let (first, last) = (
            from.max(self.first()),
            to.min(self.blocks.next().saturating_sub(1)),
        );
        let numbers = if first <= last {
            self.logs.candidates(first, last, wanted)
        } else {
            Vec::new()
        };
        numbers.into_iter().filter_map(|number| self.get(number))
    }

    pub(crate) fn push(&mut self, block: Arc<Block>) {
        self.blocks.push(block);
        self.logs.push(&self.blocks);
    }

    /// Removes the blocks from `next` on.
    pub(super) fn truncate(&mut self, next: u64) {
        self.blocks.truncate(next);
        self.logs.truncate(next);
    }

    /// Removes the blocks before `first`.
    pub(super) fn drop_before(&mut self, first: u64) {
        self.blocks.drop_before(first);
        self.logs.drop_before(first);
    }
}
