//! Time limits of calls without an inspector: every loop jumps, so jump instructions check the
//! limit.

use revm::{
    bytecode::opcode::{JUMP, JUMPI},
    context_interface::{ContextTr, context::ContextError},
    interpreter::{
        Instruction, InstructionContext, InstructionExecResult, InstructionResult,
        instructions::control::{jump, jumpi},
        interpreter::EthInterpreter,
    },
};

use super::{Evm, EvmContext};

/// Jumps between two checks.
const JUMPS_BETWEEN_LOOKS: u32 = 1 << 12;
/// The error with which a stopped execution ends. revm passes errors of instructions and of
/// precompiles on as text.
pub(super) const STOPPED: &str = "execution stopped";

/// Reports whether an execution has exceeded its time limit. Called from time to time.
pub type IsOver<'a> = &'a (dyn Fn() -> bool + Send + Sync);

/// The time limit of an execution.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    is_over: IsOver<'a>,
    refuses_long: IsOver<'a>,
    jumps: u32,
}

impl<'a> Patience<'a> {
    /// Calls `is_over` from time to time, and `refuses_long` before each precompile call that takes
    /// milliseconds and cannot be interrupted.
    pub fn new(is_over: IsOver<'a>, refuses_long: IsOver<'a>) -> Self {
        Self {
            is_over,
            refuses_long,
            jumps: 0,
        }
    }

    /// Whether the execution has to end before a long precompile call.
    pub(super) fn refuses_long(&self) -> bool {
        (self.is_over)() || (self.refuses_long)()
    }

    /// Whether the time limit is exceeded.
    pub(super) fn has_ended(&self) -> bool {
        (self.is_over)()
    }

    fn ends(&mut self) -> bool {
        self.jumps += 1;
        if self.jumps < JUMPS_BETWEEN_LOOKS {
            return false;
        }
        self.jumps = 0;
        (self.is_over)()
    }
}

/// Makes jump instructions check the time limit of the overlay.
pub(super) fn watch_jumps<I>(evm: &mut Evm<'_, I>) {
    evm.instruction
        .insert_instruction(JUMP, Instruction::new(watched_jump), 8);
    evm.instruction
        .insert_instruction(JUMPI, Instruction::new(watched_jumpi), 10);
}

type Step<'c, 'e> = InstructionContext<'c, EvmContext<'e>, EthInterpreter>;

fn watched_jump(step: Step<'_, '_>) -> InstructionExecResult {
    look(step.host)?;
    jump(step)
}

fn watched_jumpi(step: Step<'_, '_>) -> InstructionExecResult {
    look(step.host)?;
    jumpi(step)
}

fn look(host: &mut EvmContext<'_>) -> InstructionExecResult {
    if host.db_mut().patience().is_some_and(Patience::ends) {
        *host.error() = Err(ContextError::Custom(STOPPED.to_owned()));
        return Err(InstructionResult::FatalExternalError);
    }
    Ok(())
}
