//! How the code that executes learns that it should end before its own time limit.

use std::{
    cell::{Cell, RefCell},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// How long an execution may keep a task of the runtime. Calls that are not meant to take long end far sooner.
const SLICE: Duration = Duration::from_millis(5);
/// What may be lost to other threads of the machine before a call counts as long although nothing interrupted it.
const TOLERANCE: Duration = Duration::from_millis(20);

thread_local! {
    /// When the slice ends that this thread executes in.
    static END: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether the execution was told so.
    static OVERRUN: Cell<bool> = const { Cell::new(false) };
    /// Whether the execution on this thread was given up.
    static GIVEN_UP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Whether the execution on this thread should end: its slice is over, or nobody waits for it any more. Asked along
/// with the time limit.
pub(in crate::rpc) fn interrupted() -> bool {
    if let Some(end) = END.get() {
        let over = Instant::now() >= end;
        OVERRUN.set(OVERRUN.get() | over);
        return over;
    }
    GIVEN_UP.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)))
}

/// Whether the execution on this thread should end before it begins something that nothing interrupts and that takes
/// longer than a slice.
pub(in crate::rpc) fn refuses_long() -> bool {
    let in_slice = END.get().is_some();
    OVERRUN.set(OVERRUN.get() | in_slice);
    in_slice
}

/// The outcome of an execution that had a slice of time.
#[derive(Clone, Copy, Debug)]
pub(in crate::rpc) struct Slice {
    /// Whether the work was interrupted, so that its result says nothing.
    pub(in crate::rpc) overran: bool,
}

impl Slice {
    /// Runs `work` for as long as a slice lasts.
    pub(in crate::rpc) fn run<R>(began: Instant, work: impl FnOnce() -> R) -> (R, Self) {
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
        (result, Self { overran: OVERRUN.get() })
    }

    /// Whether the work took longer than it should have.
    pub(super) fn is_excess(self, took: Duration) -> bool {
        self.overran || took > TOLERANCE
    }
}

/// Runs `work` on a thread of its own until `given_up` is set.
pub(super) fn run_until(given_up: Arc<AtomicBool>, work: impl FnOnce()) {
    GIVEN_UP.set(Some(given_up));
    // A panic is reported where it happens, and ends this work only.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    GIVEN_UP.set(None);
}
