//! The index of logs in the blocks that memory holds.
//!
//! Each window of 64 blocks has a list of the keys of their logs, each with the blocks that have
//! it, so that a search reads one list instead of 64 blocks. The list is built once, when the
//! window's last block is appended; heads share it.

use std::sync::Arc;

use tetrad_primitives::block::Block;
use tetrad_store::store::LogKey;

use super::persistent_list::PersistentList;

/// Number of blocks in a window.
const BLOCKS: u64 = 64;

/// A set of blocks of one window, a bit for each.
type Members = u64;

/// The windows of one head's blocks, by the number of their first block divided by [`BLOCKS`].
#[derive(Clone, Debug)]
pub(super) struct LogWindows(PersistentList<Arc<Window>>);

/// The keys of the logs of one window, sorted, each with the blocks that have it.
#[derive(Debug)]
struct Window(Box<[(LogKey, Members)]>);

impl LogWindows {
    /// Returns an empty index of the blocks from this one on.
    pub(super) fn starting_at(block: u64) -> Self {
        Self(PersistentList::starting_at(block / BLOCKS))
    }

    /// Adds a window if the newest of `blocks` completes one.
    pub(crate) fn push(&mut self, blocks: &PersistentList<Arc<Block>>) {
        let next = blocks.next();
        if next.is_multiple_of(BLOCKS) {
            self.0.push(Arc::new(Window::of(
                blocks.iter_from(next.saturating_sub(BLOCKS)),
            )));
        }
    }

    /// Removes the windows with blocks from `next` on.
    pub(super) fn truncate(&mut self, next: u64) {
        self.0.truncate(next / BLOCKS);
    }

    /// Removes the windows that end before `first`.
    pub(super) fn drop_before(&mut self, first: u64) {
        self.0.drop_before(first / BLOCKS);
    }

    /// Returns the numbers of the blocks from `from` to `to` that may have logs under at least one
    /// key of each of `wanted`, oldest first. Blocks without a window are always included.
    pub(super) fn candidates(&self, from: u64, to: u64, wanted: &[Vec<LogKey>]) -> Vec<u64> {
        let mut found = Vec::new();
        for at in from / BLOCKS..=to / BLOCKS {
            let members = self
                .0
                .get(at)
                .map_or(Members::MAX, |window| window.matching(wanted));

            let numbers = (0..BLOCKS)
                .filter(|part| members >> part & 1 == 1)
                .map(|part| at * BLOCKS + part);
            found.extend(numbers.filter(|number| (from..=to).contains(number)));
        }
        found
    }
}

impl Window {
    fn of<'a>(blocks: impl Iterator<Item = &'a Arc<Block>>) -> Self {
        let mut all: Vec<(LogKey, Members)> = blocks.flat_map(keys_of).collect();

        // One row for each key, with the blocks of all of its rows.
        all.sort_unstable();
        all.dedup_by(|(key, members), (kept, union)| {
            let same = key == kept;
            if same {
                *union |= *members;
            }
            same
        });

        Self(all.into())
    }

    /// Returns the blocks that may have logs under at least one key of each of `wanted`.
    fn matching(&self, wanted: &[Vec<LogKey>]) -> Members {
        wanted
            .iter()
            .map(|keys| self.blocks_with_any(keys))
            .fold(Members::MAX, |all, members| all & members)
    }

    fn blocks_with_any(&self, keys: &[LogKey]) -> Members {
        keys.iter()
            .map(|key| self.blocks_with(key))
            .fold(0, |union, members| union | members)
    }

    fn blocks_with(&self, key: &LogKey) -> Members {
        let found = self.0.binary_search_by_key(key, |(own, _)| *own);
        found
            .ok()
            .and_then(|at| self.0.get(at))
            .map_or(0, |(_, members)| *members)
    }
}

/// Returns the keys of a block's logs, each with the bit of the block in its window.
fn keys_of(block: &Arc<Block>) -> impl Iterator<Item = (LogKey, Members)> {
    let member = 1 << (block.number() % BLOCKS);
    let logs = block.receipts.iter().flat_map(|receipt| &receipt.logs);
    logs.flat_map(LogKey::all).map(move |key| (key, member))
}
