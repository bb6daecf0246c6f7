//! The calls that a transaction's execution makes, as an explorer lists them.

use alloy_primitives::{Address, U256};
use revm::{
    Inspector,
    context_interface::CreateScheme,
    interpreter::{
        CallInputs, CallOutcome, CallScheme, CreateInputs, CreateOutcome, InstructionResult,
    },
};

use super::{EvmContext, Recorder, call_gas_used, failure_message};

/// The most calls of one transaction that are recorded: gas allows for hundreds of thousands of
/// empty ones.
const MAX_INTERNAL_CALLS: usize = 10_000;

/// The kind of an internal call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InternalCallKind {
    /// `CALL`.
    Call,
    /// `CALLCODE`.
    CallCode,
    /// `DELEGATECALL`.
    DelegateCall,
    /// `STATICCALL`.
    StaticCall,
    /// `CREATE`.
    Create,
    /// `CREATE2`.
    Create2,
    /// `SELFDESTRUCT`.
    SelfDestruct,
}

impl InternalCallKind {
    /// Returns whether this is a call, rather than a creation or a self-destruct.
    pub fn is_call(self) -> bool {
        matches!(
            self,
            Self::Call | Self::CallCode | Self::DelegateCall | Self::StaticCall
        )
    }
}

/// A call that a contract made, a contract that it created, or its destruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalCall {
    /// The kind.
    pub kind: InternalCallKind,
    /// The contract that made the call.
    pub from: Address,
    /// The account whose code ran, the created contract, or the recipient of a destroyed contract's
    /// balance; `None` for a creation that failed.
    pub to: Option<Address>,
    /// Wei that moved.
    pub value: U256,
    /// The gas that the call was given.
    pub gas: u64,
    /// The gas that it used.
    pub gas_used: u64,
    /// The reason why it failed.
    pub error: Option<String>,
}

/// Collects the internal calls of one transaction in the order in which they began.
#[derive(Debug, Default)]
pub struct InternalCalls {
    calls: Vec<InternalCall>,
    /// The index of each active call; `None` for the outermost one, and for those that are not
    /// recorded.
    active: Vec<Option<usize>>,
}

impl InternalCalls {
    /// Returns the calls.
    pub fn into_calls(self) -> Vec<InternalCall> {
        self.calls
    }

    fn push(&mut self, call: InternalCall) -> Option<usize> {
        (self.calls.len() < MAX_INTERNAL_CALLS).then(|| {
            self.calls.push(call);
            self.calls.len() - 1
        })
    }

    fn begin(&mut self, call: InternalCall) {
        // The outermost call is the transaction itself, which explorers list as such.
        let index = if self.active.is_empty() {
            None
        } else {
            self.push(call)
        };
        self.active.push(index);
    }

    fn end(&mut self, result: InstructionResult, gas_used: u64) -> Option<&mut InternalCall> {
        let call = self
            .active
            .pop()
            .flatten()
            .and_then(|index| self.calls.get_mut(index))?;

        call.gas_used = call_gas_used(result, gas_used, call.gas);
        call.error = failure_message(result);
        Some(call)
    }
}

impl Inspector<EvmContext<'_>> for InternalCalls {
    fn call(&mut self, _: &mut EvmContext<'_>, inputs: &mut CallInputs) -> Option<CallOutcome> {
        let (kind, from, to) = match inputs.scheme {
            CallScheme::Call => (InternalCallKind::Call, inputs.caller, inputs.target_address),
            CallScheme::StaticCall => (
                InternalCallKind::StaticCall,
                inputs.caller,
                inputs.target_address,
            ),
            // These run the code of another account for the calling contract itself.
            CallScheme::CallCode => (
                InternalCallKind::CallCode,
                inputs.target_address,
                inputs.bytecode_address,
            ),
            CallScheme::DelegateCall => (
                InternalCallKind::DelegateCall,
                inputs.target_address,
                inputs.bytecode_address,
            ),
        };

        self.begin(InternalCall {
            kind,
            from,
            to: Some(to),
            value: inputs.transfer_value().unwrap_or_default(),
            gas: inputs.gas_limit,
            gas_used: 0,
            error: None,
        });
        None
    }

    fn call_end(&mut self, _: &mut EvmContext<'_>, _: &CallInputs, outcome: &mut CallOutcome) {
        self.end(outcome.result.result, outcome.result.gas.total_gas_spent());
    }

    fn create(
        &mut self,
        _: &mut EvmContext<'_>,
        inputs: &mut CreateInputs,
    ) -> Option<CreateOutcome> {
        let kind = match inputs.scheme() {
            CreateScheme::Create2 { .. } => InternalCallKind::Create2,
            _ => InternalCallKind::Create,
        };
        self.begin(InternalCall {
            kind,
            from: inputs.caller(),
            to: None,
            value: inputs.value(),
            gas: inputs.gas_limit(),
            gas_used: 0,
            error: None,
        });
        None
    }

    fn create_end(
        &mut self,
        _: &mut EvmContext<'_>,
        _: &CreateInputs,
        outcome: &mut CreateOutcome,
    ) {
        let created = outcome.address.filter(|_| outcome.result.is_ok());
        if let Some(call) = self.end(outcome.result.result, outcome.result.gas.total_gas_spent()) {
            call.to = created;
        }
    }

    fn selfdestruct(&mut self, contract: Address, target: Address, value: U256) {
        self.push(InternalCall {
            kind: InternalCallKind::SelfDestruct,
            from: contract,
            to: Some(target),
            value,
            gas: 0,
            gas_used: 0,
            error: None,
        });
    }
}

/// The number of calls is limited.
impl Recorder for InternalCalls {}
