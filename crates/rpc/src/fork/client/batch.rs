//! Batches: several calls in one request.

use std::collections::HashMap;

use bytes::Bytes;
use reqwest::StatusCode;
use serde_json::Value;
use tetrad_web::Held;

use super::{
    call::{ForkCall, request_object},
    error::{AttemptError, ForkCallError},
    response::{extract_result, response_id, split_batch},
};
use crate::fork::pace::Pacer;

/// The most calls in a batch. Providers limit it, some to 100.
const MAX_BATCH_CALLS: usize = 100;

/// Calls that are sent in one request, each with its position among the caller's calls.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) calls: Vec<(usize, ForkCall)>,
}

/// The results of a batch by the positions of its calls, and the memory of its response.
pub(super) struct BatchResults {
    pub(super) results: HashMap<usize, Result<Bytes, ForkCallError>>,
    pub(super) held: Held,
}

impl Batch {
    pub(super) fn methods(&self) -> impl Iterator<Item = &'static str> {
        self.calls.iter().map(|(_, call)| call.method)
    }

    /// The method that errors name for the whole batch.
    pub(super) fn first_method(&self) -> &'static str {
        self.methods().next().unwrap_or("a batch")
    }

    /// The body of its request. The identifiers are the positions of the calls.
    pub(super) fn request_body(&self) -> String {
        let calls = self
            .calls
            .iter()
            .map(|(position, ForkCall { method, params })| {
                request_object(*position, method, params)
            });
        Value::Array(calls.collect()).to_string()
    }

    /// Reads the response. Returns `None` if it is not that of a batch. Calls without a response,
    /// and those that may succeed later, have no result.
    pub(super) fn read_response(
        &self,
        status: StatusCode,
        body: &Bytes,
    ) -> Option<HashMap<usize, Result<Bytes, ForkCallError>>> {
        let mut results = HashMap::new();
        for response in split_batch(body, self.calls.len())? {
            let Some(id) = response_id(response) else {
                continue;
            };
            let Some((_, call)) = self.calls.iter().find(|(position, _)| *position == id) else {
                continue;
            };

            let response = body.slice_ref(response.get().as_bytes());
            match extract_result(call.method, status, &response) {
                Ok(json) => results.insert(id, Ok(json)),
                Err(AttemptError::Permanent(error)) => results.insert(id, Err(error)),
                // Sent again, in a request of its own.
                Err(AttemptError::Transient { .. }) => None,
            };
        }
        Some(results)
    }

    /// Returns the same failure for each of the calls.
    pub(super) fn failed(
        self,
        error: ForkCallError,
    ) -> impl Iterator<Item = (usize, Result<Bytes, ForkCallError>)> {
        self.calls
            .into_iter()
            .map(move |(position, _)| (position, Err(error.clone())))
    }
}

/// Divides calls into batches, each of which costs at most a second of the pace.
pub(super) fn divide(calls: Vec<ForkCall>, pacer: &Pacer) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut rest = calls.into_iter();
    let mut first = 0;
    while rest.len() > 0 {
        let methods = rest.as_slice().iter().map(|call| call.method);
        let size = pacer.calls_at_once(methods.take(MAX_BATCH_CALLS));

        // An allocation of its own, so that it is freed with the batch.
        let mut calls = Vec::with_capacity(size);
        calls.extend((first..).zip(rest.by_ref().take(size)));
        first += size;
        batches.push(Batch { calls });
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork::ForkPace;

    #[test]
    fn calls_are_divided_into_batches_with_memory_of_their_own() {
        const CALLS: usize = 300_000;
        for (pace, length) in [(None, MAX_BATCH_CALLS), (Some(ForkPace::Calls(10)), 10)] {
            let call = ForkCall::new("eth_getBalance", Value::Null);
            let batches = divide(vec![call; CALLS], &Pacer::new(pace));

            assert_eq!(batches.len(), CALLS / length);
            for batch in &batches {
                assert_eq!(batch.calls.len(), length);
                assert!(batch.calls.capacity() <= 2 * length);
            }
            let positions = batches.iter().flat_map(|batch| &batch.calls);
            assert!(positions.map(|(position, _)| *position).eq(0..CALLS));
        }
    }

    #[test]
    fn a_batch_is_worth_a_second_of_the_pace_whatever_its_first_call_costs() {
        let pacer = Pacer::new(Some(ForkPace::Units(100)));
        let methods = ["eth_chainId", "eth_blockNumber", "eth_getLogs"];
        let calls = methods
            .into_iter()
            .chain(["eth_getLogs"; 2])
            .map(|method| ForkCall::new(method, Value::Null));

        let lengths = divide(calls.collect(), &pacer)
            .iter()
            .map(|batch| batch.calls.len())
            .collect::<Vec<_>>();
        assert_eq!(lengths, [3, 1, 1]);
    }
}
