//! The count of transactions on their way to the pool, by which transactions that arrive together
//! share a block.
//!
//! A block has a fixed cost, whether it carries one transaction or sixteen: the fork's system
//! calls, hashing the trie, publishing, and on disk an fsync. Under load the writer would seal the
//! first transaction that is ready while the next ones are still being checked on their callers'
//! threads, so it waits for these for a moment. Sequential submitters never wait: no other
//! transaction is under way then, and after a few blocks their transactions are not even handed to
//! the writer's thread (see [`SealLock`](super::seal_lock::SealLock)).
//!
//! In a cluster a block costs much more: it is stored by a majority of the servers and sent to all
//! nodes. There the writer also waits for those who have just had their answers (see
//! [`Arrivals::gather_next`]).

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// The longest time that the writer waits for the transactions under way.
const MAX_GATHERING: Duration = Duration::from_micros(500);
/// The longest time that it waits in a cluster for as many transactions as were in flight before.
const MAX_CLUSTER_GATHERING: Duration = Duration::from_millis(5);
/// The time that the writer sleeps between two checks.
const CHECK_INTERVAL: Duration = Duration::from_micros(20);

/// Consecutive blocks of one transaction after which submitters are considered sequential.
const SEQUENTIAL: usize = 4;

/// The number of transactions that are being checked, and of recent blocks with a single one.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    under_way: AtomicUsize,
    /// Number of consecutive blocks with a single transaction.
    singles: AtomicUsize,
    /// In a cluster, number of transactions that were in the newest block, or ready, when it was
    /// stored.
    in_flight: AtomicUsize,
    /// In a cluster, time that it took to store the newest block, in microseconds.
    stored_in: AtomicU64,
}

/// A guard for a transaction that is being checked. It is dropped when the pool has accepted or
/// rejected it.
#[derive(Debug)]
pub(crate) struct Arrival<'a>(&'a AtomicUsize);

impl Arrivals {
    /// Counts a transaction until the guard is dropped.
    pub(crate) fn begin(&self) -> Arrival<'_> {
        // Relaxed: a count that is a moment old makes a block smaller or later, but never wrong.
        self.under_way.fetch_add(1, Ordering::Relaxed);
        Arrival(&self.under_way)
    }

    /// Returns whether transactions arrive sequentially: none is under way, and each recent one had
    /// a block of its own.
    pub(crate) fn are_sequential(&self) -> bool {
        self.is_quiet() && self.singles.load(Ordering::Relaxed) >= SEQUENTIAL
    }

    /// Counts a block with this number of transactions.
    pub(crate) fn sealed(&self, count: usize) {
        match count {
            0 => {}
            1 => {
                // The writer is the only thread that stores here.
                let singles = self.singles.load(Ordering::Relaxed);
                self.singles
                    .store(singles.saturating_add(1), Ordering::Relaxed);
            }
            _ => self.singles.store(0, Ordering::Relaxed),
        }
    }

    fn is_quiet(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) == 0
    }

    /// Notes the time that it took to store a block, and the number of transactions that are in it,
    /// or ready by now.
    pub(super) fn stored(&self, stored_in: Duration, in_flight: usize) {
        self.stored_in
            .store(stored_in.as_micros() as u64, Ordering::Relaxed);
        self.in_flight.store(in_flight, Ordering::Relaxed);
    }

    /// Waits for the transactions that are under way, for `MAX_GATHERING` at the longest.
    pub(super) fn gather(&self) {
        let began = Instant::now();
        while !self.is_quiet() && began.elapsed() < MAX_GATHERING {
            thread::sleep(CHECK_INTERVAL);
        }
    }

    /// Waits until as many transactions are ready as were in flight when the newest block was
    /// stored: those who sent them have their answers by now, and may send the next ones. Waits no
    /// longer than it took to store that block.
    pub(super) fn gather_next(&self, ready: impl Fn() -> usize) {
        let stored_in = Duration::from_micros(self.stored_in.load(Ordering::Relaxed));
        let timeout = stored_in.min(MAX_CLUSTER_GATHERING);
        let expected = self.in_flight.load(Ordering::Relaxed);

        let began = Instant::now();
        while ready() < expected && began.elapsed() < timeout {
            thread::sleep(CHECK_INTERVAL);
        }
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
