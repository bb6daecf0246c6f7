//! What one request for traces may cost.

use std::time::{Duration, Instant};

use super::tracer::GoDuration;
use crate::rpc::{Context, RpcError, error::TIMEOUT, execution::interrupted};

/// How much longer than by default a trace may take if its caller says so.
const MOST_PATIENCE: u32 = 24;

/// About the length of one call's trace.
const TRACE_BYTES: usize = 512;

/// Time and size that are left.
pub struct Budget {
    begun: Instant,
    limit: Duration,
    max_bytes: usize,
}

impl Budget {
    /// The budget of a request that begins now; the client may have said how long it waits.
    pub fn new(context: &Context, timeout: Option<GoDuration>) -> Self {
        let usual = context.config.execution_timeout;
        let limit = timeout.map_or(usual, |GoDuration(asked)| asked.min(usual * MOST_PATIENCE));
        Self { begun: Instant::now(), limit, max_bytes: context.config.max_trace_bytes }
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        interrupted() || self.begun.elapsed() > self.limit
    }

    /// Bytes that may be added to what is written already.
    pub fn bytes_left(&self, written: &[u8]) -> usize {
        self.max_bytes.saturating_sub(written.len())
    }

    /// The error for an execution that was stopped.
    pub fn check(&self, stopped: bool) -> Result<(), RpcError> {
        match stopped {
            false => Ok(()),
            true if self.is_over() => Err(RpcError::new(TIMEOUT, format!("execution timeout after {:?}", self.limit))),
            true => Err(RpcError::server("the transaction makes too many calls or steps for this tracer")),
        }
    }

    /// The error for an answer that is too long.
    pub fn check_size(&self, written: &[u8]) -> Result<(), RpcError> {
        if written.len() > self.max_bytes { Err(self.too_large()) } else { Ok(()) }
    }

    /// The same for traces that are not written yet.
    pub fn check_count(&self, traces: usize) -> Result<(), RpcError> {
        if traces > self.max_bytes / TRACE_BYTES { Err(self.too_large()) } else { Ok(()) }
    }

    /// There is more to tell than one answer may hold.
    pub fn too_large(&self) -> RpcError {
        let limit = self.max_bytes;
        RpcError::server(format!("the trace exceeds {limit} bytes; leave out memory or stack, or set a limit"))
    }
}
