//! Applying a foreign block: executes it and compares the result with its header.
//!
//! Reads no clock, no environment and no source of randomness: the same head and the same block
//! give the same result everywhere, or the same error.

use std::sync::Arc;

use alloy_consensus::{Header, Transaction as _, proofs::calculate_withdrawals_root};
use alloy_rlp::Encodable;
use tetrad_evm::{BlockExecutor, Environment, Fork, Rules};
use tetrad_primitives::{
    block::{
        Block, DecodeError, Envelope, ListedEnvelope, MAX_BLOCK_SIZE, Transaction, ommers_hash,
    },
    state::{Changes, State},
};
use tetrad_stdx::parallel;

use super::{
    foreign::{ForeignBlock, InvalidBlock, check, field},
    header, ommers,
    seal::{BlockContent, seal},
};
use crate::Head;

/// From this number of transactions on, recovering their senders takes longer than starting
/// threads.
const PARALLEL_FROM: usize = 16;

/// A block that was applied.
#[derive(Debug)]
pub struct AppliedBlock {
    /// The block with its receipts.
    pub block: Arc<Block>,
    /// The block's state changes.
    pub changes: Changes,
    /// The state after it.
    pub state: State,
}

/// The error for a block that is not a valid child of the head.
#[derive(Debug, thiserror::Error)]
#[error("block {number}: {reason}")]
pub struct ApplyError {
    /// The block's number.
    pub number: u64,
    /// The first rule that the block breaks.
    pub reason: Box<InvalidBlock>,
}

/// Executes `foreign` on top of `head`.
pub fn apply(head: &Head, foreign: ForeignBlock) -> Result<AppliedBlock, ApplyError> {
    let number = foreign.header.number;
    execute(head, foreign).map_err(|reason| ApplyError {
        number,
        reason: Box::new(reason),
    })
}

/// Returns whether a legacy transaction is protected against replay (EIP-155) before Spurious
/// Dragon, when a chain id in `v` is just an invalid `v`.
pub(crate) fn is_protected_too_early(envelope: &Envelope, rules: Rules) -> bool {
    matches!(envelope, Envelope::Legacy(_))
        && envelope.chain_id().is_some()
        && !rules.has(Fork::SpuriousDragon)
}

/// Recovers the sender of a transaction in a block under these rules.
pub fn recover(envelope: Envelope, rules: Rules) -> Result<Transaction, DecodeError> {
    if is_protected_too_early(&envelope, rules) {
        return Err(DecodeError::Signature);
    }
    Transaction::recover(envelope, rules.has(Fork::Homestead))
}

/// Recovers the senders of a block's transactions, in parallel if there are many.
fn recover_all(
    envelopes: Vec<ListedEnvelope>,
    rules: Rules,
) -> Vec<Result<Transaction, DecodeError>> {
    if envelopes.len() < PARALLEL_FROM {
        return envelopes
            .into_iter()
            .map(|ListedEnvelope(envelope)| recover(envelope, rules))
            .collect();
    }

    let mut recovered: Vec<_> = envelopes
        .iter()
        .map(|_| Err(DecodeError::Signature))
        .collect();
    let each = envelopes.into_iter().zip(&mut recovered);
    parallel::for_each(each, |(ListedEnvelope(envelope), place), (): &mut ()| {
        *place = recover(envelope, rules)
    });
    recovered
}

fn execute(head: &Head, foreign: ForeignBlock) -> Result<AppliedBlock, InvalidBlock> {
    let header = &foreign.header;
    verify(head, &foreign)?;

    let environment = Environment::of(header, head.rules(header.number, header.timestamp));
    let rules = environment.rules;
    let mut executor = BlockExecutor::begin(&head.params, &environment, &head.state, head)?;

    let recovered = recover_all(foreign.body.transactions, rules);
    let mut transactions = Vec::with_capacity(recovered.len());
    for (index, transaction) in recovered.into_iter().enumerate() {
        let transaction = transaction.map_err(|error| InvalidBlock::Signature(index, error))?;
        executor
            .execute(&transaction)
            .map_err(|error| InvalidBlock::Transaction(index, error))?;
        transactions.push(Arc::new(transaction));
    }

    let withdrawals = foreign
        .body
        .withdrawals
        .map(|withdrawals| withdrawals.into_inner());
    let outcome = executor.finish(&foreign.body.ommers, withdrawals.as_deref())?;
    let (content, changes) = BlockContent::of(transactions, outcome);
    let content = BlockContent {
        ommers: foreign.body.ommers,
        withdrawals,
        // Proof of work is not checked, so its nonce is taken over.
        nonce: header.nonce,
        ..content
    };

    let mut state = head.state.clone();
    let root = state.apply(&changes);
    let block = seal(&environment, content, root);
    compare(&block.header, header)?;
    Ok(AppliedBlock {
        block: Arc::new(block),
        changes,
        state,
    })
}

/// Checks everything about a block that requires no execution.
fn verify(head: &Head, block: &ForeignBlock) -> Result<(), InvalidBlock> {
    let header = &block.header;
    let body = &block.body;

    // First, since the other fields are judged by the parent's.
    field("parentHash", head.block.hash, header.parent_hash)?;
    header::verify(&head.params, &head.block.header, header)?;

    let rules = head.rules(header.number, header.timestamp);
    if rules.has(Fork::Osaka) {
        let size = block.length();
        check("size", size <= MAX_BLOCK_SIZE, size, || {
            format!("at most {MAX_BLOCK_SIZE} bytes")
        })?;
    }

    field("sha3Uncles", ommers_hash(&body.ommers), header.ommers_hash)?;
    let withdrawals = body
        .withdrawals
        .as_ref()
        .map(|withdrawals| calculate_withdrawals_root(withdrawals));
    field("withdrawalsRoot", withdrawals, header.withdrawals_root)?;
    ommers::verify(head, block)
}

/// Compares a header with the one that execution leads to, and names the first field that differs.
fn compare(expected: &Header, found: &Header) -> Result<(), InvalidBlock> {
    // A difference in gas also changes the roots below, which say less about the fault.
    field("gasUsed", expected.gas_used, found.gas_used)?;
    field("blobGasUsed", expected.blob_gas_used, found.blob_gas_used)?;
    field("receiptsRoot", expected.receipts_root, found.receipts_root)?;
    field("logsBloom", expected.logs_bloom, found.logs_bloom)?;
    field("stateRoot", expected.state_root, found.state_root)?;
    field(
        "transactionsRoot",
        expected.transactions_root,
        found.transactions_root,
    )?;
    field("requestsHash", expected.requests_hash, found.requests_hash)?;
    field("hash", expected.hash_slow(), found.hash_slow())
}
