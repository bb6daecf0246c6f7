//! The whole chain as a value that another node can go on from: accounts, blocks, receipts, logs and time.
//!
//! The outside is what anvil writes and reads. Inside, under `tetrad`, stands what anvil has no place for: the state
//! after the oldest block and what each block changed. With it every past state is there again, and going back works as
//! if the chain had never been away; every block's root is checked. Without it, as in what anvil wrote, the newest
//! state is all there is.

mod anvil;
mod own;
mod streamed;

use std::{
    io::{self, Write},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use self::{
    anvil::{DumpedAccount, DumpedBlock, DumpedTransaction},
    own::Own,
};
use crate::chain::{Edit, GenesisAccount, Head, HistoryLimits};
use crate::{block::Block, evm::ChainParams, state::ReadError};

/// A dump that was read. Of what anvil writes, the rest follows from it.
#[derive(Debug, Deserialize)]
pub struct Dump {
    accounts: anvil::Accounts,
    #[serde(default)]
    blocks: Vec<DumpedBlock>,
    #[serde(default)]
    transactions: Vec<DumpedTransaction>,
    #[serde(default)]
    tetrad: Option<Own>,
}

/// A dump that was checked: what a chain becomes.
#[derive(Debug)]
pub struct PreparedDump(Prepared);

#[derive(Debug)]
enum Prepared {
    /// A whole chain with all its states, and by how many seconds its time is ahead of the clock.
    Whole(Box<Head>, i64),
    /// Accounts and blocks. Of accounts that are not among these nothing is said: they stay as they are.
    Newest(Edit, Vec<Arc<Block>>),
}

/// A dump does not make a chain.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// A transaction has no valid signature.
    #[error("transaction {0}: {1}")]
    Signature(String, crate::block::DecodeError),
    /// A block has other receipts than transactions.
    #[error("block {0}: {1} transactions and {2} receipts")]
    Receipts(u64, usize, usize),
    /// The changes that lead to a block do not lead to its root.
    #[error("block {number}: state root {expected}, but the dump's state has {found}")]
    Root {
        /// The block.
        number: u64,
        /// Its root.
        expected: alloy_primitives::B256,
        /// What the dump comes to.
        found: alloy_primitives::B256,
    },
    /// There are other changes than blocks.
    #[error("{0} blocks, but the changes of {1}")]
    Changes(usize, usize),
    /// The chain is recorded in a directory, which holds one chain from its first block on.
    #[error("a chain in a data directory cannot become another one; load the dump into a node without --data-dir")]
    Recorded,
    /// The state could not be changed.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Dump {
    /// Writes everything that `head` holds, piece by piece. `ahead` is by how many seconds the chain's time is ahead of the
    /// clock.
    pub fn write(head: &Head, ahead: i64, out: impl Write) -> io::Result<()> {
        streamed::Whole { head, ahead }.serialize(&mut serde_json::Serializer::new(out)).map_err(io::Error::from)
    }

    /// Checks the dump, for a chain of which this holds.
    pub fn prepare(self, params: Arc<ChainParams>, limits: HistoryLimits) -> Result<PreparedDump, DumpError> {
        let blocks = anvil::blocks(self.blocks, self.transactions)?;
        Ok(PreparedDump(match self.tetrad {
            Some(own) => {
                let ahead = own.ahead();
                Prepared::Whole(Box::new(own.restore(params, blocks, limits)?), ahead)
            }
            None => {
                let accounts: Vec<GenesisAccount> = self.accounts.into_iter().map(DumpedAccount::place).collect();
                Prepared::Newest(Edit::Accounts(accounts), blocks)
            }
        }))
    }
}

impl PreparedDump {
    /// The chain, as it follows from what `head` shows.
    pub(in crate::chain) fn restore(self, head: &Head) -> Result<(Head, Option<i64>), DumpError> {
        match self.0 {
            Prepared::Whole(whole, ahead) => Ok((*whole, Some(ahead))),
            Prepared::Newest(accounts, blocks) => {
                let edited = head.edit(&accounts)?;
                let Some((newest, recent)) = blocks.split_last() else { return Ok((edited, None)) };
                let genesis = recent.first().unwrap_or(newest).clone();
                Ok((Head::resumed(edited.params, genesis, recent.to_vec(), newest.clone(), edited.state), None))
            }
        }
    }
}

/// Blocks in order from the oldest without a gap to the newest.
fn contiguous(mut blocks: Vec<Arc<Block>>) -> Vec<Arc<Block>> {
    blocks.sort_by_key(|block| block.number());
    blocks.dedup_by_key(|block| block.number());
    let follows = |pair: &[Arc<Block>]| pair[1].header.parent_hash == pair[0].hash;
    let first = blocks.windows(2).rposition(|pair| !follows(pair)).map_or(0, |at| at + 1);
    blocks.split_off(first)
}
