//! Call traces as lists: by block, transaction and position.

use std::sync::Arc;

use alloy_primitives::B256;
use alloy_rpc_types_eth::TransactionInfo;
use alloy_rpc_types_trace::parity::{
    Action, LocalizedTransactionTrace, RewardAction, RewardType, TransactionTrace,
};
use revm_inspectors::tracing::TracingInspectorConfig;
use serde::Serialize;
use serde_json::Value;
use tetrad_chain::{BlockId, Head};
use tetrad_evm::{BlockExecutor, Fork, Watch, rewards};
use tetrad_primitives::block::Block;

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    eth::find,
    json::{JsonWriter, Serialized, Written},
    params::{LooseNumber, Param, ParamRules},
    tracing::{BlockReplay, Budget, CallRecorder, Subject},
};

pub(super) fn methods(table: &mut Table) {
    table.apart("trace_block", block, OnFork::Block).describe(
        ["block"],
        "All calls of a block's transactions; null if there is no such block.",
    );

    table
        .apart("trace_transaction", transaction, OnFork::Transaction)
        .describe(
            ["transaction hash"],
            "All calls of a transaction; null if it is in no block.",
        );

    table.apart("trace_get", get, OnFork::Transaction).describe(
        ["transaction hash", "position"],
        "The call at a position of a transaction; null if there is none.",
    );
}

/// Advice on how to request less than all calls of a block or a transaction.
const ADVICE: &str = "trace the transactions of a block one by one, or use debug_traceTransaction \
    with the callTracer and onlyTopCall";

/// A consumer of traces, called for each one as it is made.
pub(in crate::rpc) type Visit<'v> =
    &'v mut dyn FnMut(LocalizedTransactionTrace) -> Result<(), RpcError>;

/// The tracer's configuration: with or without the inputs of calls.
#[derive(Clone, Copy)]
pub(in crate::rpc) enum Inputs {
    Kept,
    LeftOut,
}

/// Executes the next transaction of a block and passes on its calls.
fn visit_transaction(
    replay: &BlockReplay,
    executor: &mut BlockExecutor<'_>,
    index: usize,
    inputs: Inputs,
    budget: &Budget,
    visit: Visit<'_>,
) -> Result<(), RpcError> {
    budget.check_time()?;

    let transaction = &replay.block.transactions[index];
    let config =
        TracingInspectorConfig::default_parity().set_record_inputs(matches!(inputs, Inputs::Kept));
    let mut recorder = CallRecorder::new(config);
    let out_of_time = || budget.is_out_of_time();
    let mut watch = Watch::new(&mut recorder, &out_of_time, budget.max_bytes());
    let subject = Subject::Next(executor, transaction);
    let builder = subject.run(&mut watch, |seen, watch| {
        std::mem::take(watch.inner()).into_parity_builder(seen)
    });

    // An execution that was stopped has failed, but the limit is the reason.
    budget.check(watch.stopped())?;

    let info = TransactionInfo {
        hash: Some(transaction.hash()),
        index: Some(index as u64),
        block_hash: Some(replay.block.hash),
        block_number: Some(replay.block.number()),
        ..TransactionInfo::default()
    };
    builder?
        .into_localized_transaction_traces_iter(info)
        .try_for_each(visit)
}

/// Passes on all traces of a block of `head`. The genesis block has none.
pub(in crate::rpc) fn visit_block(
    head: &Arc<Head>,
    block: Arc<Block>,
    inputs: Inputs,
    budget: &Budget,
    visit: Visit<'_>,
) -> Result<(), RpcError> {
    if block.number() == head.genesis.number() {
        return Ok(());
    }
    visit_replay(
        &BlockReplay::of(head.clone(), block)?,
        inputs,
        budget,
        visit,
    )
}

/// Passes on all traces of a block, followed by the rewards of its miners before the merge.
fn visit_replay(
    replay: &BlockReplay,
    inputs: Inputs,
    budget: &Budget,
    visit: Visit<'_>,
) -> Result<(), RpcError> {
    let mut executor = replay.begin()?;
    for index in 0..replay.block.transactions.len() {
        visit_transaction(replay, &mut executor, index, inputs, budget, visit)?;
    }

    if replay.environment().rules.has(Fork::Paris) {
        return Ok(());
    }
    visit_rewards(replay, visit)
}

/// Passes on the rewards of a block's miners: the block's own, then those of uncles.
fn visit_rewards(replay: &BlockReplay, visit: Visit<'_>) -> Result<(), RpcError> {
    let block = &replay.block;
    // The block's own reward is the last of them.
    let mut paid = rewards(replay.environment(), &block.ommers);
    let own = paid.len().saturating_sub(1);
    paid.rotate_left(own);

    for (at, (author, value)) in paid.into_iter().enumerate() {
        let reward_type = if at == 0 {
            RewardType::Block
        } else {
            RewardType::Uncle
        };
        visit(LocalizedTransactionTrace {
            trace: reward(RewardAction {
                author,
                reward_type,
                value,
            }),
            block_hash: Some(block.hash),
            block_number: Some(block.number()),
            transaction_hash: None,
            transaction_position: None,
        })?;
    }
    Ok(())
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
fn block(context: &Context, (id,): (BlockId,)) -> Result<Option<Written>, RpcError> {
    let budget = Budget::new(context, ADVICE);
    let mut list = TraceList::new(&budget);
    let mut visit = |trace| list.push(&trace);

    if id == BlockId::Pending {
        visit_replay(
            &BlockReplay::find(context, id)?,
            Inputs::Kept,
            &budget,
            &mut visit,
        )?;
    } else {
        let Some((head, block)) = find(context, id)? else {
            return Ok(None);
        };
        visit_block(&head, block, Inputs::Kept, &budget, &mut visit)?;
    }

    list.end().map(Some)
}

/// Traces as a JSON array.
pub(super) struct TraceList<'b> {
    budget: &'b Budget,
    out: JsonWriter,
}

impl<'b> TraceList<'b> {
    /// An empty list, which counts against a budget.
    pub(super) fn new(budget: &'b Budget) -> Self {
        Self {
            budget,
            out: budget.writer(),
        }
    }

    /// Adds a trace, if it fits the budget.
    pub(super) fn push(&mut self, trace: &impl Serialize) -> Result<(), RpcError> {
        self.budget.write(trace, self.next())
    }

    /// Begins another trace, which the caller writes next.
    pub(super) fn next(&mut self) -> &mut JsonWriter {
        self.out.push(if self.out.len() == 0 { b'[' } else { b',' });
        &mut self.out
    }

    /// The array.
    pub(super) fn end(mut self) -> Result<Written, RpcError> {
        if self.out.len() == 0 {
            self.out.push(b'[');
        }
        self.out.push(b']');
        self.budget.finish(self.out)
    }
}

/// Passes on all calls of a transaction; returns false if it is in no block.
fn visit_calls(
    context: &Context,
    hash: B256,
    budget: &Budget,
    visit: Visit<'_>,
) -> Result<bool, RpcError> {
    let head = context.chain.head();
    let Some((block, index)) = context.chain.transaction(&head, hash) else {
        return Ok(false);
    };
    let replay = BlockReplay::of(head, block)?;
    let mut executor = replay.after(index, budget)?;
    visit_transaction(&replay, &mut executor, index, Inputs::Kept, budget, visit).map(|()| true)
}

/// All calls of a transaction; null if it is in no block.
fn transaction(context: &Context, (hash,): (B256,)) -> Result<Option<Written>, RpcError> {
    let budget = Budget::new(context, ADVICE);
    let mut list = TraceList::new(&budget);
    let found = visit_calls(context, hash, &budget, &mut |trace| list.push(&trace))?;
    // Anvil has no calls of a transaction that is not there.
    let is_list = found || context.config.anvil_conventions;
    is_list.then(|| list.end()).transpose()
}

/// The position of a call in a transaction: the index of a call in each call on the path to it.
struct TraceAddress(Vec<usize>);

impl Param for TraceAddress {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let indices = Vec::<LooseNumber>::read(json, rules)?;
        let indices = indices
            .into_iter()
            .map(|LooseNumber(index)| usize::try_from(index).unwrap_or(usize::MAX));
        Ok(Self(indices.collect()))
    }

    fn schema() -> Value {
        Vec::<LooseNumber>::schema()
    }
}

/// The call at a position of a transaction; null if there is none.
fn get(
    context: &Context,
    (hash, place): (B256, TraceAddress),
) -> Result<Option<Serialized<LocalizedTransactionTrace>>, RpcError> {
    let budget = Budget::new(context, ADVICE);
    let mut found = None;
    visit_calls(context, hash, &budget, &mut |trace| {
        if trace.trace.trace_address == place.0 {
            found.get_or_insert(trace);
        }
        Ok(())
    })?;
    Ok(found.map(Serialized))
}
