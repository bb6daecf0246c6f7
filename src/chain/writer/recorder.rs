//! Recording what the writer does before anybody sees it, and what follows from failing to.

use std::sync::Arc;

use super::{Writer, phases::Phase, sealing::Sealed, thread::WaitingTransaction};
use crate::{
    chain::{Head, Journal, SubmitError, block::candidate::Candidate},
    evm::BlockError,
    log::{AppendError, Entry, Parameters, Shift},
};

/// What is recorded, and whether that still works.
pub(in crate::chain) struct Recorder {
    /// Where changes are recorded; none on a chain that lives in memory only.
    pub(in crate::chain) journal: Option<Journal>,
    /// How the chain's time differs from the clock's, as it is recorded.
    shift: Shift,
    /// Why the last block or other change could not be made, if none could since.
    failure: Option<RecordFailure>,
}

impl Recorder {
    /// Records in `journal`, which has the time as `shift` says.
    pub(in crate::chain) fn new(journal: Option<Journal>, shift: Shift) -> Self {
        Self { journal, shift, failure: None }
    }

    /// How the chain's time differs from the clock's, as it is recorded.
    pub(super) fn shift(&self) -> Shift {
        self.shift
    }

    /// Takes over the shift that another writer recorded.
    pub(super) fn followed(&mut self, shift: Shift) {
        self.shift = shift;
    }
}

/// Why the last change to the chain was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RecordFailure {
    /// It could not be recorded.
    Append(String),
    /// No block could be made, whatever it holds.
    Block(String),
}

impl Writer {
    /// Remembers whether something could be recorded. A small entry that fits on a full disk ends no failure.
    pub(super) fn note_append(&mut self, outcome: &Result<(), AppendError>) {
        match outcome {
            Ok(()) if self.recorder.journal.as_ref().is_some_and(Journal::is_obstructed) => {}
            Ok(()) => self.overcome(|failure| matches!(failure, RecordFailure::Append(_))),
            // The log is in order, and the change is made again.
            Err(AppendError::Conflict { .. }) => {}
            Err(error) => self.fail(RecordFailure::Append(format!("the chain cannot be written: {error}"))),
        }
    }

    /// Remembers whether a block could be made.
    pub(super) fn note_block<T>(&mut self, outcome: &Result<T, BlockError>) {
        match outcome {
            Ok(_) => self.overcome(|failure| matches!(failure, RecordFailure::Block(_))),
            Err(error) => self.fail(RecordFailure::Block(format!("no block can be sealed: {error}"))),
        }
    }

    /// Why no block can be sealed; none if the last attempt succeeded, or another one does. A node that gets no requests
    /// because of a failure would otherwise never learn that it is over.
    pub(in crate::chain) fn obstacle(&mut self) -> Option<String> {
        match self.recorder.failure.as_ref()? {
            RecordFailure::Append(_) => {
                let probed = self.recorder.journal.as_mut().map_or(Ok(()), Journal::probe);
                self.note_append(&probed);
            }
            RecordFailure::Block(_) => {
                let head = self.head();
                let environment = self.shared.next_environment(&head, 0);
                self.note_block(&Candidate::build(&head, &environment, Vec::new(), &[], None));
            }
        }
        let (RecordFailure::Append(reason) | RecordFailure::Block(reason)) = self.recorder.failure.as_ref()?;
        Some(reason.clone())
    }

    /// Tells of a failure, unless it is known.
    fn fail(&mut self, failure: RecordFailure) {
        if self.recorder.failure.as_ref() != Some(&failure) {
            let (RecordFailure::Append(reason) | RecordFailure::Block(reason)) = &failure;
            tracing::error!("{reason}");
            self.recorder.failure = Some(failure);
        }
    }

    fn overcome(&mut self, is_over: impl FnOnce(&RecordFailure) -> bool) {
        if self.recorder.failure.take_if(|failure| is_over(failure)).is_some() {
            tracing::info!("the chain goes on");
        }
    }

    /// Records a change before anybody sees it.
    pub(in crate::chain) fn record(&mut self, entry: impl FnOnce() -> Entry) -> Result<(), AppendError> {
        let Some(journal) = &mut self.recorder.journal else { return Ok(()) };
        let entry = entry();
        let recorded = self.shared.phases.time(Phase::Append, || journal.record(&entry));
        self.note_append(&recorded);
        recorded?;
        if let Entry::Block { shift, .. } | Entry::Time(shift) | Entry::Revert { shift, .. } = entry {
            self.recorder.shift = shift;
        }
        Ok(())
    }

    /// Records a block. If that fails, the time and the decisions for the next block are as they were before it.
    pub(super) fn record_sealed(&mut self, sealed: &Sealed) -> Result<(), AppendError> {
        self.record(|| sealed.entry()).inspect_err(|_| {
            *self.shared.timing.lock() = sealed.timing_before.clone();
            *self.shared.sealing.lock() = sealed.sealing_before;
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
    /// only a part of that could be recorded, nothing more can be, as the log then leads to a head that nobody sees; unless
    /// another writer went on from there, whom the chain then follows.
    pub(super) fn record_replaced(&mut self, to: u64, blocks: &[Sealed]) -> Result<(), AppendError> {
        let shift =
            blocks.first().map_or_else(|| self.shared.timing.lock().shift(), |first| first.timing_before.shift());
        let published = self.recorder.journal.as_ref().map_or(0, Journal::height);
        self.record(|| Entry::Revert { to, shift })?;
        for sealed in blocks {
            let recorded = self.record(|| sealed.entry());
            if let (Err(error), Some(journal)) = (&recorded, &mut self.recorder.journal) {
                match error {
                    AppendError::Conflict { .. } => journal.withhold(published),
                    _ => journal.give_up(error.to_string()),
                }
            }
            recorded?;
        }
        Ok(())
    }

    /// Entries that the log had when the block with this number was the newest.
    pub(super) fn height_after(&self, number: u64) -> Option<u64> {
        let is_first = number == self.head().genesis.number();
        self.recorder.journal.as_ref().map_or(Some(0), |journal| journal.height_after(number).or(is_first.then_some(0)))
    }

    /// Records the time as a development method set it, if no block did, or else undoes it.
    pub(super) fn record_time(&mut self) -> bool {
        let shift = self.shared.timing.lock().shift();
        let recorded = self.retry(|writer| {
            writer.shared.timing.lock().restore(shift);
            let is_known = writer.recorder.journal.is_none() || shift == writer.recorder.shift;
            if is_known { Ok(()) } else { Ok(writer.record(|| Entry::Time(shift))?) }
        });
        recorded.inspect_err(|_| self.shared.timing.lock().restore(self.recorder.shift)).is_ok()
    }

    /// Blocks were published.
    pub(super) fn after_blocks(&mut self) {
        let (head, shift) = (self.head(), self.recorder.shift);
        if let Some(journal) = &mut self.recorder.journal {
            journal.settled(&head, shift);
        }
        self.tidy_pool(false);
    }

    /// Takes everything that somebody waits for out of the pool, and tells them why.
    pub(super) fn refuse_all(&mut self, reason: impl Fn() -> SubmitError) {
        self.shared.pool.refuse_awaited(reason);
    }

    /// Keeps transactions that have to wait.
    pub(in crate::chain) fn keep(&mut self, all: Vec<WaitingTransaction>) {
        let kept: Vec<_> = all.iter().map(|waiting| waiting.pooled.kept()).collect();
        let outcome = self.recorder.journal.as_mut().map_or(Ok(()), |journal| journal.keep(&kept));
        for WaitingTransaction { pooled, kept } in all {
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
        if let Some(journal) = &mut self.recorder.journal {
            journal.tidy_pool(anyway, waiting);
        }
    }
}

impl Parameters {
    /// Those of a head.
    pub(in crate::chain) fn of(head: &Head) -> Self {
        let signers = head.params.signers.iter().map(|(signature, signer)| (*signature, *signer)).collect();
        Self { chain_id: head.params.chain_id, signers }
    }

    /// Makes them those of a head.
    pub(in crate::chain) fn restore(self, head: &mut Head) {
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
