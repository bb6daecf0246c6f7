//! The opcode tracer (`execution-apis`, opcode-tracer): a line for each step, written during
//! execution, so that the response itself is the only record and its length can be bounded.

use std::collections::{BTreeMap, HashMap};

use alloy_primitives::{Address, B256, Bytes, U256, hex, map::DefaultHashBuilder};
use revm::{
    Inspector,
    bytecode::opcode::{self, OpCode},
    context_interface::{
        ContextTr, JournalTr,
        result::{ExecutionResult, HaltReason},
    },
    interpreter::{
        CallInputs, CallOutcome, CreateInputs, CreateOutcome, InstructionResult, Interpreter,
        SuccessOrHalt,
        interpreter_types::{InputsTr, Jumps, LoopControl, MemoryTr},
    },
};
use serde::Deserialize;
use tetrad_evm::{EvmContext, Recorder, halt_message};

use super::Budget;
use crate::rpc::{
    RpcError,
    hex::Quantity,
    json::{Json, JsonWriter, Object, array},
};

/// The content of the lines.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct StructLogOptions {
    enable_memory: bool,
    disable_stack: bool,
    disable_storage: bool,
    enable_return_data: bool,
    /// The maximum number of lines; zero for all.
    limit: u64,
    /// The number of steps before the first line.
    offset: u64,
    /// The maximum number of words of the stack in a line, from its top; zero for all.
    stack_limit: usize,
}

/// The words of the stack that name a slot and its new value.
const SLOT_OPERANDS: usize = 2;

/// Writes the lines of one transaction.
pub(super) struct StructLogger {
    options: StructLogOptions,
    /// The steps so far.
    steps: u64,
    lines: u64,
    out: JsonWriter,
    /// The current step.
    step: Option<OpcodeStep>,
    /// The slots that each contract has used so far.
    storage: HashMap<Address, BTreeMap<U256, U256>, DefaultHashBuilder>,
    /// The refund counters of the active calls except the innermost.
    refunds: Vec<i64>,
    refund: i64,
}

/// The data of a step that is known before it executes.
struct OpcodeStep {
    /// Whether it has a line. Earlier steps are seen for their slots only.
    has_line: bool,
    pc: usize,
    op: u8,
    gas: u64,
    /// The words that the line or a slot needs, up to the top.
    stack: Vec<U256>,
    memory: Option<Vec<u8>>,
    return_data: Option<Bytes>,
}

impl StructLogger {
    /// A tracer without lines, which count against `budget`.
    pub(super) fn new(options: StructLogOptions, budget: &Budget) -> Self {
        Self {
            options,
            steps: 0,
            lines: 0,
            out: budget.writer(),
            step: None,
            storage: HashMap::default(),
            refunds: Vec::new(),
            refund: 0,
        }
    }

    /// The error if the lines did not fit.
    pub(super) fn check(&self, budget: &Budget) -> Result<(), RpcError> {
        budget.check_size(&self.out)
    }

    /// Appends the whole trace.
    pub(super) fn finish(
        self,
        result: &ExecutionResult,
        budget: &Budget,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        let output = match result {
            ExecutionResult::Success { output, .. } => output.data().clone(),
            ExecutionResult::Revert { output, .. } => output.clone(),
            ExecutionResult::Halt { .. } => Bytes::new(),
        };

        let mut object = Object::begin(out);
        object
            .member("gas", &(result.tx_gas_used() as i64))
            .member("failed", &!result.is_success())
            .member("returnValue", &output);

        let lines = object.name("structLogs");
        lines.push(b'[');
        budget.finish(self.out)?.append_to(lines);
        lines.push(b']');
        object.end();

        budget.check_size(out)
    }

    fn write(
        &mut self,
        step: &OpcodeStep,
        depth: usize,
        gas_after: u64,
        error: Option<String>,
        slots: Option<Address>,
    ) {
        if self.lines > 0 {
            self.out.push(b',');
        }
        self.lines += 1;

        let name = OpCode::name_by_op(step.op);
        // geth's name for an opcode that does not exist.
        let name = if name == "Unknown" {
            format!("opcode {:#x} not defined", step.op)
        } else {
            name.to_owned()
        };

        let mut object = Object::begin(&mut self.out);
        object
            .member("pc", &(step.pc as i64))
            .member("op", &name)
            .member("gas", &(step.gas as i64))
            .member("gasCost", &(step.gas.saturating_sub(gas_after) as i64))
            .member("depth", &(depth as i64))
            .optional("error", &error)
            .member("refund", &self.refund);

        if !self.options.disable_stack {
            let shown = top(&step.stack, self.options.stack_limit);
            array(object.name("stack"), shown, |word, out| {
                Quantity(*word).write(out)
            });
        }
        if let Some(memory) = &step.memory {
            array(object.name("memory"), memory.chunks(32), |chunk, out| {
                B256::right_padding_from(chunk).write(out);
            });
        }
        object.optional("returnData", &step.return_data);

        if let Some(slots) = slots.and_then(|contract| self.storage.get(&contract)) {
            let mut storage = Object::begin(object.name("storage"));
            for (index, value) in slots {
                storage.member(
                    &hex::encode_prefixed(index.to_be_bytes::<32>()),
                    &B256::from(*value),
                );
            }
            storage.end();
        }

        object.end();
    }

    /// Remembers the slot that a step has read or written. Returns the contract that has it.
    fn record_slot(&mut self, step: &OpcodeStep, interpreter: &Interpreter) -> Option<Address> {
        let (slot, value) = match (step.op, step.stack.as_slice()) {
            // The value has taken the slot's place on the stack.
            (opcode::SLOAD, [.., slot]) => (*slot, *interpreter.stack.data().last()?),
            (opcode::SSTORE, [.., value, slot]) => (*slot, *value),
            _ => return None,
        };

        let contract = interpreter.input.target_address();
        self.storage
            .entry(contract)
            .or_default()
            .insert(slot, value);
        Some(contract)
    }

    /// The number of words of the stack that a step records; zero for all.
    fn recorded_words(&self, has_line: bool) -> usize {
        if !has_line || self.options.disable_stack {
            SLOT_OPERANDS
        } else if self.options.stack_limit == 0 {
            0
        } else {
            self.options.stack_limit.max(SLOT_OPERANDS)
        }
    }

    fn enter(&mut self) {
        self.refunds.push(self.refund);
    }

    fn leave(&mut self, refunded: i64, kept: bool) {
        let before = self.refunds.pop().unwrap_or(0);
        self.refund = if kept { before + refunded } else { before };
    }
}

/// The last words of a stack; all of them if the limit is zero.
fn top(stack: &[U256], limit: usize) -> &[U256] {
    let skipped = match limit {
        0 => 0,
        limit => stack.len().saturating_sub(limit),
    };
    &stack[skipped..]
}

/// The reason why an instruction failed; a revert is not a failure.
fn failure(result: InstructionResult) -> Option<String> {
    match SuccessOrHalt::<HaltReason>::from(result) {
        SuccessOrHalt::Halt(reason) => Some(halt_message(&reason)),
        _ => None,
    }
}

/// The tracer writes its lines at once, so that they are all that it records.
impl Recorder for StructLogger {
    fn copied(&self) -> usize {
        // Nothing more is recorded once there is no memory.
        if self.out.check().is_ok() {
            self.out.len()
        } else {
            usize::MAX
        }
    }
}

impl Inspector<EvmContext<'_>> for StructLogger {
    fn step(&mut self, interpreter: &mut Interpreter, _: &mut EvmContext<'_>) {
        // Only the lines end here: result and gas are those of the whole execution.
        if self.options.limit > 0 && self.lines >= self.options.limit {
            return;
        }

        let has_line = self.steps >= self.options.offset;
        self.steps += 1;
        // Without a line a step is of interest for its slots alone.
        if !has_line && self.options.disable_storage {
            return;
        }

        let memory = &interpreter.memory;
        let return_data = &interpreter.return_data.0;
        let has_memory = has_line && self.options.enable_memory && memory.size() > 0;
        let has_return_data =
            has_line && self.options.enable_return_data && !return_data.is_empty();

        // A line shows the machine as it was before the instruction.
        self.step = Some(OpcodeStep {
            has_line,
            pc: interpreter.bytecode.pc(),
            op: interpreter.bytecode.opcode(),
            gas: interpreter.gas.remaining(),
            stack: top(interpreter.stack.data(), self.recorded_words(has_line)).to_vec(),
            memory: has_memory.then(|| memory.slice(0..memory.size()).to_vec()),
            return_data: has_return_data.then(|| return_data.clone()),
        });
    }

    fn step_end(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'_>) {
        self.refund = self.refunds.last().copied().unwrap_or(0) + interpreter.gas.refunded();
        let Some(step) = self.step.take() else { return };

        let error = interpreter
            .bytecode
            .action()
            .as_ref()
            .and_then(|action| action.instruction_result())
            .and_then(failure);

        let slots = if self.options.disable_storage || error.is_some() {
            None
        } else {
            self.record_slot(&step, interpreter)
        };

        if !step.has_line {
            return;
        }
        self.write(
            &step,
            context.journal().depth(),
            interpreter.gas.remaining(),
            error,
            slots,
        );
    }

    fn call(&mut self, _: &mut EvmContext<'_>, _: &mut CallInputs) -> Option<CallOutcome> {
        self.enter();
        None
    }

    fn call_end(&mut self, _: &mut EvmContext<'_>, _: &CallInputs, outcome: &mut CallOutcome) {
        self.leave(outcome.result.gas.refunded(), outcome.result.is_ok());
    }

    fn create(&mut self, _: &mut EvmContext<'_>, _: &mut CreateInputs) -> Option<CreateOutcome> {
        self.enter();
        None
    }

    fn create_end(
        &mut self,
        _: &mut EvmContext<'_>,
        _: &CreateInputs,
        outcome: &mut CreateOutcome,
    ) {
        self.leave(outcome.result.gas.refunded(), outcome.result.is_ok());
    }
}
