//! What the writer records, and what becomes of a change that cannot be recorded.

use super::{
    ChangeError, Executor, Sealing, SubmitError,
    executor::{Command, Sealed, Waiting},
    timing::Timing,
};
use crate::log::{AppendError, Entry};

/// What a block uses up of what was decided for it, to be given back if the block cannot be recorded.
pub(super) struct Decided {
    timing: Timing,
    sealing: Sealing,
}

impl Executor {
    /// Records a change before anybody sees it.
    pub(super) fn record(&mut self, entry: impl FnOnce() -> Entry) -> Result<(), AppendError> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let entry = entry();
        journal.record(&entry)?;
        if let Entry::Block { shift, .. } | Entry::Time(shift) | Entry::Revert { shift, .. } = entry {
            self.recorded = shift;
        }
        Ok(())
    }

    /// Records a block that was made.
    pub(super) fn record_block(&mut self, sealed: &Sealed) -> Result<(), AppendError> {
        let Sealed { block, changes, shift, .. } = sealed;
        self.record(|| Entry::Block { block: block.clone(), changes: changes.clone(), shift: *shift })?;
        self.failure = None;
        Ok(())
    }

    /// What is decided for the next block.
    pub(super) fn decided(&self) -> Decided {
        Decided { timing: self.shared.timing.lock().clone(), sealing: *self.shared.sealing.lock() }
    }

    /// Decides it again.
    pub(super) fn decide(&self, Decided { timing, sealing }: Decided) {
        *self.shared.timing.lock() = timing;
        *self.shared.sealing.lock() = sealing;
    }

    /// Records what a development method made of the time, if no block tells of it, or takes that back. Returns
    /// whether it holds.
    pub(super) fn record_time(&mut self) -> bool {
        let shift = self.shared.timing.lock().shift();
        if self.journal.is_none() || shift == self.recorded || self.record(|| Entry::Time(shift)).is_ok() {
            return true;
        }
        self.shared.timing.lock().restore(self.recorded);
        false
    }

    /// Everything that was recorded is published.
    pub(super) fn settled(&mut self) {
        let shift = self.recorded;
        if let Some(journal) = &mut self.journal {
            journal.settled(&self.shared.head.load(), shift);
        }
        self.tidy_pool(false);
    }

    /// Tells that no block could be sealed, unless that is known.
    pub(super) fn tell(&mut self, error: &ChangeError) {
        let text = error.to_string();
        if self.failure.as_ref() != Some(&text) {
            tracing::error!(%error, "could not seal a block");
            self.failure = Some(text);
        }
    }

    /// Keeps transactions that have to wait: everybody's at once, so that all pay for one write together.
    pub(super) fn keep(&mut self, first: Waiting) {
        let mut all = vec![first];
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Keep(waiting) => all.push(waiting),
                other => {
                    self.deferred.push_back(other);
                    break;
                }
            }
        }
        let kept: Vec<_> = all.iter().map(|waiting| waiting.pooled.kept()).collect();
        let outcome = self.journal.as_mut().map_or(Ok(()), |journal| journal.keep(&kept));
        for Waiting { pooled, kept } in all {
            let result = match &outcome {
                Ok(()) => Ok(()),
                Err(error) => {
                    let refusal = || SubmitError::Storage(error.to_string());
                    self.shared.pool.reject(pooled.transaction.hash(), refusal());
                    Err(refusal())
                }
            };
            // Whoever asked may have gone.
            let _ = kept.send(result);
        }
    }

    /// Writes the file of transactions that wait anew, if it is worth it or `anyway`.
    pub(super) fn tidy_pool(&mut self, anyway: bool) {
        let shared = &self.shared;
        let waiting = || shared.pool.content().iter().map(|(pooled, _)| pooled.kept()).collect();
        if let Some(journal) = &mut self.journal {
            journal.tidy_pool(anyway, waiting);
        }
    }
}
