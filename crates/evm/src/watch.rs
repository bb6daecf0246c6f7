//! Limits on an inspected execution: its time, and the size of what its inspector records.

use alloy_primitives::{Address, Log, U256};
use revm::{
    Inspector,
    context_interface::{ContextTr, context::ContextError},
    interpreter::{
        CallInputs, CallOutcome, CreateInputs, CreateOutcome, InstructionResult, Interpreter,
        interpreter_types::LoopControl,
    },
};

use super::{
    EvmContext,
    recorder::{RecordedData, Recorder},
    time_limit::{OutOfTime, STOPPED},
};

/// Steps between two checks of the time limit.
const STEPS_BETWEEN_CHECKS: u32 = 1 << 8;
/// The number of steps that a call counts for. Precompile calls take no steps but may take long.
const STEPS_OF_CALL: u32 = 64;

/// The reason why an execution was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It took too long.
    Time,
    /// The inspector would have recorded more than its limit.
    Size,
}

/// An inspector that forwards to another one, and stops the execution when its time is over or when
/// the other one would record too much.
pub struct Watch<'w, I> {
    inner: &'w mut I,
    out_of_time: OutOfTime<'w>,
    records: RecordedData,
    max_bytes: usize,
    recorded: usize,
    /// The number of active calls.
    depth: usize,
    top_only: bool,
    steps: u32,
    stop: Option<Stop>,
}

impl<'w, I: Recorder> Watch<'w, I> {
    /// Forwards to `inner`, which may record about `max_bytes`, and calls `out_of_time` from time to
    /// time.
    pub fn new(inner: &'w mut I, out_of_time: OutOfTime<'w>, max_bytes: usize) -> Self {
        let records = inner.records();
        Self {
            inner,
            out_of_time,
            records,
            max_bytes,
            recorded: 0,
            depth: 0,
            top_only: false,
            steps: 0,
            stop: None,
        }
    }

    /// Forwards the outermost call only, without the calls that it makes.
    pub fn top_only(mut self, top_only: bool) -> Self {
        self.top_only = top_only;
        self
    }

    /// The inspector that is forwarded to.
    pub fn inner(&mut self) -> &mut I {
        self.inner
    }

    /// The approximate number of recorded bytes.
    pub fn recorded(&self) -> usize {
        self.recorded.saturating_add(self.inner.copied())
    }

    /// The reason why the execution was stopped, if it was; the record is incomplete then.
    pub fn stopped(&self) -> Option<Stop> {
        self.stop
            .or_else(|| (self.recorded() > self.max_bytes).then_some(Stop::Size))
    }

    fn record(&mut self, bytes: usize) {
        self.recorded = self.recorded.saturating_add(bytes);
    }

    /// Counts steps; returns true when the execution has to stop.
    fn count(&mut self, by: u32) -> bool {
        self.steps += by;
        if self.steps >= STEPS_BETWEEN_CHECKS {
            self.steps = 0;
            if (self.out_of_time)() {
                self.stop.get_or_insert(Stop::Time);
            }
        }
        self.stop = self.stopped();
        self.stop.is_some()
    }

    /// Whether events at this call depth are forwarded.
    fn passes(&self, around: usize) -> bool {
        !self.top_only || around == 0
    }

    /// Whether events of the innermost call are forwarded.
    fn passes_within(&self) -> bool {
        self.passes(self.depth.saturating_sub(1))
    }

    /// Records the start of a call; returns whether it is forwarded.
    fn enter(&mut self, input: usize) -> bool {
        let around = self.depth;
        let passes = self.passes(around);
        self.depth += 1;
        if passes {
            self.record(self.records.of_call(around, input));
        }

        self.count(STEPS_OF_CALL);
        passes
    }

    /// Records the end of a call; returns whether it is forwarded.
    fn leave(&mut self, output: usize) -> bool {
        self.depth = self.depth.saturating_sub(1);
        let passes = self.passes(self.depth);
        if passes {
            self.record(self.records.of_output(output));
        }
        passes
    }

    fn stop(&self, context: &mut EvmContext<'_>, interpreter: &mut Interpreter) {
        *context.error() = Err(ContextError::Custom(STOPPED.to_owned()));
        interpreter.bytecode.reset_action();
        interpreter.halt(InstructionResult::FatalExternalError);
    }
}

impl<'e, I: Inspector<EvmContext<'e>> + Recorder> Inspector<EvmContext<'e>> for Watch<'_, I> {
    fn initialize_interp(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        if self.passes_within() {
            self.inner.initialize_interp(interpreter, context);
        }
    }

    fn step(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        let passes = self.passes_within();
        if passes {
            self.record(self.records.of_step(interpreter));
        }
        if self.count(1) {
            return self.stop(context, interpreter);
        }
        if passes {
            self.inner.step(interpreter, context);
        }
    }

    fn step_end(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        if self.passes_within() {
            self.inner.step_end(interpreter, context);
        }
    }

    fn log(&mut self, context: &mut EvmContext<'e>, log: Log) {
        if self.passes_within() {
            self.record(self.records.of_log(&log));
            self.inner.log(context, log);
        }
    }

    fn log_full(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>, log: Log) {
        if self.passes_within() {
            self.record(self.records.of_log(&log));
            self.inner.log_full(interpreter, context, log);
        }
    }

    fn call(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &mut CallInputs,
    ) -> Option<CallOutcome> {
        if self.enter(inputs.input.len()) {
            self.inner.call(context, inputs)
        } else {
            None
        }
    }

    fn call_end(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &CallInputs,
        outcome: &mut CallOutcome,
    ) {
        if self.leave(outcome.result.output.len()) {
            self.inner.call_end(context, inputs, outcome);
        }
    }

    fn create(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &mut CreateInputs,
    ) -> Option<CreateOutcome> {
        if self.enter(inputs.init_code().len()) {
            self.inner.create(context, inputs)
        } else {
            None
        }
    }

    fn create_end(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &CreateInputs,
        outcome: &mut CreateOutcome,
    ) {
        if self.leave(outcome.result.output.len()) {
            self.inner.create_end(context, inputs, outcome);
        }
    }

    fn selfdestruct(&mut self, contract: Address, target: Address, value: U256) {
        if self.passes_within() {
            self.inner.selfdestruct(contract, target, value);
        }
    }
}
