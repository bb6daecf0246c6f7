//! From whoever submits a transaction to the pool, and back with what became of it.

use alloy_primitives::B256;
use tokio::sync::oneshot;

use super::{
    Accepted, Admission, Chain, Event, Mining, SubmitError,
    executor::{Command, Waiting},
};
use crate::block::Submission;

impl Chain {
    /// Decodes a signed transaction and puts it into the pool. Its signature and all else is checked on the caller's
    /// thread.
    pub fn accept_raw(&self, raw: &[u8]) -> Result<Accepted, SubmitError> {
        let arrival = self.shared.arrivals.begin();
        let accepted = self.enter(Submission::decode(raw)?)?;
        drop(arrival);
        self.wake_for_new();
        Ok(accepted)
    }

    /// The same with a transaction whose sender is known.
    pub fn accept(&self, submission: Submission) -> Result<Accepted, SubmitError> {
        let accepted = self.enter(submission)?;
        self.wake_for_new();
        Ok(accepted)
    }

    /// Checks a transaction and puts it into the pool.
    fn enter(&self, submission: Submission) -> Result<Accepted, SubmitError> {
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
        let _ = self.shared.events.send(Event::Pending(accepted.pooled.clone()));
        Ok(accepted)
    }

    fn wake_for_new(&self) {
        if self.shared.sealing.lock().mining == Mining::Instant {
            self.wake();
        }
    }

    /// Waits, with instant sealing, until an accepted transaction's block is published. One that has to wait for
    /// something else (a missing nonce, a lower base fee, a block that is due later) is answered as soon as it is
    /// where it outlives the process, if the chain does.
    pub async fn settled(&self, accepted: Accepted) -> Result<B256, SubmitError> {
        let hash = accepted.pooled.transaction.hash();
        if let Some(included) = accepted.included.filter(|_| self.shared.sealing.lock().mining == Mining::Instant) {
            included.await.unwrap_or(Err(SubmitError::Stopped))?;
        }
        if self.shared.keeps_pool && self.shared.pool.get(hash).is_some() {
            let (kept, outcome) = oneshot::channel();
            let waiting = Waiting { pooled: accepted.pooled, kept };
            self.commands.send(Command::Keep(waiting)).map_err(|_| SubmitError::Stopped)?;
            outcome.await.unwrap_or(Err(SubmitError::Stopped))?;
        }
        Ok(hash)
    }
}
