//! Where code runs that a request brings along: calls, estimates, traces, log queries.
//!
//! Nearly all of it takes microseconds, less than handing it to another thread would. So it runs on the task that
//! brought it, but on no more than half of the runtime's workers at a time: the other half keeps serving, however long
//! it takes. What finds no place there goes to threads of its own, and waits if too many of these are busy.

use std::sync::Arc;

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{Semaphore, SemaphorePermit},
    task,
};

use super::RpcError;

/// The places.
#[derive(Debug)]
pub(super) struct Execution {
    inline: Semaphore,
    threads: Arc<Semaphore>,
}

impl Execution {
    /// Places on the current runtime, and `threads` of their own.
    pub(super) fn new(threads: usize) -> Self {
        let handle = Handle::current();
        let inline = match handle.runtime_flavor() {
            RuntimeFlavor::MultiThread => handle.metrics().num_workers() / 2,
            // The only worker must not be kept busy.
            _ => 0,
        };
        Self { inline: Semaphore::new(inline), threads: Arc::new(Semaphore::new(threads)) }
    }

    /// A place on the current task, if there is one.
    pub(super) fn inline(&self) -> Option<SemaphorePermit<'_>> {
        self.inline.try_acquire().ok()
    }

    /// Runs `work` on a thread of its own.
    pub(super) async fn apart<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<R, RpcError> + Send + 'static,
    ) -> Result<R, RpcError> {
        let permit = self.threads.clone().acquire_owned().await;
        let run = move || {
            let _permit = permit;
            work()
        };
        task::spawn_blocking(run)
            .await
            .unwrap_or_else(|error| Err(RpcError::internal(format!("execution failed: {error}"))))
    }
}
