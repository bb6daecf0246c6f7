//! The index of ready senders, ordered by the fee cap of their next executable transaction, and of
//! submitters that wait for a block.
//!
//! Base fees change from block to block, and queueing transactions below the base fee costs
//! nothing. The index is ordered by fee cap so that building a block visits only the senders that
//! can pay its base fee.

use std::{collections::BTreeSet, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_primitives::Address;

use super::{
    Pool, PoolState, Pooled,
    account_transactions::{AccountTransactions, ReadyEntry},
    order,
};
use crate::SubmitError;

/// The most senders for which a list of queues initially has room.
const INITIAL_QUEUES: usize = 64;

/// The index of ready senders.
#[derive(Debug, Default)]
pub(super) struct ReadyIndex {
    /// Fee cap of each sender's next transaction, in wei per gas, and the sender.
    by_cap: BTreeSet<(u128, Address)>,
    /// Number of executable transactions of all senders.
    executable: usize,
    /// Sender and nonce of each transaction whose submitter waits.
    awaited: BTreeSet<(Address, u64)>,
}

impl ReadyIndex {
    /// Returns the number of executable transactions of all senders, whatever they pay.
    pub(super) fn executable(&self) -> usize {
        self.executable
    }

    pub(super) fn add_awaited(&mut self, sender: Address, nonce: u64) {
        self.awaited.insert((sender, nonce));
    }

    pub(super) fn remove_awaited(&mut self, sender: Address, nonce: u64) {
        self.awaited.remove(&(sender, nonce));
    }

    fn update(&mut self, sender: Address, before: ReadyEntry, now: ReadyEntry) {
        self.executable = self.executable + now.executable - before.executable;
        if before.cap != now.cap {
            before.cap.map(|cap| self.by_cap.remove(&(cap, sender)));
            now.cap.map(|cap| self.by_cap.insert((cap, sender)));
        }
    }

    /// Iterates over the senders whose next transaction pays this base fee.
    fn paying(&self, base_fee: u64) -> impl Iterator<Item = &Address> {
        self.by_cap
            .range((u128::from(base_fee), Address::ZERO)..)
            .map(|(_, sender)| sender)
    }
}

impl PoolState {
    /// Updates the index after an account's transactions changed, and removes the account if none
    /// are left.
    pub(super) fn tidy(&mut self, address: Address) {
        let Some(sender) = self.senders.get_mut(&address) else {
            return;
        };
        let (before, now) = sender.update_ready_entry();
        self.ready.update(address, before, now);

        if sender.is_empty() {
            self.senders.remove(&address);
        }
    }
}

impl Pool {
    /// Returns up to `limit` ready transactions for the next block, in the pool's order: each
    /// sender's in order of nonce.
    pub fn ready(&self, base_fee: u64, limit: usize) -> Vec<Arc<Pooled>> {
        let inner = self.inner.lock();
        let mut queues = Vec::with_capacity(inner.ready.by_cap.len().min(INITIAL_QUEUES));
        let paying = inner
            .ready
            .paying(base_fee)
            .filter_map(|address| inner.senders.get(address));
        queues.extend(paying.map(AccountTransactions::executable));

        let limits = inner.limits;
        order::merge(queues, base_fee, limits.order, limit.min(limits.per_block))
    }

    /// Returns whether [`ready`](Self::ready) would return any transaction.
    pub fn has_ready(&self, base_fee: u64) -> bool {
        self.inner.lock().ready.paying(base_fee).next().is_some()
    }

    /// Returns the number of transactions whose submitters wait for their block.
    pub fn awaited(&self) -> usize {
        self.inner.lock().ready.awaited.len()
    }

    /// Returns whether the transactions that are ready at this base fee come from no more than
    /// `senders` accounts and have gas limits of no more than `gas` in total.
    pub(crate) fn has_little_ready(&self, base_fee: u64, senders: usize, gas: u64) -> bool {
        let inner = self.inner.lock();
        let mut left = gas;
        let paying = inner
            .ready
            .paying(base_fee)
            .filter_map(|address| inner.senders.get(address));

        paying.enumerate().all(|(count, sender)| {
            count < senders
                && sender.executable().all(|pooled| {
                    let rest = left.checked_sub(pooled.transaction.envelope.gas_limit());
                    left = rest.unwrap_or(left);
                    rest.is_some()
                })
        })
    }

    /// Answers the submitters of transactions that the next block can no longer include because the
    /// base fee rose above their fee cap or that of an earlier one, or because an earlier one was
    /// removed. The transactions stay in the pool.
    pub fn release_not_ready(&self, base_fee: u64) {
        let mut guard = self.inner.lock();
        let PoolState { senders, ready, .. } = &mut *guard;
        ready.awaited.retain(|(address, nonce)| {
            let Some(sender) = senders.get_mut(address) else {
                return false;
            };

            let stays = sender.can_include(*nonce, base_fee);
            if !stays {
                sender.release(*nonce);
            }
            stays
        });
    }

    /// Removes the transactions whose submitters wait, and answers these with an error.
    /// Acknowledged transactions stay, and so do those that other nodes have acknowledged: no
    /// submitter waits for them here.
    pub fn refuse_awaited(&self, reason: impl Fn() -> SubmitError) {
        let mut guard = self.inner.lock();
        let awaited: Vec<_> = guard.ready.awaited.iter().copied().collect();
        for (address, nonce) in awaited {
            let waiting = guard
                .senders
                .get(&address)
                .and_then(|sender| sender.waiting(nonce));
            let hash = waiting.map(|pooled| pooled.transaction.hash());
            if let Some(slot) = hash.and_then(|hash| guard.take(hash)) {
                slot.answer(|| Err(reason()));
            }
        }
    }
}
