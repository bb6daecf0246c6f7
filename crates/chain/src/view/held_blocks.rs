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
        let first = newer.first();
        let next = self.blocks.next().min(newer.blocks.next());
        // From the newest on: through the parent hashes, the blocks before a shared one are shared.
        let newest_shared = (first..next)
            .rev()
            .find(|number| self.agrees_at(newer, *number));
        let after = newest_shared.map_or(first, |number| number + 1);

        let removed = self.from(after).cloned().collect();
        let added = newer.from(after).cloned().collect();
        (removed, added)
    }

    /// Returns whether both lists have the same block with this number, or both have none.
    fn agrees_at(&self, other: &Self, number: u64) -> bool {
        let own = self.get(number).map(|block| block.hash);
        own == other.get(number).map(|block| block.hash)
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
        let first = from.max(self.first());
        let last = to.min(self.blocks.next().saturating_sub(1));
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
