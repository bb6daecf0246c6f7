//! The record of a transaction's calls, from which the tracers of calls are written: geth's and
//! OpenEthereum's.

use alloy_primitives::{Address, Log, U256};
use revm::{
    Inspector,
    context_interface::{ContextTr, JournalTr},
    interpreter::{
        CallInputs, CallOutcome, CreateInputs, CreateOutcome, InstructionResult, Interpreter,
    },
};
use revm_inspectors::tracing::{
    FourByteInspector, ParityTraceBuilder, TracingInspector, TracingInspectorConfig,
    types::{CallLog, CallTraceNode},
};
use tetrad_evm::{EvmContext, Inspected, RecordedData, Recorder, call_gas_used};

use crate::rpc::{
    hex::Quantity,
    json::{JsonWriter, Object},
};

/// The gas of the outermost call. Gas and gas used belong together: either both include the
/// transaction's intrinsic gas, or neither does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootGas {
    /// The transaction's: its limit, and the gas used that its receipt has. In geth's tracers.
    Transaction,
    /// The call's: what is left of the limit after the intrinsic gas, and how much of that the code
    /// used. In OpenEthereum's traces.
    Call,
}

/// Records calls, and if asked for the selectors of the functions that they call.
#[derive(Debug, Default)]
pub(crate) struct CallRecorder {
    tracing: TracingInspector,
    /// Whether each call is one of a precompile.
    precompiles: Vec<bool>,
    /// The index of each log among those that its transaction had emitted by then, and that no
    /// revert had removed.
    log_indices: Vec<u64>,
    /// The positions of the active calls in the record.
    active: Vec<usize>,
    selectors: Option<FourByteInspector>,
}

impl CallRecorder {
    /// Records what `config` says.
    pub(crate) fn new(config: TracingInspectorConfig) -> Self {
        Self {
            tracing: TracingInspector::new(config),
            ..Self::default()
        }
    }

    /// Records selectors, too.
    pub(crate) fn with_selectors(self) -> Self {
        Self {
            selectors: Some(FourByteInspector::default()),
            ..self
        }
    }

    /// Sets the gas of the outermost call, which every tracer of calls reports.
    pub(crate) fn set_root_gas(&mut self, rule: RootGas, seen: &Inspected<'_>) {
        if rule == RootGas::Call {
            // It is what the EVM gave to the call.
            return;
        }

        self.tracing.set_transaction_gas_limit(seen.tx.gas_limit);
        self.tracing
            .set_transaction_gas_used(seen.outcome.result.tx_gas_used());
    }

    /// The calls in the order in which they began; the first is the outermost one.
    pub(crate) fn calls(&self) -> &[CallTraceNode] {
        self.tracing.traces().nodes()
    }

    /// Whether a call is one of a precompile.
    pub(crate) fn is_precompile(&self, call: usize) -> bool {
        self.precompiles.get(call).copied().unwrap_or(false)
    }

    /// The index of a log among those of its transaction.
    pub(crate) fn index_of(&self, log: &CallLog) -> u64 {
        usize::try_from(log.index)
            .ok()
            .and_then(|at| self.log_indices.get(at))
            .copied()
            .unwrap_or(log.index)
    }

    /// The calls in OpenEthereum's format, with the outermost call's own gas.
    pub(crate) fn into_parity_builder(mut self, seen: &Inspected<'_>) -> ParityTraceBuilder {
        self.set_root_gas(RootGas::Call, seen);
        self.tracing.into_parity_builder()
    }

    /// The selectors with the sizes of the data after them, and how often each was called.
    pub(crate) fn write_selectors(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        for ((selector, size), count) in self.selectors.iter().flat_map(FourByteInspector::inner) {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            object.member(&format!("{selector}-{size}"), &count);
        }
        object.end();
    }

    fn begin(&mut self, is_precompile: bool) {
        self.active.push(self.precompiles.len());
        self.precompiles.push(is_precompile);
    }

    /// Completes a call. The EVM does not report a contract that destroys itself in favour of
    /// itself, since nothing moves.
    fn end(&mut self, context: &EvmContext<'_>, result: InstructionResult) {
        let Some(index) = self.active.pop() else {
            return;
        };
        let Some(call) = self.tracing.traces_mut().nodes_mut().get_mut(index) else {
            return;
        };

        if result == InstructionResult::SelfDestruct
            && call.trace.selfdestruct_refund_target.is_none()
        {
            let contract = call.execution_address();
            let balance = context
                .journal_ref()
                .evm_state()
                .get(&contract)
                .map(|account| account.info.balance);

            call.trace.selfdestruct_address = Some(contract);
            call.trace.selfdestruct_refund_target = Some(contract);
            call.trace.selfdestruct_transferred_value = balance;
        }
    }
}

/// The gas that a call used.
pub(super) fn gas_used(call: &CallTraceNode) -> Quantity<u64> {
    let trace = &call.trace;
    Quantity(match trace.status {
        Some(status) if call.parent.is_some() => {
            call_gas_used(status, trace.gas_used, trace.gas_limit)
        }
        // The outermost call's has been set.
        _ => trace.gas_used,
    })
}

impl Recorder for CallRecorder {
    fn records(&self) -> RecordedData {
        self.tracing.records()
    }

    fn copied(&self) -> usize {
        self.tracing.copied()
    }
}

impl<'e> Inspector<EvmContext<'e>> for CallRecorder {
    fn initialize_interp(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        self.tracing.initialize_interp(interpreter, context);
    }

    fn step(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        self.tracing.step(interpreter, context);
    }

    fn step_end(&mut self, interpreter: &mut Interpreter, context: &mut EvmContext<'e>) {
        self.tracing.step_end(interpreter, context);
    }

    fn log(&mut self, context: &mut EvmContext<'e>, log: Log) {
        if self.tracing.config().record_logs {
            let count = context.journal_ref().logs().len();
            self.log_indices.push(count.saturating_sub(1) as u64);
        }
        self.tracing.log(context, log);
    }

    fn call(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &mut CallInputs,
    ) -> Option<CallOutcome> {
        let is_precompile = context
            .journal_ref()
            .precompile_addresses()
            .contains(&inputs.bytecode_address);
        self.begin(is_precompile);

        if let Some(selectors) = &mut self.selectors {
            let _ = selectors.call(context, inputs);
        }

        self.tracing.call(context, inputs)
    }

    fn call_end(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &CallInputs,
        outcome: &mut CallOutcome,
    ) {
        self.tracing.call_end(context, inputs, outcome);
        // After the inspector, which completes the record of the call.
        self.end(context, outcome.result.result);
    }

    fn create(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &mut CreateInputs,
    ) -> Option<CreateOutcome> {
        self.begin(false);
        self.tracing.create(context, inputs)
    }

    fn create_end(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &CreateInputs,
        outcome: &mut CreateOutcome,
    ) {
        self.tracing.create_end(context, inputs, outcome);
        self.end(context, outcome.result.result);
    }

    fn selfdestruct(&mut self, contract: Address, target: Address, value: U256) {
        Inspector::<EvmContext<'e>>::selfdestruct(&mut self.tracing, contract, target, value);
    }
}
