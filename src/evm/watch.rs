//! Watching an execution without letting it run for ever.

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
    patience::{IsOver, STOPPED},
};

/// Steps between two looks at whether the time is up.
const STEPS_BETWEEN_LOOKS: u32 = 1 << 12;
/// Calls of one transaction that may be recorded.
const MAX_CALLS: u32 = 250_000;

/// An inspector that passes everything on to another one and stops the execution when it is told that it is time.
pub struct Watch<'w, I> {
    inner: &'w mut I,
    is_over: IsOver<'w>,
    steps: u32,
    steps_left: u64,
    calls: u32,
    over: bool,
}

impl<'w, I> Watch<'w, I> {
    /// Passes on to `inner` and asks `is_over` from time to time.
    pub fn new(inner: &'w mut I, is_over: IsOver<'w>) -> Self {
        Self { inner, is_over, steps: 0, steps_left: u64::MAX, calls: 0, over: false }
    }

    /// Stops after so many steps, too: for inspectors that remember each of them.
    pub fn at_most(mut self, steps: u64) -> Self {
        self.steps_left = steps;
        self
    }

    /// The inspector that everything is passed on to.
    pub fn inner(&mut self) -> &mut I {
        self.inner
    }

    /// Whether the execution was stopped.
    pub fn was_stopped(&self) -> bool {
        self.over
    }

    /// Counts a step; true if it must be the last.
    fn count(&mut self, by: u32) -> bool {
        self.steps += by;
        self.over |= self.steps_left < u64::from(by);
        self.steps_left = self.steps_left.saturating_sub(by.into());
        if self.steps >= STEPS_BETWEEN_LOOKS {
            self.steps = 0;
            self.over |= (self.is_over)();
        }
        self.over
    }

    /// Counts a call. Calls of precompiles take no step of their own, but may take long.
    fn count_call(&mut self) {
        self.calls += 1;
        self.over |= self.calls > MAX_CALLS;
        self.count(64);
    }

    fn stop(&self, context: &mut EvmContext<'_>, interpreter: &mut Interpreter) {
        *context.error() = Err(ContextError::Custom(STOPPED.to_owned()));
        interpreter.bytecode.reset_action();
        interpreter.halt(InstructionResult::FatalExternalError);
    }
}

impl<'e, I: Inspector<EvmContext<'e>>> Inspector<EvmContext<'e>> for Watch<'_, I> {
    fn initialize_interp(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        self.inner.initialize_interp(interpreter, context);
    }

    fn step(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        if self.count(1) {
            return self.stop(context, interpreter);
        }
        self.inner.step(interpreter, context);
    }

    fn step_end(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        self.inner.step_end(interpreter, context);
    }

    fn log(&mut self, context: &mut EvmContext<'e>, log: Log) {
        self.inner.log(context, log);
    }

    fn log_full(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>, log: Log) {
        self.inner.log_full(interpreter, context, log);
    }

    fn call(&mut self, context: &mut EvmContext<'e>, inputs: &mut CallInputs) -> Option<CallOutcome> {
        self.count_call();
        self.inner.call(context, inputs)
    }

    fn call_end(&mut self, context: &mut EvmContext<'e>, inputs: &CallInputs, outcome: &mut CallOutcome) {
        self.inner.call_end(context, inputs, outcome);
    }

    fn create(&mut self, context: &mut EvmContext<'e>, inputs: &mut CreateInputs) -> Option<CreateOutcome> {
        self.count_call();
        self.inner.create(context, inputs)
    }

    fn create_end(&mut self, context: &mut EvmContext<'e>, inputs: &CreateInputs, outcome: &mut CreateOutcome) {
        self.inner.create_end(context, inputs, outcome);
    }

    fn selfdestruct(&mut self, contract: Address, target: Address, value: U256) {
        self.inner.selfdestruct(contract, target, value);
    }
}
