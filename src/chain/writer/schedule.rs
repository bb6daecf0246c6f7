//! When the writer does what nobody has to ask for: blocks that are due, and pieces of what takes long.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::{
    Writer,
    change::{Pace, Reply},
};
use crate::chain::Mining;

/// The shortest interval between blocks.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);

/// What the writer does next of its own accord.
pub(in crate::chain) struct Schedule {
    /// When the next block is due, if at a time.
    pub(in crate::chain) due: Option<Instant>,
    /// The pending reason to seal a block.
    pub(super) occasion: Occasion,
    /// Blocks that are being mined on demand.
    pub(super) orders: VecDeque<MiningOrder>,
    /// When some of them were mined last.
    pub(in crate::chain) mined: Instant,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { due: None, occasion: Occasion::Nothing, orders: VecDeque::new(), mined: Instant::now() }
    }
}

/// Blocks that are being mined on demand.
pub(super) struct MiningOrder {
    pub(super) count: u64,
    pub(super) left: u64,
    pub(super) pace: Pace,
    /// When progress was reported last, or else when the first block was begun.
    pub(super) reported: Instant,
    pub(super) reply: Reply,
}

/// A reason to seal a block with instant sealing, the lesser first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Occasion {
    #[default]
    Nothing,
    /// Transactions that are ready.
    Transactions,
    /// These, or else nothing but a preamble that is due.
    Preamble,
}

impl Schedule {
    /// There may be something to make a block for.
    pub(super) fn look_for(&mut self, occasion: Occasion) {
        self.occasion = self.occasion.max(occasion);
    }
}

impl Writer {
    /// A block is due an interval from now, if that is how blocks come about.
    pub(in crate::chain) fn schedule(&mut self) {
        self.schedule.due = self.interval().map(|interval| Instant::now() + interval);
    }

    fn interval(&self) -> Option<Duration> {
        match self.mining() {
            Mining::Interval(interval) => Some(interval.max(LEAST_INTERVAL)),
            Mining::Instant | Mining::Manual => None,
        }
    }

    /// Does what nobody has to ask for: makes the block that is due, and a piece of what is under way. `is_awaited` says
    /// whether commands wait. Returns how long there is nothing else to do.
    pub(super) fn proceed(&mut self, is_awaited: impl FnOnce() -> bool) -> Option<Duration> {
        if self.schedule.due.is_some_and(|due| due <= Instant::now()) {
            self.seal_due();
        }
        if !self.schedule.orders.is_empty() {
            self.proceed_mining(is_awaited);
        } else if self.schedule.occasion != Occasion::Nothing {
            let alone = std::mem::take(&mut self.schedule.occasion) == Occasion::Preamble;
            if self.seal_next(alone, true) {
                self.schedule.look_for(Occasion::Transactions);
            }
        }
        match self.schedule.orders.is_empty() && self.schedule.occasion == Occasion::Nothing {
            true => self.schedule.due.map(|due| due.saturating_duration_since(Instant::now())),
            false => Some(Duration::ZERO),
        }
    }

    /// The time for a block has come. The next one is due an interval after this one was, however long it took; those
    /// that are overdue by then are left out.
    fn seal_due(&mut self) {
        // A failure is remembered, and the next time is another chance.
        let _ = self.seal_block(0);
        if let (Some(due), Some(interval)) = (self.schedule.due, self.interval()) {
            let missed = u32::try_from(due.elapsed().as_nanos() / interval.as_nanos()).unwrap_or(u32::MAX);
            let later = interval.saturating_mul(missed.saturating_add(1));
            self.schedule.due = due.checked_add(later).or_else(|| Some(Instant::now() + interval));
        }
    }

    pub(in crate::chain) fn mining(&self) -> Mining {
        self.shared.sealing.lock().mining
    }
}
