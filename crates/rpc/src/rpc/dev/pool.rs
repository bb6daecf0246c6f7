//! Removal of transactions from the pool.

use std::sync::Arc;

use alloy_primitives::{Address, B256};
use tetrad_chain::PoolSelection;

use crate::rpc::{Context, OnFork, RpcError, Table};

pub(super) fn methods(table: &mut Table) {
    table
        .change("anvil_dropTransaction", drop_transaction, OnFork::Kept)
        .describe(
            ["transaction hash"],
            "Removes a transaction from the pool; the result is its hash, or null if the pool \
             does not have it.",
        );

    table
        .change(
            "hardhat_dropTransaction",
            drop_transaction_for_hardhat,
            OnFork::Kept,
        )
        .describe(
            ["transaction hash"],
            "Removes a transaction from the pool; the result is whether the pool had it.",
        );

    table
        .change(
            "anvil_dropAllTransactions",
            drop_all_transactions,
            OnFork::Node,
        )
        .aliases(&["hardhat_dropAllTransactions"])
        .describe([], "Removes all transactions from the pool.");

    table
        .change(
            "anvil_removePoolTransactions",
            remove_pool_transactions,
            OnFork::Node,
        )
        .describe(
            ["address"],
            "Removes all transactions of an account from the pool.",
        );
}

/// Removes a transaction from the pool; the result is its hash, or null if the pool does not have
/// it.
async fn drop_transaction(
    context: Arc<Context>,
    (hash,): (B256,),
) -> Result<Option<B256>, RpcError> {
    Ok(context
        .chain
        .remove(PoolSelection::Transaction(hash))
        .await?
        .then_some(hash))
}

/// Removes a transaction from the pool; Hardhat's helpers require a boolean result.
async fn drop_transaction_for_hardhat(
    context: Arc<Context>,
    (hash,): (B256,),
) -> Result<bool, RpcError> {
    Ok(context
        .chain
        .remove(PoolSelection::Transaction(hash))
        .await?)
}

/// Removes all transactions from the pool.
async fn drop_all_transactions(context: Arc<Context>, (): ()) -> Result<(), RpcError> {
    context.chain.remove(PoolSelection::All).await?;
    Ok(())
}

/// Removes all transactions of an account from the pool.
async fn remove_pool_transactions(
    context: Arc<Context>,
    (sender,): (Address,),
) -> Result<(), RpcError> {
    context.chain.remove(PoolSelection::Sender(sender)).await?;
    Ok(())
}
