//! `eth_simulateV1`: simulated blocks of calls, one after another.

use alloy_primitives::Bytes;
use revm::context_interface::result::ExecutionResult;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{
    BlockId, MAX_SIMULATED_BLOCKS, PlannedCall, Simulated, SimulationError, SimulationOptions,
    simulate,
};
use tetrad_evm::{StateOverrides, halt_message};
use tetrad_primitives::block::LogPosition;

use super::{
    overrides::BlockOverrides,
    render::{RpcBlock, write_log},
    request::{TransactionRequest, field},
};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    error::{REVERTED, VM_ERROR},
    hex::Quantity,
    json::{Json, JsonWriter, Object, array},
    params::{self, Param, ParamRules},
    schema,
};

pub(super) fn methods(table: &mut Table) {
    table
        .apart("eth_simulateV1", simulate_v1, OnFork::State)
        .describe(
            ["payload", "block"],
            "Simulates blocks of calls on top of a block, with overrides of blocks and accounts.",
        );
}

/// The first parameter.
#[derive(Debug)]
struct SimulationPayload {
    blocks: Vec<PayloadBlock>,
    validation: bool,
    trace_transfers: bool,
    full_transactions: bool,
}

#[derive(Debug)]
struct PayloadBlock {
    block: BlockOverrides,
    state: StateOverrides,
    calls: Vec<TransactionRequest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPayload<'a> {
    #[serde(borrow)]
    block_state_calls: Option<&'a RawValue>,
    validation: Option<&'a RawValue>,
    trace_transfers: Option<&'a RawValue>,
    return_full_transactions: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawSimulatedBlock<'a> {
    #[serde(borrow)]
    block_overrides: Option<&'a RawValue>,
    state_overrides: Option<&'a RawValue>,
    calls: Option<&'a RawValue>,
}

impl Param for SimulationPayload {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawPayload<'_> = params::fields(json)?;
        Ok(Self {
            blocks: field("blockStateCalls", raw.block_state_calls, rules)?.unwrap_or_default(),
            validation: field("validation", raw.validation, rules)?.unwrap_or_default(),
            trace_transfers: field("traceTransfers", raw.trace_transfers, rules)?
                .unwrap_or_default(),
            full_transactions: field(
                "returnFullTransactions",
                raw.return_full_transactions,
                rules,
            )?
            .unwrap_or_default(),
        })
    }

    fn schema() -> Value {
        json!({"type": "object", "required": ["blockStateCalls"], "properties": {
            "blockStateCalls": <Vec<PayloadBlock> as Param>::schema(),
            "validation": {"type": "boolean"},
            "traceTransfers": {"type": "boolean"},
            "returnFullTransactions": {"type": "boolean"},
        }})
    }
}

impl Param for PayloadBlock {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawSimulatedBlock<'_> = params::fields(json)?;
        Ok(Self {
            block: field("blockOverrides", raw.block_overrides, rules)?.unwrap_or_default(),
            state: field("stateOverrides", raw.state_overrides, rules)?.unwrap_or_default(),
            calls: field("calls", raw.calls, rules)?.unwrap_or_default(),
        })
    }

    fn schema() -> Value {
        schema::options([
            ("blockOverrides", BlockOverrides::schema()),
            ("stateOverrides", StateOverrides::schema()),
            ("calls", <Vec<TransactionRequest> as Param>::schema()),
        ])
    }
}

/// Simulates blocks of calls on top of a block (by default the newest).
fn simulate_v1(
    context: &Context,
    (payload, block): (SimulationPayload, Option<BlockId>),
) -> Result<Vec<SimulatedBlock>, RpcError> {
    if payload.blocks.is_empty() {
        return Err(RpcError::invalid_params(
            "params[0].blockStateCalls: empty input",
        ));
    }
    if payload.blocks.len() as u64 > MAX_SIMULATED_BLOCKS {
        return Err(SimulationError::TooManyBlocks.into());
    }

    let view = context.chain.view(block.unwrap_or(BlockId::Latest))?;
    let chain_id = context.chain.params().chain_id;
    // All calls are checked before the first of them runs.
    let mut plans = Vec::with_capacity(payload.blocks.len());
    for block in payload.blocks {
        let mut calls = Vec::with_capacity(block.calls.len());
        for request in block.calls {
            calls.push(planned_call(request, chain_id)?);
        }
        plans.push(block.block.into_plan(block.state, calls));
    }

    let out_of_time = context.time_check();
    let options = SimulationOptions {
        validation: payload.validation,
        trace_transfers: payload.trace_transfers,
        gas_cap: context.config.gas_cap,
        out_of_time: &out_of_time,
        max_bytes: context.config.max_trace_bytes,
    };
    let simulated = simulate(&view, plans, options)?;

    let full = payload.full_transactions;
    Ok(simulated
        .into_iter()
        .map(|simulated| SimulatedBlock { simulated, full })
        .collect())
}

fn planned_call(request: TransactionRequest, chain_id: u64) -> Result<PlannedCall, RpcError> {
    let nonce = request.nonce;
    let fixed_price = request.gas_price.is_some();
    Ok(PlannedCall {
        call: request.into_call(chain_id)?,
        nonce,
        fixed_price,
    })
}

/// A simulated block with the results of its calls.
struct SimulatedBlock {
    simulated: Simulated,
    full: bool,
}

impl Json for SimulatedBlock {
    fn write(&self, out: &mut JsonWriter) {
        let block = RpcBlock {
            block: self.simulated.block.clone(),
            full: self.full,
            pending: false,
        };

        let mut object = Object::begin(out);
        block.write_members(&mut object);
        array(
            object.name("calls"),
            0..self.simulated.calls.len(),
            |index, out| self.write_call(index, out),
        );
        object.end();
    }
}

impl SimulatedBlock {
    fn write_call(&self, index: usize, out: &mut JsonWriter) {
        let block = &*self.simulated.block;
        let call = &self.simulated.calls[index];
        let gas = call.result.gas();
        let output = match &call.result {
            ExecutionResult::Success { output, .. } => output.data().clone(),
            // The data of a revert is in the error.
            ExecutionResult::Revert { .. } | ExecutionResult::Halt { .. } => Bytes::new(),
        };

        let mut object = Object::begin(out);
        object.member("returnData", &output);
        array(
            object.name("logs"),
            call.logs.iter().zip(call.first_log_index..),
            |(log, log_index), out| {
                let transaction = &block.transactions[index];
                let at = LogPosition {
                    log,
                    log_index,
                    transaction,
                    transaction_index: index as u64,
                };
                write_log(block, at, false, out);
            },
        );

        object
            .member("gasUsed", &Quantity(gas.tx_gas_used()))
            // Without refunds, but no less than the floor of EIP-7623.
            .member(
                "maxUsedGas",
                &Quantity(gas.total_gas_spent().max(gas.floor_gas())),
            )
            .member("status", &Quantity(u8::from(call.result.is_success())));
        write_failure(&call.result, &mut object);
        object.end();
    }
}

/// Writes the error of a call that failed.
fn write_failure(result: &ExecutionResult, object: &mut Object<'_>) {
    match result {
        ExecutionResult::Success { .. } => {}
        ExecutionResult::Revert { output, .. } => {
            let error = RpcError::reverted(output.clone());
            Object::begin(object.name("error"))
                .member("message", &error.message)
                .member("code", &i64::from(REVERTED))
                .member("data", output)
                .end();
        }
        ExecutionResult::Halt { reason, .. } => {
            Object::begin(object.name("error"))
                .member("message", &halt_message(reason))
                .member("code", &i64::from(VM_ERROR))
                .end();
        }
    }
}
