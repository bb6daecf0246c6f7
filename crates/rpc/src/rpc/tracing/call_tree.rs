//! Calls as a tree: geth's `callTracer`.

use alloy_primitives::Bytes;
use alloy_rpc_types_trace::geth::CallConfig;
use revm::interpreter::InstructionResult;
use revm_inspectors::tracing::types::{CallLog, CallTraceNode};
use tetrad_evm::failure_message;

use super::{
    Budget,
    call_recorder::{CallRecorder, gas_used},
};
use crate::rpc::{
    RpcError,
    error::revert_reason,
    hex::Quantity,
    json::{Json, JsonWriter, Object, array},
};

/// A call whose inner calls are being written.
struct OpenCall {
    index: usize,
    /// The number of inner calls that are written.
    written: usize,
    /// Whether it and all calls around it succeeded. The logs of others have no effect.
    succeeded: bool,
}

impl OpenCall {
    /// Writes what precedes an inner call: the name of their array, or a comma.
    fn begin_inner(&mut self, out: &mut JsonWriter) {
        if self.written == 0 {
            out.extend_from_slice(b",\"calls\":[");
        } else {
            out.push(b',');
        }
        self.written += 1;
    }
}

/// Writes the calls as a tree. Calls nest up to the depth that the EVM allows, so that nothing here
/// calls itself.
pub(super) fn write_call_tree(
    recorder: &CallRecorder,
    config: CallConfig,
    first_log: u64,
    budget: &Budget,
    out: &mut JsonWriter,
) -> Result<(), RpcError> {
    let calls = recorder.calls();
    let Some(root) = calls.first() else {
        return Err(RpcError::internal("a trace has no call"));
    };
    let top_only = config.only_top_call == Some(true);
    let with_log = config.with_log == Some(true);

    let mut open = vec![OpenCall {
        index: 0,
        written: 0,
        succeeded: !root.trace.is_error(),
    }];
    begin(root, out);

    while let Some(call) = open.last_mut() {
        let node = &calls[call.index];
        let next = node.children.get(call.written).filter(|_| !top_only);

        if let Some(inner) = next.and_then(|&index| calls.get(index)) {
            call.begin_inner(out);
            // A call that fails undoes the logs of all calls within it.
            let succeeded = call.succeeded && !inner.trace.is_error();
            begin(inner, out);
            open.push(OpenCall {
                index: inner.idx,
                written: 0,
                succeeded,
            });
        } else {
            if node.is_selfdestruct() && !top_only {
                call.begin_inner(out);
                write_destruction(node, out);
            }
            if call.written > 0 {
                out.push(b']');
            }

            let logs = if with_log && call.succeeded {
                node.logs.as_slice()
            } else {
                &[]
            };
            end(node, logs, recorder, first_log, out);
            open.pop();
        }

        budget.check_size(out)?;
    }

    Ok(())
}

/// Writes the members before the inner calls.
fn begin(call: &CallTraceNode, out: &mut JsonWriter) {
    let trace = &call.trace;
    let error = trace.status.and_then(failure_message);
    let is_revert = trace.status == Some(InstructionResult::Revert);

    // geth omits the address of a contract that was not created.
    let to = (error.is_none() || !trace.kind.is_any_create()).then_some(trace.address);
    let output =
        // Of the failures, only reverts have output.
        (!trace.output.is_empty() && (error.is_none() || is_revert)).then_some(&trace.output);
    let reason = revert_reason(&trace.output).filter(|reason| is_revert && !reason.is_empty());

    let mut object = Object::begin(out);
    object
        .member("from", &trace.caller)
        .member("gas", &Quantity(trace.gas_limit))
        .member("gasUsed", &gas_used(call))
        .optional("to", &to)
        .member("input", &trace.data)
        .optional("output", &output)
        .optional("error", &error)
        .optional("revertReason", &reason);
}

/// Writes the members after the inner calls.
fn end(
    call: &CallTraceNode,
    logs: &[CallLog],
    recorder: &CallRecorder,
    first_log: u64,
    out: &mut JsonWriter,
) {
    let trace = &call.trace;

    if !logs.is_empty() {
        out.extend_from_slice(b",\"logs\":");
        array(out, logs, |log, out| {
            let mut object = Object::begin(out);
            object
                .member("address", &log.address)
                .member("topics", log.raw_log.topics())
                .member("data", &log.raw_log.data)
                .member("index", &Quantity(first_log + recorder.index_of(log)))
                .member("position", &Quantity(log.position))
                .end();
        });
    }

    // As in geth, static calls have no value.
    if !trace.kind.is_static_call() {
        out.extend_from_slice(b",\"value\":");
        Quantity(trace.value).write(out);
    }

    out.extend_from_slice(b",\"type\":");
    trace.kind.to_str().write(out);
    out.push(b'}');
}

/// Writes the destruction of a contract, which geth shows as a call.
fn write_destruction(call: &CallTraceNode, out: &mut JsonWriter) {
    let trace = &call.trace;
    let mut object = Object::begin(out);
    object
        .member("from", &trace.selfdestruct_address.unwrap_or_default())
        .member("gas", &Quantity(0u64))
        .member("gasUsed", &Quantity(0u64))
        .member("to", &trace.selfdestruct_refund_target.unwrap_or_default())
        .member("input", &Bytes::new())
        .member(
            "value",
            &Quantity(trace.selfdestruct_transferred_value.unwrap_or_default()),
        )
        .member("type", "SELFDESTRUCT")
        .end();
}
