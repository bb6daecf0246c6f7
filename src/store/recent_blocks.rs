//! A cache of the blocks that were read from the log last, as clients often read a block several times.

use std::{collections::VecDeque, sync::Arc};

use crate::block::Block;

/// Limits of the cache: the number of blocks, and their approximate size in bytes.
const MAX_BLOCKS: usize = 64;
const MAX_BYTES: usize = 4 << 20;

/// Blocks by the height of their entries. The most recently added come last.
#[derive(Debug, Default)]
pub(super) struct RecentBlocks {
    blocks: VecDeque<(u64, Arc<Block>)>,
    bytes: usize,
    /// Number of times that the log was truncated, after which heights are used again.
    truncations: u64,
}

impl RecentBlocks {
    /// Returns the number of times that the log was truncated.
    pub(super) fn truncations(&self) -> u64 {
        self.truncations
    }

    /// Forgets all blocks, after the log was truncated.
    pub(super) fn truncate(&mut self) {
        *self = Self { truncations: self.truncations + 1, ..Self::default() };
    }

    /// Returns the block of the entry at a height, if it is cached.
    pub(super) fn get(&self, height: u64) -> Option<Arc<Block>> {
        self.blocks.iter().rev().find(|(own, _)| *own == height).map(|(_, block)| block.clone())
    }

    /// Adds a block, which was read after this number of truncations, and evicts the oldest ones over the limits.
    pub(super) fn insert(&mut self, height: u64, block: &Arc<Block>, truncations: u64) {
        if truncations != self.truncations || self.get(height).is_some() {
            return;
        }
        self.bytes += weight(block);
        self.blocks.push_back((height, block.clone()));
        while self.blocks.len() > MAX_BLOCKS || self.bytes > MAX_BYTES {
            let Some((_, old)) = self.blocks.pop_front() else { break };
            self.bytes -= weight(&old);
        }
    }
}

/// Returns the approximate size of a block in memory, in bytes.
fn weight(block: &Block) -> usize {
    let logs: usize = block.logs().map(|at| 160 + 32 * at.log.topics().len() + at.log.data.data.len()).sum();
    1_024 + 2 * block.size() + 128 * block.receipts.len() + logs
}
