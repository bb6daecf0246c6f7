//! Internal calls, and why transactions failed: found by executing a block's transactions a second
//! time, and stored.

use std::fmt;

use alloy_primitives::{Address, Bytes, U256};
use revm::context_interface::result::ExecutionResult;
use tetrad_chain::Head;
use tetrad_evm::{
    BlockExecutor, InternalCall, InternalCallKind, InternalCalls, OutOfTime, Watch, halt_message,
};
use tetrad_primitives::block::Block;
use tetrad_stdx::codec::{Malformed, Reader, Writer};

/// The gas of a transaction that runs no code.
const PLAIN_GAS: u64 = 21_000;

/// The most bytes of the data of a revert that are kept.
const MAX_REVERT_DATA: usize = 4_096;

const KINDS: [InternalCallKind; 7] = [
    InternalCallKind::Call,
    InternalCallKind::CallCode,
    InternalCallKind::DelegateCall,
    InternalCallKind::StaticCall,
    InternalCallKind::Create,
    InternalCallKind::Create2,
    InternalCallKind::SelfDestruct,
];

/// The execution was stopped because the node is shutting down.
#[derive(Debug)]
pub(super) struct Stopped;

/// The reason why a transaction failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The error, such as `execution reverted` or `out of gas`.
    pub error: String,
    /// The data of the revert, at most its first 4,096 bytes; empty if the transaction did not
    /// revert.
    pub data: Bytes,
}

impl Failure {
    fn of(result: &ExecutionResult) -> Option<Self> {
        match result {
            ExecutionResult::Success { .. } => None,
            ExecutionResult::Revert { output, .. } => Some(Self {
                error: "execution reverted".to_owned(),
                data: Bytes::copy_from_slice(&output[..output.len().min(MAX_REVERT_DATA)]),
            }),
            ExecutionResult::Halt { reason, .. } => Some(Self {
                error: halt_message(reason),
                data: Bytes::new(),
            }),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.string(self.error.as_bytes());
        writer.string(&self.data);
        writer.into_bytes()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let error = String::from_utf8_lossy(reader.string()?).into_owned();
        Ok(Self {
            error,
            data: Bytes::copy_from_slice(reader.string()?),
        })
    }
}

/// What a transaction's execution shows that its receipt does not.
#[derive(Debug, Default)]
pub(super) struct Executed {
    pub(super) calls: Vec<InternalCall>,
    pub(super) failure: Option<Failure>,
}

/// Whether a transaction may have run code. One that succeeds and costs no more than a transfer has
/// not.
fn runs_code(block: &Block, at: usize) -> bool {
    block.receipts[at].gas_used != PLAIN_GAS || !block.receipts[at].succeeded()
}

/// The last transaction that may have run code. Those after it have no internal calls, so nothing is
/// executed for them.
fn last_with_code(block: &Block) -> Option<usize> {
    (0..block.transactions.len())
        .rev()
        .find(|at| runs_code(block, *at))
}

fn warn_of_missing_calls(block: &Block, error: &dyn fmt::Display) {
    tracing::warn!(%error, block = block.number(), "the internal calls of a block cannot be indexed");
}

/// Executes the transactions of a block. A block whose state is not available has none.
pub(super) fn execute(
    head: &Head,
    block: &Block,
    out_of_time: OutOfTime<'_>,
) -> Result<Vec<Executed>, Stopped> {
    let Some(last) = last_with_code(block) else {
        return Ok(Vec::new());
    };
    if block.number() == head.genesis.number() {
        return Ok(Vec::new());
    }

    let state = match head.state_before(block.number()) {
        Ok(state) => state,
        Err(error) => {
            warn_of_missing_calls(block, &error);
            return Ok(Vec::new());
        }
    };
    let environment = head.environment_of(block);
    let mut executor = match BlockExecutor::begin(&head.params, &environment, &state, head) {
        Ok(executor) => executor,
        Err(error) => {
            warn_of_missing_calls(block, &error);
            return Ok(Vec::new());
        }
    };

    let mut all = Vec::with_capacity(last + 1);
    for (at, transaction) in block.transactions.iter().enumerate().take(last + 1) {
        let mut calls = InternalCalls::default();
        let result = if runs_code(block, at) {
            let mut watch = Watch::new(&mut calls, out_of_time, usize::MAX);
            executor.inspect(transaction, &mut watch, |inspected, _| {
                Failure::of(&inspected.outcome.result)
            })
        } else {
            executor.execute(transaction).map(|_| None)
        };

        if out_of_time() {
            return Err(Stopped);
        }

        match result {
            Ok(failure) => all.push(Executed {
                calls: calls.into_calls(),
                failure,
            }),
            Err(error) => {
                warn_of_missing_calls(block, &error);
                return Ok(all);
            }
        }
    }
    Ok(all)
}

pub(super) fn encode_call(call: &InternalCall) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.byte(
        KINDS
            .iter()
            .position(|kind| *kind == call.kind)
            .unwrap_or_default() as u8,
    );
    writer.raw(call.from.as_slice());
    writer.option(call.to, |writer, to| writer.raw(to.as_slice()));
    writer.wide(call.value);
    writer.number(call.gas);
    writer.number(call.gas_used);
    writer.option(call.error.as_ref(), |writer, error| {
        writer.string(error.as_bytes())
    });
    writer.into_bytes()
}

pub(super) fn decode_call(bytes: &[u8]) -> Result<InternalCall, Malformed> {
    let mut reader = Reader::new(bytes);
    let kind = *KINDS
        .get(usize::from(reader.byte()?))
        .ok_or(Malformed("kind of an internal call"))?;

    let from = Address::from(reader.array::<20>()?);
    let to = reader.option(|reader| Ok(Address::from(reader.array::<20>()?)))?;
    let value: U256 = reader.wide()?;
    let gas = reader.number()?;
    let gas_used = reader.number()?;
    let error =
        reader.option(|reader| Ok(String::from_utf8_lossy(reader.string()?).into_owned()))?;

    Ok(InternalCall {
        kind,
        from,
        to,
        value,
        gas,
        gas_used,
        error,
    })
}
