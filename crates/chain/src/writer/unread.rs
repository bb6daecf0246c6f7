//! Senders whose next transaction could not be executed because the other node of a fork did not
//! answer. They are tried again, but not in every block, since the writer waits for each answer, and
//! other changes wait for the writer.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::{Address, B256};

use crate::Pooled;

/// The pause after the first attempt. Each further one is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The least pause as a multiple of the time that the attempt took: the rest is for other work.
const LEAST_PAUSE: u32 = 4;
/// The time after its next attempt was due for which a sender is remembered.
const REMEMBERED: Duration = Duration::from_secs(60);

/// Senders that are left out of blocks for a while.
#[derive(Debug)]
pub(crate) struct UnreadSenders {
    senders: HashMap<Address, Unread>,
    /// The time of the last check for attempts that are due.
    checked: Instant,
}

#[derive(Debug)]
struct Unread {
    /// The transaction whose state could not be read.
    hash: B256,
    pause: Duration,
    /// The time of the next attempt.
    due: Instant,
}

impl UnreadSenders {
    pub(crate) fn new() -> Self {
        Self {
            senders: HashMap::new(),
            checked: Instant::now(),
        }
    }

    /// Leaves the sender of a transaction out for a while, after an attempt that took so long. Returns
    /// whether it is the first one for this transaction.
    pub(super) fn put_off(&mut self, sender: Address, hash: B256, took: Duration) -> bool {
        let now = Instant::now();
        self.senders
            .retain(|_, unread| unread.due + REMEMBERED > now);

        let before = self.senders.get(&sender).filter(|one| one.hash == hash);
        let is_first = before.is_none();
        let pause = before.map_or(FIRST_PAUSE, |unread| 2 * unread.pause);
        let pause = pause.min(LONGEST_PAUSE).max(LEAST_PAUSE * took);

        let due = now + pause;
        self.senders.insert(sender, Unread { hash, pause, due });
        is_first
    }

    /// Returns whether an attempt has become due since the last check.
    pub(super) fn take_due(&mut self) -> bool {
        if self.senders.is_empty() {
            return false;
        }
        let now = Instant::now();
        let before = std::mem::replace(&mut self.checked, now);
        let mut due = self.senders.values().map(|unread| unread.due);
        due.any(|due| before < due && due <= now)
    }

    /// Returns the time of the next attempt, if one becomes due after the last check.
    pub(super) fn due(&self) -> Option<Instant> {
        let due = self.senders.values().map(|unread| unread.due);
        due.filter(|due| *due > self.checked).min()
    }

    /// Removes the transactions of those senders whose next attempt is not due yet.
    pub(super) fn leave_out(&self, transactions: &mut Vec<Arc<Pooled>>) {
        if self.senders.is_empty() {
            return;
        }
        let now = Instant::now();
        transactions.retain(|pooled| {
            let unread = self.senders.get(&pooled.transaction.sender);
            unread.is_none_or(|unread| unread.due <= now)
        });
    }
}
