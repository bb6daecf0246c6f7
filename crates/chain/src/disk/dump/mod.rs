//! Dumps of the whole chain, from which another node can continue: accounts, blocks, receipts, logs
//! and time.
//!
//! The format is anvil's, with an additional member `tetrad`: the state after the oldest block and
//! the changes of each later one. It restores all past states, so that rollbacks work on the
//! restored chain, and each block's state root is checked. A dump without it, such as anvil's own,
//! restores the newest state only.
//!
//! A chain in a data directory cannot load another chain's dump: the directory has one genesis
//! block.

mod anvil;
mod state_history;
mod streamed;

use std::{
    io::{self, Write},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tetrad_evm::ChainParams;
use tetrad_primitives::{block::Block, state::ReadError};
use tetrad_stdx::calendar::LAST_SECOND;

use self::{
    anvil::{DumpedAccount, DumpedBlock, DumpedTransaction},
    state_history::StateHistory,
};
use crate::{Edit, GenesisAccount, Head, HistoryLimits};

/// A parsed dump. Members of anvil's format that follow from these are ignored.
#[derive(Debug, Deserialize)]
pub struct Dump {
    accounts: anvil::Accounts,
    #[serde(default)]
    blocks: Vec<DumpedBlock>,
    #[serde(default)]
    transactions: Vec<DumpedTransaction>,
    #[serde(default)]
    tetrad: Option<StateHistory>,
}

/// A checked dump, ready to be loaded.
#[derive(Clone, Debug)]
pub struct PreparedDump(Prepared);

#[derive(Clone, Debug)]
enum Prepared {
    /// A whole chain with all its states, and the number of seconds by which its time is ahead of
    /// the clock.
    Whole(Box<Head>, i64),
    /// Accounts and blocks. Accounts that are not listed keep their state.
    Newest(Edit, Vec<Arc<Block>>),
}

/// The reason why a dump is invalid or cannot be loaded.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub enum DumpError {
    /// A transaction has no valid signature.
    #[error("transaction {0}: {1}")]
    Signature(String, tetrad_primitives::block::DecodeError),
    /// A block's transactions and receipts differ in number.
    #[error("block {0}: {1} transactions and {2} receipts")]
    Receipts(u64, usize, usize),
    /// A block's changes do not lead to its state root.
    #[error("block {number}: state root {expected}, but the dump's state has {found}")]
    Root {
        /// The block.
        number: u64,
        /// The block's state root.
        expected: alloy_primitives::B256,
        /// The root after the dump's changes.
        found: alloy_primitives::B256,
    },
    /// The numbers of blocks and of their changes differ.
    #[error("{0} blocks, but changes of {1}")]
    Changes(usize, usize),
    /// A block is later than any block may be.
    #[error("block {0}: its time {1} is after 9999-12-31T23:59:59Z")]
    TooLate(u64, u64),
    /// The chain has a data directory, which cannot change to another chain.
    #[error(
        "a chain in a data directory cannot become another one; load the dump into a node without \
         --data-dir"
    )]
    Recorded,
    /// The state could not be changed.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Dump {
    /// Writes a dump of `head` as a stream. `ahead` is the number of seconds by which the chain's
    /// time is ahead of the clock.
    pub fn write(head: &Head, ahead: i64, out: impl Write) -> io::Result<()> {
        streamed::WholeChain { head, ahead }
            .serialize(&mut serde_json::Serializer::new(out))
            .map_err(io::Error::from)
    }

    /// Checks the dump, for a chain with these parameters and limits.
    pub fn prepare(
        self,
        params: Arc<ChainParams>,
        limits: HistoryLimits,
    ) -> Result<PreparedDump, DumpError> {
        let blocks = anvil::blocks(self.blocks, self.transactions)?;
        if let Some(late) = blocks
            .iter()
            .find(|block| block.header.timestamp > LAST_SECOND)
        {
            return Err(DumpError::TooLate(late.number(), late.header.timestamp));
        }

        Ok(PreparedDump(match self.tetrad {
            Some(own) => {
                let ahead = own.ahead();
                Prepared::Whole(Box::new(own.restore(params, blocks, limits)?), ahead)
            }
            None => {
                let accounts: Vec<GenesisAccount> = self
                    .accounts
                    .into_iter()
                    .map(DumpedAccount::place)
                    .collect();
                Prepared::Newest(Edit::Accounts(accounts), blocks)
            }
        }))
    }
}

impl PreparedDump {
    /// Returns the restored chain, based on `head`.
    pub fn restored(self, head: &Head) -> Result<Head, DumpError> {
        self.restore(head).map(|(restored, _)| restored)
    }

    /// Returns the restored chain, based on `head`, and the number of seconds by which its time is
    /// ahead of the clock, if the dump has it.
    pub(crate) fn restore(self, head: &Head) -> Result<(Head, Option<i64>), DumpError> {
        match self.0 {
            Prepared::Whole(whole, ahead) => Ok((*whole, Some(ahead))),
            Prepared::Newest(accounts, blocks) => {
                let edited = head.edit(&accounts)?;
                let Some((newest, recent)) = blocks.split_last() else {
                    return Ok((edited, None));
                };

                let genesis = recent.first().unwrap_or(newest).clone();
                let restored = Head::resumed(
                    edited.params,
                    genesis,
                    recent.to_vec(),
                    newest.clone(),
                    edited.state,
                );
                Ok((restored, None))
            }
        }
    }
}

/// Sorts blocks and returns the longest range without a gap that ends at the newest.
fn contiguous(mut blocks: Vec<Arc<Block>>) -> Vec<Arc<Block>> {
    blocks.sort_by_key(|block| block.number());
    blocks.dedup_by_key(|block| block.number());

    let first = blocks
        .windows(2)
        .rposition(|pair| pair[1].header.parent_hash != pair[0].hash)
        .map_or(0, |at| at + 1);

    blocks.split_off(first)
}
