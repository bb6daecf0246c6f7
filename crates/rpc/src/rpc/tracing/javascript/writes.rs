//! The writes of the transaction so far, as geth's scripts see them.
//!
//! revm's inspector reads slots for `db.getState` from the database, which has the values from
//! before the transaction.

use std::collections::BTreeSet;

use alloy_primitives::{Address, Log, U256};
use revm::{
    Inspector,
    bytecode::opcode::SSTORE,
    context_interface::ContextTr,
    interpreter::{
        CallInputs, CallOutcome, CreateInputs, CreateOutcome, Interpreter,
        interpreter_types::{InputsTr, Jumps},
    },
};
use revm_inspectors::tracing::js::JsInspector;
use tetrad_evm::{EvmContext, Inspected};
use tetrad_primitives::state::ReadError;

/// Forwards to the inspector, and keeps the slots of the database up to date: each has the value
/// from before the current step. The execution itself does not read them again, since its journal
/// has them.
pub(super) struct WithWrites {
    inspector: JsInspector,
    /// The slots that were written.
    written: BTreeSet<(Address, U256)>,
    /// The slot that the current step writes.
    current: Option<(Address, U256)>,
    /// Whether a call has ended since, which may have undone its writes.
    ended: bool,
}

impl WithWrites {
    /// Nothing is written yet.
    pub(super) fn new(inspector: JsInspector) -> Self {
        Self {
            inspector,
            written: BTreeSet::new(),
            current: None,
            ended: false,
        }
    }

    /// Returns the inspector, after it has set the written slots in the database to the values
    /// after the execution.
    pub(super) fn finish(self, inspected: &mut Inspected<'_>) -> Result<JsInspector, ReadError> {
        for (address, slot) in self.written {
            let account = inspected.outcome.state.get(&address);
            if let Some(after) = account.and_then(|account| account.storage.get(&slot)) {
                inspected
                    .before
                    .set_storage(address, slot, after.present_value)?;
            }
        }
        Ok(self.inspector)
    }

    /// Brings the written slots up to date after calls have ended.
    fn show_written(&mut self, context: &mut EvmContext<'_>) {
        if std::mem::take(&mut self.ended) {
            for &(address, slot) in &self.written {
                show(context, address, slot);
            }
        }
    }
}

/// Sets a slot in the database to the journal's value.
fn show(context: &mut EvmContext<'_>, address: Address, slot: U256) {
    let account = context.journaled_state.state.get(&address);
    let value = account
        .and_then(|account| account.storage.get(&slot))
        .map(|slot| slot.present_value);
    if let Some(value) = value {
        // The account was read before, so this cannot fail.
        let _ = context.db_mut().set_storage(address, slot, value);
    }
}

impl<'e> Inspector<EvmContext<'e>> for WithWrites {
    fn initialize_interp(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        self.inspector.initialize_interp(interpreter, context);
    }

    fn step(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        self.show_written(context);
        self.current = match interpreter.stack.data().last() {
            Some(slot) if interpreter.bytecode.opcode() == SSTORE => {
                Some((interpreter.input.target_address(), *slot))
            }
            _ => None,
        };
        self.inspector.step(interpreter, context);
    }

    fn step_end(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        self.inspector.step_end(interpreter, context);

        // Only after the script's `step`, in which the slot still has its old value.
        if let Some((address, slot)) = self.current.take() {
            self.written.insert((address, slot));
            show(context, address, slot);
        }
    }

    fn log(&mut self, context: &mut EvmContext<'e>, log: Log) {
        self.inspector.log(context, log);
    }

    fn call(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &mut CallInputs,
    ) -> Option<CallOutcome> {
        self.inspector.call(context, inputs)
    }

    fn call_end(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &CallInputs,
        outcome: &mut CallOutcome,
    ) {
        self.ended = true;
        self.inspector.call_end(context, inputs, outcome);
    }

    fn create(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &mut CreateInputs,
    ) -> Option<CreateOutcome> {
        self.inspector.create(context, inputs)
    }

    fn create_end(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &CreateInputs,
        outcome: &mut CreateOutcome,
    ) {
        self.ended = true;
        self.inspector.create_end(context, inputs, outcome);
    }

    fn selfdestruct(&mut self, contract: Address, target: Address, value: U256) {
        <JsInspector as Inspector<EvmContext<'e>>>::selfdestruct(
            &mut self.inspector,
            contract,
            target,
            value,
        );
    }
}
