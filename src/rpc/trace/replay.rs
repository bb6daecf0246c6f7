//! Traces with what else changes: calls, steps and differences of state, of what ran and of what might.

use alloy_primitives::{B256, Bytes, map::HashSet};
use alloy_rpc_types_trace::parity::{TraceResults, TraceResultsWithTransactionHash, TraceType};
use revm_inspectors::tracing::{TraceLimits, TracingInspector, TracingInspectorConfig};
use serde_json::{Value, json, value::RawValue};

use crate::{
    block::Submission,
    chain::{BlockId, SubmitError},
    evm::{CallContext, StateOverrides, Watch},
    rpc::{
        Context, RpcError, Table,
        eth::{BlockOverrides, TransactionRequest},
        json::Serialized,
        params::Param,
        tracing::{Budget, MAX_REMEMBERED_STEPS, Replay, Subject, find_transaction},
    },
};

pub(super) fn methods(table: &mut Table) {
    table.execute("trace_call", call);
    table.execute("trace_callMany", call_many);
    table.execute("trace_rawTransaction", raw_transaction);
    table.execute("trace_replayTransaction", replay_transaction);
    table.execute("trace_replayBlockTransactions", replay_block_transactions);
}

/// Calls that one request may make.
const MAX_CALLS: usize = 1_000;
/// Bytes of memory and calldata that one trace may remember.
const MAX_RECORDED: usize = 64 << 20;

/// What to tell: `trace`, `vmTrace`, `stateDiff`.
#[derive(Clone, Debug)]
struct TraceTypes(HashSet<TraceType>);

impl Param for TraceTypes {
    fn read(json: &str) -> Result<Self, String> {
        let names: Vec<String> = Vec::read(json)?;
        let kind = |name: &String| match name.as_str() {
            "trace" => Ok(TraceType::Trace),
            "vmTrace" => Ok(TraceType::VmTrace),
            "stateDiff" => Ok(TraceType::StateDiff),
            _ => Err("expected trace, vmTrace or stateDiff".to_owned()),
        };
        names.iter().map(kind).collect::<Result<_, _>>().map(Self)
    }

    fn schema() -> Value {
        json!({"type": "array", "items": {"enum": ["trace", "vmTrace", "stateDiff"]}})
    }
}

fn run(subject: Subject<'_, '_>, types: &TraceTypes, budget: &Budget) -> Result<TraceResults, RpcError> {
    let mut inspector = TracingInspector::new(TracingInspectorConfig::from_parity_config(&types.0))
        .with_limits(TraceLimits::default().set_max_recorded_bytes(Some(MAX_RECORDED)));
    let most = if types.0.contains(&TraceType::VmTrace) { MAX_REMEMBERED_STEPS } else { u64::MAX };
    let is_over = || budget.is_over();
    let mut watch = Watch::new(&mut inspector, &is_over).at_most(most);
    let traced = subject.run(&mut watch, |seen, watch| {
        let inspector = std::mem::take(watch.inner());
        let gas_used = seen.outcome.result.tx_gas_used();
        let complete = !inspector.limit_exceeded();
        let builder = inspector.into_parity_builder().with_transaction_gas_used(gas_used);
        (builder.into_trace_results_with_state(&seen.outcome, &types.0, &seen.before), complete)
    });
    budget.check(watch.was_stopped())?;
    let (results, complete) = traced?;
    if !complete {
        return Err(budget.too_large());
    }
    Ok(results?)
}

/// Traces a call on the state of a block (by default the newest).
fn call(
    context: &Context,
    (request, types, id, overrides, in_block): (
        TransactionRequest,
        TraceTypes,
        Option<BlockId>,
        StateOverrides,
        BlockOverrides,
    ),
) -> Result<Serialized<TraceResults>, RpcError> {
    let budget = Budget::new(context, None);
    let mut view = context.chain.view(id.unwrap_or(BlockId::Latest))?;
    in_block.apply(&mut view.environment)?;
    let call = request.into_call(context.chain.params().chain_id)?;
    let calls: CallContext<'_> = view.call_context(&overrides, context.config.gas_cap);
    run(Subject::Call(calls, &call), &types, &budget).map(Serialized)
}

/// A call and what to tell of it.
struct TracedCall(TransactionRequest, TraceTypes);

impl Param for TracedCall {
    fn read(json: &str) -> Result<Self, String> {
        let parts: (&RawValue, &RawValue) =
            serde_json::from_str(json).map_err(|_| "expected a call and a list of what to trace".to_owned())?;
        Ok(Self(TransactionRequest::read(parts.0.get())?, TraceTypes::read(parts.1.get())?))
    }

    fn schema() -> Value {
        json!({"type": "array", "prefixItems": [TransactionRequest::schema(), TraceTypes::schema()],
            "minItems": 2, "maxItems": 2})
    }
}

/// Traces calls one after another, each on what the one before left.
fn call_many(
    context: &Context,
    (calls, id): (Vec<TracedCall>, Option<BlockId>),
) -> Result<Serialized<Vec<TraceResults>>, RpcError> {
    if calls.len() > MAX_CALLS {
        return Err(RpcError::invalid_params(format!("params[0]: at most {MAX_CALLS} calls, got {}", calls.len())));
    }
    let budget = Budget::new(context, None);
    let mut view = context.chain.view(id.unwrap_or(BlockId::Latest))?;
    let none = StateOverrides::new();
    let mut results = Vec::with_capacity(calls.len());
    for TracedCall(request, types) in calls {
        let call = request.into_call(context.chain.params().chain_id)?;
        let calls = view.call_context(&none, context.config.gas_cap);
        results.push(run(Subject::Call(calls, &call), &types, &budget)?);
        let changes = calls.changes(&call)?;
        view.state.apply(&changes);
    }
    Ok(Serialized(results))
}

/// Traces a signed transaction without submitting it.
fn raw_transaction(
    context: &Context,
    (raw, types, id): (Bytes, TraceTypes, Option<BlockId>),
) -> Result<Serialized<TraceResults>, RpcError> {
    let budget = Budget::new(context, None);
    let transaction = Submission::decode(&raw).map_err(SubmitError::from)?.transaction;
    let view = context.chain.view(id.unwrap_or(BlockId::Latest))?;
    let replay = Replay::next(&view);
    let mut executor = replay.begin()?;
    run(Subject::Next(&mut executor, &transaction), &types, &budget).map(Serialized)
}

/// Traces a transaction as it ran.
fn replay_transaction(
    context: &Context,
    (hash, types): (B256, TraceTypes),
) -> Result<Serialized<TraceResults>, RpcError> {
    let budget = Budget::new(context, None);
    let (replay, index) = find_transaction(context, hash)?;
    let mut executor = replay.after(index)?;
    run(Subject::Next(&mut executor, &replay.block.transactions[index]), &types, &budget).map(Serialized)
}

/// Traces all transactions of a block as they ran.
fn replay_block_transactions(
    context: &Context,
    (id, types): (BlockId, TraceTypes),
) -> Result<Serialized<Vec<TraceResultsWithTransactionHash>>, RpcError> {
    let budget = Budget::new(context, None);
    let replay = Replay::find(context, id)?;
    let mut executor = replay.begin()?;
    let each = replay.block.transactions.iter().map(|transaction| {
        let full_trace = run(Subject::Next(&mut executor, transaction), &types, &budget)?;
        Ok(TraceResultsWithTransactionHash { full_trace, transaction_hash: transaction.hash() })
    });
    each.collect::<Result<_, RpcError>>().map(Serialized)
}
