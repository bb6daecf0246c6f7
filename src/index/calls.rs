//! Internal calls: found by executing a block's transactions a second time, and stored.

use alloy_primitives::{Address, U256};

use crate::{
    block::Block,
    chain::Head,
    codec::{Malformed, Reader, Writer},
    evm::{BlockExecutor, InternalCall, InternalCallKind, InternalCalls, IsOver, Watch},
};

/// The gas of a transaction that runs no code.
const PLAIN_GAS: u64 = 21_000;

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

/// Returns the internal calls of each transaction of a block. A block whose state is not available has none.
pub(super) fn internal_calls(
    head: &Head,
    block: &Block,
    is_over: IsOver<'_>,
) -> Result<Vec<Vec<InternalCall>>, Stopped> {
    // A transaction that costs no more than a transfer has run no code.
    let runs = |at: usize| block.receipts[at].gas_used != PLAIN_GAS;
    let Some(last) = (0..block.transactions.len()).rev().find(|at| runs(*at)) else { return Ok(Vec::new()) };
    if block.number() == head.genesis.number() {
        return Ok(Vec::new());
    }
    let failed = |error: &dyn std::fmt::Display| {
        tracing::warn!(%error, block = block.number(), "the internal calls of a block cannot be indexed");
    };
    let state = match head.state_before(block.number()) {
        Ok(state) => state,
        Err(error) => {
            failed(&error);
            return Ok(Vec::new());
        }
    };
    let environment = head.environment_of(block);
    let mut executor = match BlockExecutor::begin(&head.params, &environment, &state, head) {
        Ok(executor) => executor,
        Err(error) => {
            failed(&error);
            return Ok(Vec::new());
        }
    };
    let mut all = Vec::with_capacity(last + 1);
    for (at, transaction) in block.transactions.iter().enumerate().take(last + 1) {
        let mut calls = InternalCalls::default();
        let executed = if runs(at) {
            let mut watch = Watch::new(&mut calls, is_over, usize::MAX);
            executor.inspect(transaction, &mut watch, |_, _| ())
        } else {
            executor.execute(transaction).map(drop)
        };
        if is_over() {
            return Err(Stopped);
        }
        if let Err(error) = executed {
            failed(&error);
            return Ok(all);
        }
        all.push(calls.into_calls());
    }
    Ok(all)
}

pub(super) fn encode_call(call: &InternalCall) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.byte(KINDS.iter().position(|kind| *kind == call.kind).unwrap_or_default() as u8);
    writer.raw(call.from.as_slice());
    writer.option(call.to, |writer, to| writer.raw(to.as_slice()));
    writer.wide(call.value);
    writer.number(call.gas);
    writer.number(call.gas_used);
    writer.option(call.error.as_ref(), |writer, error| writer.string(error.as_bytes()));
    writer.into_bytes()
}

pub(super) fn decode_call(bytes: &[u8]) -> Result<InternalCall, Malformed> {
    let mut reader = Reader::new(bytes);
    let kind = *KINDS.get(usize::from(reader.byte()?)).ok_or(Malformed("kind of an internal call"))?;
    let from = Address::from(reader.array::<20>()?);
    let to = reader.option(|reader| Ok(Address::from(reader.array::<20>()?)))?;
    let value: U256 = reader.wide()?;
    let (gas, gas_used) = (reader.number()?, reader.number()?);
    let error = reader.option(|reader| Ok(String::from_utf8_lossy(reader.string()?).into_owned()))?;
    Ok(InternalCall { kind, from, to, value, gas, gas_used, error })
}
