//! Keeps the runtime's I/O driver running while a worker executes.
//!
//! A worker that was woken by a socket and begins to execute leaves the sockets to the other
//! workers, but wakes none of them if there was no more to do: they sleep on, and no socket is
//! polled until the execution ends. A task spawned from outside wakes a worker, which polls the
//! sockets.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, Thread},
    time::Duration,
};

use tokio::{runtime::Handle, sync::Semaphore};

/// The interval between two checks while there are executions.
const PERIOD: Duration = Duration::from_millis(5);
/// The number of checks without an execution after which the thread sleeps.
const IDLE_CHECKS: u32 = 20;

/// Wakes a worker while another one executes.
pub(super) struct DriverKeeper {
    /// Whether the thread sleeps until it is unparked.
    asleep: Arc<AtomicBool>,
    /// The checking thread; none if the system could not start one.
    thread: Option<Thread>,
}

impl DriverKeeper {
    /// Starts the thread, which ends when `places` is dropped. All of them are free when nothing
    /// executes.
    pub(super) fn new(places: &Arc<Semaphore>, free: usize, handle: Handle) -> Self {
        let asleep = Arc::<AtomicBool>::default();
        let thread = thread::Builder::new()
            .name("driver-keeper".to_owned())
            .spawn({
                let places = Arc::downgrade(places);
                let asleep = asleep.clone();
                move || keep(&places, free, &asleep, &handle)
            });

        Self {
            asleep,
            // Without the thread, sockets may wait for an execution, but nothing fails.
            thread: thread.ok().map(|thread| thread.thread().clone()),
        }
    }

    /// Wakes the thread after a place was taken.
    pub(super) fn look(&self) {
        if self.asleep.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    fn wake(&self) {
        self.asleep.store(false, Ordering::SeqCst);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}

impl Drop for DriverKeeper {
    fn drop(&mut self) {
        // The thread finds the places dropped, now or at its next check.
        self.wake();
    }
}

fn keep(places: &Weak<Semaphore>, free: usize, asleep: &AtomicBool, handle: &Handle) {
    let mut idle = 0;
    while let Some(is_idle_now) = is_idle(places, free) {
        if is_idle_now {
            idle += 1;
        } else {
            idle = 0;
            handle.spawn(async {});
        }

        if idle < IDLE_CHECKS {
            thread::sleep(PERIOD);
            continue;
        }

        asleep.store(true, Ordering::SeqCst);
        // A place taken before this did not wake the thread.
        if is_idle(places, free) == Some(true) {
            thread::park();
        }
        asleep.store(false, Ordering::SeqCst);
        idle = 0;
    }
}

/// Whether nothing executes; none after the places were dropped.
fn is_idle(places: &Weak<Semaphore>, free: usize) -> Option<bool> {
    places
        .upgrade()
        .map(|places| places.available_permits() == free)
}
