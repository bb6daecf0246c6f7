//! Recording changes before they are published, and handling failures to do so.
//!
//! If the log refuses an entry, the chain is unchanged and the senders get an error.

use std::sync::Arc;

use tetrad_evm::BlockError;
use tetrad_primitives::block::DevSettings;
use tetrad_store::{
    log::{AppendError, EditableParams, LogEntry, RequestPart, TimeShift},
    store::Standing,
};

use super::{
    ChainWriter, journal::FollowTo, phases::Phase, schedule::SealReason, sealing::Sealed,
    thread::StoreRequest,
};
use crate::{Head, Journal, SubmitError, block::candidate::Candidate};

/// The journal, and the failure of the last change if it failed.
pub(crate) struct ChangeRecorder {
    /// The journal; `None` on a chain that lives in memory only.
    pub(crate) journal: Option<Journal>,
    /// The recorded time shift.
    shift: TimeShift,
    /// The settings of development methods that the log has.
    settings: DevSettings,
    /// The reason why the last change failed, until one succeeds.
    failure: Option<ChangeFailure>,
    /// The reason why the log did not answer in the writer's present turn, if it did not.
    pub(super) unanswered: Option<String>,
    /// The request for the change that is being made, in a cluster, and the number of entries after
    /// the next one.
    pub(super) part: Option<RequestPart>,
}

impl ChangeRecorder {
    /// Returns a recorder for `journal`, whose last recorded time shift is `shift`, with these
    /// settings.
    pub(crate) fn new(journal: Option<Journal>, shift: TimeShift, settings: DevSettings) -> Self {
        Self {
            journal,
            shift,
            settings,
            failure: None,
            unanswered: None,
            part: None,
        }
    }

    /// Returns the recorded time shift.
    pub(super) fn shift(&self) -> TimeShift {
        self.shift
    }

    /// Returns the settings of development methods that the log has.
    pub(super) fn settings(&self) -> &DevSettings {
        &self.settings
    }

    /// Adopts the time shift that another writer recorded.
    pub(super) fn adopt(&mut self, shift: TimeShift) {
        self.shift = shift;
    }

    /// Adopts the settings of development methods that another writer recorded.
    pub(super) fn adopt_settings(&mut self, settings: DevSettings) {
        self.settings = settings;
    }

    /// Sets the number of entries of the present request after the next one.
    pub(super) fn expect_after(&mut self, left: usize) {
        if let Some(part) = &mut self.part {
            part.left = left as u64;
        }
    }

    /// Forgets the failure of the last change, once another node makes the changes.
    pub(super) fn forget_failure(&mut self) {
        self.failure = None;
    }
}

/// The reason why the last change failed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ChangeFailure {
    /// The entry could not be appended to the log.
    Append(String),
    /// No block can be built, not even an empty one.
    Block(String),
}

impl ChainWriter {
    /// Notes whether an entry was recorded. A small entry that still fits on a full disk does not
    /// end a failure.
    pub(super) fn note_append(&mut self, outcome: &Result<(), AppendError>) {
        match outcome {
            Ok(()) => {
                let is_obstructed = self
                    .recorder
                    .journal
                    .as_ref()
                    .is_some_and(Journal::is_obstructed);
                if !is_obstructed {
                    self.clear_failure(|failure| matches!(failure, ChangeFailure::Append(_)));
                }
            }
            // Not a failure: the change is retried.
            Err(AppendError::Conflict { .. }) => self.shared.conflicts.add(1),
            Err(AppendError::Unavailable(reason)) => {
                self.recorder.unanswered = Some(reason.clone());
                self.fail(ChangeFailure::Append(format!(
                    "the chain cannot be written: {reason}"
                )));
            }
            Err(error) => self.fail(ChangeFailure::Append(format!(
                "the chain cannot be written: {error}"
            ))),
        }
    }

    /// Notes whether a block was built.
    pub(super) fn note_block<T>(&mut self, outcome: &Result<T, BlockError>) {
        match outcome {
            Ok(_) => self.clear_failure(|failure| matches!(failure, ChangeFailure::Block(_))),
            Err(error) => self.fail(ChangeFailure::Block(format!(
                "no block can be sealed: {error}"
            ))),
        }
    }

    /// Returns the reason why no block can be sealed, or `None` if the last attempt succeeded or a
    /// new one does. Without the new attempt, a node that receives no requests because of a failure
    /// would never notice its end.
    pub(crate) fn obstacle(&mut self) -> Option<String> {
        match self.recorder.failure.as_ref()? {
            ChangeFailure::Append(_) => {
                let probed = self
                    .recorder
                    .journal
                    .as_mut()
                    .map_or(Ok(()), Journal::probe);
                self.note_append(&probed);
                if probed.is_ok() {
                    // An entry without an answer may have been stored. An error shows at the next
                    // change.
                    let _ = self.follow(FollowTo::LogEnd);
                }
            }
            ChangeFailure::Block(_) => {
                let head = self.head();
                let environment = self.shared.next_environment(&head, 0);
                self.note_block(&Candidate::build(
                    &head,
                    &environment,
                    Vec::new(),
                    &[],
                    None,
                ));
            }
        }

        let (ChangeFailure::Append(reason) | ChangeFailure::Block(reason)) =
            self.recorder.failure.as_ref()?;
        Some(reason.clone())
    }

    /// Notes that no more changes can be recorded or followed.
    pub(super) fn fail_for_good(&mut self, reason: String) {
        if let Some(journal) = &mut self.recorder.journal {
            journal.refuse_further(reason.clone());
        }
        self.fail(ChangeFailure::Append(reason));
    }

    /// Logs a failure, unless it is already known.
    fn fail(&mut self, failure: ChangeFailure) {
        if self.recorder.failure.as_ref() != Some(&failure) {
            let (ChangeFailure::Append(reason) | ChangeFailure::Block(reason)) = &failure;
            tracing::error!("{reason}");
            self.recorder.failure = Some(failure);
        }
    }

    fn clear_failure(&mut self, is_cleared: impl FnOnce(&ChangeFailure) -> bool) {
        let cleared = self.recorder.failure.take_if(|failure| is_cleared(failure));
        if cleared.is_some() {
            tracing::info!("the chain can be written again");
            // Transactions that were acknowledged before have stayed.
            self.schedule.request_seal(SealReason::Transactions);
        }
    }

    /// Records a change. Must be called before the change is published.
    pub(crate) fn record(&mut self, entry: impl FnOnce() -> LogEntry) -> Result<(), AppendError> {
        let Some(journal) = &mut self.recorder.journal else {
            return Ok(());
        };

        let entry = entry();
        let part = self.recorder.part;
        let recorded = self
            .shared
            .phases
            .time(Phase::Append, || journal.record(&entry, part));
        self.note_append(&recorded);
        recorded?;

        entry.follow(&mut self.recorder.settings);
        if let LogEntry::Block { shift, .. }
        | LogEntry::Time(shift)
        | LogEntry::Revert { shift, .. }
        | LogEntry::Snapshot { shift, .. } = entry
        {
            self.recorder.shift = shift;
        }

        Ok(())
    }

    /// Records a block. If that fails, restores the time and the settings of the next block.
    pub(super) fn record_sealed(&mut self, sealed: &Sealed) -> Result<(), AppendError> {
        self.record(|| sealed.entry()).inspect_err(|_| {
            *self.shared.timing.lock() = sealed.timing_before.clone();
            self.restore_sealing(sealed.sealing_before);
        })
    }

    /// Records the edits that lead from `before` to `after` as one entry.
    pub(super) fn record_edits(&mut self, before: &Head, after: &Head) -> Result<(), AppendError> {
        self.record(|| LogEntry::Edit {
            changes: Arc::new(after.edits_since(before)),
            root: after.state.root(),
            parameters: (!Arc::ptr_eq(&before.params, &after.params))
                .then(|| EditableParams::from(after)),
        })
    }

    /// Records a revert to log height `to`, followed by new blocks. If only a part of these entries
    /// could be recorded, the log leads to a head that was never published. This writer follows it
    /// if the log can be read, and otherwise records nothing more. The change must not be attempted
    /// again, as it was made in part.
    pub(super) fn record_replaced(
        &mut self,
        to: u64,
        blocks: &[Sealed],
    ) -> Result<(), AppendError> {
        // Sealing the replacements has moved the present time.
        let shift = blocks.first().map_or_else(
            || self.shared.timing.lock().shift(),
            |first| first.timing_before.shift(),
        );

        let published = self.recorder.journal.as_ref().map_or(0, Journal::height);
        self.recorder.expect_after(blocks.len());

        self.record(|| LogEntry::Revert {
            to,
            shift,
            uses_up: None,
        })?;

        for (at, sealed) in blocks.iter().enumerate() {
            self.recorder.expect_after(blocks.len() - 1 - at);
            let Err(error) = self.record(|| sealed.entry()) else {
                continue;
            };

            // What is recorded after it is not what was requested.
            self.recorder.part = None;
            let Some(journal) = &mut self.recorder.journal else {
                return Err(error);
            };
            return Err(match error {
                AppendError::Conflict { .. } | AppendError::Unavailable(_) => {
                    journal.set_published(published);
                    let _ = self.follow(FollowTo::LogEnd);
                    AppendError::Unavailable(format!(
                        "blocks were removed, and not all replaced: {error}"
                    ))
                }
                error => {
                    journal.refuse_further(error.to_string());
                    error
                }
            });
        }
        Ok(())
    }

    /// Returns the log height at which the block with this number became the newest.
    pub(super) fn height_after(&self, number: u64) -> Option<u64> {
        let head = self.head();
        let Some(journal) = &self.recorder.journal else {
            // Nothing is recorded, so that any height will do.
            return Some(0);
        };
        journal
            .height_after(&head, number)
            .or((number == head.genesis.number()).then_some(0))
    }

    /// Records the time shift that a development method set, unless a block already did. If that
    /// fails, restores the recorded one. Returns whether the shift is recorded.
    pub(super) fn record_time(&mut self) -> bool {
        let shift = self.shared.timing.lock().shift();
        let recorded = self.retry(|writer| {
            // An attempt that followed another writer has adopted its shift.
            writer.shared.timing.lock().restore(shift);
            let is_known = writer.recorder.journal.is_none() || shift == writer.recorder.shift;
            if is_known {
                return Ok(());
            }
            // A log that has just not answered would be waited for once more.
            match writer.recorder.unanswered.clone() {
                Some(reason) => Err(AppendError::Unavailable(reason).into()),
                None => Ok(writer.record(|| LogEntry::Time(shift))?),
            }
        });

        recorded
            .inspect_err(|_| self.shared.timing.lock().restore(self.recorder.shift))
            .is_ok()
    }

    /// Offers a checkpoint and maintains the file of pending transactions after blocks were
    /// published.
    pub(super) fn after_blocks(&mut self) {
        let head = self.head();
        let ChangeRecorder {
            journal,
            shift,
            settings,
            ..
        } = &mut self.recorder;
        if let Some(journal) = journal {
            journal.offer_checkpoint(&head, *shift, || self.revert_points.standing(settings));
        }
        self.tidy_pool(false);
    }

    /// Has a checkpoint of the newest head written.
    pub(super) fn demand_checkpoint(&mut self) {
        if let Some(journal) = &mut self.recorder.journal {
            journal.demand_checkpoint();
            self.after_blocks();
        }
    }

    /// Returns what the log determines beside the chain.
    pub(super) fn standing(&self) -> Standing {
        self.revert_points.standing(&self.recorder.settings)
    }

    /// Removes the transactions whose submitters wait from the pool, and answers these with the
    /// reason.
    pub(super) fn refuse_all(&mut self, reason: impl Fn() -> SubmitError) {
        self.shared.pool.refuse_awaited(reason);
    }

    /// Stores pending transactions on disk, and answers their submitters.
    pub(crate) fn store_pending(&mut self, all: Vec<StoreRequest>) {
        let pending: Vec<_> = all
            .iter()
            .map(|waiting| waiting.pooled.to_pending())
            .collect();
        let outcome = self
            .recorder
            .journal
            .as_mut()
            .map_or(Ok(()), |journal| journal.store_pending(&pending));

        for StoreRequest { pooled, stored } in all {
            let result = match &outcome {
                Ok(()) => Ok(()),
                Err(error) => {
                    // It would not survive a restart, so that its sender must not count on it.
                    let refusal = || SubmitError::Storage(error.to_string());
                    self.shared
                        .pool
                        .reject(pooled.transaction.hash(), refusal());
                    Err(refusal())
                }
            };

            // The submitter may have disconnected.
            let _ = stored.send(result);
        }
        // The file is also maintained after each block, but the next block may be far off.
        self.tidy_pool(false);
    }

    pub(super) fn tidy_pool(&mut self, anyway: bool) {
        let Some(journal) = &mut self.recorder.journal else {
            return;
        };
        let pool = &self.shared.pool;
        journal.tidy_pool(anyway, || {
            let content = pool.content();
            content
                .iter()
                .map(|(pooled, _)| pooled.to_pending())
                .collect()
        });
    }
}

impl Sealed {
    fn entry(&self) -> LogEntry {
        LogEntry::Block {
            block: self.block.clone(),
            changes: self.changes.clone(),
            shift: self.shift,
        }
    }
}
