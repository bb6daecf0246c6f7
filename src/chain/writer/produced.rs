//! What the blocks held that were made since the start.

use crate::{block::Block, metrics::Counter};

/// The counts.
#[derive(Debug, Default)]
pub struct Produced {
    /// Blocks.
    pub blocks: Counter,
    /// Transactions in them.
    pub transactions: Counter,
    /// Gas that these used.
    pub gas: Counter,
}

impl Produced {
    pub(in crate::chain) fn count(&self, block: &Block) {
        self.blocks.add(1);
        self.transactions.add(block.transactions.len() as u64);
        self.gas.add(block.header.gas_used);
    }
}
