//! Changes to the chain, as data: a [`Change`] is a complete description, so that it can be named
//! in a trace, recorded or sent to another node.

use std::sync::Arc;

use tetrad_primitives::block::{Setting, Transaction};
use tokio::sync::oneshot;

use crate::{ChangeError, Edit, Head, PreparedDump};

/// The most blocks of one [`Change::Mine`].
pub const MAX_MINED_BLOCKS: u64 = 100_000;

/// A request to the writer.
#[derive(Clone, Debug)]
pub enum Change {
    /// Seal blocks with the transactions that are ready, even empty ones.
    Mine {
        /// Number of blocks, at most [`MAX_MINED_BLOCKS`].
        count: u64,
        /// Timestamps of the blocks.
        pace: Pace,
    },
    /// Edit accounts or the chain's identity between blocks. All edits are applied, or none if one
    /// fails.
    Edit(Vec<Edit>),
    /// Take a snapshot of the chain. Answered with [`ChangeOutcome::Snapshot`].
    Snapshot {
        /// Its name, of at most 255 bytes.
        name: Option<Arc<str>>,
    },
    /// Revert blocks, state and time to a snapshot, which is used up with all later ones. Answered
    /// with [`ChangeOutcome::Found`].
    Revert(u64),
    /// Remove the newest blocks. The chain's time is unchanged.
    Rollback {
        /// Number of blocks.
        depth: u64,
    },
    /// Remove the blocks after the one with this number, if there are any. The chain's time is
    /// unchanged.
    Rewind(u64),
    /// Replace the newest blocks with the same number of others, which contain exactly these
    /// transactions. Nothing changes if one of the transactions cannot be executed.
    Reorg {
        /// The transactions of each block.
        blocks: Vec<Vec<Transaction>>,
    },
    /// Return to the chain with which the node started, discard all settings of development
    /// methods, and clear the pool and the snapshots.
    Reset,
    /// Replace the chain with another one, and clear the pool and the snapshots.
    Restart {
        /// The other chain.
        head: Box<Head>,
        /// Gas limit of its blocks.
        gas_limit: u64,
    },
    /// Continue from a dump. Nothing changes if the dump is invalid.
    Load(PreparedDump),
    /// Make a setting. With instant mining, ready transactions go into a block at once.
    Set(Setting),
    /// Set the timestamp of the next block, in seconds since the Unix epoch. It must not be before
    /// the newest block's, and on a chain that follows Ethereum's rules it must be after it.
    SetNextTimestamp(u64),
    /// Move the chain's time by this number of seconds. Answered with the
    /// [`ChangeOutcome::Seconds`] by which it is ahead of the clock.
    IncreaseTime(i64),
    /// Set the chain's time, in seconds since the Unix epoch. Answered with the
    /// [`ChangeOutcome::Seconds`] by which it moved.
    SetTime(u64),
    /// Set the seconds between blocks, or follow the clock again. Answered with
    /// [`ChangeOutcome::Found`]: whether they were set before.
    SetBlockInterval(Option<u64>),
}

/// Timestamps of blocks that are mined on demand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// The first block's timestamp, in seconds since the Unix epoch, if it is given.
    pub first: Option<u64>,
    /// Seconds by which the chain's time advances before each block.
    pub interval: Option<u64>,
    /// The least number of seconds from a block's parent to the block.
    pub at_least: u64,
}

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// The change was made.
    Done,
    /// The id of the new snapshot.
    Snapshot(u64),
    /// Whether the object of the change existed.
    Found(bool),
    /// A number of seconds, as the change defines it.
    Seconds(i64),
}

/// The channel for the outcome of a change.
pub(super) type Reply = oneshot::Sender<Result<ChangeOutcome, ChangeError>>;

impl ChangeOutcome {
    pub(crate) fn snapshot(self) -> Result<u64, ChangeError> {
        match self {
            Self::Snapshot(id) => Ok(id),
            other => Err(ChangeError::Outcome(format!("{other:?}"))),
        }
    }

    pub(crate) fn found(self) -> Result<bool, ChangeError> {
        match self {
            Self::Found(found) => Ok(found),
            other => Err(ChangeError::Outcome(format!("{other:?}"))),
        }
    }

    /// The number of this outcome; 0 if it has none.
    pub(super) fn number(self) -> i64 {
        match self {
            Self::Seconds(seconds) => seconds,
            Self::Found(found) => i64::from(found),
            Self::Done | Self::Snapshot(_) => 0,
        }
    }

    pub(crate) fn seconds(self) -> Result<i64, ChangeError> {
        match self {
            Self::Seconds(seconds) => Ok(seconds),
            other => Err(ChangeError::Outcome(format!("{other:?}"))),
        }
    }
}

impl Change {
    /// Returns the change's name in traces.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Mine { .. } => "mine",
            Self::Edit(_) => "edit",
            Self::Snapshot { .. } => "snapshot",
            Self::Revert(_) => "revert",
            Self::Rollback { .. } => "rollback",
            Self::Rewind(_) => "rewind",
            Self::Reorg { .. } => "reorg",
            Self::Reset => "reset",
            Self::Restart { .. } => "restart",
            Self::Load(_) => "load",
            Self::Set(setting) => setting.name(),
            Self::SetNextTimestamp(_) => "set next timestamp",
            Self::IncreaseTime(_) => "increase time",
            Self::SetTime(_) => "set time",
            Self::SetBlockInterval(_) => "set block interval",
        }
    }
}
