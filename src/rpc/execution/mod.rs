//! Execution of requests that run code: calls, estimates, traces, log queries.
//!
//! Nearly all of it takes microseconds, less than a hand-over to another thread. So it begins on the task that received
//! the request, on all but one of the runtime's workers at a time and for a short [slice](mod@slice) only. Longer work, and
//! work that finds no place there, starts again on a thread of its own, in the order of the [schedule]. Work whose client is
//! gone is not begun, or ends at its next check of the time limit.

mod driver;
mod ring;
mod schedule;
mod slice;

use std::{sync::Arc, time::Duration};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{Semaphore, SemaphorePermit, oneshot},
};

use self::{driver::DriverKeeper, schedule::ExecutionSchedule};
pub(super) use self::{
    schedule::Caller,
    slice::{Slice, interrupted, refuses_long},
};
use super::RpcError;
use crate::web::Client;

tokio::task_local! {
    /// The client of a method that hands work on only after it has waited.
    pub(super) static CALLER: Caller;
}

/// The execution places.
pub(super) struct Execution {
    inline: Arc<Semaphore>,
    schedule: Arc<ExecutionSchedule>,
    keeper: DriverKeeper,
}

impl Execution {
    /// Places on the current runtime, and at most `threads` of their own.
    pub(super) fn new(threads: usize) -> Self {
        let handle = Handle::current();
        let places = match handle.runtime_flavor() {
            // One worker must stay available.
            RuntimeFlavor::MultiThread => handle.metrics().num_workers() - 1,
            _ => 0,
        };
        let inline = Arc::new(Semaphore::new(places));
        let keeper = DriverKeeper::new(&inline, places, handle.clone());
        Self { inline, schedule: Arc::new(ExecutionSchedule::new(threads, handle)), keeper }
    }

    /// Takes a place on the current task, if one is free and the client's work is not known to take long.
    pub(super) fn inline(&self, client: Client) -> Option<SemaphorePermit<'_>> {
        if self.schedule.is_heavy(client) {
            return None;
        }
        let place = self.inline.try_acquire().ok()?;
        self.keeper.look();
        Some(place)
    }

    /// Counts execution on the client's own task.
    pub(super) fn charge(&self, client: Client, slice: Slice, took: Duration) {
        if slice.is_excess(took) {
            self.schedule.charge(client, took);
        }
    }

    /// Runs `work` on a thread of its own. Dropping the future cancels it.
    pub(super) async fn apart<R: Send + 'static>(
        &self,
        caller: Caller,
        work: impl FnOnce() -> Result<R, RpcError> + Send + 'static,
    ) -> Result<R, RpcError> {
        let (sender, receiver) = oneshot::channel();
        let run = move || {
            // The caller may have left meanwhile.
            let _ = sender.send(work());
        };
        let _ticket = self.schedule.submit(caller, Box::new(run));
        receiver.await.unwrap_or_else(|_| Err(RpcError::internal("execution failed")))
    }

    /// Runs `work` for a method that waits, for which [`CALLER`] is set.
    pub(super) async fn apart_for_caller<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<R, RpcError> + Send + 'static,
    ) -> Result<R, RpcError> {
        let caller = CALLER.try_with(|caller| *caller).unwrap_or_default();
        self.apart(caller, work).await
    }
}
