//! Traces in geth's format.

use std::sync::{Arc, OnceLock};

use alloy_primitives::{B256, Bytes};
use alloy_rlp::Decodable;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tetrad_chain::{BlockId, ForeignBlock, recover};
use tetrad_evm::{BlockExecutor, CallContext, StateOverrides};
use tetrad_primitives::block::Block;

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    eth::{BlockOverrides, TransactionRequest, field},
    json::{Object, Written},
    params::{self, Param, ParamRules},
    schema,
    tracing::{
        BlockReplay, Budget, RequestTracer, Subject, TraceOptions, TracePosition, find_transaction,
    },
};

pub(super) fn methods(table: &mut Table) {
    table
        .apart("debug_traceTransaction", transaction, OnFork::Transaction)
        .describe(
            ["transaction hash", "options"],
            "Replays a transaction and returns every step, or the result of the `tracer` in the \
             options: callTracer, prestateTracer, 4byteTracer, flatCallTracer, muxTracer, \
             noopTracer, erc7562Tracer, keccak256PreimageTracer, or a tracer in JavaScript. Of the \
             steps, `offset` and `limit` select a part, and `stackLimit` the words on top of the \
             stack. A `timeout` such as `2s` shortens the node's own limit.",
        );

    table
        .apart("debug_traceBlockByNumber", block_by_number, OnFork::Block)
        .describe(
            ["block", "options"],
            "Traces all transactions of a block, as `debug_traceTransaction` does.",
        );

    table
        .apart("debug_traceBlockByHash", block_by_hash, OnFork::Block)
        .describe(
            ["block hash", "options"],
            "Traces all transactions of a block, by hash.",
        );

    table
        .apart("debug_traceBlock", block_by_rlp, OnFork::OwnBlocks)
        .describe(
            ["block RLP", "options"],
            "Traces the transactions of a block given as RLP, whose parent is in the chain.",
        );

    table
        .apart("debug_traceBadBlock", bad_block, OnFork::Kept)
        .describe(
            ["block hash", "options"],
            "Traces an invalid block that the node received. There is none, since it builds the \
             chain itself.",
        );

    table
        .apart("debug_intermediateRoots", intermediate_roots, OnFork::Block)
        .describe(
            ["block hash", "options"],
            "The state root after each transaction of a block. Of the options only the `timeout` \
             has an effect.",
        );

    table
        .apart("debug_traceCall", call, OnFork::State)
        .describe(
            ["transaction", "block", "options"],
            "Traces a call. The options may also have `stateOverrides`, `blockOverrides` and \
             `txIndex`.",
        );
}

fn budget(context: &Context, options: &TraceOptions) -> Budget {
    Budget::new(context, options.advice()).within(options.timeout.map(|timeout| timeout.0))
}

/// Anvil's response for a transaction that is not there: programs try a hash to learn whether a
/// node has the method.
const EMPTY_TRACE: &[u8] = br#"{"failed":false,"gas":0,"returnValue":"0x","structLogs":[]}"#;

/// Traces a transaction as it ran.
fn transaction(
    context: &Context,
    (hash, options): (B256, TraceOptions),
) -> Result<Written, RpcError> {
    let budget = budget(context, &options);
    let head = context.chain.head();
    if context.config.anvil_conventions && context.chain.transaction(&head, hash).is_none() {
        let mut out = budget.writer();
        out.extend_from_slice(EMPTY_TRACE);
        return budget.finish(out);
    }

    let (replay, index) = find_transaction(context, hash)?;
    let mut executor = replay.after(index, &budget)?;

    let place = position(&replay, index, &executor);
    let mut out = budget.writer();
    let subject = Subject::Next(&mut executor, &replay.block.transactions[index]);
    RequestTracer::new(&context.config, &options, &budget).trace(place, subject, &mut out)?;
    budget.finish(out)
}

/// Traces all transactions of a block as they ran.
fn block_by_number(
    context: &Context,
    (id, options): (BlockId, TraceOptions),
) -> Result<Written, RpcError> {
    trace_block(context, &BlockReplay::find(context, id)?, &options)
}

fn block_by_hash(
    context: &Context,
    (hash, options): (B256, TraceOptions),
) -> Result<Written, RpcError> {
    block_by_number(context, (BlockId::Hash(hash), options))
}

/// Traces the transactions of a block given as RLP, whose parent is in the chain.
fn block_by_rlp(
    context: &Context,
    (rlp, options): (Bytes, TraceOptions),
) -> Result<Written, RpcError> {
    let wrong = |what: String| RpcError::invalid_params(format!("params[0]: {what}"));
    let foreign = ForeignBlock::decode(&mut &rlp[..])
        .map_err(|error| wrong(format!("not the RLP of a block: {error}")))?;
    let parent = context
        .chain
        .view(BlockId::Hash(foreign.header.parent_hash))?;

    // The block's own time decides which transactions are valid in it.
    let rules = parent
        .head
        .rules(foreign.header.number, foreign.header.timestamp);
    let recovered = foreign
        .body
        .transactions
        .into_iter()
        .map(|listed| recover(listed.0, rules).map(Arc::new));

    let block = Block {
        hash: foreign.header.hash_slow(),
        transactions: recovered
            .collect::<Result<_, _>>()
            .map_err(|error| wrong(error.to_string()))?,
        header: foreign.header,
        receipts: Vec::new(),
        ommers: foreign.body.ommers,
        withdrawals: foreign
            .body
            .withdrawals
            .map(|withdrawals| withdrawals.into_inner()),
        known_size: OnceLock::new(),
    };

    let replay = BlockReplay::on(&parent, Arc::new(block));
    trace_block(context, &replay, &options)
}

/// The position of the transaction that `executor` executes next.
fn position(replay: &BlockReplay, index: usize, executor: &BlockExecutor<'_>) -> TracePosition {
    TracePosition {
        block: Some(replay.block.hash),
        number: replay.block.number(),
        transaction: replay
            .block
            .transactions
            .get(index)
            .map(|transaction| transaction.hash()),
        index: Some(index),
        first_log: executor.log_count(),
    }
}

fn trace_block(
    context: &Context,
    replay: &BlockReplay,
    options: &TraceOptions,
) -> Result<Written, RpcError> {
    let budget = budget(context, options);
    let mut executor = replay.begin()?;
    let mut tracer = RequestTracer::new(&context.config, options, &budget);
    let mut out = budget.writer();

    out.push(b'[');
    for (index, transaction) in replay.block.transactions.iter().enumerate() {
        budget.check_time()?;
        if index > 0 {
            out.push(b',');
        }

        let place = position(replay, index, &executor);
        let subject = Subject::Next(&mut executor, transaction);
        let mut object = Object::begin(&mut out);
        object.member("txHash", &transaction.hash());
        tracer.trace(place, subject, object.name("result"))?;
        object.end();
    }
    out.push(b']');

    budget.finish(out)
}

/// The refusal to trace an invalid block: there is none.
fn bad_block(_: &Context, (hash, _): (B256, TraceOptions)) -> Result<Written, RpcError> {
    Err(RpcError::server(format!("bad block {hash} not found")))
}

/// The state root after each transaction of a block.
fn intermediate_roots(
    context: &Context,
    (hash, options): (B256, TraceOptions),
) -> Result<Vec<B256>, RpcError> {
    let budget = budget(context, &options);
    let replay = BlockReplay::find(context, BlockId::Hash(hash))?;
    let mut executor = replay.begin()?;

    let mut roots = Vec::new();
    for transaction in &replay.block.transactions {
        budget.check_time()?;
        executor.execute(transaction)?;
        roots.push(executor.overlay().root()?);
    }
    Ok(roots)
}

/// The overrides of a traced call, in addition to the trace options.
#[derive(Default)]
struct CallOptions {
    trace: TraceOptions,
    state: StateOverrides,
    block: BlockOverrides,
    index: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawCallOptions<'a> {
    #[serde(borrow)]
    state_overrides: Option<&'a RawValue>,
    block_overrides: Option<&'a RawValue>,
    tx_index: Option<&'a RawValue>,
}

impl Param for CallOptions {
    const DEFAULT: Option<fn() -> Self> = Some(Self::default);

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawCallOptions<'_> = params::fields(json)?;
        Ok(Self {
            trace: TraceOptions::read(json, rules)?,
            state: field("stateOverrides", raw.state_overrides, rules)?.unwrap_or_default(),
            block: field("blockOverrides", raw.block_overrides, rules)?.unwrap_or_default(),
            index: field("txIndex", raw.tx_index, rules)?,
        })
    }

    fn schema() -> Value {
        let mut schema = TraceOptions::schema();
        schema["properties"]["stateOverrides"] = schema::or_null(StateOverrides::schema());
        schema["properties"]["blockOverrides"] = schema::or_null(BlockOverrides::schema());
        schema["properties"]["txIndex"] = schema::or_null(u64::schema());
        schema
    }
}

/// Traces a call on the state of a block (by default the newest), or within it before the
/// transaction with an index.
fn call(
    context: &Context,
    (request, id, options): (TransactionRequest, Option<BlockId>, CallOptions),
) -> Result<Written, RpcError> {
    let budget = budget(context, &options.trace);
    let id = id.unwrap_or(BlockId::Latest);
    let mut view = context.chain.view(id)?;

    // The overrides below are applied on top of the state within the block.
    if let Some(index) = options.index {
        let replay = BlockReplay::within(&view, id)?;
        let count = replay.block.transactions.len();
        let index = usize::try_from(index).ok().filter(|index| *index < count);
        let index = index
            .ok_or_else(|| RpcError::server(format!("transaction index out of range: {count}")))?;
        view.state = replay.state_after(index, &budget)?;
    }

    options.block.apply(&mut view.environment)?;
    let call = request.into_call(context.chain.params().chain_id)?;
    let calls: CallContext<'_> = view.call_context(&options.state, context.config.gas_cap);
    let subject = Subject::Call(calls, &call);

    let mut out = budget.writer();
    let mut tracer = RequestTracer::new(&context.config, &options.trace, &budget);
    tracer.trace(TracePosition::default(), subject, &mut out)?;
    budget.finish(out)
}
