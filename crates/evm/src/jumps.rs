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

use super::{
    Evm, EvmContext,
    time_limit::{STOPPED, TimeLimit},
};

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
    if host
        .db_mut()
        .time_limit()
        .is_some_and(TimeLimit::ends_at_jump)
    {
        *host.error() = Err(ContextError::Custom(STOPPED.to_owned()));
        return Err(InstructionResult::FatalExternalError);
    }
    Ok(())
}
