//! Replaying the beginning of another chain's block, with its transactions up to one of them.

use std::sync::Arc;

use alloy_consensus::Header;
use tetrad_evm::{BlockExecutor, Environment};
use tetrad_primitives::block::Transaction;

use super::{
    build::BuildError,
    seal::{BlockContent, seal},
};
use crate::{Head, HistoryLimits};

/// Returns the chain after a block that has only these of the transactions, but everything else that
/// they can see of the block with this header: number, time, fees, randomness. Its hash is another.
///
/// # Errors
/// If a transaction cannot be executed.
pub fn replay(
    head: &Head,
    header: &Header,
    transactions: Vec<Arc<Transaction>>,
) -> Result<Head, BuildError> {
    let rules = head.rules(header.number, header.timestamp);
    let environment = Environment::of(header, rules);
    let mut executor = BlockExecutor::begin(&head.params, &environment, &head.state, head)?;
    for (index, transaction) in transactions.iter().enumerate() {
        executor
            .execute(transaction)
            .map_err(|error| BuildError::Transaction(index, error))?;
    }

    let outcome = executor.finish(&[], None)?;
    let (content, changes) = BlockContent::of(transactions, outcome);
    let mut state = head.state.clone();
    let root = state.apply(&changes);
    let block = seal(&environment, content, root);
    let (next, _) = head.extended(Arc::new(block), changes, state, HistoryLimits::default());
    Ok(next)
}
