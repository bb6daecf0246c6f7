//! Which time the next block gets: the clock, and what development methods make of it.

use std::{sync::Arc, time::Duration};

use crate::{
    chain::{Clock, Head},
    log::Shift,
};

/// The chain's view of time.
#[derive(Clone)]
pub(in crate::chain) struct Timing {
    clock: Arc<dyn Clock>,
    /// Seconds by which the chain's time is ahead of the clock.
    offset: i64,
    /// The time that the next block was promised.
    next: Option<u64>,
    /// Seconds from each block to the next, if they are fixed.
    interval: Option<u64>,
    /// What the clock showed when the newest block was sealed.
    sealed_ms: u64,
    /// The second of the clock in which a block began with a preamble, if one did.
    preceded: Option<u64>,
}

impl Timing {
    pub(in crate::chain) fn new(clock: Arc<dyn Clock>) -> Self {
        let sealed_ms = clock.now_ms();
        Self { clock, offset: 0, next: None, interval: None, sealed_ms, preceded: None }
    }

    /// How the chain's time differs from the clock's.
    pub(in crate::chain) fn shift(&self) -> Shift {
        Shift { ahead: self.offset, promised: self.next, interval: self.interval }
    }

    /// Makes the chain's time differ from the clock's in this way.
    pub(in crate::chain) fn restore(&mut self, shift: Shift) {
        (self.offset, self.next, self.interval) = (shift.ahead, shift.promised, shift.interval);
    }

    /// Takes over the time as another writer left it with the newest block.
    pub(super) fn followed(&mut self, shift: Shift) {
        self.restore(shift);
        self.sealed_ms = self.clock.now_ms();
    }

    /// A fork goes on from the time of the block that it forks.
    pub(in crate::chain) fn follow(&mut self, first: &Head) {
        if first.state.base().is_some() {
            self.set(first.block.header.timestamp);
        }
    }

    /// The chain's time now, in seconds since the Unix epoch.
    pub(in crate::chain) fn now(&self) -> u64 {
        self.seconds().saturating_add_signed(self.offset)
    }

    /// The clock's time in seconds since the Unix epoch.
    fn seconds(&self) -> u64 {
        self.clock.now_ms() / 1000
    }

    /// The time of a block after one of time `parent`. Blocks that transactions bring about may share a second,
    /// as they do on the live network with its three blocks a second: a chain under load stays in step with the
    /// clock. `at_least` is how much later than its parent the block must be.
    pub(in crate::chain) fn of_next_block(&self, parent: u64, at_least: u64) -> u64 {
        let fixed = self.next.or_else(|| Some(parent.saturating_add(self.interval?)));
        fixed.unwrap_or_else(|| self.now()).max(parent.saturating_add(at_least))
    }

    /// A block after one of time `parent` got this time. A promise that it kept becomes the chain's time from here on,
    /// and so does a time that nothing but a development method leads to: one after the clock's and the parent's.
    pub(in crate::chain) fn sealed(&mut self, parent: u64, timestamp: u64) {
        self.sealed_ms = self.clock.now_ms();
        if self.next.take().is_some() || timestamp > self.now().max(parent) {
            self.set(timestamp);
        }
    }

    /// A block of this time begins with a preamble.
    pub(super) fn preceded(&mut self, timestamp: u64) {
        self.preceded = Some(timestamp.saturating_add_signed(self.offset.saturating_neg()).min(self.seconds()));
    }

    /// How long the clock has run since a block began with a preamble, in the whole seconds that blocks count in.
    pub(in crate::chain) fn since_preamble(&self) -> Duration {
        // A clock that was put back says nothing.
        self.preceded.map_or(Duration::MAX, |second| Duration::from_secs(self.seconds().abs_diff(second)))
    }

    /// How long the clock has run since the newest block was sealed.
    pub(in crate::chain) fn idle(&self) -> Duration {
        Duration::from_millis(self.clock.now_ms().saturating_sub(self.sealed_ms))
    }

    /// Whether the next block was promised a time.
    pub(in crate::chain) fn has_promise(&self) -> bool {
        self.next.is_some()
    }

    /// Moves the chain's time; returns by how many seconds it is now ahead of the clock.
    pub(super) fn increase(&mut self, seconds: i64) -> i64 {
        self.offset = self.offset.saturating_add(seconds);
        self.offset
    }

    /// By how many seconds the chain's time is ahead of the clock.
    pub(in crate::chain) fn ahead(&self) -> i64 {
        self.offset
    }

    /// Makes this the chain's time.
    pub(in crate::chain) fn set(&mut self, now: u64) {
        self.offset = 0;
        self.offset = (now as i64).saturating_sub(self.now() as i64);
    }

    /// Makes this the chain's time; returns by how many seconds it jumped ahead.
    pub(super) fn jump(&mut self, now: u64) -> i64 {
        let before = self.now();
        self.set(now);
        now.saturating_sub(before) as i64
    }

    /// Fixes the seconds from each block to the next, or lets the clock decide again. Returns whether they were fixed.
    pub(super) fn fix_interval(&mut self, seconds: Option<u64>) -> bool {
        std::mem::replace(&mut self.interval, seconds).is_some()
    }

    /// Forgets everything that development methods decided.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.clock.clone());
    }

    /// Promises the next block this time.
    pub(super) fn promise_next(&mut self, timestamp: u64) {
        self.next = Some(timestamp);
    }
}
