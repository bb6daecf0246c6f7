//! Time slices: how executing code learns that it should end before its own time limit.

use std::{
    cell::{Cell, RefCell},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// The time for which an execution may occupy a task of the runtime. Ordinary calls end far sooner.
const SLICE: Duration = Duration::from_millis(5);
/// The time that other threads of the machine may take before an uninterrupted call counts as long.
const TOLERANCE: Duration = Duration::from_millis(20);

thread_local! {
    /// The end of this thread's current slice.
    static END: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether `interrupted` has reported the end of the slice to the execution.
    static OVERRUN: Cell<bool> = const { Cell::new(false) };
    /// Whether the execution on this thread was cancelled.
    static GIVEN_UP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Whether the execution on this thread should end: its slice is over, or it was cancelled. Checked
/// along with the time limit.
pub fn interrupted() -> bool {
    if let Some(end) = END.get() {
        let over = Instant::now() >= end;
        OVERRUN.set(OVERRUN.get() | over);
        return over;
    }

    is_abandoned()
}

/// Whether the client of the execution on this thread is gone.
pub fn is_abandoned() -> bool {
    GIVEN_UP.with_borrow(|flag| {
        flag.as_ref()
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    })
}

/// Whether the execution on this thread should end before an uninterruptible step that takes longer
/// than a slice.
pub fn refuses_long() -> bool {
    let in_slice = END.get().is_some();
    OVERRUN.set(OVERRUN.get() | in_slice);
    in_slice
}

/// The outcome of an execution that had a slice of time.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// Whether the work was interrupted, so that its result is meaningless.
    pub overran: bool,
}

impl Slice {
    /// Runs `work` for at most a slice.
    pub fn run<R>(began: Instant, work: impl FnOnce() -> R) -> (R, Self) {
        /// Ends the slice even if `work` panics.
        struct Reset;
        impl Drop for Reset {
            fn drop(&mut self) {
                END.set(None);
            }
        }

        END.set(Some(began + SLICE));
        OVERRUN.set(false);
        let reset = Reset;
        let result = work();
        drop(reset);

        (
            result,
            Self {
                overran: OVERRUN.get(),
            },
        )
    }

    /// Whether the work took longer than a slice.
    pub(super) fn is_excess(self, took: Duration) -> bool {
        self.overran || took > TOLERANCE
    }
}

/// Makes `work`, which runs on another thread, a part of the execution on this thread: it is cancelled
/// together with it.
pub fn as_part<R>(work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let given_up = GIVEN_UP.with_borrow(Clone::clone);
    move || {
        GIVEN_UP.set(given_up);
        work()
    }
}

/// Runs `work` on the current thread until `given_up` is set.
pub(super) fn run_until(given_up: Arc<AtomicBool>, work: impl FnOnce()) {
    GIVEN_UP.set(Some(given_up));
    // A panic is reported by the panic hook, and ends this work only.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    GIVEN_UP.set(None);
}
