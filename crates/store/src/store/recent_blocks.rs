//! A cache of the blocks that were read from the log last, as clients often read a block several
//! times.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
};

use tetrad_primitives::block::Block;

/// Limits of the cache: the number of blocks, and their approximate size in bytes.
const MAX_BLOCKS: usize = 64;
const MAX_BYTES: usize = 4 << 20;

/// Blocks by the height of their entries. The most recently added come last.
#[derive(Debug, Default)]
pub(super) struct RecentBlocks {
    blocks: VecDeque<(u64, Arc<Block>)>,
    bytes: usize,
    /// Blocks that were evicted, as long as a reader has them: many that want a large one share it.
    evicted: VecDeque<(u64, Weak<Block>)>,
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
        *self = Self {
            truncations: self.truncations + 1,
            ..Self::default()
        };
    }

    /// Returns the block of the entry at a height, if it is cached.
    pub(super) fn get(&self, height: u64) -> Option<Arc<Block>> {
        let cached = self
            .blocks
            .iter()
            .rev()
            .find(|(own, _)| *own == height)
            .map(|(_, block)| block.clone());
        cached.or_else(|| {
            self.evicted
                .iter()
                .rev()
                .find(|(own, _)| *own == height)?
                .1
                .upgrade()
        })
    }

    /// Adds a block, which was read after this number of truncations, and evicts the oldest ones
    /// over the limits.
    pub(super) fn insert(&mut self, height: u64, block: &Arc<Block>, truncations: u64) {
        if truncations != self.truncations || self.get(height).is_some() {
            return;
        }

        self.bytes += weight(block);
        self.blocks.push_back((height, block.clone()));

        while self.blocks.len() > MAX_BLOCKS || self.bytes > MAX_BYTES {
            let Some((height, old)) = self.blocks.pop_front() else {
                break;
            };
            self.bytes -= weight(&old);

            if self.evicted.len() == MAX_BLOCKS {
                self.evicted.pop_front();
            }
            self.evicted.push_back((height, Arc::downgrade(&old)));
        }
    }
}

/// Returns the approximate size of a block in memory, in bytes.
fn weight(block: &Block) -> usize {
    let logs: usize = block
        .logs()
        .map(|at| 160 + 32 * at.log.topics().len() + at.log.data.data.len())
        .sum();
    1_024 + 2 * block.size() + 128 * block.receipts.len() + logs
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use alloy_consensus::Header;
    use alloy_primitives::B256;

    use super::*;

    /// A block of at least this number of bytes.
    fn block(number: u64, bytes: usize) -> Arc<Block> {
        Arc::new(Block {
            header: Header {
                number,
                extra_data: vec![0; bytes].into(),
                ..Header::default()
            },
            hash: B256::ZERO,
            transactions: Vec::new(),
            receipts: Vec::new(),
            ommers: Vec::new(),
            withdrawals: None,
            known_size: OnceLock::new(),
        })
    }

    #[test]
    fn a_block_that_is_too_large_for_the_cache_is_shared_while_it_is_in_use() {
        let mut recent = RecentBlocks::default();
        let large = block(1, MAX_BYTES);
        recent.insert(1, &large, 0);
        for height in 2..10 {
            recent.insert(height, &block(height, 1), 0);
        }
        assert!(
            recent
                .get(1)
                .is_some_and(|found| Arc::ptr_eq(&found, &large))
        );
        assert!(recent.get(9).is_some(), "small ones stay");

        drop(large);
        assert!(recent.get(1).is_none());

        let large = block(1, MAX_BYTES);
        recent.insert(1, &large, 0);
        recent.truncate();
        assert!(recent.get(1).is_none(), "its height is used again");
    }
}
