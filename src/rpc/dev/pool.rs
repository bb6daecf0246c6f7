//! Taking transactions out of the pool.

use alloy_primitives::{Address, B256};

use crate::{
    chain::SubmitError,
    rpc::{Context, RpcError, Table},
};

pub(super) fn methods(table: &mut Table) {
    table.read("anvil_dropTransaction", drop_transaction);
    table.read("hardhat_dropTransaction", drop_transaction_for_hardhat);
    for name in ["anvil_dropAllTransactions", "hardhat_dropAllTransactions"] {
        table.read(name, drop_all_transactions);
    }
    table.read("anvil_removePoolTransactions", remove_pool_transactions);
}

fn dropped() -> SubmitError {
    SubmitError::Dropped("transaction dropped".to_owned())
}

/// Takes a transaction out; the result is its hash, or null if the pool does not have it.
fn drop_transaction(context: &Context, (hash,): (B256,)) -> Result<Option<B256>, RpcError> {
    Ok(context.chain.pool().reject(hash, dropped()).then_some(hash))
}

/// The same; Hardhat's helpers insist on a boolean.
fn drop_transaction_for_hardhat(context: &Context, (hash,): (B256,)) -> Result<bool, RpcError> {
    Ok(context.chain.pool().reject(hash, dropped()))
}

/// Takes all transactions out.
fn drop_all_transactions(context: &Context, (): ()) -> Result<(), RpcError> {
    context.chain.pool().clear(dropped);
    Ok(())
}

/// Takes all transactions of an account out.
fn remove_pool_transactions(context: &Context, (sender,): (Address,)) -> Result<(), RpcError> {
    let pool = context.chain.pool();
    for (pooled, _) in pool.content_of(sender) {
        pool.reject(pooled.transaction.hash(), dropped());
    }
    Ok(())
}
