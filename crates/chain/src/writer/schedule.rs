//! The writer's scheduled work: blocks that are due, ready transactions, and pieces of mining
//! orders.
//!
//! A block that is due at a time precedes any command, and no more than one piece of long work runs
//! between two commands.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::{
    ChainWriter,
    change::{Pace, Reply},
};
use crate::{ChangeError, Mining};

/// The shortest interval between blocks.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// The writer's scheduled work.
pub(crate) struct WriterSchedule {
    /// Time at which the next block is due, with interval mining.
    pub(crate) due: Option<Instant>,
    /// The pending reason to seal a block.
    pub(super) seal_reason: SealReason,
    /// Mining orders under way.
    pub(super) orders: VecDeque<MiningOrder>,
    /// Time at which the last piece of an order was mined.
    pub(crate) mined: Instant,
}

impl Default for WriterSchedule {
    fn default() -> Self {
        Self {
            due: None,
            seal_reason: SealReason::Nothing,
            orders: VecDeque::new(),
            mined: Instant::now(),
        }
    }
}

/// An order of blocks that are mined on demand.
pub(super) struct MiningOrder {
    pub(super) count: u64,
    pub(super) left: u64,
    pub(super) pace: Pace,
    /// Time of the last progress report, or else of the order.
    pub(super) reported: Instant,
    /// The request for it, in a cluster.
    pub(super) request: Option<u64>,
    pub(super) reply: Reply,
}

impl MiningOrder {
    /// Returns whether no caller waits for the order any longer. In a cluster the request for it
    /// may come again, and gets the answer of this one.
    pub(super) fn is_abandoned(&self) -> bool {
        self.request.is_none() && self.reply.is_closed()
    }

    /// Returns the error for an order of a writer that no longer leads. If a part of the blocks was
    /// mined, another node must not be asked for all of them, unless it knows the request and mines
    /// the rest.
    pub(super) fn deposed(&self) -> ChangeError {
        let mined = self.count - self.left;
        match (mined, self.request) {
            (0, _) | (_, Some(_)) => ChangeError::NotLeading,
            _ => ChangeError::Unavailable(format!(
                "the leader changed after {mined} of {} blocks",
                self.count
            )),
        }
    }
}

/// A reason to look for a block to seal with instant mining, in ascending order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SealReason {
    #[default]
    Nothing,
    /// Ready transactions.
    Transactions,
    /// Ready transactions, or a due preamble alone.
    Preamble,
}

impl WriterSchedule {
    /// Requests a look for a block to seal.
    pub(super) fn request_seal(&mut self, seal_reason: SealReason) {
        self.seal_reason = self.seal_reason.max(seal_reason);
    }
}

impl ChainWriter {
    /// Sets the time of the next block, with interval mining.
    pub(crate) fn schedule(&mut self) {
        self.schedule.due = self.interval().map(|interval| Instant::now() + interval);
    }

    fn interval(&self) -> Option<Duration> {
        let interval = self.mining().interval()?;
        Some(interval.max(MIN_INTERVAL))
    }

    /// Does scheduled work: seals the block that is due, and mines a piece of an order.
    /// `is_awaited` returns whether commands wait. Returns the time until there is more to do.
    pub(super) fn proceed(&mut self, is_awaited: impl FnOnce() -> bool) -> Option<Duration> {
        if !self.leads {
            return None;
        }
        if self.schedule.due.is_some_and(|due| due <= Instant::now()) {
            self.seal_due();
        }

        if self.unread.take_due() && self.mining().is_instant() {
            self.schedule.request_seal(SealReason::Transactions);
        }

        if !self.schedule.orders.is_empty() {
            self.proceed_mining(is_awaited);
        } else if self.schedule.seal_reason != SealReason::Nothing {
            let reason = std::mem::take(&mut self.schedule.seal_reason);
            if self.seal_next(reason) {
                self.schedule.request_seal(SealReason::Transactions);
            }
        }

        if self.schedule.orders.is_empty() && self.schedule.seal_reason == SealReason::Nothing {
            // With interval mining the next block tries them again.
            let unread = self.unread.due().filter(|_| self.mining().is_instant());
            let due = self.schedule.due.into_iter().chain(unread).min()?;
            Some(due.saturating_duration_since(Instant::now()))
        } else {
            Some(Duration::ZERO)
        }
    }

    /// Seals the block that is due. The next one is due an interval after this one was, however
    /// long sealing took; blocks that are overdue by then are skipped.
    fn seal_due(&mut self) {
        // The recorder notes a failure, and the next interval retries.
        let _ = self.seal_block(0);

        let Some(interval) = self.interval() else {
            self.schedule.due = None;
            return;
        };
        if let Some(due) = self.schedule.due {
            let missed =
                u32::try_from(due.elapsed().as_nanos() / interval.as_nanos()).unwrap_or(u32::MAX);
            let later = interval.saturating_mul(missed.saturating_add(1));
            self.schedule.due = due
                .checked_add(later)
                .or_else(|| Some(Instant::now() + interval));
        }
    }

    pub(crate) fn mining(&self) -> Mining {
        self.shared.sealing.lock().mining()
    }
}
