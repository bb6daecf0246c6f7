//! The timestamp of the next block, from the clock and the settings of development methods.
//!
//! Blocks that are sealed automatically may share a second, so that load never drives the chain's
//! time ahead of the clock and makes prices stale. `evm_mine` moves the time by at least one
//! second. With `block-timestamps = "increasing"`, which a chain from a genesis file always has,
//! each block is later than its parent.
//!
//! A time that a development method sets is the time of the next block, also with a fixed interval.
//! It is refused if it is before the newest block, or after the year 9999, which the times of
//! Cosmos cannot express. In the last second of that year time stands still.

use std::{sync::Arc, time::Duration};

use tetrad_stdx::{calendar::LAST_SECOND, clock::Clock};
use tetrad_store::log::TimeShift;

use crate::{ChangeError, Head};

/// The chain's time.
#[derive(Clone)]
pub(crate) struct Timing {
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
    /// Whether the time of a chain without blocks continues that of its first block.
    continues: bool,
}

impl Timing {
    pub(crate) fn new(clock: Arc<dyn Clock>, continues: bool) -> Self {
        let sealed_ms = clock.now_ms();
        Self {
            clock,
            offset: 0,
            next: None,
            interval: None,
            sealed_ms,
            preceded: None,
            continues,
        }
    }

    /// Returns the shift of the chain's time against the clock.
    pub(crate) fn shift(&self) -> TimeShift {
        TimeShift {
            ahead: self.offset,
            next_timestamp: self.next,
            interval: self.interval,
        }
    }

    /// Sets the shift of the chain's time against the clock.
    pub(crate) fn restore(&mut self, shift: TimeShift) {
        self.offset = shift.ahead;
        self.next = shift.next_timestamp;
        self.interval = shift.interval;
    }

    /// Adopts the time shift that another writer recorded with the newest block.
    pub(super) fn adopt(&mut self, shift: TimeShift) {
        self.restore(shift);
        self.sealed_ms = self.clock.now_ms();
    }

    /// On a fork, sets the chain's time to that of the forked block; likewise to that of the first
    /// block, if time continues it. A time that was moved before stays.
    pub(crate) fn start_at(&mut self, first: &Head) {
        if self.shift() != TimeShift::default() {
            return;
        }
        let is_first = first.number() == first.genesis.number();
        if first.state.base().is_some() || (self.continues && is_first) {
            self.set(first.block.header.timestamp);
        }
    }

    /// Continues the time of a dump that was so many seconds ahead of the clock, or, if the dump does
    /// not say, whose newest block was sealed at `time`: the next one must not be earlier.
    pub(crate) fn follow_dump(&mut self, ahead: Option<i64>, time: u64) {
        let least = (time as i64).saturating_sub(self.seconds() as i64);
        self.offset = ahead.unwrap_or(self.offset.max(least));
    }

    /// Returns the chain's time, in seconds since the Unix epoch. It stands still in the last
    /// second.
    pub(crate) fn now(&self) -> u64 {
        self.seconds()
            .saturating_add_signed(self.offset)
            .min(LAST_SECOND)
    }

    /// Returns the clock's time, in seconds since the Unix epoch.
    fn seconds(&self) -> u64 {
        self.clock.now_ms() / 1000
    }

    /// Returns the timestamp of the next block, at least `at_least` seconds after its parent's.
    /// With 0 blocks may share a second, as on the live network with its three blocks a second, so
    /// that a chain under load stays in step with the clock. A time that was set by hand only has
    /// to follow the chain's rule: `apart` seconds.
    pub(crate) fn of_next_block(&self, parent: u64, apart: u64, at_least: u64) -> u64 {
        let set = self
            .next
            .or_else(|| Some(parent.saturating_add(self.interval?)));

        match set {
            Some(set) => set.max(parent.saturating_add(apart)),
            None => self.now().max(parent.saturating_add(apart.max(at_least))),
        }
    }

    /// Notes that a block was sealed at `timestamp`, after a parent at `parent`. A timestamp that
    /// was set by a development method, or that is later than both the clock and the parent,
    /// becomes the chain's time.
    pub(crate) fn sealed(&mut self, parent: u64, timestamp: u64) {
        self.sealed_ms = self.clock.now_ms();
        if self.next.take().is_some() || timestamp > self.now().max(parent) {
            self.set(timestamp);
        }
    }

    /// Notes that a block with this timestamp begins with a preamble.
    pub(super) fn preceded(&mut self, timestamp: u64) {
        // A timestamp that was set, or must increase, may be ahead of the clock.
        self.preceded = Some(
            timestamp
                .saturating_add_signed(self.offset.saturating_neg())
                .min(self.seconds()),
        );
    }

    /// Returns the clock's time since the last preamble, in whole seconds as in timestamps.
    pub(crate) fn since_preamble(&self) -> Duration {
        // The difference is absolute because the clock may have been set back.
        self.preceded.map_or(Duration::MAX, |second| {
            Duration::from_secs(self.seconds().abs_diff(second))
        })
    }

    /// Returns the clock's time since the newest block was sealed.
    pub(crate) fn idle(&self) -> Duration {
        Duration::from_millis(self.clock.now_ms().saturating_sub(self.sealed_ms))
    }

    /// Returns whether a timestamp was set for the next block.
    pub(crate) fn has_next_timestamp(&self) -> bool {
        self.next.is_some()
    }

    /// Moves the chain's time. Returns the number of seconds by which it is now ahead of the clock.
    pub(super) fn increase(&mut self, seconds: i64) -> i64 {
        self.offset = self.offset.saturating_add(seconds);
        self.offset
    }

    /// Moves the chain's time, and with it the next block after a parent at `parent`, even if the
    /// seconds between blocks are fixed. Returns the number of seconds by which it is now ahead of
    /// the clock.
    pub(super) fn advance(&mut self, parent: u64, seconds: i64) -> Result<i64, ChangeError> {
        let next = self.interval.map(|apart| parent.saturating_add(apart));
        self.advance_to(
            next.map(|next| next.saturating_add_signed(seconds)),
            seconds,
        )
    }

    /// Moves the chain's time before a block that is this number of seconds after its parent at
    /// `parent`, even if another number is fixed.
    pub(super) fn space(&mut self, parent: u64, seconds: i64) -> Result<i64, ChangeError> {
        let next = self.interval.map(|_| parent.saturating_add_signed(seconds));
        self.advance_to(next, seconds)
    }

    /// Moves the chain's time. The next block has the time `next`, unless one was set for it
    /// before.
    fn advance_to(&mut self, next: Option<u64>, seconds: i64) -> Result<i64, ChangeError> {
        let next = self.next.or(next);

        check(self.now().saturating_add_signed(seconds))?;
        check(next.unwrap_or_default())?;

        self.next = next;
        Ok(self.increase(seconds))
    }

    /// Returns the number of seconds by which the chain's time is ahead of the clock.
    pub(crate) fn ahead(&self) -> i64 {
        self.offset
    }

    /// Sets the chain's time.
    pub(crate) fn set(&mut self, now: u64) {
        // Without the offset, the chain's time is the clock's.
        self.offset = 0;
        self.offset = (now as i64).saturating_sub(self.now() as i64);
    }

    /// Sets the chain's time. Returns the number of seconds by which it moved. The next block has
    /// this time if it is sealed in the same second, even after a parent of the same time, or if
    /// the seconds between blocks are fixed. A time that was set for the next block before no
    /// longer holds. A time before the newest block's is an error, unless it `may_precede`: the next
    /// block then follows its parent.
    pub(super) fn jump(
        &mut self,
        parent: u64,
        apart: u64,
        now: u64,
        may_precede: bool,
    ) -> Result<i64, ChangeError> {
        if may_precede {
            check(now)?;
        } else {
            check_after(parent, apart, now)?;
        }

        let before = self.now();
        self.set(now);
        let is_next = now == parent || (now > parent && self.interval.is_some());
        self.next = Some(now).filter(|_| is_next);
        Ok(now.saturating_sub(before) as i64)
    }

    /// Sets the seconds between blocks, or follows the clock again. Returns whether they were set
    /// before.
    pub(super) fn fix_interval(
        &mut self,
        parent: u64,
        apart: u64,
        seconds: Option<u64>,
    ) -> Result<bool, ChangeError> {
        if let Some(seconds) = seconds {
            check_after(parent, apart, parent.saturating_add(seconds))?;
        }
        Ok(std::mem::replace(&mut self.interval, seconds).is_some())
    }

    /// Discards all settings of development methods, at the chain with which the node started.
    pub(super) fn reset(&mut self, origin: &Head) {
        *self = Self::new(self.clock.clone(), self.continues);
        if self.continues {
            self.set(origin.block.header.timestamp);
        }
        self.start_at(origin);
    }

    /// Sets the timestamp of the next block.
    pub(super) fn set_next_timestamp(
        &mut self,
        parent: u64,
        apart: u64,
        timestamp: u64,
    ) -> Result<(), ChangeError> {
        check_after(parent, apart, timestamp)?;
        self.next = Some(timestamp);
        Ok(())
    }
}

/// Checks that a block may have this time.
fn check(time: u64) -> Result<(), ChangeError> {
    if time > LAST_SECOND {
        Err(ChangeError::TooLate(time))
    } else {
        Ok(())
    }
}

/// Checks that a block may have this time, `apart` seconds or more after its parent's.
fn check_after(parent: u64, apart: u64, time: u64) -> Result<(), ChangeError> {
    if time < parent.saturating_add(apart) {
        return Err(ChangeError::Timestamp(parent));
    }
    check(time)
}
