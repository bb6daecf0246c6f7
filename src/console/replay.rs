//! Re-execution of a block, to see the calls and logs of its transactions.

use std::{sync::Arc, time::Duration};

use revm::context_interface::result::ExecutionResult;
use revm_inspectors::tracing::{TracingInspector, TracingInspectorConfig, types::CallTraceNode};
use tetrad_chain::Head;
use tetrad_evm::{BlockExecutor, FailedCall, FailureTracer, Watch, halt_message};
use tetrad_primitives::block::Block;

/// Time limit per block; transactions that did not run by then are shown without calls.
const BLOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// Approximate limit of a block's calls and logs in bytes; transactions beyond it are shown without
/// calls, too.
const MAX_BYTES: usize = 64 << 20;

/// The calls and messages of one transaction.
#[derive(Debug)]
pub(super) struct ReplayedTransaction {
    /// The calls; the first is the transaction itself.
    pub(super) calls: Vec<CallTraceNode>,
    /// The reason of a failure other than a revert.
    pub(super) halt: Option<String>,
    /// The calls that led to a failure, the outermost first.
    pub(super) failed: Vec<FailedCall>,
}

/// Re-executes a block's transactions. Returns fewer if the state is not available or a limit is
/// reached.
pub(super) fn replay(head: &Arc<Head>, block: &Block) -> Vec<ReplayedTransaction> {
    let mut seen = Vec::with_capacity(block.transactions.len());
    let Ok(state) = head.state_before(block.number()) else {
        return seen;
    };

    let environment = head.environment_of(block);
    let Ok(executor) = BlockExecutor::begin(&head.params, &environment, &state, &**head) else {
        return seen;
    };
    let mut executor = executor.without_gas_limits();

    let until = std::time::Instant::now() + BLOCK_TIMEOUT;
    let out_of_time = move || std::time::Instant::now() >= until;
    let mut left = MAX_BYTES;

    for transaction in &block.transactions {
        let tracing = TracingInspector::new(TracingInspectorConfig::default_parity().record_logs());
        let mut inspector = (tracing, FailureTracer::default());
        let mut watch = Watch::new(&mut inspector, &out_of_time, left);
        let halt = executor.inspect(transaction, &mut watch, |inspected, _| {
            match &inspected.outcome.result {
                ExecutionResult::Halt { reason, .. } => Some(halt_message(reason)),
                _ => None,
            }
        });

        left = left.saturating_sub(watch.recorded());
        let Ok(halt) = halt else { break };

        let (tracing, failure) = inspector;
        seen.push(ReplayedTransaction {
            calls: tracing.into_traces().into_nodes(),
            halt,
            failed: failure.into_calls(),
        });
    }
    seen
}
