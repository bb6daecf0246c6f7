//! The responses that the clients of a run recorded.

use std::{ops::RangeInclusive, time::Duration};

use alloy::primitives::{Address, B256, U256};

/// Everything that a run's clients recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    /// The block before the transactions of the run's clients.
    pub base: u64,
    /// The contract that counts calls by sender.
    pub counter: Address,
    /// The clients' accounts, each with its balance in the block `base`.
    pub accounts: Vec<(Address, U256)>,
    pub acknowledged: Vec<Acknowledgement>,
    /// Heads in the order in which each reader saw them.
    pub heads: Vec<HeadRead>,
    /// The ranges of blocks that nodes gave up because the servers had other entries.
    pub given_up: Vec<RangeInclusive<u64>>,
    /// Errors and other anomalies while clients ran.
    pub anomalies: Vec<String>,
}

/// A transaction that a node acknowledged.
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
    /// The read on the same connection immediately afterwards; none if the connection broke.
    pub own: Option<OwnRead>,
}

/// A client's read of its own transaction after the acknowledgement.
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
