//! Accounts: balance, nonce, code, storage.

use alloy_primitives::{Address, B256, Bytes, U256};
use tetrad_chain::BlockId;

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    hex::Quantity,
    params::{NonceBlock, SlotIndex, StateBlock},
};

pub(super) fn methods(table: &mut Table) {
    table
        .read("eth_accounts", accounts, OnFork::Node)
        .describe([], "The accounts whose keys the node holds.");
    table
        .read("eth_coinbase", coinbase, OnFork::Node)
        .describe([], "The recipient of the tips of new blocks.");
    table
        .read("eth_getBalance", balance, OnFork::State)
        .describe(["address", "block"], "The balance of an account in wei.");
    table
        .read("eth_getTransactionCount", transaction_count, OnFork::State)
        .describe(
            ["address", "block"],
            "The nonce of an account's next transaction. `pending` also counts the pool's \
             transactions.",
        );
    table
        .read("eth_getCode", code, OnFork::State)
        .describe(["address", "block"], "The code of a contract.");
    table
        .read("eth_getStorageAt", storage_at, OnFork::State)
        .describe(
            ["address", "slot", "block"],
            "The value of a storage slot, as 32 bytes.",
        );
}

/// The accounts whose keys the node holds.
pub(super) fn accounts(context: &Context, (): ()) -> Result<Vec<Address>, RpcError> {
    Ok(context.keyring.addresses())
}

/// The recipient of the tips of new blocks.
fn coinbase(context: &Context, (): ()) -> Result<Address, RpcError> {
    Ok(context.chain.beneficiary())
}

fn balance(
    context: &Context,
    (address, block): (Address, StateBlock),
) -> Result<Quantity<U256>, RpcError> {
    // By far the most frequent request, and one that needs only the head.
    if block.0 == BlockId::Latest {
        let head = context.chain.head();
        return Ok(Quantity(head.state.balance(address)?));
    }

    let state = context.chain.view(block.0)?.state;
    Ok(Quantity(state.balance(address)?))
}

/// The nonce of the account's next transaction. `pending` also counts the pool's transactions.
fn transaction_count(
    context: &Context,
    (address, block): (Address, NonceBlock),
) -> Result<Quantity<u64>, RpcError> {
    let mut id = block.0;
    if id == BlockId::Pending {
        if let Some(nonce) = context.chain.pool().pending_nonce(address) {
            return Ok(Quantity(nonce));
        }
        // Without transactions in the pool, the newest state has the nonce.
        id = BlockId::Latest;
    }

    let state = context.chain.view(id)?.state;
    Ok(Quantity(state.nonce(address)?))
}

fn code(context: &Context, (address, block): (Address, StateBlock)) -> Result<Bytes, RpcError> {
    Ok(context.chain.view(block.0)?.state.code(address)?)
}

/// A storage slot's value, as 32 bytes.
fn storage_at(
    context: &Context,
    (address, slot, block): (Address, SlotIndex, StateBlock),
) -> Result<B256, RpcError> {
    let state = context.chain.view(block.0)?.state;
    Ok(state.storage(address, slot.0)?.into())
}
