//! The blocks that were read from the log last: whoever asks for one often asks for it again.

use std::{collections::VecDeque, sync::Arc};

use crate::block::Block;

/// Blocks, and bytes of them, that are held at most.
const BLOCKS: usize = 64;
const BYTES: usize = 4 << 20;

/// Blocks by the height of their entries, which never stands for another block. The newest read come last.
#[derive(Debug, Default)]
pub(super) struct RecentBlocks {
    blocks: VecDeque<(u64, Arc<Block>)>,
    bytes: usize,
}

impl RecentBlocks {
    /// The block of the entry at a height, if it is held.
    pub(super) fn get(&self, height: u64) -> Option<Arc<Block>> {
        self.blocks.iter().rev().find(|(own, _)| *own == height).map(|(_, block)| block.clone())
    }

    /// Holds a block, and lets go of those that were read longest ago.
    pub(super) fn insert(&mut self, height: u64, block: &Arc<Block>) {
        if self.get(height).is_some() {
            return;
        }
        self.bytes += weight(block);
        self.blocks.push_back((height, block.clone()));
        while self.blocks.len() > BLOCKS || self.bytes > BYTES {
            let Some((_, old)) = self.blocks.pop_front() else { break };
            self.bytes -= weight(&old);
        }
    }
}

/// Roughly the memory that a block takes.
fn weight(block: &Block) -> usize {
    let logs: usize = block.logs().map(|at| 160 + 32 * at.log.topics().len() + at.log.data.data.len()).sum();
    1_024 + 2 * block.size() + 128 * block.receipts.len() + logs
}
