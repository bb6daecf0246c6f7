//! Counts of the blocks sealed since the start, and of their content.

use tetrad_primitives::block::Block;
use tetrad_stdx::metrics::Counter;

/// Counters of sealed blocks and of their content.
#[derive(Debug, Default)]
pub struct Produced {
    /// Blocks.
    pub blocks: Counter,
    /// Transactions of these blocks.
    pub transactions: Counter,
    /// Gas that these blocks used.
    pub gas: Counter,
}

impl Produced {
    pub(crate) fn count(&self, block: &Block) {
        self.blocks.add(1);
        self.transactions.add(block.transactions.len() as u64);
        self.gas.add(block.header.gas_used);
    }
}
