//! Transactions on their way to the pool: counted, so that those that arrive together share a block.
//!
//! A block costs the same whether it carries one transaction or sixteen: the fork's system calls, hashing the trie,
//! publishing, on disk an fsync. Under load the writer would take the first transaction that is ready while the next
//! ones are still being checked on their callers' threads. So it looks whether there are any and gives them a moment.
//! Who submits one after another never waits: nothing else is under way then, and as soon as that is how blocks come
//! about, theirs are not even handed to the writer's thread (see [`SealLock`](super::seal_lock::SealLock)).

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// The longest that a transaction which is ready waits for others.
const PATIENCE: Duration = Duration::from_micros(500);
/// How long the writer sleeps before it looks again.
const NAP: Duration = Duration::from_micros(20);

/// Blocks of one transaction in a row that tell of somebody who submits one after another.
const LONELY: usize = 4;

/// How many transactions are being checked, and what became of those before.
#[derive(Debug, Default)]
pub(in crate::chain) struct Arrivals {
    under_way: AtomicUsize,
    /// Blocks in a row that held a single transaction.
    alone: AtomicUsize,
}

/// One of them. Dropping it says that the pool has it or never will.
#[derive(Debug)]
pub(in crate::chain) struct Arrival<'a>(&'a AtomicUsize);

impl Arrivals {
    /// Another one is under way.
    pub(in crate::chain) fn begin(&self) -> Arrival<'_> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        Arrival(&self.under_way)
    }

    /// Whether transactions come one after another: none is under way, and those before each had a block of its own.
    pub(in crate::chain) fn are_alone(&self) -> bool {
        self.is_quiet() && self.alone.load(Ordering::Relaxed) >= LONELY
    }

    /// A block was made with so many transactions.
    pub(in crate::chain) fn sealed(&self, count: usize) {
        match count {
            0 => {}
            1 => {
                // The writer is the only one who counts.
                let alone = self.alone.load(Ordering::Relaxed);
                self.alone.store(alone.saturating_add(1), Ordering::Relaxed);
            }
            _ => self.alone.store(0, Ordering::Relaxed),
        }
    }

    fn is_quiet(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) == 0
    }

    /// Waits until none is under way, but not for long.
    pub(in crate::chain) fn gather(&self) {
        let began = Instant::now();
        while !self.is_quiet() && began.elapsed() < PATIENCE {
            thread::sleep(NAP);
        }
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
