//! Submission of transactions: adds them to the pool and returns the outcome to the submitter.
//!
//! With instant mining a fee cap below the base fee is refused, as by anvil and hardhat: without
//! further blocks the base fee never falls. In the production profile a transaction without a tip
//! is refused, as by geth: one whose fee cap is zero, too, would need no funds, and anyone could
//! fill the pool with them.

use std::time::{Duration, Instant};

use alloy_consensus::Transaction as _;
use alloy_primitives::{B256, U256};
use tetrad_evm::{Call, CallContext, Environment, StateOverrides, TimeLimit};
use tetrad_primitives::{
    block::{Submission, Transaction, cosmos::CosmosTransaction},
    state::ReadState,
};
use tokio::sync::oneshot;

use super::{
    Accepted, Admission, Chain, Event, Head, Mining, SubmitError, block_in_place,
    writer::thread::{StoreRequest, WriterCommand},
};

/// Most rounds that a submitter seals for others before the writer takes over: its own client waits
/// meanwhile.
const MAX_ROUNDS: u64 = 16;
/// Time limit of the trial run of a transaction on a fork. State that was fetched by then stays
/// cached.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(2);

impl Chain {
    /// Decodes a signed transaction and adds it to the pool. Its signature and everything else is
    /// checked on the caller's thread. With instant mining it is sealed once the caller awaits
    /// [`acknowledged`](Self::acknowledged).
    pub fn accept_raw(&self, raw: &[u8]) -> Result<Accepted, SubmitError> {
        // Until the pool has the transaction, so that the writer's next block waits for it.
        let _arrival = self.shared.arrivals.begin();
        self.accept(Submission::decode(raw)?)
    }

    /// Adds a transaction with a known sender to the pool.
    pub fn accept(&self, submission: Submission) -> Result<Accepted, SubmitError> {
        self.admit(submission, false)
    }

    /// Adds a transaction that another node of the cluster has acknowledged, whatever it pays by
    /// now.
    pub fn accept_acknowledged(&self, submission: Submission) -> Result<Accepted, SubmitError> {
        self.admit(submission, true)
    }

    fn admit(
        &self,
        submission: Submission,
        is_acknowledged: bool,
    ) -> Result<Accepted, SubmitError> {
        let head = self.head();
        let next = self.shared.next_environment(&head, 0);
        let min_tip = if is_acknowledged { 0 } else { self.min_tip() };
        let base_fee = next.base_fee.unwrap_or(0);

        match submission.transaction.cosmos() {
            None => {
                let admission = Admission {
                    params: &head.params,
                    rules: next.rules,
                    gas_limit: next.gas_limit,
                    min_tip,
                };
                admission.check(&submission)?;
                let transaction = &submission.transaction;
                let max = transaction.envelope.max_fee_per_gas();
                // Sealing at once, the chain would wait for a lower base fee for ever: it falls
                // only with further blocks.
                if max < u128::from(base_fee)
                    && self.mining() == Mining::Instant
                    && !is_acknowledged
                {
                    return Err(SubmitError::FeeCapTooLow {
                        sender: transaction.sender,
                        max,
                        base_fee,
                    });
                }
            }
            Some(cosmos) => self.admit_cosmos(&cosmos, &head, &next, min_tip)?,
        }

        self.add_to_pool(submission, &head, &next)
    }

    /// Adds a Cosmos transaction that its client sends, once it passed
    /// [`check_cosmos`](Self::check_cosmos). `transaction` is `cosmos` as it is in a block.
    pub fn accept_cosmos(
        &self,
        cosmos: &CosmosTransaction,
        transaction: Transaction,
    ) -> Result<Accepted, SubmitError> {
        self.check_cosmos(cosmos)?;

        let head = self.head();
        let next = self.next_environment(&head);
        self.add_to_pool(
            Submission {
                transaction,
                sidecar: None,
            },
            &head,
            &next,
        )
    }

    /// Adds a transaction that was admitted to the pool.
    fn add_to_pool(
        &self,
        submission: Submission,
        head: &Head,
        next: &Environment,
    ) -> Result<Accepted, SubmitError> {
        let base_fee = next.base_fee.unwrap_or(0);
        if head.state.base().is_some() {
            // Fetches the account from the other node now, not under the pool's lock, and the rest
            // of what the transaction reads not while a block is built.
            let sender = head.state.get(submission.transaction.sender)?;
            let nonce = sender.as_ref().map_or(0, |account| account.nonce);
            let balance = sender.map_or(U256::ZERO, |account| account.balance);
            let tx = &submission.transaction.envelope;
            // Not for one that the pool refuses, or that has to wait.
            if tx.nonce() == nonce && balance > tx.value() {
                block_in_place(|| try_out(&submission.transaction, head, next));
            }
        }

        let accepted = self
            .shared
            .pool
            .insert(submission, || self.head(), base_fee)?;
        self.shared.blobs.keep(&accepted.pooled);

        let _ = self
            .shared
            .events
            .send(Event::Pending(accepted.pooled.transaction.clone()));
        Ok(accepted)
    }

    /// Removes expired transactions from the pool: those that have waited for another one or for a
    /// lower base fee for longer than the pool's limits allow.
    pub fn expire_waiting(&self) {
        let base_fee = self
            .shared
            .next_environment(&self.head(), 0)
            .base_fee
            .unwrap_or(0);

        let count = self.shared.pool.expire(base_fee);
        if count > 0 {
            tracing::debug!(count, "transactions expired");
            // Sending fails once the chain has stopped.
            let _ = self.commands.send(WriterCommand::TidyPool);
        }
    }

    /// Waits, with instant mining, until the block of an accepted transaction is published. A
    /// transaction that waits for a missing nonce, a lower base fee or a block that is due later is
    /// instead acknowledged at once, or as soon as it is stored if the chain has a data directory.
    pub async fn acknowledged(&self, accepted: Accepted) -> Result<B256, SubmitError> {
        let hash = accepted.pooled.transaction.hash();
        if let Some(peers) = self.shared.peers.get().cloned() {
            // The transaction is in this node's pool, and goes to the leader even if the client
            // disconnects.
            let chain = self.clone();
            let acknowledging =
                tokio::spawn(
                    async move { chain.acknowledged_among(&*peers, accepted, true).await },
                );
            return acknowledging
                .await
                .unwrap_or(Err(SubmitError::Stopped))
                .map(|_| hash);
        }

        if self.mining().is_instant() {
            match accepted.included {
                None => self.wake(),
                Some(included) => {
                    if self.shared.arrivals.are_sequential() {
                        self.seal_here();
                    } else {
                        self.wake();
                    }
                    included.await.unwrap_or(Err(SubmitError::Stopped))?;
                }
            }
        }

        if self.shared.stores_pool && self.shared.pool.get(hash).is_some() {
            let (stored, outcome) = oneshot::channel();
            let waiting = StoreRequest {
                pooled: accepted.pooled,
                stored,
            };
            self.commands
                .send(WriterCommand::Store(waiting))
                .map_err(|_| SubmitError::Stopped)?;
            outcome.await.unwrap_or(Err(SubmitError::Stopped))?;
        }
        Ok(hash)
    }

    /// Restores the transactions that were pending at the last shutdown. Those that are no longer
    /// valid are left out.
    pub(super) fn restore_pool(&self, waiting: Vec<Submission>) {
        if waiting.is_empty() {
            return;
        }

        let base_fee = self
            .shared
            .next_environment(&self.head(), 0)
            .base_fee
            .unwrap_or(0);

        let all = waiting.len();
        let mut restored = 0;
        for submission in waiting {
            let inserted = self
                .shared
                .pool
                .insert(submission, || self.head(), base_fee);
            match inserted {
                Ok(_) => restored += 1,
                Err(error) => tracing::debug!(%error, "dropped a stored transaction"),
            }
        }

        tracing::info!(all, restored, "restored pending transactions");
        let _ = self.commands.send(WriterCommand::TidyPool);
        self.wake();
    }

    /// Seals ready transactions on this thread if that is quick, or else wakes the writer.
    fn seal_here(&self) {
        if !self.shared.seal_lock.take() {
            return;
        }

        let _held = SealGuard(self);
        for round in 0u64.. {
            let sealed = round < MAX_ROUNDS && self.try_seal();
            if !sealed {
                self.wake();
            }

            if self.shared.seal_lock.release() {
                return;
            }
        }
    }

    /// Seals ready transactions if the writer is idle and they are few. Returns whether all were
    /// handled.
    fn try_seal(&self) -> bool {
        self.writer
            .try_lock()
            .is_some_and(|mut writer| writer.seal_few())
    }
}

/// A guard of the seal lock. A panic stops the chain, like one of the writer's thread: the writer's
/// state is then unknown.
struct SealGuard<'a>(&'a Chain);

impl Drop for SealGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// Runs a transaction on the newest state of a fork only to fetch the state that it reads. The
/// block that includes it determines its outcome.
fn try_out(transaction: &Transaction, head: &Head, next: &Environment) {
    let tx = &transaction.envelope;
    if !head.state.is_remote() || transaction.is_cosmos() {
        return;
    }

    let begun = Instant::now();
    let out_of_time = || begun.elapsed() > TRIAL_TIMEOUT;
    let context = CallContext {
        chain: &head.params,
        environment: next,
        state: &head.state,
        hashes: head,
        overrides: &StateOverrides::new(),
        gas_cap: next.gas_limit,
        time_limit: Some(TimeLimit::new(&out_of_time, &out_of_time)),
    };
    let call = Call {
        from: transaction.sender,
        to: tx.to(),
        gas: Some(tx.gas_limit()),
        value: tx.value(),
        input: tx.input().clone(),
        access_list: tx.access_list().cloned(),
        authorization_list: tx.authorization_list().map(<[_]>::to_vec),
        ..Call::default()
    };
    let _ = context.call(&call);
}
