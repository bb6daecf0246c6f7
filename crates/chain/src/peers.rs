//! The other nodes of a cluster, as a chain sees them.

use alloy_primitives::{Address, B256};
use futures_util::future::BoxFuture;
use tetrad_primitives::block::Submission;

use super::{Change, ChangeError, ChangeOutcome, Pooled, SubmitError};

/// The leadership of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leadership {
    /// Whether this node does.
    pub leads: bool,
    /// Number of the newest epoch in this node's log; 0 without a cluster.
    pub epoch: u64,
}

/// An acknowledgement of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgement {
    /// It is in a published block.
    Included,
    /// It waits in the pool.
    Waiting,
}

/// Transactions of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolSelection {
    /// The transaction with this hash.
    Transaction(B256),
    /// All transactions of this account.
    Sender(Address),
    /// All transactions.
    All,
}

/// The other nodes of a cluster. An error `NotLeading` means that the request can be sent again: it
/// was not executed, or the next leader knows what was done of it.
pub trait Peers: Send + Sync {
    /// Sends a pooled transaction to the leader. `again` marks one that an earlier leader may have
    /// received. Returns its acknowledgement, and a height of the log that includes it.
    fn submit<'a>(
        &'a self,
        pooled: &'a Pooled,
        again: bool,
    ) -> BoxFuture<'a, Result<(Acknowledgement, u64), SubmitError>>;

    /// Sends a change to the leader, as the request with this id. Returns its outcome, and the
    /// height of the log that includes it.
    fn change<'a>(
        &'a self,
        change: &'a Change,
        request: u64,
    ) -> BoxFuture<'a, Result<(ChangeOutcome, u64), ChangeError>>;

    /// Has the leader remove transactions from the pool. Returns whether there were any.
    fn remove(&self, selection: PoolSelection) -> BoxFuture<'_, Result<bool, SubmitError>>;

    /// Has all nodes forget transactions that were removed from the leader's pool.
    fn forget<'a>(&'a self, hashes: &'a [B256]) -> BoxFuture<'a, ()>;

    /// Stores transactions that waited or were in blocks, and wait now, where they survive this
    /// node. Blocks the calling thread, which must not be one of the runtime.
    fn restore(&self, transactions: Vec<Submission>) -> Result<(), SubmitError>;

    /// Stores a transaction that waits in the pool where it survives this node.
    fn keep<'a>(&'a self, pooled: &'a Pooled) -> BoxFuture<'a, Result<(), SubmitError>>;
}
