//! Token balances and allowances: finds the storage slot that holds one, and writes it.

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256};
use alloy_sol_types::{SolCall, sol};
use parking_lot::Mutex;
use tetrad_chain::{BlockId, Edit, View};
use tetrad_evm::{AccountOverride, Call, CallContext, StateOverrides, TransactionError};
use tetrad_primitives::state::{Account, ReadError, ReadState, State};

use super::number::AnyNumber;
use crate::rpc::{Context, OnFork, RpcError, Table};

sol! {
    function balanceOf(address account) external view returns (uint256);
    function allowance(address owner, address spender) external view returns (uint256);
}

pub(super) fn methods(table: &mut Table) {
    table
        .change("anvil_dealERC20", deal, OnFork::Node)
        .aliases(&[
            "hardhat_dealERC20",
            "anvil_setERC20Balance",
            "tenderly_setErc20Balance",
        ])
        .describe(
            ["address", "token", "amount"],
            "Sets an account's balance of a token, in its smallest unit.",
        );

    table
        .change("anvil_setERC20Allowance", set_allowance, OnFork::Node)
        .describe(
            ["owner", "spender", "token", "amount"],
            "Sets the amount of a token, in its smallest unit, that `spender` may take from \
             `owner`.",
        );
}

/// Sets an account's balance of a token, in its smallest unit.
async fn deal(
    context: Arc<Context>,
    (account, token, amount): (Address, Address, AnyNumber),
) -> Result<(), RpcError> {
    let call = balanceOfCall { account }.abi_encode();
    write(context, token, call, amount.0, "balance").await
}

/// Sets the amount of a token, in its smallest unit, that `spender` may take from `owner`.
async fn set_allowance(
    context: Arc<Context>,
    (owner, spender, token, amount): (Address, Address, Address, AnyNumber),
) -> Result<(), RpcError> {
    let call = allowanceCall { owner, spender }.abi_encode();
    write(context, token, call, amount.0, "allowance").await
}

/// Writes the slot whose value `call` returns.
async fn write(
    context: Arc<Context>,
    token: Address,
    call: Vec<u8>,
    amount: U256,
    what: &str,
) -> Result<(), RpcError> {
    let find = {
        let context = context.clone();
        let call = Call {
            to: Some(token),
            input: call.into(),
            ..Call::default()
        };
        move || {
            let view = context.chain.view(BlockId::Latest)?;
            Ok(search(&view, &call, amount, context.config.gas_cap)?)
        }
    };

    let found = context.apart_for_caller(find).await?;
    let (address, slot) = found
        .ok_or_else(|| RpcError::server(format!("Unable to set ERC20 {what}, no slot found")))?;

    super::accounts::edit(&context, Edit::Storage(address, slot, amount)).await
}

/// A state that records the slots that are read.
struct RecordingState<'a> {
    state: &'a State,
    reads: Mutex<Vec<(Address, U256)>>,
}

impl ReadState for RecordingState<'_> {
    fn account(&self, address: &Address, key: &B256) -> Result<Option<Account>, ReadError> {
        self.state.account(address, key)
    }

    fn slot(&self, account: &Account, index: U256) -> Result<U256, ReadError> {
        self.reads.lock().push((account.address, index));
        self.state.slot(account, index)
    }

    fn is_forked(&self) -> bool {
        self.state.is_forked()
    }
}

/// Runs the call once to record the slots that it reads, then again with each of them changed,
/// until it returns `amount`. The call has to return two different amounts, so that a token that
/// returns a constant does not pass.
fn search(
    view: &View,
    call: &Call,
    amount: U256,
    gas_cap: u64,
) -> Result<Option<(Address, U256)>, TransactionError> {
    let watched = RecordingState {
        state: &view.state,
        reads: Mutex::default(),
    };
    let none = StateOverrides::new();
    CallContext {
        state: &watched,
        ..view.call_context(&none, gas_cap)
    }
    .call(call)?;

    let probe = !amount;
    for place in watched.reads.into_inner() {
        if returns(view, call, gas_cap, place, amount)?
            && returns(view, call, gas_cap, place, probe)?
        {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// Whether the call returns `value` once a slot of a contract holds it.
fn returns(
    view: &View,
    call: &Call,
    gas_cap: u64,
    (address, slot): (Address, U256),
    value: U256,
) -> Result<bool, TransactionError> {
    let diff = AccountOverride {
        state_diff: [(slot, value)].into(),
        ..AccountOverride::default()
    };
    let overrides = StateOverrides::from([(address, diff)]);

    let result = view.call_context(&overrides, gas_cap).call(call)?;
    let output = result.output().filter(|_| result.is_success());
    Ok(output.is_some_and(|output| output.as_ref() == value.to_be_bytes::<32>()))
}
