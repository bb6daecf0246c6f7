//! Applying a block that somebody else sealed: execute it and hold the result against its header.
//!
//! Reads no clock, no environment and no source of randomness: the same head and the same block give the same result
//! everywhere, or the same error.

use std::sync::Arc;

use alloy_consensus::Header;

use super::{
    Head, fees,
    seal::{Content, seal},
};
use crate::{
    block::{Block, DecodeError, Envelope, Transaction},
    evm::{BlockError, BlockExecutor, Environment, Fork, TransactionError},
    state::{Changes, State},
};

/// A block as peers exchange it.
pub type ForeignBlock = alloy_consensus::Block<Envelope>;

/// A block that was applied.
#[derive(Debug)]
pub struct Applied {
    /// The block with its receipts.
    pub block: Arc<Block>,
    /// What it changed.
    pub changes: Changes,
    /// The state after it.
    pub state: State,
}

/// A block cannot follow the head.
#[derive(Debug, thiserror::Error)]
#[error("block {number}: {reason}")]
pub struct ApplyError {
    /// The block's number.
    pub number: u64,
    /// What is wrong with it.
    pub reason: Box<Refusal>,
}

/// What is wrong with a block.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A field of the header is not what it must be.
    #[error("{field}: expected {expected}, got {found}")]
    Field {
        /// The field.
        field: &'static str,
        /// What execution, or the parent, says.
        expected: String,
        /// What the header says.
        found: String,
    },
    /// A transaction has no valid signature.
    #[error("transaction {0}: {1}")]
    Signature(usize, DecodeError),
    /// A transaction cannot be executed.
    #[error("transaction {0}: {1}")]
    Transaction(usize, TransactionError),
    /// A rule outside of the transactions is broken.
    #[error(transparent)]
    Block(#[from] BlockError),
}

/// Executes `foreign` on top of `head`.
pub fn apply(head: &Head, foreign: ForeignBlock) -> Result<Applied, ApplyError> {
    let number = foreign.header.number;
    execute(head, foreign).map_err(|reason| ApplyError { number, reason: Box::new(reason) })
}

fn execute(head: &Head, foreign: ForeignBlock) -> Result<Applied, Refusal> {
    let header = &foreign.header;
    check_parent(head, header)?;
    let environment = Environment::of(header, head.rules(header.number, header.timestamp));
    let strict = environment.rules.has(Fork::Homestead);
    let mut executor = BlockExecutor::begin(&head.params, &environment, &head.state, head)?;
    let mut transactions = Vec::with_capacity(foreign.body.transactions.len());
    for (index, envelope) in foreign.body.transactions.into_iter().enumerate() {
        let transaction = Transaction::recover(envelope, strict).map_err(|error| Refusal::Signature(index, error))?;
        executor.execute(&transaction).map_err(|error| Refusal::Transaction(index, error))?;
        transactions.push(Arc::new(transaction));
    }
    let withdrawals = foreign.body.withdrawals.map(|withdrawals| withdrawals.into_inner());
    let outcome = executor.finish(&foreign.body.ommers, withdrawals.as_deref())?;
    let mut state = head.state.clone();
    let root = state.apply(&outcome.changes);
    let content = Content {
        transactions,
        receipts: outcome.receipts,
        gas_used: outcome.gas_used,
        blob_gas_used: outcome.blob_gas_used,
        requests: outcome.requests,
        ommers: foreign.body.ommers,
        withdrawals,
        nonce: header.nonce,
    };
    let block = seal(&environment, content, root);
    compare(&block.header, header)?;
    Ok(Applied { block: Arc::new(block), changes: outcome.changes, state })
}

fn field<T: PartialEq + std::fmt::Debug>(field: &'static str, expected: T, found: T) -> Result<(), Refusal> {
    if expected == found {
        return Ok(());
    }
    Err(Refusal::Field { field, expected: format!("{expected:?}"), found: format!("{found:?}") })
}

/// What a header owes to its parent.
fn check_parent(head: &Head, header: &Header) -> Result<(), Refusal> {
    let parent = &head.block.header;
    let rules = head.rules(header.number, header.timestamp);
    field("number", parent.number + 1, header.number)?;
    field("parentHash", head.block.hash, header.parent_hash)?;
    field("baseFeePerGas", fees::next_base_fee(parent, rules), header.base_fee_per_gas)?;
    field("excessBlobGas", fees::next_excess_blob_gas(parent, rules), header.excess_blob_gas)?;
    field("parentBeaconBlockRoot is present", rules.has(Fork::Cancun), header.parent_beacon_block_root.is_some())?;
    if header.timestamp <= parent.timestamp {
        let expected = format!("more than {}", parent.timestamp);
        return Err(Refusal::Field { field: "timestamp", expected, found: header.timestamp.to_string() });
    }
    Ok(())
}

/// Names the first field in which the header is not what execution came to.
fn compare(expected: &Header, found: &Header) -> Result<(), Refusal> {
    field("gasUsed", expected.gas_used, found.gas_used)?;
    field("blobGasUsed", expected.blob_gas_used, found.blob_gas_used)?;
    field("receiptsRoot", expected.receipts_root, found.receipts_root)?;
    field("logsBloom", expected.logs_bloom, found.logs_bloom)?;
    field("stateRoot", expected.state_root, found.state_root)?;
    field("transactionsRoot", expected.transactions_root, found.transactions_root)?;
    field("withdrawalsRoot", expected.withdrawals_root, found.withdrawals_root)?;
    field("requestsHash", expected.requests_hash, found.requests_hash)?;
    field("sha3Uncles", expected.ommers_hash, found.ommers_hash)?;
    field("hash", expected.hash_slow(), found.hash_slow())
}
