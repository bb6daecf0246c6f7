//! Transactions as Otterscan shows them.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_rpc_types_trace::parity::{
    Action, CallAction, CallType, CreationMethod, TraceOutput, TransactionTrace,
};
use revm_inspectors::{otterscan::InternalOperationsInspector, tracing::TracingInspectorConfig};
use tetrad_evm::Watch;

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    hex::Quantity,
    json::{Json, JsonWriter, Object, Serialized, Written},
    params::LooseNumber,
    tracing::{Budget, CallRecorder, Subject, find_transaction},
};

pub(super) fn methods(table: &mut Table) {
    table
        .apart("ots_getTransactionError", error, OnFork::Transaction)
        .describe(
            ["transaction hash"],
            "The revert data of a transaction; empty if it did not revert.",
        );

    table
        .apart(
            "ots_getInternalOperations",
            internal_operations,
            OnFork::Transaction,
        )
        .describe(
            ["transaction hash"],
            "Transfers and contract creations within a transaction.",
        );

    table
        .apart("ots_traceTransaction", trace, OnFork::Transaction)
        .describe(
            ["transaction hash"],
            "All calls of a transaction with their depth.",
        );

    table
        .apart(
            "ots_getTransactionBySenderAndNonce",
            by_sender_and_nonce,
            OnFork::OwnBlocks,
        )
        .describe(
            ["address", "nonce"],
            "The hash of the transaction that an account sent with a nonce.",
        );
}

/// Advice on how to request less than everything that a transaction did.
const ADVICE: &str = "use debug_traceTransaction with the callTracer and onlyTopCall";

/// The revert data of a transaction; empty if it did not revert.
fn error(context: &Context, (hash,): (B256,)) -> Result<Bytes, RpcError> {
    let budget = Budget::new(context, ADVICE);
    let (replay, index) = find_transaction(context, hash)?;
    // The receipt saves the replay of a transaction that succeeded.
    if replay.block.receipts[index].succeeded() {
        return Ok(Bytes::new());
    }

    let result = replay
        .after(index, &budget)?
        .execute(&replay.block.transactions[index])?;
    Ok(result.output().cloned().unwrap_or_default())
}

/// Transfers and contract creations within a transaction.
fn internal_operations(
    context: &Context,
    (hash,): (B256,),
) -> Result<Serialized<Vec<alloy_rpc_types_trace::otterscan::InternalOperation>>, RpcError> {
    let budget = Budget::new(context, ADVICE);
    let (replay, index) = find_transaction(context, hash)?;
    let mut executor = replay.after(index, &budget)?;

    let mut inspector = InternalOperationsInspector::default();
    let out_of_time = || budget.is_out_of_time();
    let mut watch = Watch::new(&mut inspector, &out_of_time, budget.max_bytes());
    let subject = Subject::Next(&mut executor, &replay.block.transactions[index]);
    let run = subject.run(&mut watch, |_, _| ());

    // An execution that was stopped has failed, but the limit is the reason.
    budget.check(watch.stopped())?;
    run?;
    Ok(Serialized(inspector.into_operations()))
}

/// One call of a transaction.
struct OtsCall {
    kind: &'static str,
    depth: usize,
    from: Address,
    to: Address,
    value: Option<U256>,
    input: Bytes,
    output: Bytes,
}

impl Json for OtsCall {
    fn write(&self, out: &mut JsonWriter) {
        Object::begin(out)
            .member("type", self.kind)
            .member("depth", &(self.depth as i64))
            .member("from", &self.from)
            .member("to", &self.to)
            .member("value", &self.value.map(Quantity))
            .member("input", &self.input)
            .member("output", &self.output)
            .end();
    }
}

impl OtsCall {
    /// The call of a trace; none for a reward, which is not a call.
    fn of(trace: TransactionTrace) -> Option<Self> {
        let depth = trace.trace_address.len();
        let (output, created) = match trace.result {
            Some(TraceOutput::Call(result)) => (result.output, Address::ZERO),
            Some(TraceOutput::Create(result)) => (result.code, result.address),
            None => (Bytes::new(), Address::ZERO),
        };

        match trace.action {
            Action::Call(call) => Some(Self::of_call(call, depth, output)),
            Action::Create(create) => Some(Self {
                kind: if create.creation_method == CreationMethod::Create2 {
                    "CREATE2"
                } else {
                    "CREATE"
                },
                depth,
                from: create.from,
                to: created,
                value: Some(create.value),
                input: create.init,
                output,
            }),
            Action::Selfdestruct(end) => Some(Self {
                kind: "SELFDESTRUCT",
                depth,
                from: end.address,
                to: end.refund_address,
                value: Some(end.balance),
                input: Bytes::new(),
                output,
            }),
            Action::Reward(_) => None,
        }
    }

    fn of_call(call: CallAction, depth: usize, output: Bytes) -> Self {
        let kind = match call.call_type {
            CallType::StaticCall => "STATICCALL",
            CallType::DelegateCall => "DELEGATECALL",
            CallType::CallCode => "CALLCODE",
            _ => "CALL",
        };
        // Static and delegate calls transfer nothing.
        let transfers = matches!(call.call_type, CallType::Call | CallType::CallCode);
        Self {
            kind,
            depth,
            from: call.from,
            to: call.to,
            value: transfers.then_some(call.value),
            input: call.input,
            output,
        }
    }
}

/// All calls of a transaction with their depth.
fn trace(context: &Context, (hash,): (B256,)) -> Result<Written, RpcError> {
    let budget = Budget::new(context, ADVICE);
    let (replay, index) = find_transaction(context, hash)?;
    let mut executor = replay.after(index, &budget)?;

    let mut recorder = CallRecorder::new(TracingInspectorConfig::default_parity());
    let out_of_time = || budget.is_out_of_time();
    let mut watch = Watch::new(&mut recorder, &out_of_time, budget.max_bytes());
    let subject = Subject::Next(&mut executor, &replay.block.transactions[index]);
    let builder = subject.run(&mut watch, |seen, watch| {
        std::mem::take(watch.inner()).into_parity_builder(seen)
    });

    // An execution that was stopped has failed, but the limit is the reason.
    budget.check(watch.stopped())?;

    let calls = builder?
        .into_transaction_traces_iter()
        .filter_map(OtsCall::of);
    let mut out = budget.writer();
    budget.write_array(calls, &mut out)?;
    budget.finish(out)
}

/// The hash of the transaction that an account sent with a nonce; null if there is none.
fn by_sender_and_nonce(
    context: &Context,
    (sender, nonce): (Address, LooseNumber),
) -> Result<Option<B256>, RpcError> {
    use alloy_consensus::Transaction as _;

    let head = context.chain.head();
    let out_of_time = context.time_check();
    for block in head.blocks_from(0).rev() {
        if out_of_time() {
            return Err(RpcError::timeout("execution timeout"));
        }

        let mut sent = block
            .transactions
            .iter()
            .filter(|transaction| transaction.sender == sender);
        if let Some(found) = sent.find(|transaction| transaction.envelope.nonce() == nonce.0) {
            return Ok(Some(found.hash()));
        }
    }
    Ok(None)
}
