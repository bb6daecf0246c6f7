//! Several calls at once: in batches, or one by one where the other node rejects batches.

use std::{
    pin::pin,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{
    FutureExt, StreamExt,
    future::ready,
    stream::{self, FuturesUnordered},
};
use parking_lot::Mutex;
use reqwest::StatusCode;
use tetrad_web::json_rpc::INVALID_REQUEST;
use tokio::{select, time::timeout_at};

use super::{
    CALLER_WAIT_MARGIN,
    answer::CallResults,
    batch::{Batch, BatchResults, divide},
    call::{ForkCall, request_body},
    error::{AttemptError, ForkCallError},
    requester::Requester,
    response::extract_result,
    transport::HttpResponse,
};
use crate::fork::pace::{QueueTimeout, Turns};

/// The most batches at a time of one caller, and the most single calls at a time of one batch.
const MAX_CONCURRENT_OF_CALLER: usize = 8;

impl Requester {
    /// Divides calls into batches, and lines them up for their turns.
    pub(super) fn line_up(
        &self,
        calls: Vec<ForkCall>,
    ) -> Result<(Vec<Batch>, Turns), ForkCallError> {
        let batches = divide(calls, &self.pacer);
        match self.pacer.line_up(batches.iter().map(Batch::methods)) {
            Some(turns) => Ok((batches, turns)),
            None => {
                let method = batches.first().map_or("a batch", Batch::first_method);
                Err(ForkCallError::queue_full(method))
            }
        }
    }

    /// Sends batches, each when its turn comes, and sets the results as they arrive, until the time
    /// is over. Waiting for turns takes nothing of it.
    pub(super) async fn call_many(
        &self,
        batches: Vec<Batch>,
        mut turns: Turns,
        time_limit: Duration,
        results: &Mutex<CallResults>,
    ) {
        let mut deadline = tokio::time::Instant::now() + time_limit + CALLER_WAIT_MARGIN;
        let mut under_way = FuturesUnordered::new();
        for batch in batches {
            // A turn is only taken for what can be sent when it comes.
            if under_way.len() == MAX_CONCURRENT_OF_CALLER
                && timeout_at(deadline, under_way.next()).await.is_err()
            {
                return;
            }

            let lined_up = Instant::now();
            let turn = drive_until(&mut under_way, turns.next()).await;
            deadline += lined_up.elapsed();
            match turn {
                Ok(()) => under_way.push(self.call_batch(batch, time_limit, results).boxed()),
                Err(QueueTimeout) => {
                    let error = ForkCallError::queue_full(batch.first_method());
                    results.lock().set_all(batch.failed(error), None);
                }
            }
        }
        // The others keep the failure that they have.
        let _ = timeout_at(deadline, under_way.for_each(ready)).await;
    }

    /// Makes the calls of a batch: in one request, and those without a result one by one.
    async fn call_batch(
        &self,
        mut batch: Batch,
        time_limit: Duration,
        results: &Mutex<CallResults>,
    ) {
        if batch.calls.len() > 1 && self.takes_batches.load(Ordering::Relaxed) {
            match self.send_batch(&batch, time_limit).await {
                Ok(Some(BatchResults {
                    results: found,
                    held,
                })) => {
                    batch
                        .calls
                        .retain(|(position, _)| !found.contains_key(position));
                    results.lock().set_all(found, Some(held));
                }
                // The other node takes no batch.
                Ok(None) => {}
                Err(error) => {
                    results.lock().set_all(batch.failed(error), None);
                    return;
                }
            }
        }
        self.call_one_by_one(batch, time_limit, results).await;
    }

    async fn call_one_by_one(
        &self,
        batch: Batch,
        time_limit: Duration,
        results: &Mutex<CallResults>,
    ) {
        let mut answers = stream::iter(batch.calls)
            .map(|(position, ForkCall { method, params })| {
                let body = request_body(method, &params);
                async move { (position, self.call(method, body, time_limit).await) }.boxed()
            })
            .buffer_unordered(MAX_CONCURRENT_OF_CALLER);
        while let Some((position, answer)) = answers.next().await {
            results.lock().set(position, answer);
        }
    }

    /// Sends a batch, and retries where that may help. None if the other node takes no batch.
    async fn send_batch(
        &self,
        batch: &Batch,
        time_limit: Duration,
    ) -> Result<Option<BatchResults>, ForkCallError> {
        self.attempts(batch.first_method(), time_limit)
            .run(|| self.attempt_batch(batch, time_limit))
            .await
    }

    async fn attempt_batch(
        &self,
        batch: &Batch,
        time_limit: Duration,
    ) -> Result<Option<BatchResults>, AttemptError> {
        for method in batch.methods() {
            self.counters.count_call(method);
        }

        let method = batch.first_method();
        let sent = self
            .transport
            .send(method, batch.request_body(), time_limit)
            .await;
        let HttpResponse { status, body, held } = match sent {
            Ok(response) => response,
            // The response is something else, such as a redirect.
            Err(AttemptError::Permanent(ForkCallError::NoAnswer { .. }))
                if self.transport.was_connected() =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };

        match batch.read_response(status, &body) {
            Some(results) => Ok(Some(BatchResults { results, held })),
            None => {
                self.learn_from_single_response(method, status, &body)?;
                Ok(None)
            }
        }
    }

    /// Handles one response to a whole batch: an error, which may pass, or which says that the
    /// other node takes no batches at all.
    fn learn_from_single_response(
        &self,
        method: &str,
        status: StatusCode,
        body: &Bytes,
    ) -> Result<(), AttemptError> {
        match extract_result(method, status, body) {
            Err(error @ AttemptError::Transient { .. }) => return Err(error),
            Err(AttemptError::Permanent(ForkCallError::ErrorResponse { code, .. })) => {
                // A batch is an invalid request to nodes without batches.
                let takes_batches = code != i64::from(INVALID_REQUEST);
                self.takes_batches.store(takes_batches, Ordering::Relaxed);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Drives the requests that are under way until an event, and returns its outcome.
async fn drive_until<T>(
    under_way: &mut FuturesUnordered<impl Future<Output = ()>>,
    event: impl Future<Output = T>,
) -> T {
    let mut event = pin!(event);
    loop {
        select! {
            outcome = &mut event => return outcome,
            Some(()) = under_way.next() => {}
        }
    }
}
