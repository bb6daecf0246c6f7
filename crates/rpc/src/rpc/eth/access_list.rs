//! Access lists (EIP-2930): the accounts and slots that a transaction should declare.

use alloy_eips::eip2930::AccessList;
use revm::context_interface::result::{ExecutionResult, HaltReason};
use revm_inspectors::access_list::AccessListInspector;
use tetrad_chain::BlockId;
use tetrad_evm::{EstimateError, StateOverrides, Watch, halt_message};

use super::{render::write_access_list, request::TransactionRequest};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    hex::Quantity,
    json::{Json, JsonWriter, Object},
};

pub(super) fn methods(table: &mut Table) {
    table.apart("eth_createAccessList", create_access_list, OnFork::State).describe(
        ["transaction", "block", "state overrides"],
        "The accounts and slots that a transaction should declare (EIP-2930), and the gas that it \
         then uses.",
    );
}

/// The maximum number of rounds for a list that keeps changing.
const MAX_ROUNDS: usize = 16;

/// An access list, and the gas that the transaction uses with it.
struct Created {
    list: AccessList,
    gas_used: u64,
    /// The error with which the transaction fails, if it does.
    error: Option<String>,
}

impl Json for Created {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        write_access_list(&self.list, object.name("accessList"));
        object
            .optional("error", &self.error.as_deref())
            .member("gasUsed", &Quantity(self.gas_used))
            .end();
    }
}

/// The access list of everything that the transaction touches on the state of a block (by default
/// the newest). Declaring slots changes gas costs, so the transaction runs again until the list no
/// longer changes.
fn create_access_list(
    context: &Context,
    (request, block, overrides): (TransactionRequest, Option<BlockId>, StateOverrides),
) -> Result<Created, RpcError> {
    let view = context.chain.view(block.unwrap_or(BlockId::Latest))?;
    let mut call = request.into_call(context.chain.params().chain_id)?;

    let allowed = view.environment.gas_limit.min(context.config.gas_cap);
    let asked = call.gas;
    call.gas = Some(asked.unwrap_or(allowed));

    let out_of_time = context.time_check();
    let calls = view.call_context(&overrides, context.config.gas_cap);
    let mut list = call.access_list.take().unwrap_or_default();
    for _ in 0..MAX_ROUNDS {
        call.access_list = Some(list.clone());
        let mut inspector = AccessListInspector::new(list.clone());
        let mut watch = Watch::new(&mut inspector, &out_of_time, context.config.max_trace_bytes);
        let inspected = calls.inspect(&call, &mut watch);
        if watch.stopped().is_some() {
            return Err(RpcError::timeout("execution timeout"));
        }
        let result = inspected?.outcome.result;

        let found = inspector.into_access_list();
        if found != list {
            list = found;
            continue;
        }

        let error = match &result {
            ExecutionResult::Success { .. } => None,
            ExecutionResult::Revert { .. } => Some("execution reverted".to_owned()),
            // The node chose the gas limit, which no block exceeds.
            ExecutionResult::Halt {
                reason: HaltReason::OutOfGas(_),
                ..
            } if asked.is_none() => {
                return Err(EstimateError::Allowance(allowed).into());
            }
            ExecutionResult::Halt { reason, .. } => Some(halt_message(reason)),
        };

        return Ok(Created {
            list,
            gas_used: result.tx_gas_used(),
            error,
        });
    }
    Err(RpcError::server("the access list does not converge"))
}
