//! Building a block on top of any block that is held, without adding it to the chain.

use std::sync::Arc;

use alloy_eips::{eip4895::Withdrawal, eip7685::Requests};
use alloy_primitives::{Address, B256, Bytes, U256};
use tetrad_evm::{BlockError, BlockExecutor, Environment, Fork, TransactionError};
use tetrad_primitives::block::{Block, MAX_BLOCK_SIZE, Transaction};

use super::{
    fees, header,
    seal::{BlockContent, seal},
};
use crate::View;

/// The attributes of a block to build.
#[derive(Clone, Debug)]
pub struct BuildPlan {
    /// Seconds since the Unix epoch.
    pub timestamp: u64,
    /// The value of `PREVRANDAO`.
    pub prev_randao: B256,
    /// The account that receives the tips.
    pub fee_recipient: Address,
    /// Root of the parent beacon block.
    pub beacon_root: Option<B256>,
    /// Withdrawals.
    pub withdrawals: Vec<Withdrawal>,
    /// The header's extra data.
    pub extra_data: Bytes,
    /// The gas limit to move towards, by as much as one block may.
    pub gas_limit: u64,
}

/// A built block.
#[derive(Clone, Debug)]
pub struct BuiltBlock {
    /// The block with its receipts.
    pub block: Arc<Block>,
    /// Requests to the consensus layer.
    pub requests: Option<Requests>,
    /// The sum of the transactions' tips, in wei.
    pub value: U256,
}

/// The reason why a block cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The timestamp is not after the parent's.
    #[error("invalid timestamp: {0} is not after the parent's, {1}")]
    Timestamp(u64, u64),
    /// A transaction cannot be executed in the block.
    #[error("transaction {0}: {1}")]
    Transaction(usize, TransactionError),
    /// The block exceeds the size limit (EIP-7934).
    #[error("block size {0} exceeds the limit of {MAX_BLOCK_SIZE} bytes")]
    Size(usize),
    /// The block breaks a rule outside its transactions.
    #[error(transparent)]
    Block(#[from] BlockError),
}

/// Builds a block on top of the block of `view` from exactly these transactions, in this order.
pub fn build(
    view: &View,
    plan: BuildPlan,
    transactions: Vec<Arc<Transaction>>,
) -> Result<BuiltBlock, BuildError> {
    let parent = &view.block.header;
    if plan.timestamp <= parent.timestamp {
        return Err(BuildError::Timestamp(plan.timestamp, parent.timestamp));
    }

    let head = &*view.head;
    let environment = environment(view, &plan);
    let rules = environment.rules;
    let mut executor = BlockExecutor::begin(&head.params, &environment, &view.state, head)?;
    for (index, transaction) in transactions.iter().enumerate() {
        executor
            .execute(transaction)
            .map_err(|error| BuildError::Transaction(index, error))?;
    }

    let outcome = executor.finish(&[], Some(&plan.withdrawals))?;
    let base_fee = environment.base_fee.unwrap_or(0);
    let tips = transactions
        .iter()
        .zip(&outcome.receipts)
        .map(|(transaction, receipt)| {
            let price = transaction.effective_gas_price(environment.base_fee);
            U256::from(price.saturating_sub(base_fee.into())) * U256::from(receipt.gas_used)
        });
    let value = tips.sum();

    let requests = outcome.requests.clone();
    let (content, changes) = BlockContent::of(transactions, outcome);
    let content = BlockContent {
        withdrawals: rules.has(Fork::Shanghai).then_some(plan.withdrawals),
        ..content
    };

    let root = view.state.clone().apply(&changes);
    let block = seal(&environment, content, root);
    // The limit of EIP-7934.
    if rules.has(Fork::Osaka) && block.size() > MAX_BLOCK_SIZE {
        return Err(BuildError::Size(block.size()));
    }

    Ok(BuiltBlock {
        block: Arc::new(block),
        requests,
        value,
    })
}

/// Returns the environment of a block after that of `view`.
fn environment(view: &View, plan: &BuildPlan) -> Environment {
    let parent = &view.block.header;
    let head = &*view.head;
    let rules = head.rules(parent.number + 1, plan.timestamp);
    Environment {
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
        parent_beacon_block_root: rules
            .has(Fork::Cancun)
            .then(|| plan.beacon_root.unwrap_or_default()),
        extra_data: plan.extra_data.clone(),
    }
}
