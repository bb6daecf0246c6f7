//! The index of blocks and transactions by hash. Cosmos transactions have two hashes.
//!
//! All heads share the maps, which may contain entries that a given head does not hold, or not yet,
//! or no longer. A reader therefore checks each entry against its own head, so that lookups take no
//! lock and see one consistent chain.

use std::sync::Arc;

use alloy_primitives::{B256, map::DefaultHashBuilder};
use papaya::HashMap;
use tetrad_primitives::block::Block;

use super::head::Head;

#[derive(Debug)]
pub(crate) struct Index {
    blocks: HashMap<B256, u64, DefaultHashBuilder>,
    transactions: HashMap<B256, (u64, u32), DefaultHashBuilder>,
}

impl Default for Index {
    fn default() -> Self {
        let builder = DefaultHashBuilder::default;
        Self {
            blocks: HashMap::with_hasher(builder()),
            transactions: HashMap::with_hasher(builder()),
        }
    }
}

impl Index {
    pub(crate) fn insert(&self, block: &Block) {
        self.blocks.pin().insert(block.hash, block.number());
        let transactions = self.transactions.pin();
        for (index, transaction) in block.transactions.iter().enumerate() {
            for hash in [Some(transaction.hash()), transaction.cosmos_hash()]
                .into_iter()
                .flatten()
            {
                transactions.insert(hash, (block.number(), index as u32));
            }
        }
    }

    /// Removes a block's entries, except for transactions that another block has taken over.
    pub(crate) fn remove(&self, block: &Block) {
        self.blocks.pin().remove(&block.hash);
        let transactions = self.transactions.pin();
        for (index, transaction) in block.transactions.iter().enumerate() {
            for hash in [Some(transaction.hash()), transaction.cosmos_hash()]
                .into_iter()
                .flatten()
            {
                let _ =
                    transactions.remove_if(&hash, |_, at| *at == (block.number(), index as u32));
            }
        }
    }

    pub(crate) fn block<'a>(&self, head: &'a Head, hash: B256) -> Option<&'a Arc<Block>> {
        let number = *self.blocks.pin().get(&hash)?;
        head.block(number).filter(|block| block.hash == hash)
    }

    /// Returns the block of the transaction that has this hash in Ethereum or Cosmos, and its
    /// position there.
    pub(crate) fn transaction<'a>(
        &self,
        head: &'a Head,
        hash: B256,
    ) -> Option<(&'a Arc<Block>, usize)> {
        let (number, index) = *self.transactions.pin().get(&hash)?;
        let block = head.block(number)?;
        let found = block.transactions.get(index as usize)?;
        found.has_hash(hash).then_some((block, index as usize))
    }
}
