//! Calls as a list: geth's `flatCallTracer`.

use alloy_rpc_types_trace::geth::FlatCallConfig;
use revm::interpreter::InstructionResult;
use revm_inspectors::tracing::types::{CallKind, CallTrace, CallTraceNode};
use tetrad_evm::failure_message;

use super::{
    Budget, TracePosition,
    call_recorder::{CallRecorder, gas_used},
};
use crate::rpc::{
    RpcError,
    hex::Quantity,
    json::{Json, JsonWriter, Object, array},
};

/// A call whose inner calls are being written.
struct OpenCall {
    index: usize,
    /// The number of inner calls that have been looked at.
    seen: usize,
    /// The number of inner calls that are written.
    written: usize,
}

impl OpenCall {
    /// A call of which no inner call has been looked at.
    fn new(index: usize) -> Self {
        Self {
            index,
            seen: 0,
            written: 0,
        }
    }
}

/// Writes each call with its position, the calls that it made after it. Nothing here calls itself,
/// since calls nest deeply.
pub(super) fn write_flat_calls(
    recorder: &CallRecorder,
    config: FlatCallConfig,
    place: &TracePosition,
    budget: &Budget,
    out: &mut JsonWriter,
) -> Result<(), RpcError> {
    let calls = recorder.calls();
    let Some(root) = calls.first() else {
        return Err(RpcError::internal("a trace has no call"));
    };

    let list = FlatList {
        recorder,
        place,
        includes_precompiles: config.include_precompiles == Some(true),
        converts_errors: config.convert_parity_errors == Some(true),
    };

    let mut open = vec![OpenCall::new(0)];
    // The position of the innermost open call.
    let mut position: Vec<usize> = Vec::new();

    out.push(b'[');
    list.write_call(root, &position, out);

    while let Some(call) = open.last_mut() {
        let node = &calls[call.index];
        if let Some(&inner) = node.children.get(call.seen) {
            call.seen += 1;
            if !list.shows(inner) {
                continue;
            }

            position.push(call.written);
            call.written += 1;
            open.push(OpenCall::new(inner));
            out.push(b',');
            list.write_call(&calls[inner], &position, out);
        } else {
            if node.is_selfdestruct() {
                position.push(call.written);
                out.push(b',');
                list.write_destruction(node, &position, out);
                position.pop();
            }
            open.pop();
            position.pop();
        }

        budget.check_size(out)?;
    }

    out.push(b']');
    Ok(())
}

/// The data and options that all entries of a list share.
struct FlatList<'l> {
    recorder: &'l CallRecorder,
    place: &'l TracePosition,
    includes_precompiles: bool,
    converts_errors: bool,
}

impl FlatList<'_> {
    /// Whether an inner call is part of the list: by default a call of a precompile is not.
    fn shows(&self, index: usize) -> bool {
        let Some(call) = self.recorder.calls().get(index) else {
            return false;
        };
        let is_plain = matches!(call.trace.kind, CallKind::Call | CallKind::StaticCall);

        self.includes_precompiles || !is_plain || !self.recorder.is_precompile(index)
    }

    /// The number of entries directly within that of `call`.
    fn subtraces(&self, call: &CallTraceNode) -> usize {
        let shown = call
            .children
            .iter()
            .filter(|inner| self.shows(**inner))
            .count();
        shown + usize::from(call.is_selfdestruct())
    }

    fn write_call(&self, call: &CallTraceNode, position: &[usize], out: &mut JsonWriter) {
        let trace = &call.trace;
        let mut error = trace.status.and_then(failure_message);
        if self.converts_errors {
            error = error.map(parity_error);
        }
        let succeeded = error.is_none();
        let is_revert = trace.status == Some(InstructionResult::Revert);

        let mut object = Object::begin(out);
        write_action(trace, object.name("action"));
        self.write_place(&mut object);
        object.optional("error", &error);
        if succeeded || is_revert {
            write_result(call, succeeded, object.name("result"));
        }

        let kind = if trace.kind.is_any_create() {
            "create"
        } else {
            "call"
        };
        write_end(object, self.subtraces(call), position, kind);
    }

    fn write_destruction(&self, call: &CallTraceNode, position: &[usize], out: &mut JsonWriter) {
        let trace = &call.trace;
        let mut object = Object::begin(out);
        Object::begin(object.name("action"))
            .member("address", &trace.selfdestruct_address.unwrap_or_default())
            .member(
                "balance",
                &Quantity(trace.selfdestruct_transferred_value.unwrap_or_default()),
            )
            .member(
                "refundAddress",
                &trace.selfdestruct_refund_target.unwrap_or_default(),
            )
            .end();

        self.write_place(&mut object);
        // The name in OpenEthereum's traces.
        write_end(object, 0, position, "suicide");
    }

    /// Writes where the transaction is; a call is in no block.
    fn write_place(&self, object: &mut Object<'_>) {
        let place = self.place;
        let index = place.index.unwrap_or(0);
        object
            .member("blockHash", &place.block)
            .member("blockNumber", &json_number(place.number))
            .member("transactionHash", &place.transaction)
            .member("transactionPosition", &json_number(index as u64));
    }
}

fn json_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Writes the arguments of a call or a creation.
fn write_action(trace: &CallTrace, out: &mut JsonWriter) {
    let mut action = Object::begin(out);
    action
        .member("from", &trace.caller)
        .member("gas", &Quantity(trace.gas_limit))
        .member("value", &Quantity(trace.value));

    let kind = trace.kind.to_str().to_lowercase();
    if trace.kind.is_any_create() {
        action
            .member("creationMethod", &kind)
            .member("init", &trace.data);
    } else {
        action
            .member("callType", &kind)
            .member("input", &trace.data)
            .member("to", &trace.address);
    }
    action.end();
}

/// Writes the result of a call or a creation, which may have reverted.
fn write_result(call: &CallTraceNode, succeeded: bool, out: &mut JsonWriter) {
    let trace = &call.trace;
    let mut result = Object::begin(out);
    result.member("gasUsed", &gas_used(call));

    if trace.kind.is_any_create() {
        result
            .optional("address", &succeeded.then_some(trace.address))
            .member("code", &trace.output);
    } else {
        result.member("output", &trace.output);
    }
    result.end();
}

fn write_end(mut object: Object<'_>, subtraces: usize, position: &[usize], kind: &str) {
    object.member("subtraces", &(subtraces as i64));
    array(object.name("traceAddress"), position, |index, out| {
        (*index as i64).write(out)
    });
    object.member("type", kind).end();
}

/// An error in OpenEthereum's words, where geth has some for it.
fn parity_error(error: String) -> String {
    let text = match error.as_str() {
        "contract creation code storage out of gas"
        | "out of gas"
        | "gas uint64 overflow"
        | "max code size exceeded" => "Out of gas",
        "invalid jump destination" => "Bad jump destination",
        "execution reverted" => "Reverted",
        "return data out of bounds" => "Out of bounds",
        "stack limit reached 1024 (1023)" => "Out of stack",
        "precompiled failed" | "invalid input length" => "Built-in failed",
        text if text.starts_with("out of gas:") => "Out of gas",
        text if text.starts_with("invalid opcode") => "Bad instruction",
        text if text.starts_with("stack underflow") => "Stack underflow",
        _ => return error,
    };
    text.to_owned()
}
