//! Building a block on any block that is held, without making it part of the chain.

use std::sync::Arc;

use alloy_eips::{eip4895::Withdrawal, eip7685::Requests};
use alloy_primitives::{Address, B256, Bytes, U256};

use super::{
    View, fees,
    seal::{Content, seal},
};
use crate::{
    block::{Block, Transaction},
    evm::{BlockError, BlockExecutor, Environment, Fork, TransactionError},
};

/// The least gas limit of a block.
const MIN_GAS_LIMIT: u64 = 5_000;
/// A block's gas limit differs from its parent's by less than this part of it.
const GAS_LIMIT_BOUND: u64 = 1_024;

/// What a block is to be like.
#[derive(Clone, Debug)]
pub struct BuildPlan {
    /// Seconds since the Unix epoch.
    pub timestamp: u64,
    /// Randomness.
    pub prev_randao: B256,
    /// Who gets the tips.
    pub fee_recipient: Address,
    /// Root of the parent beacon block.
    pub beacon_root: Option<B256>,
    /// Withdrawals.
    pub withdrawals: Vec<Withdrawal>,
    /// Free bytes of the header.
    pub extra_data: Bytes,
    /// The gas limit to move to, as far as one block can.
    pub gas_limit: u64,
}

/// A block that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// The block with its receipts.
    pub block: Arc<Block>,
    /// Requests to the consensus layer.
    pub requests: Option<Requests>,
    /// What the transactions pay as tips, in wei.
    pub value: U256,
}

/// A block cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// It would not be later than its parent.
    #[error("invalid timestamp: {0} is not after the parent's, {1}")]
    Timestamp(u64, u64),
    /// A transaction cannot be part of it.
    #[error("transaction {0}: {1}")]
    Transaction(usize, TransactionError),
    /// A rule outside of the transactions is broken.
    #[error(transparent)]
    Block(#[from] BlockError),
}

/// Builds a block of these transactions, all of them in this order, on top of the block of `view`.
pub fn build(view: &View, plan: BuildPlan, transactions: Vec<Arc<Transaction>>) -> Result<Built, BuildError> {
    let parent = &view.block.header;
    if plan.timestamp <= parent.timestamp {
        return Err(BuildError::Timestamp(plan.timestamp, parent.timestamp));
    }
    let head = &*view.head;
    let rules = head.rules(parent.number + 1, plan.timestamp);
    let environment = Environment {
        rules,
        number: parent.number + 1,
        timestamp: plan.timestamp,
        beneficiary: plan.fee_recipient,
        gas_limit: next_gas_limit(parent.gas_limit, plan.gas_limit),
        base_fee: fees::next_base_fee(parent, rules),
        difficulty: if rules.has(Fork::Paris) { U256::ZERO } else { parent.difficulty },
        mix_hash: plan.prev_randao,
        excess_blob_gas: fees::next_excess_blob_gas(parent, rules),
        pretended_blob_base_fee: None,
        parent_hash: view.block.hash,
        parent_beacon_block_root: rules.has(Fork::Cancun).then(|| plan.beacon_root.unwrap_or_default()),
        extra_data: plan.extra_data,
    };
    let mut executor = BlockExecutor::begin(&head.params, &environment, &view.state, head)?;
    for (index, transaction) in transactions.iter().enumerate() {
        executor.execute(transaction).map_err(|error| BuildError::Transaction(index, error))?;
    }
    let outcome = executor.finish(&[], Some(&plan.withdrawals))?;
    let base_fee = environment.base_fee.unwrap_or(0);
    let tips = transactions.iter().zip(&outcome.receipts).map(|(transaction, receipt)| {
        let price = transaction.effective_gas_price(environment.base_fee);
        U256::from(price.saturating_sub(base_fee.into())) * U256::from(receipt.gas_used)
    });
    let value = tips.sum();
    let root = view.state.clone().apply(&outcome.changes);
    let requests = outcome.requests.clone();
    let content = Content {
        transactions,
        receipts: outcome.receipts,
        gas_used: outcome.gas_used,
        blob_gas_used: outcome.blob_gas_used,
        requests: outcome.requests,
        withdrawals: rules.has(Fork::Shanghai).then_some(plan.withdrawals),
        ..Content::default()
    };
    Ok(Built { block: Arc::new(seal(&environment, content, root)), requests, value })
}

/// The gas limit after `parent`'s on the way to `wanted`.
fn next_gas_limit(parent: u64, wanted: u64) -> u64 {
    let step = (parent / GAS_LIMIT_BOUND).saturating_sub(1);
    wanted.max(MIN_GAS_LIMIT).clamp(parent.saturating_sub(step), parent.saturating_add(step))
}
