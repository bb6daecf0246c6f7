//! Changing accounts, and the chain's identity, from outside of any transaction. Every change is an [`Edit`].

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes};

use super::number::{AnyNumber, SmallNumber};
use crate::{
    chain::Edit,
    rpc::{Context, RpcError, Table},
};

pub(super) fn methods(table: &mut Table) {
    for name in ["anvil_setBalance", "hardhat_setBalance", "tenderly_setBalance", "evm_setAccountBalance"] {
        table.wait(name, set_balance);
    }
    for name in ["anvil_addBalance", "hardhat_addBalance", "tenderly_addBalance"] {
        table.wait(name, add_balance);
    }
    for name in ["anvil_setNonce", "hardhat_setNonce", "evm_setAccountNonce"] {
        table.wait(name, set_nonce);
    }
    for name in ["anvil_setCode", "hardhat_setCode", "evm_setAccountCode"] {
        table.wait(name, set_code);
    }
    for name in ["anvil_setStorageAt", "hardhat_setStorageAt"] {
        table.wait(name, set_storage_at);
    }
    table.wait("anvil_setChainId", set_chain_id);
}

/// Makes an edit part of the chain.
pub(super) async fn edit(context: &Context, edit: Edit) -> Result<(), RpcError> {
    Ok(context.chain.change(move |executor| executor.edit(&[edit])).await??)
}

/// Gives an account this balance, in wei.
async fn set_balance(context: Arc<Context>, (address, wei): (Address, AnyNumber)) -> Result<(), RpcError> {
    edit(&context, Edit::Balance(address, wei.0)).await
}

/// Gives an account so much more, in wei.
async fn add_balance(context: Arc<Context>, (address, wei): (Address, AnyNumber)) -> Result<(), RpcError> {
    edit(&context, Edit::Credit(address, wei.0)).await
}

/// Gives an account's next transaction this nonce.
async fn set_nonce(context: Arc<Context>, (address, nonce): (Address, SmallNumber)) -> Result<(), RpcError> {
    edit(&context, Edit::Nonce(address, nonce.0)).await
}

/// Gives an account this code.
async fn set_code(context: Arc<Context>, (address, code): (Address, Bytes)) -> Result<(), RpcError> {
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
