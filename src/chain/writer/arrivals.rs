//! The count of transactions on their way to the pool, by which transactions that arrive together share a block.
//!
//! A block has a fixed cost, whether it carries one transaction or sixteen: the fork's system calls, hashing the trie,
//! publishing, and on disk an fsync. Under load the writer would seal the first transaction that is ready while the
//! next ones are still being checked on their callers' threads, so it waits for these for a moment. Sequential
//! submitters never wait: no other transaction is under way then, and after a few blocks their transactions are not
//! even handed to the writer's thread (see [`SealLock`](super::seal_lock::SealLock)).

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// The longest time that a ready transaction waits for others.
const PATIENCE: Duration = Duration::from_micros(500);
/// The writer's sleep between two checks.
const NAP: Duration = Duration::from_micros(20);

/// Consecutive blocks of one transaction after which submitters are considered sequential.
const SEQUENTIAL: usize = 4;

/// The number of transactions that are being checked, and of recent blocks with a single one.
#[derive(Debug, Default)]
pub(in crate::chain) struct Arrivals {
    under_way: AtomicUsize,
    /// Number of consecutive blocks with a single transaction.
    singles: AtomicUsize,
}

/// A guard for a transaction that is being checked. It is dropped when the pool has accepted or rejected it.
#[derive(Debug)]
pub(in crate::chain) struct Arrival<'a>(&'a AtomicUsize);

impl Arrivals {
    /// Counts a transaction until the guard is dropped.
    pub(in crate::chain) fn begin(&self) -> Arrival<'_> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        Arrival(&self.under_way)
    }

    /// Returns whether transactions arrive sequentially: none is under way, and each recent one had a block of its own.
    pub(in crate::chain) fn are_sequential(&self) -> bool {
        self.is_quiet() && self.singles.load(Ordering::Relaxed) >= SEQUENTIAL
    }

    /// Counts a block with this number of transactions.
    pub(in crate::chain) fn sealed(&self, count: usize) {
        match count {
            0 => {}
            1 => {
                // The writer is the only thread that stores here.
                let singles = self.singles.load(Ordering::Relaxed);
                self.singles.store(singles.saturating_add(1), Ordering::Relaxed);
            }
            _ => self.singles.store(0, Ordering::Relaxed),
        }
    }

    fn is_quiet(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) == 0
    }

    /// Waits for the transactions that are under way, for `PATIENCE` at the longest.
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
