//! What one request for traces may cost.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::tracer::GoDuration;
use crate::{
    evm::Stop,
    rpc::{Context, RpcError, execution::interrupted, json::Serialized},
};

/// Time and size that one request has.
pub struct Budget {
    begun: Instant,
    limit: Duration,
    max_bytes: usize,
    /// How a client gets by with less.
    advice: &'static str,
}

impl Budget {
    /// The budget of a request that begins now. What exceeds its size is refused with `advice` on how to ask for less.
    pub fn new(context: &Context, advice: &'static str) -> Self {
        let config = &context.config;
        Self { begun: Instant::now(), limit: config.execution_timeout, max_bytes: config.max_trace_bytes, advice }
    }

    /// The same for a client that may wait less long than the node would work for it.
    pub fn within(self, timeout: Option<GoDuration>) -> Self {
        Self { limit: timeout.map_or(self.limit, |GoDuration(asked)| asked.min(self.limit)), ..self }
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        interrupted() || self.begun.elapsed() > self.limit
    }

    /// The error for a request whose time is up.
    pub fn check_time(&self) -> Result<(), RpcError> {
        match self.is_over() {
            true => Err(RpcError::timeout(format!("execution timeout after {:?}", self.limit))),
            false => Ok(()),
        }
    }

    /// Bytes that one execution may record.
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Bytes that may be added to what is written already.
    pub fn bytes_left(&self, written: &[u8]) -> usize {
        self.max_bytes.saturating_sub(written.len())
    }

    /// The error for an execution that was stopped.
    pub fn check(&self, stopped: Option<Stop>) -> Result<(), RpcError> {
        match stopped {
            None => Ok(()),
            Some(Stop::Time) => Err(RpcError::timeout(format!("execution timeout after {:?}", self.limit))),
            Some(Stop::Size) => Err(self.too_large()),
        }
    }

    /// Appends a trace as JSON, if there is room for it.
    pub fn write(&self, trace: impl Serialize, out: &mut Vec<u8>) -> Result<(), RpcError> {
        match Serialized(trace).write_within(out, self.max_bytes) {
            true => Ok(()),
            false => Err(self.too_large()),
        }
    }

    /// The error for an answer that is too long.
    pub fn check_size(&self, written: &[u8]) -> Result<(), RpcError> {
        if written.len() > self.max_bytes { Err(self.too_large()) } else { Ok(()) }
    }

    /// There is more to tell than one answer may hold.
    pub fn too_large(&self) -> RpcError {
        RpcError::server(format!("the trace exceeds {} bytes; {}", self.max_bytes, self.advice))
    }
}
