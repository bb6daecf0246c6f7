//! The budget of one request for traces.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde::Serialize;

use crate::{
    evm::Stop,
    rpc::{Context, RpcError, json::Serialized},
    web::interrupted,
};

/// The stack of a thread that writes nested traces. The EVM lets calls nest 1,024 deep, and each takes up to two kilobytes.
const NESTED_STACK: usize = 16 << 20;

/// The time and size limits of one request.
pub struct Budget {
    begun: Instant,
    limit: Duration,
    max_bytes: usize,
    /// Advice on how to request less.
    advice: &'static str,
}

impl Budget {
    /// The budget of a request that begins now. A response over its size is refused with `advice` on how to request less.
    pub fn new(context: &Context, advice: &'static str) -> Self {
        let config = &context.config;
        Self { begun: Instant::now(), limit: config.execution_timeout, max_bytes: config.max_trace_bytes, advice }
    }

    /// The budget for a client with a shorter timeout than the node's.
    pub fn within(self, timeout: Option<Duration>) -> Self {
        Self { limit: timeout.map_or(self.limit, |asked| asked.min(self.limit)), ..self }
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        interrupted() || self.begun.elapsed() > self.limit
    }

    /// The error for a request whose time is over.
    pub fn check_time(&self) -> Result<(), RpcError> {
        match self.is_over() {
            true => Err(self.timeout()),
            false => Ok(()),
        }
    }

    /// The number of bytes that one execution may record.
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// The number of bytes that may still be written.
    pub fn bytes_left(&self, written: &[u8]) -> usize {
        self.max_bytes.saturating_sub(written.len())
    }

    /// The error for an execution that was stopped.
    pub fn check(&self, stopped: Option<Stop>) -> Result<(), RpcError> {
        match stopped {
            None => Ok(()),
            Some(Stop::Time) => Err(self.timeout()),
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

    /// Appends a trace that nests as deeply as calls do, and drops it. Both take stack for each level, which is therefore
    /// that of a thread of its own.
    pub fn write_nested(&self, trace: impl Serialize + Send, out: &mut Vec<u8>) -> Result<(), RpcError> {
        thread::scope(|scope| {
            let builder = thread::Builder::new().name("trace".to_owned()).stack_size(NESTED_STACK);
            let writer = builder.spawn_scoped(scope, || self.write(trace, out));
            let writer = writer.map_err(|error| RpcError::internal(format!("no thread for the trace: {error}")))?;
            writer.join().unwrap_or_else(|_| Err(RpcError::internal("the trace could not be written")))
        })
    }

    /// The error for a response that is too long.
    pub fn check_size(&self, written: &[u8]) -> Result<(), RpcError> {
        if written.len() > self.max_bytes { Err(self.too_large()) } else { Ok(()) }
    }

    /// The error of an execution whose time is over.
    pub fn timeout(&self) -> RpcError {
        RpcError::timeout(format!("execution timeout after {:?}", self.limit))
    }

    /// The trace does not fit into one response.
    pub fn too_large(&self) -> RpcError {
        RpcError::server(format!("the trace exceeds {} bytes; {}", self.max_bytes, self.advice))
    }
}
