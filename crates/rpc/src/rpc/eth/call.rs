//! Calls and estimates.

use alloy_primitives::Bytes;
use tetrad_chain::{BlockId, View};
use tetrad_evm::{Call, Environment, StateOverrides, TimeLimit};
use tetrad_web::refuses_long;

use super::{overrides::BlockOverrides, request::TransactionRequest};
use crate::rpc::{
    Context, Dialect, OnFork, RpcError, Table, call_form::CallForm, error::call_output,
    hex::Quantity,
};

pub(super) fn methods(table: &mut Table) {
    table
        .execute("eth_call", call, OnFork::State)
        .records_failures(CallForm::Call)
        .describe(
            ["transaction", "block", "state overrides", "block overrides"],
            "Runs a call on the state of a block and returns its output. A revert is an error with \
             code 3 and the revert data.",
        );
    table
        .execute("eth_estimateGas", estimate_gas, OnFork::State)
        .records_failures(CallForm::Call)
        .describe(
            ["transaction", "block", "state overrides", "block overrides"],
            "The least gas with which a transaction succeeds: in the named block, or else in the \
             next one, also if a second passes until then.",
        );
}

type CallParams = (
    TransactionRequest,
    Option<BlockId>,
    StateOverrides,
    BlockOverrides,
);

/// Runs a call on the state of a block (by default the newest) and returns its output.
fn call(
    context: &Context,
    (request, block, overrides, in_block): CallParams,
) -> Result<Bytes, RpcError> {
    let block = block.unwrap_or(BlockId::Latest);
    let (view, call) = prepare(context, request, block, &in_block)?;

    let out_of_time = context.time_check();
    let calls = view
        .call_context(&overrides, context.config.gas_cap)
        .within(TimeLimit::new(&out_of_time, &refuses_long));
    call_output(calls.call(&call)?).map_err(|error| context.explained(error, &view, call.to))
}

/// The call that a request stands for, and the view of the block at which it is executed.
fn prepare(
    context: &Context,
    request: TransactionRequest,
    block: BlockId,
    in_block: &BlockOverrides,
) -> Result<(View, Call), RpcError> {
    let mut view = context.chain.view(block)?;
    let call = request.into_call(context.chain.params().chain_id)?;
    lower_base_fee(context, &call, &mut view.environment);
    in_block.apply(&mut view.environment)?;
    Ok((view, call))
}

/// With anvil's conventions, lowers the base fee to what the call pays: in calls and estimates, not in
/// traces and simulations.
fn lower_base_fee(context: &Context, call: &Call, environment: &mut Environment) {
    if !context.config.anvil_conventions {
        return;
    }
    if let Some(price) = call.gas_price.and_then(|price| u64::try_from(price).ok()) {
        environment.base_fee = environment.base_fee.map(|base_fee| base_fee.min(price));
    }
}

/// The least gas with which the transaction succeeds.
fn estimate_gas(
    context: &Context,
    (request, block, overrides, in_block): CallParams,
) -> Result<Quantity<u64>, RpcError> {
    estimate(context, request, block, &overrides, &in_block).map(Quantity)
}

/// The gas that a transaction needs at a block.
pub(in crate::rpc) fn estimate_at(
    context: &Context,
    request: TransactionRequest,
    block: BlockId,
) -> Result<u64, RpcError> {
    estimate(
        context,
        request,
        Some(block),
        &StateOverrides::new(),
        &BlockOverrides::default(),
    )
}

/// The gas that a transaction needs. Without a block parameter the estimate is for the next block,
/// and also holds a second later, so that a contract that accrues interest uses no more than
/// estimated. In the dialect of go-ethereum it is for the newest block instead.
pub(super) fn estimate(
    context: &Context,
    request: TransactionRequest,
    block: Option<BlockId>,
    overrides: &StateOverrides,
    in_block: &BlockOverrides,
) -> Result<u64, RpcError> {
    let (block, lasting) = match (block, context.dialect) {
        // Some client libraries always name the pending block.
        (None, Dialect::Network) | (Some(BlockId::Pending), _) => (BlockId::Pending, true),
        (Some(block), _) => (block, false),
        (None, Dialect::Ethereum) => (BlockId::Latest, false),
    };

    let (view, call) = prepare(context, request, block, in_block)?;

    let out_of_time = context.time_check();
    let calls = view
        .call_context(overrides, context.config.gas_cap)
        .within(TimeLimit::new(&out_of_time, &refuses_long));
    let tolerance = context.config.estimate_tolerance;
    let estimated = if lasting {
        calls.lasting_estimate(&call, tolerance)
    } else {
        calls.estimate(&call, tolerance)
    };
    estimated.map_err(|error| context.explained(error.into(), &view, call.to))
}
