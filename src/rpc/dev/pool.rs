//! Removal of transactions from the pool.

use alloy_primitives::{Address, B256};

use crate::{
    chain::SubmitError,
    rpc::{Context, OnFork, RpcError, Table},
};

pub(super) fn methods(table: &mut Table) {
    table.read("anvil_dropTransaction", drop_transaction, OnFork::Kept).describe(
        ["transaction hash"],
        "Removes a transaction from the pool; the result is its hash, or null if the pool does not have it.",
    );
    table
        .read("hardhat_dropTransaction", drop_transaction_for_hardhat, OnFork::Kept)
        .describe(["transaction hash"], "Removes a transaction from the pool; the result is whether the pool had it.");
    table
        .read("anvil_dropAllTransactions", drop_all_transactions, OnFork::Node)
        .aliases(&["hardhat_dropAllTransactions"])
        .describe([], "Removes all transactions from the pool.");
    table
        .read("anvil_removePoolTransactions", remove_pool_transactions, OnFork::Node)
        .describe(["address"], "Removes all transactions of an account from the pool.");
}

fn dropped() -> SubmitError {
    SubmitError::Dropped("transaction dropped".to_owned())
}

/// Removes a transaction from the pool; the result is its hash, or null if the pool does not have it.
fn drop_transaction(context: &Context, (hash,): (B256,)) -> Result<Option<B256>, RpcError> {
    Ok(context.chain.pool().reject(hash, dropped()).then_some(hash))
}

/// Removes a transaction from the pool; Hardhat's helpers require a boolean result.
fn drop_transaction_for_hardhat(context: &Context, (hash,): (B256,)) -> Result<bool, RpcError> {
    Ok(context.chain.pool().reject(hash, dropped()))
}

/// Removes all transactions from the pool.
fn drop_all_transactions(context: &Context, (): ()) -> Result<(), RpcError> {
    context.chain.pool().clear(dropped);
    Ok(())
}

/// Removes all transactions of an account from the pool.
fn remove_pool_transactions(context: &Context, (sender,): (Address,)) -> Result<(), RpcError> {
    let pool = context.chain.pool();
    for (pooled, _) in pool.content_of(sender) {
        pool.reject(pooled.transaction.hash(), dropped());
    }
    Ok(())
}
