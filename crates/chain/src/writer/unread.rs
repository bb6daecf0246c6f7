//! Senders whose next transaction could not be executed because the other node of a fork did not
//! answer. They are tried again, but not in every block, since the writer waits for each answer, and
//! whoever changes the chain waits for the writer.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::Address;

use crate::Pooled;

/// The pause after an attempt, as a multiple of the time that it took: what is left to other work.
const PAUSE: u32 = 4;

/// Senders that are left out of blocks for a while, each with the time of the next attempt.
#[derive(Debug, Default)]
pub(crate) struct UnreadSenders(HashMap<Address, Instant>);

impl UnreadSenders {
    /// Leaves a sender out for a while, after an attempt that took so long.
    pub(super) fn put_off(&mut self, sender: Address, took: Duration) {
        self.0.insert(sender, Instant::now() + PAUSE * took);
    }

    /// Forgets the senders whose next attempt is due. Returns whether there are any.
    pub(super) fn take_due(&mut self) -> bool {
        let now = Instant::now();
        let all = self.0.len();
        self.0.retain(|_, due| *due > now);
        self.0.len() < all
    }

    /// Removes the transactions of those senders whose next attempt is not due yet.
    pub(super) fn leave_out(&mut self, transactions: &mut Vec<Arc<Pooled>>) {
        self.take_due();
        if !self.0.is_empty() {
            transactions.retain(|pooled| !self.0.contains_key(&pooled.transaction.sender));
        }
    }

    /// Returns the time of the first attempt, if there is any to make.
    pub(super) fn due(&self) -> Option<Instant> {
        self.0.values().min().copied()
    }
}
