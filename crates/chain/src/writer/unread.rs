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
#[derive(Debug, Default)]
pub(crate) struct UnreadSenders(HashMap<Address, Unread>);

#[derive(Debug)]
struct Unread {
    /// The transaction whose state could not be read.
    hash: B256,
    pause: Duration,
    /// The time of the next attempt.
    due: Instant,
    /// Whether that attempt was asked for.
    is_taken: bool,
}

impl UnreadSenders {
    /// Leaves the sender of a transaction out for a while, after an attempt that took so long. Returns
    /// whether it is the first one for this transaction.
    pub(super) fn put_off(&mut self, sender: Address, hash: B256, took: Duration) -> bool {
        let before = self.0.get(&sender).filter(|unread| unread.hash == hash);
        let pause = before.map_or(FIRST_PAUSE, |unread| 2 * unread.pause);
        let pause = pause.min(LONGEST_PAUSE).max(LEAST_PAUSE * took);

        let is_first = before.is_none();
        let unread = Unread {
            hash,
            pause,
            due: Instant::now() + pause,
            is_taken: false,
        };
        self.0.insert(sender, unread);
        is_first
    }

    /// Returns whether there are senders whose next attempt has become due since the last call.
    pub(super) fn take_due(&mut self) -> bool {
        let now = Instant::now();
        self.0.retain(|_, unread| unread.due + REMEMBERED > now);

        let mut any = false;
        for unread in self.0.values_mut().filter(|unread| unread.due <= now) {
            any |= !unread.is_taken;
            unread.is_taken = true;
        }
        any
    }

    /// Removes the transactions of those senders whose next attempt is not due yet.
    pub(super) fn leave_out(&self, transactions: &mut Vec<Arc<Pooled>>) {
        if self.0.is_empty() {
            return;
        }
        let now = Instant::now();
        transactions.retain(|pooled| {
            let unread = self.0.get(&pooled.transaction.sender);
            unread.is_none_or(|unread| unread.due <= now)
        });
    }

    /// Returns the time of the first attempt that was not taken yet, if there is any to make.
    pub(super) fn due(&self) -> Option<Instant> {
        let waiting = self.0.values().filter(|unread| !unread.is_taken);
        waiting.map(|unread| unread.due).min()
    }
}
