//! Traces of calls, as lists: by block, transaction and place.

use alloy_primitives::B256;
use alloy_rpc_types_eth::TransactionInfo;
use alloy_rpc_types_trace::parity::{Action, LocalizedTransactionTrace, RewardAction, RewardType, TransactionTrace};
use revm_inspectors::tracing::{TracingInspector, TracingInspectorConfig};
use serde_json::Value;

use crate::{
    chain::BlockId,
    evm::{BlockExecutor, Fork, Watch, rewards},
    rpc::{
        Context, RpcError, Table,
        eth::find,
        json::Serialized,
        params::{LooseNumber, Param},
        tracing::{Budget, Replay, Subject, find_transaction},
    },
};

pub(super) fn methods(table: &mut Table) {
    table.execute("trace_block", block);
    table.execute("trace_transaction", transaction);
    table.execute("trace_get", get);
}

/// Traces of one or several transactions.
pub(super) type Traces = Serialized<Vec<LocalizedTransactionTrace>>;

/// Runs the next transaction of a block and lists its calls.
fn traces_of(
    replay: &Replay,
    executor: &mut BlockExecutor<'_>,
    index: usize,
    budget: &Budget,
) -> Result<Vec<LocalizedTransactionTrace>, RpcError> {
    let transaction = &replay.block.transactions[index];
    let mut inspector = TracingInspector::new(TracingInspectorConfig::default_parity());
    let is_over = || budget.is_over();
    let mut watch = Watch::new(&mut inspector, &is_over);
    let gas_used = Subject::Next(executor, transaction).run(&mut watch, |seen, _| seen.outcome.result.tx_gas_used());
    budget.check(watch.was_stopped())?;
    let info = TransactionInfo {
        hash: Some(transaction.hash()),
        index: Some(index as u64),
        block_hash: Some(replay.block.hash),
        block_number: Some(replay.block.number()),
        ..TransactionInfo::default()
    };
    let builder = inspector.into_parity_builder().with_transaction_gas_used(gas_used?);
    Ok(builder.into_localized_transaction_traces(info))
}

/// All traces of a block, then the rewards of its miners before the merge. The first block has none.
pub(in crate::rpc) fn traces_of_block(
    context: &Context,
    id: BlockId,
    budget: &Budget,
) -> Result<Option<Vec<LocalizedTransactionTrace>>, RpcError> {
    let Some((head, block)) = find(context, id)? else { return Ok(None) };
    if block.number() == head.genesis.number() {
        return Ok(Some(Vec::new()));
    }
    let replay = Replay::find(context, id)?;
    let mut executor = replay.begin()?;
    let mut traces = Vec::new();
    for index in 0..block.transactions.len() {
        traces.extend(traces_of(&replay, &mut executor, index, budget)?);
    }
    if !replay.environment().rules.has(Fork::Paris) {
        let paid = rewards(replay.environment(), &block.ommers);
        let uncles = paid.len().saturating_sub(1);
        // The block's own reward comes first.
        for (at, (author, value)) in paid.iter().enumerate().map(|(at, _)| (at, paid[(at + uncles) % paid.len()])) {
            let reward_type = if at == 0 { RewardType::Block } else { RewardType::Uncle };
            traces.push(LocalizedTransactionTrace {
                trace: reward(RewardAction { author, reward_type, value }),
                block_hash: Some(block.hash),
                block_number: Some(block.number()),
                transaction_hash: None,
                transaction_position: None,
            });
        }
    }
    Ok(Some(traces))
}

fn reward(action: RewardAction) -> TransactionTrace {
    TransactionTrace {
        action: Action::Reward(action),
        error: None,
        result: None,
        subtraces: 0,
        trace_address: Vec::new(),
    }
}

/// All calls of a block's transactions; null if there is no such block.
fn block(context: &Context, (id,): (BlockId,)) -> Result<Option<Traces>, RpcError> {
    let budget = Budget::new(context, None);
    Ok(traces_of_block(context, id, &budget)?.map(Serialized))
}

fn traces_of_transaction(context: &Context, hash: B256) -> Result<Vec<LocalizedTransactionTrace>, RpcError> {
    let budget = Budget::new(context, None);
    let (replay, index) = find_transaction(context, hash)?;
    let mut executor = replay.after(index)?;
    traces_of(&replay, &mut executor, index, &budget)
}

/// All calls of a transaction; null if it is in no block.
fn transaction(context: &Context, (hash,): (B256,)) -> Result<Option<Traces>, RpcError> {
    if context.chain.transaction(&context.chain.head(), hash).is_none() {
        return Ok(None);
    }
    traces_of_transaction(context, hash).map(|traces| Some(Serialized(traces)))
}

/// A place among a transaction's calls: the index of a call in each call on the way there.
struct TraceAddress(Vec<usize>);

impl Param for TraceAddress {
    fn read(json: &str) -> Result<Self, String> {
        let index = |LooseNumber(index): LooseNumber| usize::try_from(index).unwrap_or(usize::MAX);
        Vec::read(json).map(|indices| Self(indices.into_iter().map(index).collect()))
    }

    fn schema() -> Value {
        Vec::<LooseNumber>::schema()
    }
}

/// The call at a place of a transaction; null if there is none.
fn get(
    context: &Context,
    (hash, place): (B256, TraceAddress),
) -> Result<Option<Serialized<LocalizedTransactionTrace>>, RpcError> {
    if context.chain.transaction(&context.chain.head(), hash).is_none() {
        return Ok(None);
    }
    let traces = traces_of_transaction(context, hash)?;
    Ok(traces.into_iter().find(|at| at.trace.trace_address == place.0).map(Serialized))
}
