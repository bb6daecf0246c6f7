//! Keeping the runtime's input and output going while a worker executes.
//!
//! A worker that was woken by a socket and begins to execute leaves the sockets to the other workers, but tells none of
//! them if there was no more to do: they sleep on, and nobody looks at a socket until the execution ends. A task that is
//! spawned from outside wakes one, and it looks.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, Thread},
    time::Duration,
};

use tokio::{runtime::Handle, sync::Semaphore};

/// How often the executions are looked at while there are any.
const PERIOD: Duration = Duration::from_millis(5);
/// Looks in vain after which the thread sleeps.
const PATIENCE: u32 = 20;

/// Wakes a worker while another one executes.
pub(super) struct DriverKeeper {
    /// Whether the thread sleeps until it is woken.
    asleep: Arc<AtomicBool>,
    /// The thread that looks; none if the system did not give one.
    thread: Option<Thread>,
}

impl DriverKeeper {
    /// Looks after workers for as long as there are `places`, so many of which are free when nobody executes.
    pub(super) fn new(places: &Arc<Semaphore>, free: usize, handle: Handle) -> Self {
        let asleep = Arc::<AtomicBool>::default();
        let (places, flag) = (Arc::downgrade(places), asleep.clone());
        let keep = move || keep(&places, free, &flag, &handle);
        let thread = thread::Builder::new().name("driver-keeper".to_owned()).spawn(keep);
        Self { asleep, thread: thread.ok().map(|thread| thread.thread().clone()) }
    }

    /// Has the thread look, now that a place is taken.
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
        // It finds the places gone, at once or when it looks the next time.
        self.wake();
    }
}

fn keep(places: &Weak<Semaphore>, free: usize, asleep: &AtomicBool, handle: &Handle) {
    let is_idle = || places.upgrade().map(|places| places.available_permits() == free);
    let mut idle = 0;
    while let Some(is_idle_now) = is_idle() {
        if is_idle_now {
            idle += 1;
        } else {
            idle = 0;
            handle.spawn(async {});
        }
        if idle < PATIENCE {
            thread::sleep(PERIOD);
            continue;
        }
        asleep.store(true, Ordering::SeqCst);
        // Who took a place before that saw nobody asleep.
        if is_idle() == Some(true) {
            thread::park();
        }
        asleep.store(false, Ordering::SeqCst);
        idle = 0;
    }
}
