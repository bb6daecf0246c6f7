//! Instructions that differ from revm's own tables.

use alloy_consensus::constants::KECCAK_EMPTY;
use revm::{
    bytecode::opcode::{EXTCODEHASH, SSTORE},
    context::CfgEnv,
    context_interface::{cfg::GasId, context::SStoreResult, host::Host},
    handler::instructions::EthInstructions,
    interpreter::{
        Instruction, InstructionContext, InstructionExecResult, InstructionResult,
        instructions::host::{extcodehash, sstore_with_gas_accounting},
        interpreter::EthInterpreter,
    },
    primitives::hardfork::SpecId,
};

use super::{EvmContext, Fork, Rules};

type Step<'c, 'e> = InstructionContext<'c, EvmContext<'e>, EthInterpreter>;

/// The instruction table under these rules.
pub(super) fn instructions<'a>(rules: Rules) -> EthInstructions<EthInterpreter, EvmContext<'a>> {
    let mut instructions = EthInstructions::new_mainnet_with_spec(rules.spec());
    if rules.spec() >= SpecId::PETERSBURG {
        instructions.instruction_table_mut()[usize::from(EXTCODEHASH)] =
            Instruction::new(extcodehash_of_storage);
    }
    if rules.fork == Fork::Constantinople {
        instructions.instruction_table_mut()[usize::from(SSTORE)] =
            Instruction::new(net_metered_sstore);
    }
    instructions
}

/// Adjusts the gas table where these rules differ from revm's.
pub(super) fn adjust_prices(cfg: &mut CfgEnv, rules: Rules) {
    if rules.fork == Fork::Constantinople {
        // Net gas metering prices each write as a whole.
        cfg.gas_params.override_gas([(GasId::sstore_static(), 0)]);
    }
}

/// `EXTCODEHASH` for accounts with storage and a balance but neither code nor nonce, which an
/// overlay returns with a code hash of zero.
fn extcodehash_of_storage(step: Step<'_, '_>) -> InstructionExecResult {
    let InstructionContext { interpreter, host } = step;
    let asked = interpreter.stack.peek(0)?;

    extcodehash(InstructionContext {
        interpreter: &mut *interpreter,
        host: &mut *host,
    })?;

    if interpreter.stack.peek(0)?.is_zero() {
        let address = alloy_primitives::Address::from_word(asked.into());
        // The account is warm by now, so loading it costs nothing.
        let account = host.load_account_info_skip_cold_load(address, false, false)?;
        if !account.is_empty() {
            interpreter.stack.set(0, KECCAK_EMPTY.into())?;
        }
    }
    Ok(())
}

/// `SSTORE` of Constantinople without Petersburg (EIP-1283), which mainnet never had.
fn net_metered_sstore(step: Step<'_, '_>) -> InstructionExecResult {
    sstore_with_gas_accounting(step, |step, _, written| {
        let (gas, refund) = net_metering(&written.data);
        if !step.interpreter.gas.record_regular_cost(gas) {
            return Err(InstructionResult::OutOfGas);
        }
        step.interpreter.gas.record_refund(refund);
        Ok(())
    })
}

/// Gas and refund of a write (EIP-1283).
fn net_metering(written: &SStoreResult) -> (u64, i64) {
    let SStoreResult {
        original_value: original,
        present_value: present,
        new_value: new,
    } = written;
    if new == present {
        return (200, 0);
    }
    // A clean slot: this transaction has not changed it yet.
    if original == present {
        return if original.is_zero() {
            (20_000, 0)
        } else if new.is_zero() {
            (5_000, 15_000)
        } else {
            (5_000, 0)
        };
    }

    // A dirty slot: earlier writes have paid, and refunds are corrected for them.
    let mut refund = 0;
    if !original.is_zero() {
        if present.is_zero() {
            refund -= 15_000;
        } else if new.is_zero() {
            refund += 15_000;
        }
    }
    if original == new {
        refund += if original.is_zero() { 19_800 } else { 4_800 };
    }
    (200, refund)
}
