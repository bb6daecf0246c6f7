//! The transactions of one account that wait in the pool.

use std::{collections::BTreeMap, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_primitives::U256;
use tokio::sync::oneshot;

use super::Pooled;
use crate::{chain::SubmitError, store::KeptTransaction};

/// Who wants to know when a transaction is in a block, or that it never will be.
pub(super) type Waiter = oneshot::Sender<Result<(), SubmitError>>;

/// A sender's part of the index of those that are ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// The fee cap of the next transaction, in wei per gas, if there is an executable one.
    pub(super) cap: Option<u128>,
    /// How many transactions are executable.
    pub(super) transactions: usize,
}

/// The share of a limit in use: transactions and bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    pub(super) count: usize,
    pub(super) bytes: usize,
}

/// A transaction and who waits for it.
#[derive(Debug)]
pub(super) struct SenderSlot {
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
    /// What the index of ready senders holds of this one.
    standing: Standing,
    slots: BTreeMap<u64, SenderSlot>,
}

impl SenderSlot {
    /// Tells whoever waits what became of the transaction.
    pub(super) fn answer(self, outcome: impl FnOnce() -> Result<(), SubmitError>) {
        if let Some(waiter) = self.waiter {
            // Whoever waited may have gone.
            let _ = waiter.send(outcome());
        }
    }

    fn is_affordable(&self, base_fee: u64) -> bool {
        self.pooled.transaction.envelope.max_fee_per_gas() >= u128::from(base_fee)
    }
}

impl Sender {
    pub(super) fn new(nonce: u64) -> Self {
        Self {
            nonce,
            end: nonce,
            cost: U256::ZERO,
            bytes: 0,
            active: 0,
            standing: Standing::default(),
            slots: BTreeMap::new(),
        }
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

    /// Updates what the index of ready senders holds of this one. Returns what it held before and what it holds now.
    pub(super) fn update_standing(&mut self) -> (Standing, Standing) {
        let cap = self.executable().next().map(|pooled| pooled.transaction.envelope.max_fee_per_gas());
        let now = Standing { cap, transactions: (self.end - self.nonce) as usize };
        (std::mem::replace(&mut self.standing, now), now)
    }

    /// Whether the account's next nonce is already known to be `nonce`, so that nothing changes by advancing to it.
    pub(super) fn is_at(&self, nonce: u64) -> bool {
        self.nonce == nonce && self.slots.first_key_value().is_none_or(|(first, _)| *first >= nonce)
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
    pub(super) fn insert(&mut self, slot: SenderSlot) -> Option<SenderSlot> {
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
    pub(super) fn remove(&mut self, nonce: u64) -> Option<SenderSlot> {
        let slot = self.slots.remove(&nonce)?;
        self.gone(&slot);
        if nonce >= self.nonce {
            self.end = self.end.min(nonce);
        }
        Some(slot)
    }

    /// The head's view of the account changed. Returns the transactions whose nonce is used up.
    pub(super) fn advance(&mut self, nonce: u64, now: u64) -> Vec<SenderSlot> {
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

    /// Whether a block with this base fee can hold the transaction at `nonce` and those before it.
    pub(super) fn can_include(&self, nonce: u64, base_fee: u64) -> bool {
        let mut before = self.slots.range(self.nonce.min(nonce)..=nonce);
        nonce < self.end && before.all(|(_, slot)| slot.is_affordable(base_fee))
    }

    /// Answers the submitter of the transaction at `nonce`; the transaction stays.
    pub(super) fn release(&mut self, nonce: u64) {
        if let Some(waiter) = self.slots.get_mut(&nonce).and_then(|slot| slot.waiter.take()) {
            // The submitter may have gone.
            let _ = waiter.send(Ok(()));
        }
    }

    /// Takes out what the next block cannot hold: what waits for another transaction or for a lower base fee.
    pub(super) fn take_stuck(&mut self, base_fee: u64) -> Vec<SenderSlot> {
        let first = self.slots.range(self.nonce..self.end).find(|(_, slot)| !slot.is_affordable(base_fee));
        self.end = first.map_or(self.end, |(nonce, _)| *nonce);
        let stuck = self.slots.split_off(&self.end);
        stuck.values().for_each(|slot| self.gone(slot));
        stuck.into_values().collect()
    }

    /// A transaction is no longer among the slots.
    fn gone(&mut self, slot: &SenderSlot) {
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
