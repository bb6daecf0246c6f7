//! The transactions of one account that wait in the pool.

use std::{collections::BTreeMap, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_primitives::U256;
use tokio::sync::oneshot;

use super::{Pooled, room::Usage};
use crate::{chain::SubmitError, store::KeptTransaction};

/// Who wants to know when a transaction is in a block, or that it never will be.
pub(super) type Waiter = oneshot::Sender<Result<(), SubmitError>>;

/// A transaction and who waits for it.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) pooled: Arc<Pooled>,
    pub(super) waiter: Option<Waiter>,
}

/// One account's transactions by nonce.
#[derive(Debug)]
pub(super) struct Sender {
    /// The account's next nonce as of the head.
    nonce: u64,
    /// The first nonce from `nonce` on that is missing.
    end: u64,
    /// What all transactions together may cost.
    cost: U256,
    /// Bytes of all transactions together.
    bytes: usize,
    /// When a transaction came or went into a block last, in milliseconds since the Unix epoch.
    active: u64,
    slots: BTreeMap<u64, Slot>,
}

impl Slot {
    /// Tells whoever waits what became of the transaction.
    pub(super) fn answer(self, outcome: impl FnOnce() -> Result<(), SubmitError>) {
        if let Some(waiter) = self.waiter {
            // Whoever waited may have gone.
            let _ = waiter.send(outcome());
        }
    }
}

impl Sender {
    pub(super) fn new(nonce: u64) -> Self {
        Self { nonce, end: nonce, cost: U256::ZERO, bytes: 0, active: 0, slots: BTreeMap::new() }
    }

    /// Notes that the account did something at this time.
    pub(super) fn touch(&mut self, now: u64) {
        self.active = self.active.max(now);
    }

    /// When the account did something last.
    pub(super) fn active(&self) -> u64 {
        self.active
    }

    pub(super) fn get(&self, nonce: u64) -> Option<&Arc<Pooled>> {
        self.slots.get(&nonce).map(|slot| &slot.pooled)
    }

    /// Whether somebody waits for the transaction at `nonce`; none if there is no such transaction.
    pub(super) fn is_awaited(&self, nonce: u64) -> Option<bool> {
        self.slots.get(&nonce).map(|slot| slot.waiter.is_some())
    }

    pub(super) fn usage(&self) -> Usage {
        Usage { count: self.slots.len(), bytes: self.bytes }
    }

    /// The last nonce that is taken, and whether its transaction can be executed without waiting for another one.
    pub(super) fn last(&self) -> Option<(u64, bool)> {
        self.slots.last_key_value().map(|(nonce, _)| (*nonce, *nonce < self.end))
    }

    /// The transactions that became executable since the pending nonce was `before`, or no longer are, and which of it.
    pub(super) fn moved_since(&self, before: u64) -> (impl Iterator<Item = &Arc<Pooled>>, bool) {
        let range = before.min(self.end)..before.max(self.end);
        (self.slots.range(range).map(|(_, slot)| &slot.pooled), self.end > before)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// What all transactions but the one at `nonce` may cost.
    pub(super) fn cost_without(&self, nonce: u64) -> U256 {
        self.cost - self.get(nonce).map_or(U256::ZERO, |pooled| pooled.cost)
    }

    /// The nonce that the next transaction should have.
    pub(super) fn pending_nonce(&self) -> u64 {
        self.end
    }

    /// Whether something of this account could go into the next block.
    pub(super) fn is_ready(&self) -> bool {
        self.end > self.nonce
    }

    /// The transactions that can be executed one after another from here.
    pub(super) fn executable(&self) -> impl Iterator<Item = &Arc<Pooled>> {
        self.slots.range(self.nonce..self.end).map(|(_, slot)| &slot.pooled)
    }

    /// All transactions, and whether each can be executed without waiting for another one to arrive.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Arc<Pooled>, bool)> {
        self.slots.iter().map(|(nonce, slot)| (&slot.pooled, *nonce < self.end))
    }

    /// Adds a transaction; returns the one it replaces.
    pub(super) fn insert(&mut self, slot: Slot) -> Option<Slot> {
        let nonce = slot.pooled.nonce();
        self.cost += slot.pooled.cost;
        self.bytes += slot.pooled.bytes;
        let replaced = self.slots.insert(nonce, slot);
        if let Some(replaced) = &replaced {
            self.gone(replaced);
        }
        self.extend();
        replaced
    }

    /// Takes a transaction out; those after it wait for its nonce to be filled again.
    pub(super) fn remove(&mut self, nonce: u64) -> Option<Slot> {
        let slot = self.slots.remove(&nonce)?;
        self.gone(&slot);
        if nonce >= self.nonce {
            self.end = self.end.min(nonce);
        }
        Some(slot)
    }

    /// The head's view of the account changed. Returns the transactions whose nonce is used up.
    pub(super) fn advance(&mut self, nonce: u64, now: u64) -> Vec<Slot> {
        let rest = self.slots.split_off(&nonce);
        let used = std::mem::replace(&mut self.slots, rest);
        used.values().for_each(|slot| self.gone(slot));
        (self.nonce, self.end) = (nonce, self.end.max(nonce));
        if !used.is_empty() {
            self.touch(now);
        } else {
            // The nonce may have gone back: then nothing is known to follow it.
            self.end = nonce;
        }
        self.extend();
        used.into_values().collect()
    }

    /// See [`Pool::release_unaffordable`](super::Pool::release_unaffordable).
    pub(super) fn release_unaffordable(&mut self, base_fee: u64) {
        let affordable = |slot: &Slot| slot.pooled.transaction.envelope.effective_tip_per_gas(base_fee).is_some();
        let stuck =
            self.slots.range_mut(self.nonce..self.end).map(|(_, slot)| slot).skip_while(|slot| affordable(slot));
        for waiter in stuck.filter_map(|slot| slot.waiter.take()) {
            let _ = waiter.send(Ok(()));
        }
    }

    /// Takes out what the next block cannot hold: what waits for another transaction or for a lower base fee.
    pub(super) fn take_stuck(&mut self, base_fee: u64) -> Vec<Slot> {
        let affordable = |slot: &Slot| slot.pooled.transaction.envelope.effective_tip_per_gas(base_fee).is_some();
        let first = self.slots.range(self.nonce..self.end).find(|(_, slot)| !affordable(slot));
        self.end = first.map_or(self.end, |(nonce, _)| *nonce);
        let stuck = self.slots.split_off(&self.end);
        stuck.values().for_each(|slot| self.gone(slot));
        stuck.into_values().collect()
    }

    /// A transaction is no longer among the slots.
    fn gone(&mut self, slot: &Slot) {
        self.cost -= slot.pooled.cost;
        self.bytes -= slot.pooled.bytes;
    }

    fn extend(&mut self) {
        while self.slots.contains_key(&self.end) {
            self.end += 1;
        }
    }
}

impl Pooled {
    /// The transaction's nonce.
    pub fn nonce(&self) -> u64 {
        self.transaction.envelope.nonce()
    }

    /// What is kept of it on disk.
    pub(in crate::chain) fn kept(&self) -> KeptTransaction {
        KeptTransaction { transaction: self.transaction.clone(), sidecar: self.sidecar.clone() }
    }
}
