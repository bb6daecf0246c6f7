//! The pool of pending transactions.
//!
//! Submitters validate and insert on their own threads; the writer takes what is ready. The lock is
//! held for bookkeeping only: senders are recovered and stateless checks are done before it is
//! taken.

mod account_transactions;
mod order;
mod price;
mod ranking;
mod ready;
mod room;
mod validate;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use alloy_consensus::Transaction as _;
use alloy_eips::{
    eip2718::Encodable2718,
    eip7594::{BlobTransactionSidecarVariant, Encodable7594},
};
use alloy_primitives::{Address, B256, U256, map::DefaultHashBuilder};
use parking_lot::Mutex;
use tetrad_primitives::{
    block::{Submission, Transaction},
    state::{Account, State},
};
use tetrad_stdx::clock::Clock;
use tetrad_store::store::PendingTransaction;
use tokio::sync::oneshot;

pub use validate::Admission;

use self::{
    account_transactions::{AccountTransactions, PoolSlot, PoolUsage, Waiter},
    price::{cost_of, outbids},
    ranking::{Ranking, Worth},
    ready::ReadyIndex,
    room::Incoming,
};
use super::{Head, SubmitError};

/// Most arrivals that are remembered for pending-transaction filters.
const MAX_RECENT: usize = 10_000;
/// Overhead of a transaction in memory over its encoding, in bytes.
const OVERHEAD: usize = 1_024;

/// Limits of the pool.
#[derive(Clone, Copy, Debug)]
pub struct PoolLimits {
    /// Number of transactions.
    pub transactions: usize,
    /// Number of transactions of one account.
    pub per_account: usize,
    /// Size of all transactions including blobs, in bytes.
    pub bytes: usize,
    /// Size of one account's transactions including blobs, in bytes.
    pub account_bytes: usize,
    /// The time after which transactions that the next block cannot include expire, if their
    /// account had no activity since; `None` if they never do.
    pub lifetime: Option<Duration>,
    /// Number of transactions that a block takes from the pool.
    pub per_block: usize,
    /// The order in which a block takes them.
    pub order: PoolOrder,
    /// Whether senders must be able to pay for what waits.
    pub checks_funds: bool,
    /// How much more than another transaction, in percent, one pays to replace it, and more than
    /// nothing in any case. With blobs it is at least 100.
    pub replacement_percent: u32,
}

/// The order in which a block takes transactions from the pool. Those of an account follow each
/// other by nonce in either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoolOrder {
    /// The highest tip first, and equal ones by arrival.
    #[default]
    Tips,
    /// By arrival.
    Arrival,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self {
            transactions: 100_000,
            per_account: 20_000,
            bytes: 256 << 20,
            account_bytes: 64 << 20,
            lifetime: Some(Duration::from_secs(3 * 60 * 60)),
            per_block: usize::MAX,
            order: PoolOrder::default(),
            checks_funds: true,
            replacement_percent: 10,
        }
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
    /// The maximum cost to its sender, in wei.
    cost: U256,
    /// Approximate size in memory, in bytes.
    bytes: usize,
}

impl Pooled {
    /// Returns the position in the order of arrival.
    pub fn arrival(&self) -> u64 {
        self.arrival
    }

    /// Returns the transaction's nonce.
    pub fn nonce(&self) -> u64 {
        self.transaction.envelope.nonce()
    }

    /// Returns whether the fee cap covers this base fee, in wei per gas.
    fn pays(&self, base_fee: u64) -> bool {
        self.transaction.envelope.max_fee_per_gas() >= u128::from(base_fee)
    }

    /// Returns the transaction as it is stored on disk.
    pub(crate) fn to_pending(&self) -> PendingTransaction {
        PendingTransaction {
            transaction: self.transaction.clone(),
            sidecar: self.sidecar.clone(),
        }
    }
}

/// An accepted transaction.
#[derive(Debug)]
pub struct Accepted {
    /// The pooled transaction.
    pub pooled: Arc<Pooled>,
    /// Resolves when the transaction is in a published block or is rejected. `None` if the next
    /// block cannot include it: a nonce before it is missing, or the base fee is above its fee cap.
    pub included: Option<oneshot::Receiver<Result<(), SubmitError>>>,
}

/// The transaction pool.
pub struct Pool {
    clock: Arc<dyn Clock>,
    inner: Mutex<PoolState>,
}

#[derive(Debug)]
struct PoolState {
    limits: PoolLimits,
    senders: HashMap<Address, AccountTransactions, DefaultHashBuilder>,
    /// The index of ready senders and waiting submitters.
    ready: ReadyIndex,
    by_hash: HashMap<B256, (Address, u64), DefaultHashBuilder>,
    /// Size of all transactions, in bytes.
    bytes: usize,
    /// The order of eviction. Built when the pool becomes full and dropped when it is half empty,
    /// so that a pool with room pays nothing for it.
    ranking: Option<Ranking>,
    arrivals: u64,
    /// Hashes of the newest arrivals, oldest first.
    recent: VecDeque<B256>,
    /// Number of changes so far.
    version: u64,
}

impl Pool {
    /// Returns an empty pool.
    pub fn new(limits: PoolLimits, clock: Arc<dyn Clock>) -> Self {
        let inner = PoolState {
            limits,
            senders: HashMap::default(),
            ready: ReadyIndex::default(),
            by_hash: HashMap::default(),
            bytes: 0,
            ranking: None,
            arrivals: 0,
            recent: VecDeque::new(),
            version: 0,
        };
        Self {
            clock,
            inner: Mutex::new(inner),
        }
    }

    /// Returns the order in which blocks take transactions.
    pub fn order(&self) -> PoolOrder {
        self.inner.lock().limits.order
    }

    /// Returns whether senders must be able to pay for what waits.
    pub fn checks_funds(&self) -> bool {
        self.inner.lock().limits.checks_funds
    }

    /// Adds a transaction that passed [`Admission::check`]. `head` is called under the lock, so
    /// that the account is read from a head at least as new as the last one that the pool has
    /// [advanced](Self::advance) to. `base_fee` is that of the next block.
    pub fn insert(
        &self,
        submission: Submission,
        head: impl FnOnce() -> Arc<Head>,
        base_fee: u64,
    ) -> Result<Accepted, SubmitError> {
        let Submission {
            transaction,
            sidecar,
        } = submission;
        let hash = transaction.hash();
        let address = transaction.sender;
        let nonce = transaction.envelope.nonce();
        let cost = cost_of(&transaction);
        let now = self.clock.now_ms();

        let inner = &mut *self.inner.lock();
        if inner.by_hash.contains_key(&hash) {
            return Err(SubmitError::AlreadyKnown);
        }

        let head = head();
        let account = head.state.get(address)?;
        let account = account.as_deref();
        let waiting = inner.senders.get(&address);
        let old = waiting.and_then(|sender| sender.get(nonce));

        check_account(&transaction, account)?;
        if inner.limits.checks_funds {
            check_funds(&transaction, cost, account, waiting)?;
        }
        check_replacement(&transaction, old, inner.limits.replacement_percent)?;

        let replaces = old.map(|old| old.bytes);
        let next = next_nonce(account);
        let executable = nonce <= waiting.map_or(next, AccountTransactions::pending_nonce);
        let bytes = bytes_of(&transaction, sidecar.as_deref());
        let pooled = Arc::new(Pooled {
            transaction: Arc::new(transaction),
            sidecar,
            arrival: inner.arrivals,
            cost,
            bytes,
        });

        let incoming = Incoming {
            pooled: &pooled,
            worth: Worth::of(&pooled, executable, base_fee),
            replaces,
        };
        inner.make_room(&incoming, base_fee)?;

        inner
            .senders
            .entry(address)
            .or_insert_with(|| AccountTransactions::new(next))
            .touch(now);

        // Submitters wait only for transactions that the very next block can include.
        let is_ready = executable && pooled.pays(base_fee);
        let (waiter, included) = is_ready.then(oneshot::channel).unzip();
        inner.add(&pooled, waiter);

        Ok(Accepted { pooled, included })
    }

    /// Removes the transactions of these accounts whose nonce is used up, and answers their
    /// submitters. `is_included` returns whether a transaction is in a block.
    pub fn advance(
        &self,
        accounts: impl IntoIterator<Item = Address>,
        state: &State,
        is_included: impl Fn(B256) -> bool,
    ) {
        let now = self.clock.now_ms();
        let mut guard = self.inner.lock();
        let inner = &mut *guard;

        for address in accounts {
            let Some(sender) = inner.senders.get(&address) else {
                continue;
            };
            let next = match state.nonce(address) {
                Ok(nonce) => nonce,
                Err(error) => {
                    // Stale transactions fail, and are removed, when a block is built.
                    tracing::warn!(
                        %error,
                        %address,
                        "failed to read the nonce of an account with pooled transactions"
                    );
                    continue;
                }
            };
            if sender.is_at(next) {
                continue;
            }

            let used = inner
                .change(address, |sender| sender.advance(next, now))
                .unwrap_or_default();
            inner.version += 1;
            for slot in used {
                let hash = slot.pooled.transaction.hash();
                let nonce = slot.pooled.nonce();
                inner.forget(&slot.pooled);
                slot.answer(|| {
                    if is_included(hash) {
                        Ok(())
                    } else {
                        Err(SubmitError::NonceTooLow { next, nonce })
                    }
                });
            }
            inner.tidy(address);
        }
    }

    /// Returns the accounts with pooled transactions.
    pub fn senders(&self) -> Vec<Address> {
        self.inner.lock().senders.keys().copied().collect()
    }

    /// Removes a transaction that cannot be executed, and answers its submitter with the reason.
    pub fn reject(&self, hash: B256, reason: SubmitError) -> bool {
        self.inner.lock().reject(hash, reason)
    }

    /// The same for a transaction whose submitter waits for its block. Returns whether it does.
    pub(crate) fn reject_awaited(&self, hash: B256, reason: SubmitError) -> bool {
        let mut inner = self.inner.lock();
        inner.is_awaited(hash) && inner.reject(hash, reason)
    }

    /// Removes all transactions, and answers their submitters with the reason.
    pub fn clear(&self, reason: impl Fn() -> SubmitError) {
        let hashes: Vec<_> = self.inner.lock().by_hash.keys().copied().collect();
        for hash in hashes {
            self.reject(hash, reason());
        }
    }

    /// Removes the transactions that a next block with this base fee cannot include, of accounts
    /// without activity for [`PoolLimits::lifetime`]. Returns their number.
    pub fn expire(&self, base_fee: u64) -> usize {
        let now = self.clock.now_ms();
        let inner = &mut *self.inner.lock();
        let Some(lifetime) = inner.limits.lifetime else {
            return 0;
        };

        let last = now.saturating_sub(u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX));
        let idle = inner
            .senders
            .iter()
            .filter(|(_, sender)| sender.active() < last);
        let idle: Vec<_> = idle.map(|(address, _)| *address).collect();

        idle.into_iter()
            .map(|address| inner.expire(address, base_fee))
            .sum()
    }

    /// Returns the transaction with this hash.
    pub fn get(&self, hash: B256) -> Option<Arc<Pooled>> {
        let inner = self.inner.lock();
        let (address, nonce) = inner.by_hash.get(&hash)?;
        inner.senders.get(address)?.get(*nonce).cloned()
    }

    /// Returns the nonce after the account's executable transactions, if any are in the pool.
    pub fn pending_nonce(&self, address: Address) -> Option<u64> {
        self.inner
            .lock()
            .senders
            .get(&address)
            .map(AccountTransactions::pending_nonce)
    }

    /// Returns all transactions by sender and nonce, each with whether it is executable.
    pub fn content(&self) -> Vec<(Arc<Pooled>, bool)> {
        let inner = self.inner.lock();
        inner
            .senders
            .values()
            .flat_map(AccountTransactions::all)
            .map(|(pooled, executable)| (pooled.clone(), executable))
            .collect()
    }

    /// Returns the transactions of one account by nonce, each with whether it is executable.
    pub fn content_of(&self, address: Address) -> Vec<(Arc<Pooled>, bool)> {
        let inner = self.inner.lock();
        let sender = inner.senders.get(&address).into_iter();
        sender
            .flat_map(AccountTransactions::all)
            .map(|(pooled, executable)| (pooled.clone(), executable))
            .collect()
    }

    /// Returns an account's transaction with this nonce.
    pub fn of_nonce(&self, address: Address, nonce: u64) -> Option<Arc<Pooled>> {
        let inner = self.inner.lock();
        inner.senders.get(&address)?.get(nonce).cloned()
    }

    /// Returns the number of executable transactions and the number of queued ones.
    pub fn counts(&self) -> (usize, usize) {
        let inner = self.inner.lock();
        let executable = inner.ready.executable();
        (executable, inner.by_hash.len().saturating_sub(executable))
    }

    /// Returns the hashes of the transactions that arrived since there were `seen` arrivals, and
    /// the present number of arrivals.
    pub fn arrivals_since(&self, seen: u64) -> (Vec<B256>, u64) {
        let inner = self.inner.lock();
        let new = inner
            .arrivals
            .saturating_sub(seen)
            .min(inner.recent.len() as u64) as usize;
        let first = inner.recent.len() - new;
        let hashes = inner.recent.range(first..).copied().collect();
        (hashes, inner.arrivals)
    }

    /// Returns the number of transactions.
    pub fn len(&self) -> usize {
        self.inner.lock().by_hash.len()
    }

    /// Returns whether the pool is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a number that increases with every change.
    pub fn version(&self) -> u64 {
        self.inner.lock().version
    }
}

impl PoolState {
    fn usage(&self) -> PoolUsage {
        PoolUsage {
            count: self.by_hash.len(),
            bytes: self.bytes,
        }
    }

    /// Adds a transaction of an account that has an entry, with the channel to its submitter if
    /// this one waits. Answers the submitter of the transaction that it replaces.
    fn add(&mut self, pooled: &Arc<Pooled>, waiter: Option<Waiter>) {
        let hash = pooled.transaction.hash();
        let address = pooled.transaction.sender;
        let nonce = pooled.nonce();
        let is_awaited = waiter.is_some();

        let slot = PoolSlot {
            pooled: pooled.clone(),
            waiter,
        };
        let replaced = self.change(address, |sender| sender.insert(slot)).flatten();
        self.rank(pooled);
        self.tidy(address);

        self.by_hash.insert(hash, (address, nonce));
        self.bytes += pooled.bytes;
        self.arrivals += 1;

        self.recent.push_back(hash);
        if self.recent.len() > MAX_RECENT {
            self.recent.pop_front();
        }
        self.version += 1;

        if let Some(replaced) = replaced {
            self.forget(&replaced.pooled);
            replaced.answer(|| {
                Err(SubmitError::Dropped(
                    "transaction replaced by another with the same nonce".into(),
                ))
            });
        }
        // Last, since forgetting the replaced transaction also forgets who waits for this nonce.
        if is_awaited {
            self.ready.add_awaited(address, nonce);
        }
    }

    /// Returns whether the submitter of a transaction waits for its block.
    fn is_awaited(&self, hash: B256) -> bool {
        let waiting = self.by_hash.get(&hash).and_then(|(address, nonce)| {
            let sender = self.senders.get(address)?;
            sender.waiting(*nonce)
        });
        waiting.is_some()
    }

    /// Removes a transaction, and answers its submitter. Returns whether there was one.
    fn reject(&mut self, hash: B256, reason: SubmitError) -> bool {
        let Some(slot) = self.take(hash) else {
            return false;
        };
        slot.answer(|| Err(reason));
        true
    }

    fn take(&mut self, hash: B256) -> Option<PoolSlot> {
        let (address, nonce) = *self.by_hash.get(&hash)?;
        let slot = self.change(address, |sender| sender.remove(nonce))??;
        self.forget(&slot.pooled);
        self.tidy(address);
        Some(slot)
    }

    /// Changes an account's transactions and updates the ranking of those whose executability
    /// changed with it.
    fn change<R>(
        &mut self,
        address: Address,
        change: impl FnOnce(&mut AccountTransactions) -> R,
    ) -> Option<R> {
        let sender = self.senders.get_mut(&address)?;
        let before = sender.pending_nonce();
        let result = change(sender);

        if let Some(ranking) = &mut self.ranking {
            let (moved, executable) = sender.moved_since(before);
            moved.for_each(|pooled| ranking.place(pooled, executable));
        }
        Some(result)
    }

    /// Adds a transaction to the ranking.
    fn rank(&mut self, pooled: &Pooled) {
        if let Some(ranking) = &mut self.ranking {
            let sender = self.senders.get(&pooled.transaction.sender);
            ranking.place(
                pooled,
                sender.is_some_and(|sender| pooled.nonce() < sender.pending_nonce()),
            );
        }
    }

    /// Removes a transaction, already removed from its account, from the indexes.
    fn forget(&mut self, pooled: &Pooled) {
        self.by_hash.remove(&pooled.transaction.hash());
        self.ready
            .remove_awaited(pooled.transaction.sender, pooled.nonce());
        self.bytes -= pooled.bytes;
        self.version += 1;

        if let Some(ranking) = &mut self.ranking {
            ranking.remove(pooled);
            let half_empty = self.by_hash.len() < self.limits.transactions / 2
                && self.bytes < self.limits.bytes / 2;
            if half_empty {
                self.ranking = None;
            }
        }
    }
}

/// Returns the nonce of the next transaction of an account, which may not exist yet.
fn next_nonce(account: Option<&Account>) -> u64 {
    account.map_or(0, |account| account.nonce)
}

/// Checks whether an account can send a transaction.
fn check_account(transaction: &Transaction, account: Option<&Account>) -> Result<(), SubmitError> {
    let next = next_nonce(account);
    let nonce = transaction.envelope.nonce();
    if nonce < next {
        return Err(SubmitError::NonceTooLow { next, nonce });
    }

    // Contracts do not send transactions (EIP-3607). Code that delegates (EIP-7702) leaves an
    // account externally owned.
    let is_contract = account
        .and_then(|account| account.contract.as_ref())
        .is_some_and(|contract| !contract.code.is_empty() && !contract.code.is_eip7702());
    if is_contract && !transaction.is_impersonated() {
        return Err(SubmitError::SenderHasCode(transaction.sender));
    }

    Ok(())
}

/// Checks that an account's balance covers the cost of a transaction, alone and with those that
/// wait in the pool, except for the one that it replaces.
fn check_funds(
    transaction: &Transaction,
    cost: U256,
    account: Option<&Account>,
    waiting: Option<&AccountTransactions>,
) -> Result<(), SubmitError> {
    let nonce = transaction.envelope.nonce();
    let balance = account.map_or(U256::ZERO, |account| account.balance);
    let others = waiting.map_or(U256::ZERO, |sender| sender.cost_without(nonce));
    let total = cost.saturating_add(others);

    if balance < cost {
        Err(SubmitError::InsufficientFunds { balance, cost })
    } else if balance < total {
        Err(SubmitError::InsufficientFunds {
            balance,
            cost: total,
        })
    } else {
        Ok(())
    }
}

/// Checks that a transaction pays enough to replace `old`, if there is one with its nonce.
fn check_replacement(
    transaction: &Transaction,
    old: Option<&Arc<Pooled>>,
    percent: u32,
) -> Result<(), SubmitError> {
    match old {
        Some(old) if !outbids(transaction, &old.transaction, percent) => {
            Err(SubmitError::ReplacementUnderpriced)
        }
        _ => Ok(()),
    }
}

/// Returns the approximate size of a transaction in memory, in bytes.
fn bytes_of(transaction: &Transaction, sidecar: Option<&BlobTransactionSidecarVariant>) -> usize {
    let sidecar = sidecar.map_or(0, Encodable7594::encode_7594_len);
    OVERHEAD + transaction.envelope.encode_2718_len() + sidecar
}
