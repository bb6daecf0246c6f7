//! Execution of requests that compute: calls, traces, searches, signatures to verify, pages to
//! render.
//!
//! Nearly all calls take microseconds, less than a hand-over to another thread. So JSON-RPC begins
//! them on the task that received the request, on all but one of the runtime's workers at a time
//! and for a short [slice](mod@slice) only. Longer work, work that finds no place there, and the
//! work of all other interfaces runs on threads of its own, in the order of the [schedule]. Work
//! whose client is gone is not begun, or ends at its next check of the time limit, or when what it
//! writes needs more memory.
//!
//! An execution that was begun on its task and takes longer than a slice of five milliseconds
//! restarts on a thread of its own, where it has another slice before it counts as long. Long
//! executions never hold all threads, and those of one address always leave one of theirs to
//! another address. An execution is cancelled when its connection closes, also behind requests that
//! were pipelined after it (`web/shared_stream.rs`).

mod driver;
mod schedule;
mod slice;

use std::{sync::Arc, time::Duration};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{Semaphore, SemaphorePermit, oneshot},
};

use self::{driver::DriverKeeper, schedule::ExecutionSchedule};
pub use self::{
    schedule::Caller,
    slice::{Slice, as_part, interrupted, is_abandoned, refuses_long},
};
use super::Client;

/// The failure of work that ended without a result: it panicked.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("execution failed")]
pub struct ExecutionFailed;

/// The execution places of a node, which all interfaces share.
pub struct Execution {
    inline: Arc<Semaphore>,
    schedule: Arc<ExecutionSchedule>,
    keeper: DriverKeeper,
}

impl Execution {
    /// Places on the current runtime, and at most `threads` of their own.
    pub fn new(threads: usize) -> Self {
        let handle = Handle::current();
        let places = match handle.runtime_flavor() {
            // One worker must stay available.
            RuntimeFlavor::MultiThread => handle.metrics().num_workers() - 1,
            _ => 0,
        };

        let inline = Arc::new(Semaphore::new(places));
        let keeper = DriverKeeper::new(&inline, places, handle.clone());
        Self {
            inline,
            schedule: Arc::new(ExecutionSchedule::new(threads, handle)),
            keeper,
        }
    }

    /// Takes a place on the current task, if one is free and the client's work is not known to take
    /// long.
    pub fn inline(&self, client: Client) -> Option<SemaphorePermit<'_>> {
        if self.schedule.is_heavy(client) {
            return None;
        }

        let place = self.inline.try_acquire().ok()?;
        self.keeper.look();
        Some(place)
    }

    /// Counts execution on the client's own task.
    pub fn charge(&self, client: Client, slice: Slice, took: Duration) {
        if slice.is_excess(took) {
            self.schedule.charge(client, took);
        }
    }

    /// Runs `work` on a thread of its own. Dropping the future cancels it.
    pub async fn apart<R, E>(
        &self,
        caller: Caller,
        work: impl FnOnce() -> Result<R, E> + Send + 'static,
    ) -> Result<R, E>
    where
        R: Send + 'static,
        E: From<ExecutionFailed> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        // Held until the result is there: dropping it cancels the execution.
        let _ticket = self.schedule.submit(
            caller,
            Box::new(move || {
                // The caller may have left meanwhile.
                let _ = sender.send(work());
            }),
        );
        receiver
            .await
            // Work that panics drops the sender.
            .unwrap_or_else(|_| Err(ExecutionFailed.into()))
    }
}

impl std::fmt::Debug for Execution {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Execution").finish_non_exhaustive()
    }
}
