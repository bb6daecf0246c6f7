//! The budget of one request for traces.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde::Serialize;
use tetrad_evm::Stop;
use tetrad_web::{AnswerError, Budget as MemoryBudget, interrupted};

use crate::rpc::{
    Context, RpcError,
    json::{Json, JsonWriter, Serialized, Written, array},
};

/// The stack of a thread that writes nested traces. The EVM lets calls nest 1,024 deep, and each
/// takes up to two kilobytes.
const NESTED_STACK: usize = 16 << 20;

/// The time and size limits of one request.
pub(crate) struct Budget {
    begun: Instant,
    limit: Duration,
    max_bytes: usize,
    /// The memory for responses.
    memory: MemoryBudget,
    /// Advice on how to request less.
    advice: &'static str,
}

impl Budget {
    /// The budget of a request that begins now. A response over its size is refused with `advice`
    /// on how to request less.
    pub(crate) fn new(context: &Context, advice: &'static str) -> Self {
        let config = &context.config;
        Self {
            begun: Instant::now(),
            limit: config.execution_timeout,
            max_bytes: config.max_trace_bytes,
            memory: config.budget.clone(),
            advice,
        }
    }

    /// The budget for a client with a shorter timeout than the node's.
    pub(crate) fn within(self, timeout: Option<Duration>) -> Self {
        Self {
            limit: timeout.map_or(self.limit, |asked| asked.min(self.limit)),
            ..self
        }
    }

    /// Whether the time is over.
    pub(crate) fn is_out_of_time(&self) -> bool {
        interrupted() || self.begun.elapsed() > self.limit
    }

    /// The error for a request whose time is over.
    pub(crate) fn check_time(&self) -> Result<(), RpcError> {
        if self.is_out_of_time() {
            Err(self.timeout())
        } else {
            Ok(())
        }
    }

    /// The number of bytes that one execution may record.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// An empty response.
    pub(crate) fn writer(&self) -> JsonWriter {
        JsonWriter::new(&self.memory, self.max_bytes)
    }

    /// The number of bytes that may still be written.
    pub(crate) fn bytes_left(&self, written: &JsonWriter) -> usize {
        self.max_bytes.saturating_sub(written.len())
    }

    /// The error for an execution that was stopped.
    pub(crate) fn check(&self, stopped: Option<Stop>) -> Result<(), RpcError> {
        match stopped {
            None => Ok(()),
            Some(Stop::Time) => Err(self.timeout()),
            Some(Stop::Size) => Err(self.too_large()),
        }
    }

    /// Appends a trace as JSON, if there is room for it.
    pub(crate) fn write(
        &self,
        trace: impl Serialize,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        Serialized(trace).write(out);
        self.check_size(out)
    }

    /// Appends an array, if there is room for it.
    pub(crate) fn write_array<T: Json>(
        &self,
        items: impl IntoIterator<Item = T>,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        array(out, items, |item, out| item.write(out));
        self.check_size(out)
    }

    /// Appends a trace that nests as deeply as calls do, and drops it. Both take stack for each
    /// level, which is therefore that of a thread of its own.
    pub(crate) fn write_nested(
        &self,
        trace: impl Serialize + Send,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        thread::scope(|scope| {
            let writer = thread::Builder::new()
                .name("trace".to_owned())
                .stack_size(NESTED_STACK)
                .spawn_scoped(scope, || self.write(trace, out))
                .map_err(|error| RpcError::internal(format!("no thread for the trace: {error}")))?;

            writer
                .join()
                .unwrap_or_else(|_| Err(RpcError::internal("the trace could not be written")))
        })
    }

    /// The error for a response that is too long.
    pub(crate) fn check_size(&self, written: &JsonWriter) -> Result<(), RpcError> {
        written.check().map_err(|error| self.does_not_fit(error))
    }

    /// The whole response.
    pub(crate) fn finish(&self, written: JsonWriter) -> Result<Written, RpcError> {
        written.finish().map_err(|error| self.does_not_fit(error))
    }

    /// The error of an execution whose time is over.
    pub(crate) fn timeout(&self) -> RpcError {
        RpcError::timeout(format!("execution timeout after {:?}", self.limit))
    }

    /// The error for a response that did not fit: into its limit, or into the node's memory.
    fn does_not_fit(&self, error: AnswerError) -> RpcError {
        match error {
            AnswerError::TooLong(_) => self.too_large(),
            error => RpcError::does_not_fit(error, self.advice),
        }
    }

    /// The trace does not fit into one response.
    pub(crate) fn too_large(&self) -> RpcError {
        RpcError::server(format!(
            "the trace exceeds {} bytes; {}",
            self.max_bytes, self.advice
        ))
    }
}
