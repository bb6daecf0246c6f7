//! What the clients of a run were told.

use std::{ops::RangeInclusive, time::Duration};

use alloy::primitives::{Address, B256, U256};

/// Everything that a run's clients recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    /// The block in which the run begins: the transactions of its clients come after it.
    pub base: u64,
    /// The contract that counts calls by sender.
    pub counter: Address,
    /// The clients' accounts, each with its balance in the block `base`.
    pub accounts: Vec<(Address, U256)>,
    pub acknowledged: Vec<Acknowledgement>,
    /// Heads in the order in which each reader saw them.
    pub heads: Vec<HeadRead>,
    /// Blocks that nodes gave up when the servers decided for others, each time from the first one
    /// to the last one.
    pub given_up: Vec<RangeInclusive<u64>>,
    /// Whatever went wrong while clients ran.
    pub anomalies: Vec<String>,
}

/// A transaction that a node said it had taken.
#[derive(Debug, Clone)]
pub(crate) struct Acknowledgement {
    pub hash: B256,
    /// The index of the sender's account.
    pub sender: usize,
    pub nonce: u64,
    pub node: usize,
    pub connection: u64,
    /// Time since the run began.
    pub at: Duration,
    /// What the same connection said of it at once; none if the connection broke.
    pub own: Option<OwnRead>,
}

/// What a client read of its own transaction after it was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnRead {
    /// Number and hash of the block in the receipt, if there was a receipt.
    pub block: Option<(u64, B256)>,
    /// The sender's number of transactions.
    pub nonce: u64,
}

/// A head that a node reported, different from the one before on the same connection.
#[derive(Debug, Clone)]
pub(crate) struct HeadRead {
    pub node: usize,
    pub connection: u64,
    pub number: u64,
    /// None if the node did not have the block whose number it reported.
    pub hash: Option<B256>,
}
