//! Submitting transactions: into the pool, and the outcome back to the submitter.

use alloy_primitives::B256;
use tokio::sync::oneshot;

use super::{
    Accepted, Admission, Chain, Event, Mining, SubmitError,
    writer::thread::{Command, WaitingTransaction},
};
use crate::block::Submission;

/// How often a submitter that seals for others looks again before the writer takes over: it waits for an answer as well.
const MOST_ROUNDS: u64 = 16;

impl Chain {
    /// Decodes a signed transaction and puts it into the pool. Its signature and all else is checked on the caller's
    /// thread. With instant sealing it goes into a block when somebody waits for it to be [settled](Self::settled).
    pub fn accept_raw(&self, raw: &[u8]) -> Result<Accepted, SubmitError> {
        let _arrival = self.shared.arrivals.begin();
        self.accept(Submission::decode(raw)?)
    }

    /// The same with a transaction whose sender is known.
    pub fn accept(&self, submission: Submission) -> Result<Accepted, SubmitError> {
        let head = self.head();
        let next = self.shared.next_environment(&head, 0);
        let min_tip = self.shared.sealing.lock().min_tip;
        Admission { params: &head.params, rules: next.rules, gas_limit: next.gas_limit, min_tip }.check(&submission)?;
        if head.state.base().is_some() {
            // The other chain is asked now and not under the pool's lock.
            head.state.get(submission.transaction.sender)?;
        }
        let accepted = self.shared.pool.insert(submission, || self.head(), next.base_fee.unwrap_or(0))?;
        self.shared.blobs.keep(&accepted.pooled);
        let _ = self.shared.events.send(Event::Pending(accepted.pooled.transaction.clone()));
        Ok(accepted)
    }

    /// Takes transactions out of the pool that waited for another one or for a lower base fee for longer than the pool's
    /// limits allow.
    pub fn expire_waiting(&self) {
        let base_fee = self.shared.next_environment(&self.head(), 0).base_fee.unwrap_or(0);
        let count = self.shared.pool.expire(base_fee);
        if count > 0 {
            tracing::debug!(count, "transactions expired");
            // Without a writer the chain has ended.
            let _ = self.commands.send(Command::TidyPool);
        }
    }

    /// Waits, with instant sealing, until an accepted transaction's block is published. One that has to wait for
    /// something else (a missing nonce, a lower base fee, a block that is due later) is answered as soon as it is
    /// where it outlives the process, if the chain does.
    pub async fn settled(&self, accepted: Accepted) -> Result<B256, SubmitError> {
        let hash = accepted.pooled.transaction.hash();
        if self.mining() == Mining::Instant {
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
        if self.shared.keeps_pool && self.shared.pool.get(hash).is_some() {
            let (kept, outcome) = oneshot::channel();
            let waiting = WaitingTransaction { pooled: accepted.pooled, kept };
            self.commands.send(Command::Keep(waiting)).map_err(|_| SubmitError::Stopped)?;
            outcome.await.unwrap_or(Err(SubmitError::Stopped))?;
        }
        Ok(hash)
    }

    /// Puts the transactions back that waited when the node ended. Those that are no longer valid are left out.
    pub(super) fn wait_again(&self, waiting: Vec<Submission>) {
        if waiting.is_empty() {
            return;
        }
        let fee_floor = self.shared.next_environment(&self.head(), 0).base_fee.unwrap_or(0);
        let (all, mut back) = (waiting.len(), 0);
        for submission in waiting {
            match self.shared.pool.insert(submission, || self.head(), fee_floor) {
                Ok(_) => back += 1,
                Err(error) => tracing::debug!(%error, "a transaction no longer waits"),
            }
        }
        tracing::info!(all, back, "transactions wait again");
        let _ = self.commands.send(Command::TidyPool);
        self.wake();
    }

    /// Seals what is ready on this thread, if that is quick, or else has the writer do it.
    fn seal_here(&self) {
        if !self.shared.seal_lock.take() {
            return;
        }
        let _held = HeldSealLock(self);
        for round in 0u64.. {
            let seal = || self.writer.try_lock().is_some_and(|mut writer| writer.seal_few());
            let sealed = round < MOST_ROUNDS && seal();
            if !sealed {
                self.wake();
            }
            if self.shared.seal_lock.release() {
                return;
            }
        }
    }
}

/// The seal lock, held. A panic ends the chain, as one of the writer's thread does: the state it left behind is unknown.
struct HeldSealLock<'a>(&'a Chain);

impl Drop for HeldSealLock<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}
