//! The timestamp of the next block, from the clock and the settings of development methods.

use std::{sync::Arc, time::Duration};

use crate::{
    chain::{Clock, Head},
    log::TimeShift,
};

/// The chain's time.
#[derive(Clone)]
pub(in crate::chain) struct Timing {
    clock: Arc<dyn Clock>,
    /// Number of seconds by which the chain's time is ahead of the clock.
    offset: i64,
    /// The timestamp that was set for the next block.
    next: Option<u64>,
    /// Seconds from each block to the next, if they are fixed.
    interval: Option<u64>,
    /// The clock's time when the newest block was sealed, in milliseconds since the Unix epoch.
    sealed_ms: u64,
    /// The clock's second of the last block that began with a preamble, if any.
    preceded: Option<u64>,
}

impl Timing {
    pub(in crate::chain) fn new(clock: Arc<dyn Clock>) -> Self {
        let sealed_ms = clock.now_ms();
        Self { clock, offset: 0, next: None, interval: None, sealed_ms, preceded: None }
    }

    /// Returns the shift of the chain's time against the clock.
    pub(in crate::chain) fn shift(&self) -> TimeShift {
        TimeShift { ahead: self.offset, promised: self.next, interval: self.interval }
    }

    /// Sets the shift of the chain's time against the clock.
    pub(in crate::chain) fn restore(&mut self, shift: TimeShift) {
        (self.offset, self.next, self.interval) = (shift.ahead, shift.promised, shift.interval);
    }

    /// Adopts the time shift that another writer recorded with the newest block.
    pub(super) fn adopt(&mut self, shift: TimeShift) {
        self.restore(shift);
        self.sealed_ms = self.clock.now_ms();
    }

    /// On a fork, sets the chain's time to that of the forked block.
    pub(in crate::chain) fn start_at(&mut self, first: &Head) {
        if first.state.base().is_some() {
            self.set(first.block.header.timestamp);
        }
    }

    /// Returns the chain's time, in seconds since the Unix epoch.
    pub(in crate::chain) fn now(&self) -> u64 {
        self.seconds().saturating_add_signed(self.offset)
    }

    /// Returns the clock's time, in seconds since the Unix epoch.
    fn seconds(&self) -> u64 {
        self.clock.now_ms() / 1000
    }

    /// Returns the timestamp of the next block, at least `at_least` seconds after its parent's. With 0
    /// blocks may share a second, as on the live network with its three blocks a second, so that a chain under load stays
    /// in step with the clock.
    pub(in crate::chain) fn of_next_block(&self, parent: u64, at_least: u64) -> u64 {
        let fixed = self.next.or_else(|| Some(parent.saturating_add(self.interval?)));
        fixed.unwrap_or_else(|| self.now()).max(parent.saturating_add(at_least))
    }

    /// Notes that a block was sealed at `timestamp`, after a parent at `parent`. A timestamp that was set by a
    /// development method, or that is later than both the clock and the parent, becomes the chain's time.
    pub(in crate::chain) fn sealed(&mut self, parent: u64, timestamp: u64) {
        self.sealed_ms = self.clock.now_ms();
        if self.next.take().is_some() || timestamp > self.now().max(parent) {
            self.set(timestamp);
        }
    }

    /// Notes that a block with this timestamp begins with a preamble.
    pub(super) fn preceded(&mut self, timestamp: u64) {
        self.preceded = Some(timestamp.saturating_add_signed(self.offset.saturating_neg()).min(self.seconds()));
    }

    /// Returns the clock's time since the last preamble, in whole seconds as in timestamps.
    pub(in crate::chain) fn since_preamble(&self) -> Duration {
        // The difference is absolute because the clock may have been set back.
        self.preceded.map_or(Duration::MAX, |second| Duration::from_secs(self.seconds().abs_diff(second)))
    }

    /// Returns the clock's time since the newest block was sealed.
    pub(in crate::chain) fn idle(&self) -> Duration {
        Duration::from_millis(self.clock.now_ms().saturating_sub(self.sealed_ms))
    }

    /// Returns whether a timestamp was set for the next block.
    pub(in crate::chain) fn has_promise(&self) -> bool {
        self.next.is_some()
    }

    /// Moves the chain's time. Returns the number of seconds by which it is now ahead of the clock.
    pub(super) fn increase(&mut self, seconds: i64) -> i64 {
        self.offset = self.offset.saturating_add(seconds);
        self.offset
    }

    /// Returns the number of seconds by which the chain's time is ahead of the clock.
    pub(in crate::chain) fn ahead(&self) -> i64 {
        self.offset
    }

    /// Sets the chain's time.
    pub(in crate::chain) fn set(&mut self, now: u64) {
        self.offset = 0;
        self.offset = (now as i64).saturating_sub(self.now() as i64);
    }

    /// Sets the chain's time. Returns the number of seconds by which it moved.
    pub(super) fn jump(&mut self, now: u64) -> i64 {
        let before = self.now();
        self.set(now);
        now.saturating_sub(before) as i64
    }

    /// Sets the seconds between blocks, or follows the clock again. Returns whether they were set before.
    pub(super) fn fix_interval(&mut self, seconds: Option<u64>) -> bool {
        std::mem::replace(&mut self.interval, seconds).is_some()
    }

    /// Discards all settings of development methods.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.clock.clone());
    }

    /// Sets the timestamp of the next block.
    pub(super) fn promise_next(&mut self, timestamp: u64) {
        self.next = Some(timestamp);
    }
}
