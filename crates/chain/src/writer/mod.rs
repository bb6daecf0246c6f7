//! The single writer, which seals blocks and makes all other changes to the chain.

pub(super) mod arrivals;
pub(super) mod change;
mod follow;
pub(super) mod journal;
mod leading;
mod mining;
pub(super) mod phases;
pub(super) mod produced;
mod recorder;
mod requests;
mod revert;
mod schedule;
pub(super) mod seal_lock;
pub(super) mod sealing;
mod settings;
pub(super) mod thread;
pub(super) mod timing;
mod truncate;
mod unread;

use std::sync::Arc;

use alloy_primitives::Address;
use tetrad_primitives::block::Block;
use tetrad_store::log::{AppendError, RequestPart};

use self::{
    change::{Change, ChangeOutcome, Reply},
    phases::Phase,
    requests::Progress,
    schedule::SealReason,
    timing::Timing,
};
pub(super) use self::{
    recorder::ChangeRecorder, revert::RevertPoints, schedule::WriterSchedule, unread::UnreadSenders,
};
use crate::{ChangeError, Edit, Event, Head, Stopped, SubmitError, shared::SharedChain};

/// The writer's side of the chain.
pub(super) struct ChainWriter {
    pub(super) shared: Arc<SharedChain>,
    pub(super) revert_points: RevertPoints,
    pub(super) schedule: WriterSchedule,
    pub(super) recorder: ChangeRecorder,
    pub(super) unread: UnreadSenders,
    /// Whether this writer seals blocks. In a cluster, all writers but one only follow the log.
    pub(super) leads: bool,
    /// Whether the writer was stopped.
    pub(super) ended: bool,
}

/// The outcome of a change, and the channel for it.
type Answer = (Result<ChangeOutcome, ChangeError>, Reply);

impl ChainWriter {
    /// Makes a change, and answers once it is recorded. Mining many blocks continues in pieces
    /// afterwards. A `request` whose change the log has is answered only, and one of which it has a
    /// part is brought to its end.
    fn change(&mut self, change: Change, request: Option<u64>, reply: Reply) {
        let _span =
            tracing::trace_span!(target: "tetrad::span", "change", otel.name = change.name())
                .entered();

        // The caller asks the next leader (`Chain::change_among`).
        if !self.leads {
            let _ = reply.send(Err(ChangeError::NotLeading));
            return;
        }

        // With the id in its entry, the next leader neither repeats the change nor loses its
        // answer.
        self.recorder.part = request.map(|id| RequestPart {
            id,
            left: 0,
            answer: 0,
        });
        let answer = match self.progress(request) {
            Ok(progress) => self.proceed_with(change, progress, reply),
            Err(error) => Some((Err(error), reply)),
        };

        if answer.is_none() {
            // The pieces of a mining order set their own parts.
            self.recorder.part = None;
        }
        if let (Some(part), Some((Ok(outcome), _))) = (&mut self.recorder.part, &answer) {
            part.answer = outcome.number();
        }

        // A change of the time alone has no entry yet.
        let is_recorded = self.record_time();
        self.recorder.part = None;
        self.note_height();

        if let Some((outcome, reply)) = answer {
            let outcome = if is_recorded {
                outcome
            } else if request.is_some() && !self.leads {
                // The next leader is asked.
                Err(ChangeError::NotLeading)
            } else {
                Err(Stopped::Unrecorded.into())
            };
            // The caller may have disconnected.
            let _ = reply.send(outcome);
        }

        // Moving the time or reverting to a snapshot is no reason to seal a block with nothing but
        // a preamble.
        self.schedule.request_seal(SealReason::Transactions);
    }

    /// Returns what the log says of a request, if anything.
    fn progress(&mut self, request: Option<u64>) -> Result<Option<Progress>, ChangeError> {
        let (Some(id), Some(journal)) = (request, &mut self.recorder.journal) else {
            return Ok(None);
        };

        let requests = journal
            .requests()
            .map_err(|error| AppendError::Unavailable(error.to_string()))?;
        Ok(requests.get(id))
    }

    /// Makes a change, or what is left of it. Returns its outcome and the reply channel, unless it
    /// is answered later.
    fn proceed_with(
        &mut self,
        change: Change,
        progress: Option<Progress>,
        reply: Reply,
    ) -> Option<Answer> {
        let Some(progress) = progress else {
            return self.apply(change, reply);
        };
        if let Some(outcome) = progress.outcome(&change) {
            return Some((Ok(outcome), reply));
        }

        match change {
            Change::Mine { count, pace } => {
                self.order(count, progress.left.min(count), pace, reply);
                None
            }
            Change::Reorg { .. } => {
                // Another attempt would remove further blocks.
                let reason = format!(
                    "blocks were removed, and the last {} not replaced",
                    progress.left
                );
                Some((Err(ChangeError::Unavailable(reason)), reply))
            }
            change => self.apply(change, reply),
        }
    }

    /// Makes a change. Returns its outcome and the reply channel, unless it is answered later.
    fn apply(&mut self, change: Change, reply: Reply) -> Option<Answer> {
        let done = |()| ChangeOutcome::Done;
        let outcome = match change {
            Change::Mine { count, pace } => {
                // Answered with its last block: other commands have their turn in between.
                self.order(count, count, pace, reply);
                return None;
            }
            Change::Snapshot { name } => self
                .retry(|writer| writer.snapshot(name.clone()))
                .map(ChangeOutcome::Snapshot),
            Change::Revert(id) => self
                .retry(|writer| writer.revert(id))
                .map(ChangeOutcome::Found),
            Change::IncreaseTime(seconds) => {
                let parent = self.head().block.header.timestamp;
                self.shared
                    .timing
                    .lock()
                    .advance(parent, seconds)
                    .map(ChangeOutcome::Seconds)
            }
            Change::SetTime(now) => {
                let sealing = self.shared.sealing.lock().configured;
                let may_precede = sealing.anvil_conventions;
                self.time(|timing, parent, apart| timing.jump(parent, apart, now, may_precede))
                    .map(ChangeOutcome::Seconds)
            }
            Change::SetBlockInterval(seconds) => self
                .time(|timing, parent, apart| timing.fix_interval(parent, apart, seconds))
                .map(ChangeOutcome::Found),
            Change::Edit(edits) => self.retry(|writer| writer.edit(&edits)).map(done),
            Change::Rollback { depth } => self.retry(|writer| writer.rollback(depth)).map(done),
            Change::Rewind(number) => self.retry(|writer| writer.rewind(number)).map(done),
            Change::Reorg { blocks } => self.retry(|writer| writer.reorg(&blocks)).map(done),
            Change::Reset => self.retry(Self::reset).map(done),
            Change::Restart { head, gas_limit } => self.restart(*head, gas_limit).map(done),
            Change::Load(dump) => self.load(dump).map(done),
            Change::SetNextTimestamp(timestamp) => self.set_next_timestamp(timestamp).map(done),
            Change::Set(setting) => self.set(setting).map(done),
        };

        Some((outcome, reply))
    }

    /// Sets the timestamp of the next block.
    fn set_next_timestamp(&mut self, timestamp: u64) -> Result<(), ChangeError> {
        self.time(|timing, parent, apart| timing.set_next_timestamp(parent, apart, timestamp))
    }

    /// Changes the timing, given the newest block's timestamp and the least number of seconds to
    /// the next one's.
    fn time<R>(
        &self,
        change: impl FnOnce(&mut Timing, u64, u64) -> Result<R, ChangeError>,
    ) -> Result<R, ChangeError> {
        let head = self.head();
        let parent = head.block.header.timestamp;
        let apart = u64::from(head.params.increasing_timestamps);

        change(&mut self.shared.timing.lock(), parent, apart)
    }

    /// Returns the newest head.
    pub(super) fn head(&self) -> Arc<Head> {
        self.shared.head.load_full()
    }

    /// Stops the writer: closes the journal and rejects all pooled transactions.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.abandon_orders();
        if let Some(journal) = self.recorder.journal.take() {
            journal.close();
        }
        self.shared.pool.clear(|| SubmitError::Stopped);
    }

    /// Publishes `next` as the head, then answers the submitters of its transactions.
    pub(super) fn publish(&mut self, next: Head, added: Vec<Arc<Block>>, removed: Vec<Arc<Block>>) {
        self.shared.phases.time(Phase::Publish, || {
            // The index comes first, so that a reader of the new head finds its blocks by hash.
            for block in &added {
                self.shared.index.insert(block);
                self.shared.produced.count(block);
                self.shared.arrivals.sealed(block.transactions.len());
            }

            let head = Arc::new(next.after(&self.head()));

            // Before the head, so that a client that polls it finds the blocks that it removes.
            self.shared
                .removed
                .push(head.version(), &removed, self.shared.history_limits.bytes);
            self.shared.head.store(head.clone());
            self.note_height();

            // Nonces also increase without a transaction of the account: by authorizations
            // (EIP-7702), and by contracts that a delegated account creates.
            let changes = added.first().map(|first| head.changes_from(first.number()));
            let changed = changes
                .into_iter()
                .flatten()
                .flatten()
                .flat_map(|changes| &changes.0);
            // After the head, so that a submitter with an answer finds the receipt at once.
            self.advance_pool(changed.map(|change| change.address), &head);

            // There may be no subscribers.
            let _ = self.shared.events.send(Event::Head {
                head,
                added: added.into(),
                removed: removed.into(),
            });
        });
    }

    /// Applies edits by development methods between blocks: all of them, or none if one fails.
    pub(super) fn edit(&mut self, edits: &[Edit]) -> Result<(), ChangeError> {
        let head = self.head();
        let next = edits
            .iter()
            .try_fold(Head::clone(&head), |head, edit| head.edit(edit))?;

        self.record_edits(&head, &next)?;
        self.publish(next, Vec::new(), Vec::new());

        // No block was added, so publishing has not advanced the pool for the edited accounts.
        let edited = self.head();
        let changes = edited
            .edits()
            .iter()
            .skip(head.edits().len())
            .flat_map(|changes| &changes.0);
        self.advance_pool(changes.map(|change| change.address), &edited);
        Ok(())
    }

    /// Removes the transactions of these accounts that are included in `head`, or stale, from the
    /// pool.
    fn advance_pool(&self, accounts: impl IntoIterator<Item = Address>, head: &Head) {
        let is_included = |hash| self.shared.index.transaction(head, hash).is_some();
        self.shared.pool.advance(accounts, &head.state, is_included);
    }

    /// Advances all accounts of the pool, after the whole state was replaced.
    pub(super) fn advance_whole_pool(&self) {
        self.advance_pool(self.shared.pool.senders(), &self.head());
    }
}
