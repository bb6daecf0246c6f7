//! Ending calls that take too long, without an inspector: every loop jumps, so jumps look at whether it is time.

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

/// Jumps between two looks.
const JUMPS_BETWEEN_LOOKS: u32 = 1 << 12;
/// What the machine says when it was stopped.
pub(super) const STOPPED: &str = "execution stopped";

/// Whether an execution takes too long. Asked from time to time.
pub type IsOver<'a> = &'a (dyn Fn() -> bool + Send + Sync);

/// How an execution learns that it takes too long.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    is_over: IsOver<'a>,
    refuses_long: IsOver<'a>,
    jumps: u32,
}

impl<'a> Patience<'a> {
    /// Asks `is_over` from time to time, and `refuses_long` before each precompile that takes milliseconds, which nothing
    /// interrupts.
    pub fn new(is_over: IsOver<'a>, refuses_long: IsOver<'a>) -> Self {
        Self { is_over, refuses_long, jumps: 0 }
    }

    /// Whether the execution has to end before a precompile that takes long.
    pub(super) fn refuses_long(&self) -> bool {
        (self.is_over)() || (self.refuses_long)()
    }

    /// Whether it takes too long already.
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

/// Makes the machine's jumps look at the patience of its overlay.
pub(super) fn watch_jumps<I>(evm: &mut Evm<'_, I>) {
    evm.instruction.insert_instruction(JUMP, Instruction::new(watched_jump), 8);
    evm.instruction.insert_instruction(JUMPI, Instruction::new(watched_jumpi), 10);
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
