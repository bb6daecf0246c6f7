//! The node's own namespace.
//!
//! `tetrad_stackTrace`: why a transaction failed, with names and source lines of contracts whose
//! sources are known.

mod failed_calls;
mod fork_stats;
mod snapshots;

use alloy_primitives::{Address, B256, Bytes, hex};
use revm::context_interface::result::ExecutionResult;
use serde::Serialize;
use tetrad_chain::View;
use tetrad_contracts::sources::{
    KnownContract,
    text::{plain, revert_reason},
};
use tetrad_evm::{FailedCall, FailureTracer, Watch, halt_message};

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    json::Serialized,
    tracing::{Budget, Subject, find_transaction},
};

/// Advice on how to request less.
const ADVICE: &str = "trace the transaction with debug_traceTransaction";

/// The most calls whose source is looked up: the outermost and innermost ones.
const MAX_FRAMES: usize = 64;

pub(super) fn methods(table: &mut Table, development: bool) {
    if development {
        failed_calls::methods(table);
        snapshots::methods(table);
    }
    fork_stats::methods(table);
    table
        .apart("tetrad_stackTrace", stack_trace, OnFork::Transaction)
        .describe(
            ["transaction hash"],
            "Replays a failed transaction: the reason, and the calls that led to it, the innermost \
             first, with the contract, function, file and line of each as far as the source is \
             known. No frames if it succeeded.",
        );
}

/// The failure of a transaction.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StackTrace {
    failed: bool,
    /// The reason: a text, or an error with its arguments.
    reason: Option<String>,
    /// The output of the transaction.
    output: Bytes,
    frames: Vec<Frame>,
}

/// A call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    /// The account for which the code ran; null for creation code.
    address: Option<Address>,
    /// The contract whose code ran, if it is another one, as behind a proxy.
    code_address: Option<Address>,
    /// Its name.
    contract: Option<String>,
    /// The name of the function, or its selector.
    function: Option<String>,
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    /// The text of the line.
    source: Option<String>,
    /// The position of the last instruction in the code.
    pc: usize,
}

/// Replays a failed transaction, and explains the calls that led to its failure.
fn stack_trace(context: &Context, (hash,): (B256,)) -> Result<Serialized<StackTrace>, RpcError> {
    let budget = Budget::new(context, ADVICE);
    let (replay, index) = find_transaction(context, hash)?;
    let mut executor = replay.after(index, &budget)?;

    let mut tracer = FailureTracer::default();
    let out_of_time = || budget.is_out_of_time();
    let mut watch = Watch::new(&mut tracer, &out_of_time, budget.max_bytes());
    let subject = Subject::Next(&mut executor, &replay.block.transactions[index]);
    let run = subject.run(&mut watch, |inspected, _| inspected.outcome.result.clone());

    // An execution that was stopped has failed, but the limit is the reason.
    budget.check(watch.stopped())?;
    let result = run?;
    let calls = tracer.into_calls();

    // Contracts are those of the newest state that the block was found in, in which a verified
    // source is known as well.
    let view = View::newest(replay.head.clone());
    let known = |address: Address| context.known.at(&view, address);
    let origin = calls.last().and_then(|call| known(call.code?));
    let (reason, output) = match &result {
        ExecutionResult::Success { .. } => (None, Bytes::new()),
        ExecutionResult::Halt { reason, .. } => (Some(halt_message(reason)), Bytes::new()),
        ExecutionResult::Revert { output, .. } => {
            let error = context.known.error(origin.as_deref(), output);
            let reason = revert_reason(output, error.as_deref(), plain);
            (Some(reason), output.clone())
        }
    };

    let mut frames = Vec::new();
    for (at, call) in calls.iter().rev().enumerate() {
        budget.check_time()?;
        // The innermost calls have the reason, and the outermost ones show what was asked for.
        let is_shown = at < MAX_FRAMES / 2 || calls.len() - at <= MAX_FRAMES / 2;
        if is_shown {
            let contract = call.code.and_then(known);
            frames.push(frame(context, &view, contract.as_deref(), call));
        }
    }

    Ok(Serialized(StackTrace {
        failed: !result.is_success(),
        reason,
        output,
        frames,
    }))
}

/// Describes a call, whose code is that of `contract` if it is known.
fn frame(
    context: &Context,
    view: &View,
    contract: Option<&KnownContract>,
    call: &FailedCall,
) -> Frame {
    let function = context
        .known
        .function(contract, &call.input)
        .map(|function| function.name.clone());
    let selector = || call.input.first_chunk::<4>().map(hex::encode_prefixed);

    let place = call
        .code
        .and_then(|code| context.known.location(view, code, call.position));
    let (file, line, column, source) = match place {
        Some(place) => (
            Some(place.file),
            Some(place.line),
            Some(place.column),
            Some(place.text),
        ),
        None => (None, None, None, None),
    };

    Frame {
        address: call.account,
        // Given only where the code is another account's, as in a delegate call.
        code_address: call.code.filter(|code| Some(*code) != call.account),
        contract: contract.map(|contract| contract.label.clone()),
        function: function
            .or_else(selector)
            .or_else(|| call.code.is_none().then(|| "constructor".to_owned())),
        file,
        line,
        column,
        source,
        pc: call.position,
    }
}
