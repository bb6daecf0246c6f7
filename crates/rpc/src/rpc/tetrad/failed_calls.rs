//! The calls that failed lately.

use std::sync::Arc;

use alloy_primitives::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use tetrad_stdx::failed_calls::FailedCall;

use crate::rpc::{Context, OnFork, RpcError, Table, json::Serialized};

pub(super) fn methods(table: &mut Table) {
    table
        .read("tetrad_failedCalls", failed_calls, OnFork::Kept)
        .describe(
            [],
            "The requests that failed in the last hour and left no trace in a block: calls, \
             estimates, and transactions that were refused. Newest first, at most 100: the time in milliseconds, the method, the transaction and the \
             block as `debug_traceCall` takes them, the error, and the decoded reason of a revert. \
             Long transactions and data are left out. In the development profile only.",
        );
}

/// A call that failed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failure<'a> {
    time: u64,
    method: &'static str,
    call: Option<&'a RawValue>,
    block: Option<&'a RawValue>,
    state_overrides: Option<&'a RawValue>,
    block_overrides: Option<&'a RawValue>,
    code: i32,
    error: &'a str,
    data: Option<&'a Bytes>,
    reason: Option<&'a str>,
}

/// The failures, newest first.
struct Failures(Vec<Arc<FailedCall>>);

impl Serialize for Failures {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|call| Failure {
            time: call.time_ms,
            method: call.method,
            call: call.call.as_deref(),
            block: call.block.as_deref(),
            state_overrides: call.state_overrides.as_deref(),
            block_overrides: call.block_overrides.as_deref(),
            code: call.code,
            error: &call.message,
            data: call.data.as_ref(),
            reason: call.reason.as_deref(),
        }))
    }
}

/// The calls that failed in the last hour, newest first.
fn failed_calls(context: &Context, (): ()) -> Result<Serialized<Failures>, RpcError> {
    Ok(Serialized(Failures(context.config.failed_calls.recent())))
}
