//! The subject of a trace: a transaction of a block, or a call.

use alloy_primitives::B256;
use revm::Inspector;
use tetrad_evm::{BlockExecutor, Call, CallContext, EvmContext, Inspected, TransactionError};
#[cfg(all(feature = "js-tracer", unix))]
use tetrad_evm::{DetachedExecution, Overlay};
use tetrad_primitives::block::Transaction;

/// The position of a traced transaction; empty for a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TracePosition {
    /// The block.
    pub block: Option<B256>,
    /// Its number.
    pub number: u64,
    /// The transaction.
    pub transaction: Option<B256>,
    /// Its index in the block.
    pub index: Option<usize>,
    /// The number of logs that earlier transactions of the block emitted.
    pub first_log: u64,
}

/// The subject of a trace.
pub(crate) enum Subject<'x, 'a> {
    /// The next transaction of a block.
    Next(&'x mut BlockExecutor<'a>, &'x Transaction),
    /// A call.
    Call(CallContext<'x>, &'x Call),
}

impl Subject<'_, '_> {
    /// Runs it with `inspector` attached, and passes the outcome to `look`.
    pub(crate) fn run<I, R>(
        self,
        inspector: &mut I,
        look: impl FnOnce(&mut Inspected<'_>, &mut I) -> R,
    ) -> Result<R, TransactionError>
    where
        I: for<'e> Inspector<EvmContext<'e>>,
    {
        match self {
            Self::Next(executor, transaction) => executor.inspect(transaction, inspector, look),
            Self::Call(context, call) => {
                let mut inspected = context.inspect(call, inspector)?;
                Ok(look(&mut inspected, inspector))
            }
        }
    }

    /// Passes the execution as plain data to `look`, with the state that it runs on.
    #[cfg(all(feature = "js-tracer", unix))]
    pub(crate) fn detached<R>(
        &self,
        look: impl FnOnce(DetachedExecution, &Overlay<'_>) -> R,
    ) -> Result<R, TransactionError> {
        match self {
            Self::Next(executor, transaction) => {
                let (execution, state) = executor.detached(transaction);
                Ok(look(execution, state))
            }
            Self::Call(context, call) => {
                let (execution, state) = context.detached(call)?;
                Ok(look(execution, &state))
            }
        }
    }
}
