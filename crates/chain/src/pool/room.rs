//! Eviction from a full pool, and expiry.

use alloy_primitives::Address;

use super::{
    PoolState, Pooled,
    account_transactions::{AccountTransactions, PoolSlot, PoolUsage},
    ranking::{Ranking, Worth},
};
use crate::SubmitError;

/// A transaction to be added.
pub(super) struct Incoming<'a> {
    pub(super) pooled: &'a Pooled,
    pub(super) worth: Worth,
    /// Size of the transaction that it replaces, in bytes.
    pub(super) replaces: Option<usize>,
}

impl PoolUsage {
    fn with(self, new: &Incoming<'_>) -> Self {
        let count = self.count + usize::from(new.replaces.is_none());
        Self {
            count,
            bytes: self.bytes + new.pooled.bytes - new.replaces.unwrap_or(0),
        }
    }

    fn remove(&mut self, pooled: &Pooled) {
        self.count -= 1;
        self.bytes -= pooled.bytes;
    }

    fn exceeds(&self, count: usize, bytes: usize) -> bool {
        self.count > count || self.bytes > bytes
    }
}

impl PoolState {
    /// Evicts the transactions that `new` displaces, so that all limits hold once it is added.
    /// Evicts none if `new` is rejected. An evicted transaction is always the last one of its
    /// account, so that no other loses its predecessor.
    pub(super) fn make_room(
        &mut self,
        new: &Incoming<'_>,
        base_fee: u64,
    ) -> Result<(), SubmitError> {
        let mut evicted = Vec::new();
        let made = self.displace(new, base_fee, &mut evicted);

        for slot in evicted {
            let sender = slot.pooled.transaction.sender;
            match &made {
                Ok(()) => {
                    self.forget(&slot.pooled);
                    self.tidy(sender);
                    slot.answer(|| Err(SubmitError::Evicted));
                }
                Err(_) => self.put(slot),
            }
        }
        made
    }

    fn displace(
        &mut self,
        new: &Incoming<'_>,
        base_fee: u64,
        evicted: &mut Vec<PoolSlot>,
    ) -> Result<(), SubmitError> {
        let limits = self.limits;
        let address = new.pooled.transaction.sender;
        let before = self
            .senders
            .get(&address)
            .map(AccountTransactions::usage)
            .unwrap_or_default();
        let mut own = before.with(new);
        let mut all = self.usage().with(new);
        if new.pooled.bytes > limits.bytes {
            return Err(SubmitError::PoolFull);
        }

        while own.exceeds(limits.per_account, limits.account_bytes) {
            // Within an account the transactions with lower nonces are preferred.
            let tail = self
                .senders
                .get(&address)
                .and_then(AccountTransactions::last);
            if !tail.is_some_and(|(nonce, executable)| nonce > new.pooled.nonce() && !executable) {
                return Err(SubmitError::AccountLimit {
                    count: before.count,
                    bytes: before.bytes,
                });
            }
            let Some(slot) = self.take_last(address) else {
                break;
            };
            own.remove(&slot.pooled);
            all.remove(&slot.pooled);
            evicted.push(slot);
        }

        while all.exceeds(limits.transactions, limits.bytes) {
            let slot = self.take_worst(new, base_fee)?;
            all.remove(&slot.pooled);
            evicted.push(slot);
        }
        Ok(())
    }

    /// Removes the transaction that is worth least provisionally, if `new` is worth more.
    fn take_worst(&mut self, new: &Incoming<'_>, base_fee: u64) -> Result<PoolSlot, SubmitError> {
        let senders = &self.senders;
        let ranking = self.ranking.get_or_insert_with(|| {
            Ranking::of(senders.values().flat_map(AccountTransactions::all))
        });
        let Some((worst, sender)) = ranking.worst(base_fee) else {
            return Err(SubmitError::PoolFull);
        };

        // Of equal ones the earlier stays.
        if worst >= new.worth {
            return Err(if worst.executable && !new.worth.executable {
                SubmitError::FutureReplacesPending
            } else {
                SubmitError::Outbid
            });
        }

        // A transaction is worth no more than an earlier one of its sender, without which it cannot
        // be executed.
        if sender == new.pooled.transaction.sender {
            let last = self
                .senders
                .get(&sender)
                .and_then(AccountTransactions::last);
            if last.is_none_or(|(nonce, _)| nonce <= new.pooled.nonce()) {
                return Err(SubmitError::Outbid);
            }
        }

        self.take_last(sender).ok_or(SubmitError::PoolFull)
    }

    /// Removes an account's last transaction provisionally.
    fn take_last(&mut self, address: Address) -> Option<PoolSlot> {
        let slot = self.change(address, |sender| {
            sender.last().and_then(|(nonce, _)| sender.remove(nonce))
        })??;
        if let Some(ranking) = &mut self.ranking {
            ranking.remove(&slot.pooled);
        }
        Some(slot)
    }

    /// Puts back a transaction that was removed provisionally.
    fn put(&mut self, slot: PoolSlot) {
        let pooled = slot.pooled.clone();
        let address = pooled.transaction.sender;
        self.change(address, |sender| sender.insert(slot));
        self.rank(&pooled);
    }

    /// Removes an account's transactions that the next block cannot include, see
    /// [`Pool::expire`](super::Pool::expire).
    pub(super) fn expire(&mut self, address: Address, base_fee: u64) -> usize {
        let stuck = self
            .change(address, |sender| sender.take_stuck(base_fee))
            .unwrap_or_default();
        let count = stuck.len();
        for slot in stuck {
            self.forget(&slot.pooled);
            slot.answer(|| Err(SubmitError::Expired));
        }
        self.tidy(address);
        count
    }
}
