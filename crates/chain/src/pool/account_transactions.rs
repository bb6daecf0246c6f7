//! One account's pooled transactions.

use std::{collections::BTreeMap, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_primitives::U256;
use tokio::sync::oneshot;

use super::Pooled;
use crate::SubmitError;

/// The channel on which a submitter waits until the transaction is in a block or is rejected.
pub(super) type Waiter = oneshot::Sender<Result<(), SubmitError>>;

/// A sender's entry in the index of ready senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadyEntry {
    /// Fee cap of the next transaction, in wei per gas, if it is executable.
    pub(super) cap: Option<u128>,
    /// Number of executable transactions.
    pub(super) executable: usize,
}

/// Usage of a limit: transactions and bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PoolUsage {
    pub(super) count: usize,
    pub(super) bytes: usize,
}

/// A transaction and its waiting submitter.
#[derive(Debug)]
pub(super) struct PoolSlot {
    pub(super) pooled: Arc<Pooled>,
    pub(super) waiter: Option<Waiter>,
}

/// One account's transactions by nonce.
#[derive(Debug)]
pub(super) struct AccountTransactions {
    /// The account's next nonce as of the head.
    nonce: u64,
    /// The first missing nonce from `nonce` on.
    end: u64,
    /// The maximum cost of all transactions together, in wei.
    cost: U256,
    /// Size of all transactions together, in bytes.
    bytes: usize,
    /// Time of the last arrival or inclusion of a transaction, in milliseconds since the Unix
    /// epoch.
    active: u64,
    /// The sender's current entry in the index of ready senders.
    ready_entry: ReadyEntry,
    slots: BTreeMap<u64, PoolSlot>,
}

impl PoolSlot {
    /// Sends the outcome to the submitter, if it waits.
    pub(super) fn answer(self, outcome: impl FnOnce() -> Result<(), SubmitError>) {
        if let Some(waiter) = self.waiter {
            // The submitter may have disconnected.
            let _ = waiter.send(outcome());
        }
    }
}

impl AccountTransactions {
    pub(super) fn new(nonce: u64) -> Self {
        Self {
            nonce,
            end: nonce,
            cost: U256::ZERO,
            bytes: 0,
            active: 0,
            ready_entry: ReadyEntry::default(),
            slots: BTreeMap::new(),
        }
    }

    /// Records activity of the account.
    pub(super) fn touch(&mut self, now: u64) {
        self.active = self.active.max(now);
    }

    /// Returns the time of the account's last activity, in milliseconds since the Unix epoch.
    pub(super) fn active(&self) -> u64 {
        self.active
    }

    pub(super) fn get(&self, nonce: u64) -> Option<&Arc<Pooled>> {
        self.slots.get(&nonce).map(|slot| &slot.pooled)
    }

    /// Returns a transaction whose submitter still waits for its block.
    pub(super) fn waiting(&self, nonce: u64) -> Option<&Arc<Pooled>> {
        let slot = self.slots.get(&nonce)?;
        slot.waiter
            .as_ref()
            .filter(|waiter| !waiter.is_closed())
            .map(|_| &slot.pooled)
    }

    pub(super) fn usage(&self) -> PoolUsage {
        PoolUsage {
            count: self.slots.len(),
            bytes: self.bytes,
        }
    }

    /// Returns the highest nonce, and whether its transaction is executable without waiting for
    /// another one.
    pub(super) fn last(&self) -> Option<(u64, bool)> {
        self.slots
            .last_key_value()
            .map(|(nonce, _)| (*nonce, *nonce < self.end))
    }

    /// Returns the transactions whose executability changed since the pending nonce was `before`,
    /// and whether they are executable now.
    pub(super) fn moved_since(&self, before: u64) -> (impl Iterator<Item = &Arc<Pooled>>, bool) {
        let range = before.min(self.end)..before.max(self.end);
        (
            self.slots.range(range).map(|(_, slot)| &slot.pooled),
            self.end > before,
        )
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the maximum cost of all transactions except the one at `nonce`, in wei.
    pub(super) fn cost_without(&self, nonce: u64) -> U256 {
        self.cost - self.get(nonce).map_or(U256::ZERO, |pooled| pooled.cost)
    }

    /// Returns the nonce for the account's next transaction.
    pub(super) fn pending_nonce(&self) -> u64 {
        self.end
    }

    /// Updates the sender's entry in the index of ready senders. Returns the previous entry and the
    /// new one.
    pub(super) fn update_ready_entry(&mut self) -> (ReadyEntry, ReadyEntry) {
        let cap = self
            .executable()
            .next()
            .map(|pooled| pooled.transaction.envelope.max_fee_per_gas());
        let now = ReadyEntry {
            cap,
            executable: (self.end - self.nonce) as usize,
        };
        (std::mem::replace(&mut self.ready_entry, now), now)
    }

    /// Returns whether advancing to `nonce` would change nothing.
    pub(super) fn is_at(&self, nonce: u64) -> bool {
        self.nonce == nonce
            && self
                .slots
                .first_key_value()
                .is_none_or(|(first, _)| *first >= nonce)
    }

    /// Iterates over the executable transactions, in order of nonce.
    pub(super) fn executable(&self) -> impl Iterator<Item = &Arc<Pooled>> {
        self.slots
            .range(self.nonce..self.end)
            .map(|(_, slot)| &slot.pooled)
    }

    /// Iterates over all transactions, each with whether it is executable without waiting for
    /// another one.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Arc<Pooled>, bool)> {
        self.slots
            .iter()
            .map(|(nonce, slot)| (&slot.pooled, *nonce < self.end))
    }

    /// Adds a transaction and returns the one that it replaces.
    pub(super) fn insert(&mut self, slot: PoolSlot) -> Option<PoolSlot> {
        let nonce = slot.pooled.nonce();
        self.cost += slot.pooled.cost;
        self.bytes += slot.pooled.bytes;
        let replaced = self.slots.insert(nonce, slot);
        if let Some(replaced) = &replaced {
            self.subtract(replaced);
        }

        self.extend();
        replaced
    }

    /// Removes a transaction. Later ones are queued until its nonce is filled again.
    pub(super) fn remove(&mut self, nonce: u64) -> Option<PoolSlot> {
        let slot = self.slots.remove(&nonce)?;
        self.subtract(&slot);

        // A lower nonce was added for a reverted head that the pool has not advanced to yet.
        if nonce >= self.nonce {
            self.end = self.end.min(nonce);
        }
        Some(slot)
    }

    /// Sets the account's nonce as of a new head. Returns the transactions whose nonce is used up.
    pub(super) fn advance(&mut self, nonce: u64, now: u64) -> Vec<PoolSlot> {
        let rest = self.slots.split_off(&nonce);
        let used = std::mem::replace(&mut self.slots, rest);
        used.values().for_each(|slot| self.subtract(slot));

        self.nonce = nonce;
        if used.is_empty() {
            // The nonce may have decreased in a rollback, and the transactions in between are
            // unknown.
            self.end = nonce;
        } else {
            self.end = self.end.max(nonce);
            self.touch(now);
        }
        self.extend();
        used.into_values().collect()
    }

    /// Returns whether a block with this base fee can include the transaction at `nonce` and those
    /// before it.
    pub(super) fn can_include(&self, nonce: u64, base_fee: u64) -> bool {
        let mut before = self.slots.range(self.nonce.min(nonce)..=nonce);
        nonce < self.end && before.all(|(_, slot)| slot.pooled.pays(base_fee))
    }

    /// Answers the submitter of the transaction at `nonce`. The transaction stays in the pool.
    pub(super) fn release(&mut self, nonce: u64) {
        if let Some(waiter) = self
            .slots
            .get_mut(&nonce)
            .and_then(|slot| slot.waiter.take())
        {
            // The submitter may have disconnected.
            let _ = waiter.send(Ok(()));
        }
    }

    /// Removes the transactions that the next block cannot include: those that wait for another
    /// transaction or for a lower base fee.
    pub(super) fn take_stuck(&mut self, base_fee: u64) -> Vec<PoolSlot> {
        let first = self
            .slots
            .range(self.nonce..self.end)
            .find(|(_, slot)| !slot.pooled.pays(base_fee));
        self.end = first.map_or(self.end, |(nonce, _)| *nonce);

        let stuck = self.slots.split_off(&self.end);
        stuck.values().for_each(|slot| self.subtract(slot));
        stuck.into_values().collect()
    }

    /// Subtracts a removed transaction from the totals.
    fn subtract(&mut self, slot: &PoolSlot) {
        self.cost -= slot.pooled.cost;
        self.bytes -= slot.pooled.bytes;
    }

    fn extend(&mut self) {
        while self.slots.contains_key(&self.end) {
            self.end += 1;
        }
    }
}
