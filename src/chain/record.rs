//! Recording what the writer does before anybody sees it, and what follows from failing to.

use std::sync::Arc;

use super::{Executor, Head, SubmitError, executor::Sealed, phases::Phase, writer::Waiting};
use crate::log::{AppendError, Entry, Parameters};

impl Executor {
    /// Records a change before anybody sees it.
    pub(super) fn record(&mut self, entry: impl FnOnce() -> Entry) -> Result<(), AppendError> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let entry = entry();
        let recorded = self.shared.phases.time(Phase::Append, || journal.record(&entry));
        self.note_append(&recorded);
        recorded?;
        if let Entry::Block { shift, .. } | Entry::Time(shift) | Entry::Revert { shift, .. } = entry {
            self.recorded = shift;
        }
        Ok(())
    }

    /// Records a block. If that fails, the time and the decisions for the next block are as they were before it.
    pub(super) fn record_sealed(&mut self, sealed: &Sealed) -> Result<(), AppendError> {
        self.record(|| sealed.entry()).inspect_err(|_| {
            *self.shared.timing.lock() = sealed.before.0.clone();
            *self.shared.sealing.lock() = sealed.before.1;
        })
    }

    /// Records what edits made of `before`, all at once.
    pub(super) fn record_edits(&mut self, before: &Head, after: &Head) -> Result<(), AppendError> {
        self.record(|| Entry::Edit {
            changes: Arc::new(after.edits_since(before)),
            root: after.state.root(),
            parameters: (!Arc::ptr_eq(&before.params, &after.params)).then(|| Parameters::of(after)),
        })
    }

    /// Records that the chain goes back to what it was when the log had `to` entries, and then on with some blocks. If
    /// only a part of that could be recorded, nothing more can be: the log then has a way that nobody sees.
    pub(super) fn record_replaced(&mut self, to: u64, blocks: &[Sealed]) -> Result<(), AppendError> {
        let shift = blocks.first().map_or_else(|| self.shared.timing.lock().shift(), |first| first.before.0.shift());
        self.record(|| Entry::Revert { to, shift })?;
        for sealed in blocks {
            let recorded = self.record(|| sealed.entry());
            if let (Err(error), Some(journal)) = (&recorded, &mut self.journal) {
                journal.give_up(error.to_string());
            }
            recorded?;
        }
        Ok(())
    }

    /// Entries that the log had when the block with this number was the newest.
    pub(super) fn height_after(&self, number: u64) -> Option<u64> {
        let is_first = number == self.head().genesis.number();
        self.journal.as_ref().map_or(Some(0), |journal| journal.height_after(number).or(is_first.then_some(0)))
    }

    /// Records what a development method made of the time, if no block tells of it, or takes that back.
    pub(super) fn record_time(&mut self) -> bool {
        let shift = self.shared.timing.lock().shift();
        if self.journal.is_none() || shift == self.recorded || self.record(|| Entry::Time(shift)).is_ok() {
            return true;
        }
        self.shared.timing.lock().restore(self.recorded);
        false
    }

    /// Blocks were published.
    pub(super) fn after_blocks(&mut self) {
        let (head, shift) = (self.head(), self.recorded);
        if let Some(journal) = &mut self.journal {
            journal.settled(&head, shift);
        }
        self.tidy_pool(false);
    }

    /// Takes everything that somebody waits for out of the pool, and tells them why.
    pub(super) fn refuse_all(&mut self, reason: impl Fn() -> SubmitError) {
        self.shared.pool.refuse_awaited(reason);
    }

    /// Keeps transactions that have to wait.
    pub(super) fn keep(&mut self, all: Vec<Waiting>) {
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
        // Blocks, after which the file is tidied as well, may be long in coming.
        self.tidy_pool(false);
    }

    pub(super) fn tidy_pool(&mut self, anyway: bool) {
        let shared = &self.shared;
        let waiting = || shared.pool.content().iter().map(|(pooled, _)| pooled.kept()).collect();
        if let Some(journal) = &mut self.journal {
            journal.tidy_pool(anyway, waiting);
        }
    }
}

impl Parameters {
    /// Those of a head.
    pub(super) fn of(head: &Head) -> Self {
        let signers = head.params.signers.iter().map(|(signature, signer)| (*signature, *signer)).collect();
        Self { chain_id: head.params.chain_id, signers }
    }

    /// Makes them those of a head.
    pub(super) fn restore(self, head: &mut Head) {
        let params = Arc::make_mut(&mut head.params);
        params.chain_id = self.chain_id;
        params.signers = Arc::new(self.signers.into_iter().collect());
    }
}

impl Sealed {
    fn entry(&self) -> Entry {
        Entry::Block { block: self.block.clone(), changes: self.changes.clone(), shift: self.shift }
    }
}
