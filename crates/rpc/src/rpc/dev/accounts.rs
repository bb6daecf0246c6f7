//! Changes of accounts and of the chain id outside of any transaction. Every change is an [`Edit`].

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes};
use tetrad_chain::{Change, Edit};

use super::number::{AnyNumber, SmallNumber};
use crate::rpc::{Context, OnFork, RpcError, Table};

pub(super) fn methods(table: &mut Table) {
    table
        .change("anvil_setBalance", set_balance, OnFork::Node)
        .aliases(&[
            "hardhat_setBalance",
            "tenderly_setBalance",
            "evm_setAccountBalance",
        ])
        .describe(["address", "wei"], "Sets the balance of an account.");

    table
        .change("anvil_addBalance", add_balance, OnFork::Node)
        .aliases(&["hardhat_addBalance", "tenderly_addBalance"])
        .describe(["address", "wei"], "Adds to the balance of an account.");

    table
        .change("anvil_setNonce", set_nonce, OnFork::Node)
        .aliases(&["hardhat_setNonce", "evm_setAccountNonce"])
        .describe(["address", "nonce"], "Sets the nonce of an account.");

    table
        .change("anvil_setCode", set_code, OnFork::Node)
        .aliases(&["hardhat_setCode", "evm_setAccountCode"])
        .describe(["address", "code"], "Sets the code of an account.");

    table
        .change("anvil_setStorageAt", set_storage_at, OnFork::Node)
        .aliases(&["hardhat_setStorageAt"])
        .describe(
            ["address", "slot", "value"],
            "Writes 32 bytes into a storage slot.",
        );

    table
        .change("anvil_setChainId", set_chain_id, OnFork::Node)
        .describe(
            ["chain id"],
            "Changes the chain id that transactions have to be signed for.",
        );
}

/// Records an edit in the chain.
pub(super) async fn edit(context: &Context, edit: Edit) -> Result<(), RpcError> {
    context.chain.change(Change::Edit(vec![edit])).await?;
    Ok(())
}

/// Sets the balance of an account, in wei.
async fn set_balance(
    context: Arc<Context>,
    (address, wei): (Address, AnyNumber),
) -> Result<(), RpcError> {
    edit(&context, Edit::Balance(address, wei.0)).await
}

/// Adds to the balance of an account, in wei.
async fn add_balance(
    context: Arc<Context>,
    (address, wei): (Address, AnyNumber),
) -> Result<(), RpcError> {
    edit(&context, Edit::Credit(address, wei.0)).await
}

/// Sets the nonce of an account.
async fn set_nonce(
    context: Arc<Context>,
    (address, nonce): (Address, SmallNumber),
) -> Result<(), RpcError> {
    edit(&context, Edit::Nonce(address, nonce.0)).await
}

/// Sets the code of an account.
async fn set_code(
    context: Arc<Context>,
    (address, code): (Address, Bytes),
) -> Result<(), RpcError> {
    edit(&context, Edit::Code(address, code)).await
}

/// Writes 32 bytes into a storage slot.
async fn set_storage_at(
    context: Arc<Context>,
    (address, slot, value): (Address, AnyNumber, B256),
) -> Result<bool, RpcError> {
    edit(&context, Edit::Storage(address, slot.0, value.into())).await?;
    Ok(true)
}

/// Changes the chain id that transactions have to be signed for.
async fn set_chain_id(context: Arc<Context>, (id,): (SmallNumber,)) -> Result<(), RpcError> {
    edit(&context, Edit::ChainId(id.0)).await
}
