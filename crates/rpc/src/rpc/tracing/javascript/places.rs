//! The number of processes of tracers at a time, which bounds their memory together.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tetrad_stdx::parallel;

/// The time between two checks of the time limit.
const TICK: Duration = Duration::from_millis(20);

static TAKEN: Mutex<usize> = Mutex::new(0);
static RETURNED: Condvar = Condvar::new();

/// One of the places: as many as there are processors, but at least two. Dropping it returns it.
#[derive(Debug)]
pub(super) struct Place(());

impl Place {
    /// Waits for a place; none if the time is over first.
    pub(super) fn take(out_of_time: impl Fn() -> bool) -> Option<Self> {
        let places = parallel::processors().max(2);
        let mut taken = TAKEN.lock();

        while *taken >= places {
            if out_of_time() {
                return None;
            }
            // A returned place wakes it, but nothing does when the time is over.
            RETURNED.wait_for(&mut taken, TICK);
        }

        *taken += 1;
        Some(Self(()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *TAKEN.lock() -= 1;
        RETURNED.notify_one();
    }
}
