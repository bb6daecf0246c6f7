//! Where logs are found among the blocks that memory holds.
//!
//! Of every 64 blocks there is a list of what their logs can be found by, and of the blocks that have it. So a search
//! looks at one list where it would look at 64 blocks. A list is made once, when the last of its blocks comes; heads
//! share it.

use std::sync::Arc;

use super::spine::Spine;
use crate::{block::Block, store::LogKey};

/// Blocks of a window.
const BLOCKS: u64 = 64;

/// A set of them: one bit for each.
type BlockSet = u64;

/// The windows of the blocks of one head, by the number of their first block, divided by how many they are.
#[derive(Clone, Debug)]
pub(super) struct LogWindows(Spine<Arc<Window>>);

/// What the logs of some blocks can be found by, in order, and which of the blocks have it.
#[derive(Debug)]
struct Window(Box<[(LogKey, BlockSet)]>);

impl LogWindows {
    /// No windows so far, of blocks from this one on.
    pub(super) fn starting_at(block: u64) -> Self {
        Self(Spine::starting_at(block / BLOCKS))
    }

    /// Adds the window that the newest of `blocks` completes, if it does.
    pub(in crate::chain) fn push(&mut self, blocks: &Spine<Arc<Block>>) {
        let next = blocks.next();
        if next.is_multiple_of(BLOCKS) {
            self.0.push(Arc::new(Window::of(blocks.iter_from(next.saturating_sub(BLOCKS)))));
        }
    }

    /// Drops the windows with blocks from `next` on.
    pub(super) fn truncate(&mut self, next: u64) {
        self.0.truncate(next / BLOCKS);
    }

    /// Drops the windows without blocks from `first` on.
    pub(super) fn drop_before(&mut self, first: u64) {
        self.0.drop_before(first / BLOCKS);
    }

    /// Numbers of the blocks from `from` to `to` that have logs under at least one key of each of `wanted`, or seem to,
    /// and of those that are in no window yet, oldest first.
    pub(super) fn candidates(&self, from: u64, to: u64, wanted: &[Vec<LogKey>]) -> Vec<u64> {
        let mut found = Vec::new();
        for at in from / BLOCKS..=to / BLOCKS {
            let members = self.0.get(at).map_or(BlockSet::MAX, |window| window.matching(wanted));
            let numbers = (0..BLOCKS).filter(|part| members >> part & 1 == 1).map(|part| at * BLOCKS + part);
            found.extend(numbers.filter(|number| (from..=to).contains(number)));
        }
        found
    }
}

impl Window {
    fn of<'a>(blocks: impl Iterator<Item = &'a Arc<Block>>) -> Self {
        let keys = |block: &'a Arc<Block>| {
            let member = 1 << (block.number() % BLOCKS);
            let logs = block.receipts.iter().flat_map(|receipt| &receipt.logs);
            logs.flat_map(LogKey::all).map(move |key| (key, member))
        };
        let mut all: Vec<(LogKey, BlockSet)> = blocks.flat_map(keys).collect();
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

    /// The blocks that may have logs under at least one key of each of `wanted`.
    fn matching(&self, wanted: &[Vec<LogKey>]) -> BlockSet {
        let members = |key: &LogKey| {
            let found = self.0.binary_search_by_key(key, |(own, _)| *own);
            found.ok().and_then(|at| self.0.get(at)).map_or(0, |(_, members)| *members)
        };
        let any = |keys: &Vec<LogKey>| keys.iter().map(members).fold(0, |union, members| union | members);
        wanted.iter().map(any).fold(BlockSet::MAX, |all, members| all & members)
    }
}
