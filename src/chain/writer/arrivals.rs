//! Transactions on their way to the pool: counted, so that those that arrive together share a block.
//!
//! A block costs the same whether it carries one transaction or sixteen: the fork's system calls, hashing the trie,
//! publishing, on disk an fsync. Under load the writer would take the first transaction that is ready while the next
//! ones are still being checked on their callers' threads. So it looks whether there are any and gives them a moment.
//! Sequential submitters never wait: nothing else is under way then, and after a few of their blocks their transactions
//! are not even handed to the writer's thread (see [`SealLock`](super::seal_lock::SealLock)).

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// The longest that a transaction which is ready waits for others.
const PATIENCE: Duration = Duration::from_micros(500);
/// How long the writer sleeps before it looks again.
const NAP: Duration = Duration::from_micros(20);

/// Blocks of one transaction in a row after which submitters count as sequential.
const SEQUENTIAL: usize = 4;

/// Transactions that are being checked, and how those before them were sealed.
#[derive(Debug, Default)]
pub(in crate::chain) struct Arrivals {
    under_way: AtomicUsize,
    /// Blocks in a row that held a single transaction.
    singles: AtomicUsize,
}

/// A transaction that is being checked, until this is dropped: then the pool has it or never will.
#[derive(Debug)]
pub(in crate::chain) struct Arrival<'a>(&'a AtomicUsize);

impl Arrivals {
    /// Counts another transaction.
    pub(in crate::chain) fn begin(&self) -> Arrival<'_> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        Arrival(&self.under_way)
    }

    /// Whether transactions come one after another: none is under way, and those before each had a block of its own.
    pub(in crate::chain) fn are_sequential(&self) -> bool {
        self.is_quiet() && self.singles.load(Ordering::Relaxed) >= SEQUENTIAL
    }

    /// Counts a block with so many transactions.
    pub(in crate::chain) fn sealed(&self, count: usize) {
        match count {
            0 => {}
            1 => {
                // Only the writer counts.
                let singles = self.singles.load(Ordering::Relaxed);
                self.singles.store(singles.saturating_add(1), Ordering::Relaxed);
            }
            _ => self.singles.store(0, Ordering::Relaxed),
        }
    }

    fn is_quiet(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) == 0
    }

    /// Waits until none is under way, but not for long.
    pub(super) fn gather(&self) {
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
