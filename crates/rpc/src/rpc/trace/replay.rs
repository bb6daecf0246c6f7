//! Traces of calls, steps and state differences, of past transactions and of hypothetical ones.

use alloy_primitives::{B256, Bytes, map::HashSet};
use alloy_rpc_types_trace::parity::{TraceResults, TraceResultsWithTransactionHash, TraceType};
use revm_inspectors::tracing::TracingInspectorConfig;
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{BlockId, SubmitError};
use tetrad_evm::{CallContext, Inspected, StateOverrides, Watch};
use tetrad_primitives::block::Submission;

use super::block::TraceList;
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    eth::{BlockOverrides, TransactionRequest},
    json::{JsonWriter, Written},
    params::{Param, ParamRules},
    tracing::{BlockReplay, Budget, CallRecorder, Subject, find_transaction},
};

pub(super) fn methods(table: &mut Table) {
    table.apart("trace_call", call, OnFork::State).describe(
        [
            "transaction",
            "what to trace",
            "block",
            "state overrides",
            "block overrides",
        ],
        "Traces a call: `trace`, `vmTrace`, `stateDiff` or several of them.",
    );

    table
        .apart("trace_callMany", call_many, OnFork::State)
        .describe(
            ["calls", "block"],
            "Traces calls one after another, each on the state that the previous one left.",
        );

    table
        .apart("trace_rawTransaction", raw_transaction, OnFork::State)
        .describe(
            ["signed transaction", "what to trace", "block"],
            "Traces a signed transaction without submitting it.",
        );

    table
        .apart(
            "trace_replayTransaction",
            replay_transaction,
            OnFork::Transaction,
        )
        .describe(
            ["transaction hash", "what to trace"],
            "Traces a transaction as it ran.",
        );

    table
        .apart(
            "trace_replayBlockTransactions",
            replay_block_transactions,
            OnFork::Block,
        )
        .describe(
            ["block", "what to trace"],
            "Traces all transactions of a block as they ran.",
        );
}

/// The maximum number of calls in one request.
const MAX_CALLS: usize = 1_000;

/// The kinds of traces: `trace`, `vmTrace`, `stateDiff`.
#[derive(Clone, Debug)]
struct TraceTypes(HashSet<TraceType>);

impl Param for TraceTypes {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let mut types = HashSet::default();
        for name in Vec::<String>::read(json, rules)? {
            types.insert(match name.as_str() {
                "trace" => TraceType::Trace,
                "vmTrace" => TraceType::VmTrace,
                "stateDiff" => TraceType::StateDiff,
                _ => return Err("expected trace, vmTrace or stateDiff".to_owned()),
            });
        }
        Ok(Self(types))
    }

    fn schema() -> Value {
        json!({"type": "array", "items": {"enum": ["trace", "vmTrace", "stateDiff"]}})
    }
}

impl TraceTypes {
    /// The budget of a request for these traces.
    fn budget(&self, context: &Context) -> Budget {
        let advice = if self.0.contains(&TraceType::VmTrace) {
            "leave out vmTrace, or trace fewer transactions at a time"
        } else {
            "leave out stateDiff or trace, or trace fewer transactions at a time"
        };
        Budget::new(context, advice)
    }

    /// Appends such traces, of which those of steps nest.
    fn write(
        &self,
        results: impl Serialize + Send,
        budget: &Budget,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        if self.0.contains(&TraceType::VmTrace) {
            budget.write_nested(results, out)
        } else {
            budget.write(results, out)
        }
    }
}

/// Traces one execution, and passes the outcome to `look`.
fn run<R>(
    subject: Subject<'_, '_>,
    types: &TraceTypes,
    budget: &Budget,
    look: impl FnOnce(&mut Inspected<'_>) -> R,
) -> Result<(TraceResults, R), RpcError> {
    budget.check_time()?;

    let mut recorder = CallRecorder::new(TracingInspectorConfig::from_parity_config(&types.0));
    let out_of_time = || budget.is_out_of_time();
    // Differences are computed from the state and need no recorded calls.
    let top_only = !types.0.contains(&TraceType::Trace) && !types.0.contains(&TraceType::VmTrace);
    let mut watch = Watch::new(&mut recorder, &out_of_time, budget.max_bytes()).top_only(top_only);

    let traced = subject.run(&mut watch, |seen, watch| {
        // An incomplete record is not rendered.
        budget.check(watch.stopped())?;
        let builder = std::mem::take(watch.inner()).into_parity_builder(seen);
        let results =
            builder.into_trace_results_with_state(&seen.outcome, &types.0, &seen.before)?;
        Ok::<_, RpcError>((results, look(seen)))
    });

    // An execution that was stopped has failed, but the limit is the reason.
    budget.check(watch.stopped())?;
    traced?
}

/// Traces one execution and writes the trace.
fn write(
    subject: Subject<'_, '_>,
    types: &TraceTypes,
    budget: &Budget,
) -> Result<Written, RpcError> {
    let (results, ()) = run(subject, types, budget, |_| ())?;
    let mut out = budget.writer();
    types.write(results, budget, &mut out)?;
    budget.finish(out)
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
) -> Result<Written, RpcError> {
    let budget = types.budget(context);
    let mut view = context.chain.view(id.unwrap_or(BlockId::Latest))?;
    in_block.apply(&mut view.environment)?;

    let call = request.into_call(context.chain.params().chain_id)?;
    let calls: CallContext<'_> = view.call_context(&overrides, context.config.gas_cap);
    write(Subject::Call(calls, &call), &types, &budget)
}

/// A call, with the kinds of traces to return.
struct TracedCall(TransactionRequest, TraceTypes);

impl Param for TracedCall {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let parts: (&RawValue, &RawValue) = serde_json::from_str(json)
            .map_err(|_| "expected a call and a list of what to trace".to_owned())?;
        Ok(Self(
            TransactionRequest::read(parts.0.get(), rules)?,
            TraceTypes::read(parts.1.get(), rules)?,
        ))
    }

    fn schema() -> Value {
        json!({
            "type": "array",
            "prefixItems": [TransactionRequest::schema(), TraceTypes::schema()],
            "minItems": 2,
            "maxItems": 2,
        })
    }
}

/// Traces calls one after another, each on the state that the previous one left.
fn call_many(
    context: &Context,
    (calls, id): (Vec<TracedCall>, Option<BlockId>),
) -> Result<Written, RpcError> {
    if calls.len() > MAX_CALLS {
        return Err(RpcError::invalid_params(format!(
            "params[0]: at most {MAX_CALLS} calls, got {}",
            calls.len()
        )));
    }

    let budget = Budget::new(context, "make fewer calls at a time");
    let mut view = context.chain.view(id.unwrap_or(BlockId::Latest))?;
    let none = StateOverrides::new();
    let mut list = TraceList::new(&budget);
    for TracedCall(request, types) in calls {
        let call = request.into_call(context.chain.params().chain_id)?;
        let calls = view.call_context(&none, context.config.gas_cap);
        let (results, changes) = run(Subject::Call(calls, &call), &types, &budget, |seen| {
            seen.take_changes()
        })?;
        types.write(results, &budget, list.next())?;

        let changes = changes?;
        view.state.apply(&changes);
    }
    list.end()
}

/// Traces a signed transaction without submitting it.
fn raw_transaction(
    context: &Context,
    (raw, types, id): (Bytes, TraceTypes, Option<BlockId>),
) -> Result<Written, RpcError> {
    let budget = types.budget(context);
    let transaction = Submission::decode(&raw)
        .map_err(SubmitError::from)?
        .transaction;
    let view = context.chain.view(id.unwrap_or(BlockId::Latest))?;
    let replay = BlockReplay::next(&view);
    let mut executor = replay.begin()?;
    write(Subject::Next(&mut executor, &transaction), &types, &budget)
}

/// Traces a transaction as it ran.
fn replay_transaction(
    context: &Context,
    (hash, types): (B256, TraceTypes),
) -> Result<Written, RpcError> {
    let budget = types.budget(context);
    let (replay, index) = find_transaction(context, hash)?;
    let mut executor = replay.after(index, &budget)?;
    write(
        Subject::Next(&mut executor, &replay.block.transactions[index]),
        &types,
        &budget,
    )
}

/// Traces all transactions of a block as they ran.
fn replay_block_transactions(
    context: &Context,
    (id, types): (BlockId, TraceTypes),
) -> Result<Written, RpcError> {
    let budget = types.budget(context);
    let replay = BlockReplay::find(context, id)?;
    let mut executor = replay.begin()?;
    let mut list = TraceList::new(&budget);
    for transaction in &replay.block.transactions {
        let subject = Subject::Next(&mut executor, transaction);
        let (full_trace, ()) = run(subject, &types, &budget, |_| ())?;
        let results = TraceResultsWithTransactionHash {
            full_trace,
            transaction_hash: transaction.hash(),
        };
        types.write(results, &budget, list.next())?;
    }
    list.end()
}
