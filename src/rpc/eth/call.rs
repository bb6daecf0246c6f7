//! Calls and estimates.

use alloy_primitives::Bytes;

use super::{overrides::BlockOverrides, request::TransactionRequest};
use crate::{
    chain::BlockId,
    evm::StateOverrides,
    rpc::{Context, Dialect, RpcError, Table, error::call_output, hex::Quantity},
};

pub(super) fn methods(table: &mut Table) {
    table.execute("eth_call", call);
    table.execute("eth_estimateGas", estimate_gas);
}

type CallParams = (TransactionRequest, Option<BlockId>, StateOverrides, BlockOverrides);

/// Runs a call on the state of a block (by default the newest) and returns its output.
fn call(context: &Context, (request, block, overrides, in_block): CallParams) -> Result<Bytes, RpcError> {
    let mut view = context.chain.view(block.unwrap_or(BlockId::Latest))?;
    in_block.apply(&mut view.environment)?;
    let call = request.into_call(context.chain.params().chain_id)?;
    let is_over = context.time_limit();
    call_output(view.call_context(&overrides, context.config.gas_cap).until(&is_over).call(&call)?)
}

/// The block that an estimate is for where a client names none: the next one, whose time a contract may look at. So
/// what reckons interest up to now costs as much in the estimate as it will. Clients of go-ethereum get the newest.
pub(super) fn estimate_block(context: &Context) -> BlockId {
    match context.dialect {
        Dialect::Network => BlockId::Pending,
        Dialect::Ethereum => BlockId::Latest,
    }
}

/// The least gas with which the transaction succeeds.
fn estimate_gas(
    context: &Context,
    (request, block, overrides, in_block): CallParams,
) -> Result<Quantity<u64>, RpcError> {
    let mut view = context.chain.view(block.unwrap_or_else(|| estimate_block(context)))?;
    in_block.apply(&mut view.environment)?;
    let call = request.into_call(context.chain.params().chain_id)?;
    let is_over = context.time_limit();
    Ok(Quantity(view.call_context(&overrides, context.config.gas_cap).until(&is_over).estimate(&call)?))
}
