//! Building a block on any block that is held, without making it part of the chain.

use std::sync::Arc;

use alloy_eips::{eip4895::Withdrawal, eip7685::Requests};
use alloy_primitives::{Address, B256, Bytes, U256};

use super::{
    fees, header,
    seal::{Content, seal},
};
use crate::{
    block::{Block, MAX_BLOCK_SIZE, Transaction},
    chain::View,
    evm::{BlockError, BlockExecutor, Environment, Fork, TransactionError},
};

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
    /// It would be larger than a block may be.
    #[error("the block has {0} bytes, more than the {MAX_BLOCK_SIZE} that it may have")]
    Size(usize),
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
        gas_limit: header::next_gas_limit(parent, plan.gas_limit, rules),
        base_fee: fees::next_base_fee(parent, rules),
        difficulty: head.next_difficulty(parent, plan.timestamp, rules),
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
    let requests = outcome.requests.clone();
    let (content, changes) = Content::of(transactions, outcome);
    let content = Content { withdrawals: rules.has(Fork::Shanghai).then_some(plan.withdrawals), ..content };
    let root = view.state.clone().apply(&changes);
    let block = seal(&environment, content, root);
    if rules.has(Fork::Osaka) && block.size() > MAX_BLOCK_SIZE {
        return Err(BuildError::Size(block.size()));
    }
    Ok(Built { block: Arc::new(block), requests, value })
}
