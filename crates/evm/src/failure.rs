//! The calls that led to the failure of a transaction.

use alloy_primitives::{Address, Bytes};
use revm::{
    Inspector,
    interpreter::{
        CallInputs, CallOutcome, CreateInputs, CreateOutcome, Interpreter, interpreter_types::Jumps,
    },
};

use super::{EvmContext, Recorder};

/// The most bytes of a call's data that are kept.
const MAX_INPUT: usize = 64 << 10;

/// A call that failed, or that led to one that did.
#[derive(Clone, Debug)]
pub struct FailedCall {
    /// The contract whose code ran; `None` for creation code.
    pub code: Option<Address>,
    /// The account that it ran for.
    pub account: Option<Address>,
    /// The call data, cut off.
    pub input: Bytes,
    /// The position of the last instruction.
    pub position: usize,
}

/// Records the calls, from the transaction's own to the one that failed first.
#[derive(Debug, Default)]
pub struct FailureTracer {
    open: Vec<OpenCall>,
    /// The failure of the transaction.
    failure: Option<Failure>,
    copied: usize,
}

#[derive(Debug)]
struct OpenCall {
    call: FailedCall,
    /// The last call that it made, if that failed.
    failed: Option<Failure>,
}

/// A failure with its output.
#[derive(Debug)]
struct Failure {
    output: Bytes,
    calls: Vec<FailedCall>,
}

impl FailureTracer {
    /// Returns the calls, the outermost first; none if the transaction did not fail.
    pub fn into_calls(self) -> Vec<FailedCall> {
        self.failure
            .map(|failure| failure.calls.into_iter().rev().collect())
            .unwrap_or_default()
    }

    fn begin(&mut self, code: Option<Address>, account: Option<Address>, input: Bytes) {
        let input = Bytes::copy_from_slice(&input[..input.len().min(MAX_INPUT)]);
        self.copied += size_of::<OpenCall>() + input.len();
        self.open.push(OpenCall {
            call: FailedCall {
                code,
                account,
                input,
                position: 0,
            },
            failed: None,
        });
    }

    fn end(&mut self, is_ok: bool, output: &Bytes) {
        let Some(OpenCall { call, failed }) = self.open.pop() else {
            return;
        };

        let failure = (!is_ok).then(|| {
            // A call that passes on the output of another failed because of that one.
            let cause = failed.filter(|failed| failed.output == *output);
            let mut calls = cause.map(|cause| cause.calls).unwrap_or_default();
            calls.push(call);
            Failure {
                output: output.clone(),
                calls,
            }
        });

        match self.open.last_mut() {
            Some(caller) => caller.failed = failure,
            None => self.failure = failure,
        }
    }
}

impl Recorder for FailureTracer {
    fn copied(&self) -> usize {
        self.copied
    }
}

impl Inspector<EvmContext<'_>> for FailureTracer {
    fn step(&mut self, interpreter: &mut Interpreter, _: &mut EvmContext<'_>) {
        if let Some(open) = self.open.last_mut() {
            open.call.position = interpreter.bytecode.pc();
        }
    }

    fn call(
        &mut self,
        context: &mut EvmContext<'_>,
        inputs: &mut CallInputs,
    ) -> Option<CallOutcome> {
        let input = inputs.input.bytes(context);
        self.begin(
            Some(inputs.bytecode_address),
            Some(inputs.target_address),
            input,
        );
        None
    }

    fn call_end(&mut self, _: &mut EvmContext<'_>, _: &CallInputs, outcome: &mut CallOutcome) {
        self.end(outcome.result.is_ok(), &outcome.result.output);
    }

    fn create(&mut self, _: &mut EvmContext<'_>, _: &mut CreateInputs) -> Option<CreateOutcome> {
        self.begin(None, None, Bytes::new());
        None
    }

    fn create_end(
        &mut self,
        _: &mut EvmContext<'_>,
        _: &CreateInputs,
        outcome: &mut CreateOutcome,
    ) {
        self.end(outcome.result.is_ok(), &outcome.result.output);
    }
}
