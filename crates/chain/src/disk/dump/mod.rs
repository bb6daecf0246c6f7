//! Dumps of the whole chain, from which another node can continue: accounts, blocks, receipts, logs
//! and time.
//!
//! The format is anvil's, with an additional member `tetrad`: the state after the oldest block and
//! the changes of each later one. It restores all past states, so that rollbacks work on the
//! restored chain, and each block's state root is checked. A dump without it, such as anvil's own,
//! restores the newest state, and the past states that anvil wrote.
//!
//! A chain in a data directory cannot load another chain's dump: the directory has one genesis
//! block.

mod anvil;
mod past;
mod state_history;
mod streamed;

use std::{
    collections::HashMap,
    io::{self, Write},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tetrad_evm::ChainParams;
use tetrad_primitives::{block::Block, state::ReadError};
use tetrad_stdx::calendar::LAST_SECOND;

use self::{
    anvil::{Accounts, DumpedBlock, DumpedTransaction, difference},
    past::{KnownCodes, PastState},
    state_history::StateHistory,
};
use crate::{Edit, Head, HistoryLimits, MAX_START_NUMBER};

/// The number of accounts that are restored in one step. All at once would take several times the
/// memory of the state.
const ACCOUNTS_AT_ONCE: usize = 10_000;

/// A parsed dump. Members of anvil's format that follow from these are ignored.
#[derive(Debug, Deserialize)]
pub struct Dump {
    accounts: Accounts,
    #[serde(default)]
    blocks: Vec<DumpedBlock>,
    #[serde(default)]
    transactions: Vec<DumpedTransaction>,
    #[serde(default)]
    historical_states: Option<Vec<PastState>>,
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
    Listed(ListedStates),
}

/// States as lists of accounts, and blocks.
#[derive(Clone, Debug)]
struct ListedStates {
    /// Contiguous, oldest first.
    blocks: Vec<Arc<Block>>,
    /// The accounts after the first block whose state is known.
    first: Arc<Accounts>,
    /// The changes of each of the blocks after it.
    changes: Vec<Edit>,
    limits: HistoryLimits,
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
    #[error("{0} blocks, but state changes of {1} blocks")]
    Changes(usize, usize),
    /// A block is later than any block may be.
    #[error("block {0}: its time {1} is after 9999-12-31T23:59:59Z")]
    TooLate(u64, u64),
    /// A block has a number that no further blocks can follow.
    #[error("block {0}: its number is above {MAX_START_NUMBER}")]
    TooHigh(u64),
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

    /// Drops what a fork cannot have: all states but the newest, the time, and blocks if the fork
    /// begins after them.
    pub fn keep_for_fork(&mut self, forked: u64) {
        self.tetrad = None;
        self.historical_states = None;
        if self.blocks.iter().all(|block| block.number() <= forked) {
            self.blocks.clear();
        }
    }

    /// Checks the dump, for a chain with these parameters and limits.
    pub fn prepare(
        self,
        params: Arc<ChainParams>,
        limits: HistoryLimits,
    ) -> Result<PreparedDump, DumpError> {
        let Self {
            accounts,
            blocks,
            transactions,
            historical_states,
            tetrad,
        } = self;
        let blocks = anvil::blocks(blocks, transactions)?;
        if let Some(late) = blocks
            .iter()
            .find(|block| block.header.timestamp > LAST_SECOND)
        {
            return Err(DumpError::TooLate(late.number(), late.header.timestamp));
        }
        if let Some(high) = blocks
            .iter()
            .find(|block| block.number() > MAX_START_NUMBER)
        {
            return Err(DumpError::TooHigh(high.number()));
        }

        Ok(PreparedDump(match tetrad {
            Some(own) => {
                // The history has them as well: the memory is needed for the state.
                drop((accounts, historical_states));
                let ahead = own.ahead();
                Prepared::Whole(Box::new(own.restore(params, blocks, limits)?), ahead)
            }
            None => {
                let past = historical_states.unwrap_or_default();
                Prepared::Listed(ListedStates::new(blocks, past, accounts, limits))
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
            Prepared::Listed(listed) => Ok((listed.restore(head)?, None)),
        }
    }
}

impl ListedStates {
    /// Of the past states only those can be used that are known without a gap up to the newest.
    fn new(
        blocks: Vec<Arc<Block>>,
        past: Vec<PastState>,
        newest: Accounts,
        limits: HistoryLimits,
    ) -> Self {
        let codes = KnownCodes::of(&past, &newest);
        let mut past: HashMap<_, _> = past.into_iter().collect();
        let older = blocks.split_last().map_or(&[][..], |(_, older)| older);
        let mut states: Vec<_> = older
            .iter()
            .rev()
            .map_while(|block| past.remove(&block.hash)?.into_accounts(&codes))
            .collect();
        states.reverse();
        states.push(newest);

        let changes = states
            .windows(2)
            .map(|pair| Edit::Accounts(difference(&pair[0], &pair[1])))
            .collect();
        Self {
            blocks,
            first: Arc::new(states.swap_remove(0)),
            changes,
            limits,
        }
    }

    /// Returns the restored chain, based on `head`.
    fn restore(self, head: &Head) -> Result<Head, ReadError> {
        let mut blocks = self.blocks;

        let mut edited = head.clone();
        // The sole owner of the dump drops each account once it is part of the state.
        let first = Arc::unwrap_or_clone(self.first).into_iter();
        let mut accounts = first
            .map(|(address, account)| account.at(address))
            .peekable();
        while accounts.peek().is_some() {
            let part = accounts.by_ref().take(ACCOUNTS_AT_ONCE).collect();
            edited = edited.edit(&Edit::Accounts(part))?;
            if !blocks.is_empty() {
                edited = edited.without_edits();
            }
        }

        // The blocks before the first known state.
        let later = blocks.split_off(blocks.len().saturating_sub(self.changes.len()));
        let Some(first) = blocks.pop() else {
            return Ok(edited);
        };
        let genesis = blocks.first().unwrap_or(&first).clone();
        let mut restored = Head::resumed(edited.params, genesis, blocks, first, edited.state);

        for (block, edit) in later.into_iter().zip(self.changes) {
            let edited = restored.edit(&edit)?;
            let changes = edited.edits().last().cloned().unwrap_or_default();
            (restored, _) = restored.extended(block, changes, edited.state, self.limits);
        }
        Ok(restored)
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
