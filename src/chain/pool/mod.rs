//! Transactions that wait for a block.
//!
//! Submitters check and insert on their own threads; the executor takes what is ready. The lock is held for
//! bookkeeping only: recovery of senders and all checks that need no sender's account happen before.

mod order;
mod price;
mod sender;
mod validate;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use alloy_consensus::Transaction as _;
use alloy_eips::eip7594::BlobTransactionSidecarVariant;
use alloy_primitives::{Address, B256, U256, map::DefaultHashBuilder};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use self::{
    price::{cost_of, outbids},
    sender::{Sender, Slot},
};
use super::{Head, SubmitError};
use crate::{
    block::{Submission, Transaction},
    state::State,
};

pub use validate::Admission;

/// Arrivals that are remembered for those who ask what is new.
const MAX_RECENT: usize = 10_000;

/// How much the pool holds.
#[derive(Clone, Copy, Debug)]
pub struct PoolLimits {
    /// Transactions in all.
    pub transactions: usize,
    /// Transactions of one account.
    pub per_account: usize,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self { transactions: 100_000, per_account: 20_000 }
    }
}

/// A transaction in the pool.
#[derive(Debug)]
pub struct Pooled {
    /// The transaction.
    pub transaction: Arc<Transaction>,
    /// The blobs of an EIP-4844 transaction.
    pub sidecar: Option<Box<BlobTransactionSidecarVariant>>,
    /// Position in the order of arrival.
    arrival: u64,
    /// The most that it may cost its sender, in wei.
    cost: U256,
}

/// An accepted transaction.
#[derive(Debug)]
pub struct Accepted {
    /// The transaction as the pool holds it.
    pub pooled: Arc<Pooled>,
    /// Resolves when it is in a published block, or will never be. None if it has to wait for something other than
    /// the next block: a missing nonce, or a lower base fee.
    pub included: Option<oneshot::Receiver<Result<(), SubmitError>>>,
}

/// The pool.
#[derive(Debug)]
pub struct Pool {
    limits: PoolLimits,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    senders: HashMap<Address, Sender, DefaultHashBuilder>,
    /// Senders with an executable transaction.
    ready: HashSet<Address, DefaultHashBuilder>,
    by_hash: HashMap<B256, (Address, u64), DefaultHashBuilder>,
    arrivals: u64,
    /// Hashes of the newest arrivals, oldest first.
    recent: VecDeque<B256>,
    /// Counts every change.
    version: u64,
}

impl Pool {
    /// An empty pool.
    pub fn new(limits: PoolLimits) -> Self {
        Self { limits, inner: Mutex::default() }
    }

    /// Adds a transaction that passed [`Admission::check`]. `head` is called under the lock, so that the account is
    /// seen as of a head whose transactions the pool has not yet let go of, or a newer one. `fee_floor` is the next
    /// block's base fee.
    pub fn insert(
        &self,
        submission: Submission,
        head: impl FnOnce() -> Arc<Head>,
        fee_floor: u64,
    ) -> Result<Accepted, SubmitError> {
        let Submission { transaction, sidecar } = submission;
        let (hash, address, nonce) = (transaction.hash(), transaction.sender, transaction.envelope.nonce());
        let cost = cost_of(&transaction);
        let mut guard = self.inner.lock();
        let inner = &mut *guard;
        if inner.by_hash.contains_key(&hash) {
            return Err(SubmitError::AlreadyKnown);
        }
        let head = head();
        let account = head.state.get(address)?;
        let account = account.as_deref();
        let next = account.map_or(0, |account| account.nonce);
        if nonce < next {
            return Err(SubmitError::NonceTooLow { next, nonce });
        }
        // Code that delegates (EIP-7702) leaves an account externally owned.
        let signed = !transaction.is_impersonated();
        if signed
            && account.is_some_and(|account| {
                account.contract.as_ref().is_some_and(|c| !c.code.is_empty() && !c.code.is_eip7702())
            })
        {
            return Err(SubmitError::SenderHasCode(address));
        }
        let balance = account.map_or(U256::ZERO, |account| account.balance);
        let waiting = inner.senders.get(&address);
        let old = waiting.and_then(|sender| sender.get(nonce));
        let total = cost.saturating_add(waiting.map_or(U256::ZERO, |sender| sender.cost_without(nonce)));
        if balance < cost || balance < total {
            let cost = if balance < cost { cost } else { total };
            return Err(SubmitError::InsufficientFunds { balance, cost });
        }
        match old {
            Some(old) if !outbids(&transaction, &old.transaction) => return Err(SubmitError::ReplacementUnderpriced),
            Some(_) => {}
            None if inner.by_hash.len() >= self.limits.transactions => return Err(SubmitError::PoolFull),
            None => {
                let count = waiting.map_or(0, Sender::len);
                if count >= self.limits.per_account {
                    return Err(SubmitError::AccountLimit(count));
                }
            }
        }
        let affordable = transaction.envelope.max_fee_per_gas() >= u128::from(fee_floor);
        let pooled = Arc::new(Pooled { transaction: Arc::new(transaction), sidecar, arrival: inner.arrivals, cost });
        let sender = inner.senders.entry(address).or_insert_with(|| Sender::new(next));
        // Only a transaction that the very next block can hold is worth waiting for.
        let (waiter, included) = (affordable && nonce <= sender.pending_nonce()).then(oneshot::channel).unzip();
        let replaced = sender.insert(Slot { pooled: pooled.clone(), waiter });
        if sender.is_ready() {
            inner.ready.insert(address);
        }
        inner.by_hash.insert(hash, (address, nonce));
        inner.arrivals += 1;
        inner.recent.push_back(hash);
        if inner.recent.len() > MAX_RECENT {
            inner.recent.pop_front();
        }
        inner.version += 1;
        if let Some(replaced) = replaced {
            inner.by_hash.remove(&replaced.pooled.transaction.hash());
            answer(replaced, || {
                Err(SubmitError::Dropped("transaction replaced by another with the same nonce".into()))
            });
        }
        Ok(Accepted { pooled, included })
    }

    /// What can be executed next, best paying first, the transactions of each sender in order, equal ones in the
    /// order of arrival. At most `limit` transactions.
    pub fn executable(&self, base_fee: u64, limit: usize) -> Vec<Arc<Pooled>> {
        let inner = self.inner.lock();
        let queues = inner.ready.iter().map(|address| inner.senders[address].executable());
        order::merge(queues.collect(), base_fee, limit)
    }

    /// Whether [`executable`](Self::executable) would return anything.
    pub fn has_executable(&self, base_fee: u64) -> bool {
        let inner = self.inner.lock();
        let mut first = inner.ready.iter().filter_map(|address| inner.senders[address].executable().next());
        first.any(|pooled| pooled.transaction.envelope.effective_tip_per_gas(base_fee).is_some())
    }

    /// Whether what is ready is of at most so many senders, and allows itself at most so much gas.
    pub fn has_little_ready(&self, senders: usize, gas: u64) -> bool {
        let inner = self.inner.lock();
        if inner.ready.len() > senders {
            return false;
        }
        let mut left = gas;
        let mut ready = inner.ready.iter().flat_map(|address| inner.senders[address].executable());
        ready.all(|pooled| match left.checked_sub(pooled.transaction.envelope.gas_limit()) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        })
    }

    /// These accounts may have changed: drops the transactions whose nonce is used up, and answers whoever waits for
    /// them. `is_included` says whether one is in a block.
    pub fn settle(
        &self,
        accounts: impl IntoIterator<Item = Address>,
        state: &State,
        is_included: impl Fn(B256) -> bool,
    ) {
        let mut guard = self.inner.lock();
        let inner = &mut *guard;
        for address in accounts {
            let Some(sender) = inner.senders.get_mut(&address) else { continue };
            let next = match state.nonce(address) {
                Ok(nonce) => nonce,
                Err(error) => {
                    // What cannot be executed any more is found out when it is tried.
                    tracing::warn!(%error, %address, "the nonce of an account with pooled transactions is not known");
                    continue;
                }
            };
            let used = sender.advance(next);
            inner.version += 1;
            for slot in used {
                let (hash, nonce) = (slot.pooled.transaction.hash(), slot.pooled.nonce());
                inner.by_hash.remove(&hash);
                answer(slot, || match is_included(hash) {
                    true => Ok(()),
                    false => Err(SubmitError::NonceTooLow { next, nonce }),
                });
            }
            inner.tidy(address);
        }
    }

    /// The accounts that have transactions here.
    pub fn senders(&self) -> Vec<Address> {
        self.inner.lock().senders.keys().copied().collect()
    }

    /// Takes a transaction out because it cannot be executed, and tells whoever waits for it why.
    pub fn reject(&self, hash: B256, reason: SubmitError) -> bool {
        let mut guard = self.inner.lock();
        let Some(slot) = guard.take(hash) else { return false };
        answer(slot, || Err(reason));
        true
    }

    /// Takes a transaction out if somebody waits for it, and tells why. One that was acknowledged stays.
    pub fn refuse(&self, hash: B256, reason: impl FnOnce() -> SubmitError) {
        let mut guard = self.inner.lock();
        let inner = &*guard;
        let at = inner.by_hash.get(&hash);
        if at.and_then(|(address, nonce)| inner.senders.get(address)?.is_awaited(*nonce)) == Some(true)
            && let Some(slot) = guard.take(hash)
        {
            answer(slot, || Err(reason()));
        }
    }

    /// Answers whoever waits for a transaction that the next block cannot hold after all, because the base fee rose
    /// above what it pays. The transaction stays.
    pub fn release_unaffordable(&self, base_fee: u64) {
        let mut guard = self.inner.lock();
        let Inner { senders, ready, .. } = &mut *guard;
        for address in ready.iter() {
            if let Some(sender) = senders.get_mut(address) {
                sender.release_unaffordable(base_fee);
            }
        }
    }

    /// Takes everything out and tells whoever waits why.
    pub fn clear(&self, reason: impl Fn() -> SubmitError) {
        let hashes: Vec<_> = self.inner.lock().by_hash.keys().copied().collect();
        for hash in hashes {
            self.reject(hash, reason());
        }
    }

    /// The transaction with this hash.
    pub fn get(&self, hash: B256) -> Option<Arc<Pooled>> {
        let inner = self.inner.lock();
        let (address, nonce) = inner.by_hash.get(&hash)?;
        inner.senders.get(address)?.get(*nonce).cloned()
    }

    /// The nonce after the account's executable transactions, if it has any in the pool.
    pub fn pending_nonce(&self, address: Address) -> Option<u64> {
        self.inner.lock().senders.get(&address).map(Sender::pending_nonce)
    }

    /// Everything, by sender and nonce, and whether it is executable.
    pub fn content(&self) -> Vec<(Arc<Pooled>, bool)> {
        let inner = self.inner.lock();
        inner.senders.values().flat_map(|sender| sender.all().map(|(pooled, ready)| (pooled.clone(), ready))).collect()
    }

    /// Hashes of the transactions that arrived since there had been `seen` arrivals, and how many there have been now.
    pub fn arrivals_since(&self, seen: u64) -> (Vec<B256>, u64) {
        let inner = self.inner.lock();
        let new = inner.arrivals.saturating_sub(seen).min(inner.recent.len() as u64) as usize;
        (inner.recent.range(inner.recent.len() - new..).copied().collect(), inner.arrivals)
    }

    /// How many transactions there are.
    pub fn len(&self) -> usize {
        self.inner.lock().by_hash.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A number that changes with every change.
    pub fn version(&self) -> u64 {
        self.inner.lock().version
    }
}

impl Inner {
    fn take(&mut self, hash: B256) -> Option<Slot> {
        let (address, nonce) = self.by_hash.remove(&hash)?;
        let slot = self.senders.get_mut(&address)?.remove(nonce);
        self.version += 1;
        self.tidy(address);
        slot
    }

    /// Brings `senders` and `ready` in line after an account's transactions changed.
    fn tidy(&mut self, address: Address) {
        let Some(sender) = self.senders.get(&address) else { return };
        if sender.is_ready() {
            self.ready.insert(address);
        } else {
            self.ready.remove(&address);
        }
        if sender.is_empty() {
            self.senders.remove(&address);
        }
    }
}

fn answer(slot: Slot, outcome: impl FnOnce() -> Result<(), SubmitError>) {
    if let Some(waiter) = slot.waiter {
        // Whoever waited may have gone.
        let _ = waiter.send(outcome());
    }
}
