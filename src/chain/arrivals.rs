//! Transactions on their way to the pool: counted, so that those that arrive together share a block.
//!
//! A block costs the same whether it carries one transaction or sixteen: the fork's system calls, hashing the trie,
//! publishing, on disk an fsync. Under load the writer would take the first transaction that is ready while the next
//! ones are still being checked on their callers' threads. So it looks whether there are any and gives them a moment.
//! Who submits one after another never waits: nothing else is under way then.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// The longest that a transaction which is ready waits for others.
const PATIENCE: Duration = Duration::from_micros(500);
/// How long the writer sleeps before it looks again.
const NAP: Duration = Duration::from_micros(20);

/// How many transactions are being checked.
#[derive(Debug, Default)]
pub(super) struct Arrivals(AtomicUsize);

/// One of them. Dropping it says that the pool has it or never will.
#[derive(Debug)]
pub(super) struct Arrival<'a>(&'a AtomicUsize);

impl Arrivals {
    /// Another one is under way.
    pub(super) fn begin(&self) -> Arrival<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Arrival(&self.0)
    }

    /// Waits until none is under way, but not for long.
    pub(super) fn gather(&self) {
        let began = Instant::now();
        while self.0.load(Ordering::Relaxed) > 0 && began.elapsed() < PATIENCE {
            thread::sleep(NAP);
        }
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
