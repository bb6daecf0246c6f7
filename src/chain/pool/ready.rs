//! What the next block can hold: senders whose next transaction is executable, by its fee cap, and the submitters that
//! wait for a block.
//!
//! Base fees change from block to block, and anybody can have transactions wait for a lower one at no cost. The caps
//! are ordered, so that a block looks at the senders only that can pay its base fee.

use std::{collections::BTreeSet, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_primitives::Address;

use super::{
    Inner, Pool, Pooled, order,
    sender::{Sender, Standing},
};
use crate::chain::SubmitError;

/// Senders that a list has room for from the beginning.
const FEW: usize = 64;

/// The index of all senders.
#[derive(Debug, Default)]
pub(super) struct ReadyIndex {
    /// The fee cap of each sender's next transaction, in wei per gas, and the sender.
    by_cap: BTreeSet<(u128, Address)>,
    /// Executable transactions of all senders.
    transactions: usize,
    /// Senders and nonces of the transactions whose submitters wait.
    awaited: BTreeSet<(Address, u64)>,
}

impl ReadyIndex {
    /// Executable transactions of all senders, whatever they pay.
    pub(super) fn transactions(&self) -> usize {
        self.transactions
    }

    pub(super) fn add_awaited(&mut self, sender: Address, nonce: u64) {
        self.awaited.insert((sender, nonce));
    }

    pub(super) fn remove_awaited(&mut self, sender: Address, nonce: u64) {
        self.awaited.remove(&(sender, nonce));
    }

    fn update(&mut self, sender: Address, before: Standing, now: Standing) {
        self.transactions = self.transactions + now.transactions - before.transactions;
        if before.cap != now.cap {
            before.cap.map(|cap| self.by_cap.remove(&(cap, sender)));
            now.cap.map(|cap| self.by_cap.insert((cap, sender)));
        }
    }

    /// The senders whose next transaction pays this base fee.
    fn affordable(&self, base_fee: u64) -> impl Iterator<Item = &Address> {
        self.by_cap.range((u128::from(base_fee), Address::ZERO)..).map(|(_, sender)| sender)
    }
}

impl Inner {
    /// Brings `senders` and `ready` in line after an account's transactions changed.
    pub(super) fn tidy(&mut self, address: Address) {
        let Some(sender) = self.senders.get_mut(&address) else { return };
        let (before, now) = sender.update_standing();
        self.ready.update(address, before, now);
        if sender.is_empty() {
            self.senders.remove(&address);
        }
    }
}

impl Pool {
    /// What can be executed next, best paying first, the transactions of each sender in order, equal ones in the
    /// order of arrival. At most `limit` transactions.
    pub fn executable(&self, base_fee: u64, limit: usize) -> Vec<Arc<Pooled>> {
        let inner = self.inner.lock();
        let mut queues = Vec::with_capacity(inner.ready.by_cap.len().min(FEW));
        let affordable = inner.ready.affordable(base_fee).filter_map(|address| inner.senders.get(address));
        queues.extend(affordable.map(Sender::executable));
        order::merge(queues, base_fee, limit)
    }

    /// Whether [`executable`](Self::executable) would return anything.
    pub fn has_executable(&self, base_fee: u64) -> bool {
        self.inner.lock().ready.affordable(base_fee).next().is_some()
    }

    /// Whether at most so many senders have something ready that pays the base fee, and it allows itself at most so
    /// much gas.
    pub fn has_little_ready(&self, base_fee: u64, senders: usize, gas: u64) -> bool {
        let inner = self.inner.lock();
        let mut left = gas;
        let affordable = inner.ready.affordable(base_fee).filter_map(|address| inner.senders.get(address));
        affordable.enumerate().all(|(count, sender)| {
            count < senders
                && sender.executable().all(|pooled| {
                    let rest = left.checked_sub(pooled.transaction.envelope.gas_limit());
                    left = rest.unwrap_or(left);
                    rest.is_some()
                })
        })
    }

    /// Answers the submitters of transactions that the next block cannot hold after all: the base fee rose above what
    /// they or those before them pay, or one before them is gone. The transactions stay.
    pub fn release_unaffordable(&self, base_fee: u64) {
        let mut guard = self.inner.lock();
        let Inner { senders, ready, .. } = &mut *guard;
        ready.awaited.retain(|(address, nonce)| {
            let Some(sender) = senders.get_mut(address) else { return false };
            let stays = sender.can_include(*nonce, base_fee);
            if !stays {
                sender.release(*nonce);
            }
            stays
        });
    }

    /// Takes out the transactions whose submitters wait, and answers these. Transactions that were acknowledged stay.
    pub fn refuse_awaited(&self, reason: impl Fn() -> SubmitError) {
        let mut guard = self.inner.lock();
        let awaited: Vec<_> = guard.ready.awaited.iter().copied().collect();
        for (address, nonce) in awaited {
            let pooled = guard.senders.get(&address).and_then(|sender| sender.get(nonce));
            let hash = pooled.map(|pooled| pooled.transaction.hash());
            if let Some(slot) = hash.and_then(|hash| guard.take(hash)) {
                slot.answer(|| Err(reason()));
            }
        }
    }
}
