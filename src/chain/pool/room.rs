//! What a pool lets go of: for transactions that pay more when it is full, and after a time.

use alloy_primitives::Address;

use super::{
    Inner, Pooled,
    ranking::{Ranking, Worth},
    sender::{Sender, SenderSlot, Usage},
};
use crate::chain::SubmitError;

/// A transaction that wants to get in.
pub(super) struct Newcomer<'a> {
    pub(super) pooled: &'a Pooled,
    pub(super) worth: Worth,
    /// Bytes of the transaction that it replaces.
    pub(super) replaces: Option<usize>,
}

impl Usage {
    fn with(self, new: &Newcomer<'_>) -> Self {
        let count = self.count + usize::from(new.replaces.is_none());
        Self { count, bytes: self.bytes + new.pooled.bytes - new.replaces.unwrap_or(0) }
    }

    fn remove(&mut self, pooled: &Pooled) {
        self.count -= 1;
        self.bytes -= pooled.bytes;
    }

    fn exceeds(&self, count: usize, bytes: usize) -> bool {
        self.count > count || self.bytes > bytes
    }
}

impl Inner {
    /// Takes out what a transaction displaces, so that all limits hold once it is in; nothing, if it cannot get in.
    /// What is taken out is always the last of its account: no other transaction loses its predecessor.
    pub(super) fn make_room(&mut self, new: &Newcomer<'_>, base_fee: u64) -> Result<(), SubmitError> {
        let mut gone = Vec::new();
        let made = self.displace(new, base_fee, &mut gone);
        for slot in gone {
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

    fn displace(&mut self, new: &Newcomer<'_>, base_fee: u64, gone: &mut Vec<SenderSlot>) -> Result<(), SubmitError> {
        let (limits, address) = (self.limits, new.pooled.transaction.sender);
        let before = self.senders.get(&address).map(Sender::usage).unwrap_or_default();
        let (mut own, mut all) = (before.with(new), self.usage().with(new));
        if new.pooled.bytes > limits.bytes {
            return Err(SubmitError::PoolFull);
        }
        while own.exceeds(limits.per_account, limits.account_bytes) {
            // An account's transactions are worth more the sooner their turn comes.
            let tail = self.senders.get(&address).and_then(Sender::last);
            if !tail.is_some_and(|(nonce, executable)| nonce > new.pooled.nonce() && !executable) {
                return Err(SubmitError::AccountLimit { count: before.count, bytes: before.bytes });
            }
            let Some(slot) = self.take_last(address) else { break };
            own.remove(&slot.pooled);
            all.remove(&slot.pooled);
            gone.push(slot);
        }
        while all.exceeds(limits.transactions, limits.bytes) {
            let senders = &self.senders;
            let ranking = self.ranking.get_or_insert_with(|| Ranking::of(senders.values().flat_map(Sender::all)));
            let Some((worst, sender)) = ranking.worst(base_fee) else { return Err(SubmitError::PoolFull) };
            if worst >= new.worth {
                return Err(match worst.executable && !new.worth.executable {
                    true => SubmitError::FutureReplacesPending,
                    false => SubmitError::Outbid,
                });
            }
            // Behind one that pays less it is worth no more than that one.
            let ahead = |(nonce, _): (u64, bool)| nonce <= new.pooled.nonce();
            if sender == address && self.senders.get(&sender).and_then(Sender::last).is_none_or(ahead) {
                return Err(SubmitError::Outbid);
            }
            let Some(slot) = self.take_last(sender) else { return Err(SubmitError::PoolFull) };
            all.remove(&slot.pooled);
            gone.push(slot);
        }
        Ok(())
    }

    /// Takes out an account's last transaction, for the time being.
    fn take_last(&mut self, address: Address) -> Option<SenderSlot> {
        let slot = self.change(address, |sender| sender.last().and_then(|(nonce, _)| sender.remove(nonce)))??;
        if let Some(ranking) = &mut self.ranking {
            ranking.remove(&slot.pooled);
        }
        Some(slot)
    }

    /// Puts back what was taken out for the time being.
    fn put(&mut self, slot: SenderSlot) {
        let pooled = slot.pooled.clone();
        let address = pooled.transaction.sender;
        self.change(address, |sender| sender.insert(slot));
        self.rank(&pooled);
    }

    /// Takes out what an account has that the next block cannot hold, see [`Pool::expire`](super::Pool::expire).
    pub(super) fn expire(&mut self, address: Address, base_fee: u64) -> usize {
        let stuck = self.change(address, |sender| sender.take_stuck(base_fee)).unwrap_or_default();
        let count = stuck.len();
        for slot in stuck {
            self.forget(&slot.pooled);
            slot.answer(|| Err(SubmitError::Expired));
        }
        self.tidy(address);
        count
    }
}
