//! Changes to the chain as data.
//!
//! A [`Change`] says all there is to say about itself, so that it can be named in a trace, recorded or sent to another node.

use alloy_primitives::{Address, B256};
use tokio::sync::oneshot;

use crate::{
    block::Transaction,
    chain::{ChangeError, Edit, Head, Mining, PreparedDump},
};

/// What the writer can be asked to do.
#[derive(Debug)]
pub enum Change {
    /// Make blocks of whatever is ready, even of nothing.
    Mine {
        /// Number of blocks.
        count: u64,
        /// How they follow each other.
        pace: Pace,
    },
    /// Change accounts or the chain's identity between blocks: all of it, or nothing if one edit fails.
    Edit(Vec<Edit>),
    /// Remember the chain as it is. Answered with [`Outcome::Snapshot`].
    Snapshot,
    /// Go back to a snapshot, which is used up with all later ones: blocks, state and time. Answered with
    /// [`Outcome::Found`].
    Revert(u64),
    /// Undo the newest blocks. The time goes on as it is.
    Rollback {
        /// Number of blocks.
        depth: u64,
    },
    /// Replace the newest blocks by as many others, which hold these transactions and nothing else. Nothing happens if
    /// one of the transactions cannot be executed.
    Reorg {
        /// The transactions of each block.
        blocks: Vec<Vec<Transaction>>,
    },
    /// Go back to where the node started, without what development methods decided since. The pool and the snapshots
    /// are empty then.
    Reset,
    /// Start anew with another chain. The pool and the snapshots are empty then.
    Restart {
        /// The other chain.
        head: Box<Head>,
        /// Gas limit of its blocks.
        gas_limit: u64,
    },
    /// Go on from a dump. Nothing happens if it does not make a chain.
    Load(PreparedDump),
    /// Seal blocks in this way. What is ready goes into a block at once if that is the way.
    SetMining(Mining),
    /// Set the base fee of the next block, in wei per gas, instead of what EIP-1559 says.
    SetNextBaseFee(u64),
    /// Set what `PREVRANDAO` gives in the next block.
    SetNextRandomness(B256),
    /// Set the account that gets the tips of new blocks.
    SetBeneficiary(Address),
    /// Set the gas limit of new blocks, from the next one on, however far it is from that of the newest.
    SetGasLimit(u64),
    /// Set the least tip that the pool accepts, in wei per gas.
    SetMinTip(u128),
    /// Put a time, in seconds since the Unix epoch, on the next block. It may not be before the newest one's, and on a
    /// chain whose blocks keep Ethereum's rules it has to be after it.
    SetNextTimestamp(u64),
    /// Move the chain's time by so many seconds. Answered with [`Outcome::Seconds`] by which it is ahead of the clock.
    IncreaseTime(i64),
    /// Set the chain's time, in seconds since the Unix epoch. Answered with [`Outcome::Seconds`] that it jumped ahead.
    SetTime(u64),
    /// Fix the seconds from each block to the next, or let the clock decide again. Answered with [`Outcome::Found`]:
    /// whether they were fixed.
    SetBlockInterval(Option<u64>),
}

/// How blocks that are mined on demand follow each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// The first one's time, in seconds since the Unix epoch, if that is decided.
    pub first: Option<u64>,
    /// Seconds by which the chain's time moves on before each block.
    pub interval: Option<u64>,
    /// Seconds by which a block is at least later than its parent.
    pub at_least: u64,
}

/// The answer to a change that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is nothing more to say.
    Done,
    /// The number of the snapshot that was taken.
    Snapshot(u64),
    /// Whether what the change is about was there.
    Found(bool),
    /// Seconds, as the change defines them.
    Seconds(i64),
}

/// Takes the outcome of a change.
pub(super) type Reply = oneshot::Sender<Result<Outcome, ChangeError>>;

impl Outcome {
    pub(in crate::chain) fn snapshot(self) -> Result<u64, ChangeError> {
        match self {
            Self::Snapshot(id) => Ok(id),
            other => Err(ChangeError::Outcome(other)),
        }
    }

    pub(in crate::chain) fn found(self) -> Result<bool, ChangeError> {
        match self {
            Self::Found(found) => Ok(found),
            other => Err(ChangeError::Outcome(other)),
        }
    }

    pub(in crate::chain) fn seconds(self) -> Result<i64, ChangeError> {
        match self {
            Self::Seconds(seconds) => Ok(seconds),
            other => Err(ChangeError::Outcome(other)),
        }
    }
}

impl Change {
    /// Its name in traces.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Mine { .. } => "mine",
            Self::Edit(_) => "edit",
            Self::Snapshot => "snapshot",
            Self::Revert(_) => "revert",
            Self::Rollback { .. } => "rollback",
            Self::Reorg { .. } => "reorg",
            Self::Reset => "reset",
            Self::Restart { .. } => "restart",
            Self::Load(_) => "load",
            Self::SetMining(_) => "set mining",
            Self::SetNextBaseFee(_) => "set next base fee",
            Self::SetNextRandomness(_) => "set next randomness",
            Self::SetBeneficiary(_) => "set beneficiary",
            Self::SetGasLimit(_) => "set gas limit",
            Self::SetMinTip(_) => "set min tip",
            Self::SetNextTimestamp(_) => "set next timestamp",
            Self::IncreaseTime(_) => "increase time",
            Self::SetTime(_) => "set time",
            Self::SetBlockInterval(_) => "set block interval",
        }
    }
}
